#pragma once

#include "messages/limits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bureau::models {

/// One server-sent event.
struct sse_event {
  /// Value of the `event` field; empty when there was none.
  std::string name;
  /// The `data` lines, joined by a line feed.
  std::string data;
  /// The stream ended before the blank line that should have closed it.
  bool cut = false;
  friend bool operator==(const sse_event&, const sse_event&) = default;
};

/// Incremental decoder of an event stream (note on the harness, section 4.1
/// rule 4). Lines end at LF, CR LF or CR, however the bytes are chunked; lines
/// that start with a colon and unknown fields are ignored; one leading space of
/// a value is dropped; ill-formed UTF-8 becomes U+FFFD. Runs in linear time.
class sse_decoder {
public:
  /// @param max_event_bytes longest line, and longest data of one event
  explicit sse_decoder(size_t max_event_bytes = limits::sse_event_bytes);

  /// Appends the events that these bytes complete to `out`.
  /// @returns false once an event is longer than the bound; the decoder then
  ///          produces nothing more
  bool feed(std::string_view bytes, std::vector<sse_event>& out);

  /// The stream is at its end: appends an event that was not closed, marked as
  /// cut.
  bool finish(std::vector<sse_event>& out);

private:
  bool append_to_line(std::string_view bytes);
  bool end_line(std::vector<sse_event>& out);
  void dispatch(std::vector<sse_event>& out, bool cut);

  size_t max_bytes_;
  std::string line_;
  std::string name_;
  std::string data_;
  bool has_data_ = false;
  bool skip_line_feed_ = false;
  bool at_start_ = true;
  bool overflowed_ = false;
};

} // namespace bureau::models
