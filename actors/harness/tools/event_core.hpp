#pragma once

#include "messages/interfaces/events.hpp"
#include "messages/interfaces/harness.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <string>

/// What the model asks of schedules, and what it reads about them (harness
/// note, 3.18).
namespace bureau::harness {

/// Where a call comes from.
struct event_place {
  office_address conversation;
  tool_context context;
  /// Message that the run answers.
  std::string message_id;
  /// IANA zone of a schedule that names none.
  std::string time_zone;
  int64_t now_ms = 0;
};

enum class event_action : uint8_t { write, list, read, drop };

/// A call that was understood, or the sentence that refuses it.
struct event_call {
  event_action what = event_action::write;
  event_write write;
  event_query query;
  bool all = false;
  std::string refusal;
  friend bool operator==(const event_call&, const event_call&) = default;
};

event_call read_event_call(const boost::json::object& arguments,
                           const event_place& place);

tool_outcome event_written_outcome(const event_write& written,
                                   const office_address& conversation);
tool_outcome event_list_outcome(const event_list& list, const event_call& call,
                                const office_address& conversation);
tool_outcome event_read_outcome(const event_entry& entry);
tool_outcome event_dropped_outcome(const std::string& file, bool was_there);

} // namespace bureau::harness
