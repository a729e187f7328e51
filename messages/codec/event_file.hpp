#pragma once

#include "messages/model/event_payload.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The wire format of event files (core interface seed, section 11; harness
/// note, 3.18). All writers build, all readers parse. Pure.
namespace bureau {

/// Why a text is no event file.
enum class event_fault : uint8_t {
  none,
  malformed,
  not_an_object,
  missing_fields,
  missing_at,
  invalid_at,
  missing_schedule,
  missing_timezone,
};

/// Class names of the golden cases.
std::string to_string(event_fault fault);

/// A payload, or why there is none.
struct event_reading {
  event_payload payload;
  event_fault fault = event_fault::none;
  /// malformed: the member that is wrong; empty: the text is no JSON.
  std::string field;
  /// For people, and for the model that wrote it.
  std::string sentence;
  explicit operator bool() const { return fault == event_fault::none; }
};

/// Reads a file. The cron pattern, the zone and the platform are for whoever
/// schedules it.
/// @param filename for the sentence
event_reading parse_event_file(std::string_view content,
                               std::string_view filename);

/// Completes what a writer was told: of the members that belong to a type all
/// are there, and no others.
event_reading build_event(event_payload input);

/// In the canonical order of members.
boost::json::object to_json(const event_payload& payload);

/// The content of a file: one line with its newline.
std::string print_event_file(const event_payload& payload);

/// The instant of a one-shot, in Unix milliseconds rounded up; nothing for a
/// text that is none.
std::optional<int64_t> event_instant_ms(std::string_view text);

/// Whether a name may be a file of the events directory; to be asked before any
/// access.
bool is_event_file_name(std::string_view name);

/// File name without `.json`: how an event and its job are called.
std::string_view event_name_of(std::string_view filename);

/// What is left of a name that a model wished for.
std::string sanitize_event_name(std::string_view wish);

} // namespace bureau
