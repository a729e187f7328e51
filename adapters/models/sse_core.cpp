#include "adapters/models/sse_core.hpp"

#include "messages/text/utf8.hpp"

#include <utility>

namespace bureau::models {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string well_formed(std::string bytes) {
  return text::is_valid_utf8(bytes) ? std::move(bytes)
                                    : text::sanitize_utf8(bytes);
}

} // namespace

sse_decoder::sse_decoder(size_t max_event_bytes) : max_bytes_(max_event_bytes) {
}

bool sse_decoder::feed(std::string_view bytes, std::vector<sse_event>& out) {
  while (!overflowed_ && !bytes.empty()) {
    if (std::exchange(skip_line_feed_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    auto end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos)
      return append_to_line(bytes);
    if (!append_to_line(bytes.substr(0, end)))
      return false;
    skip_line_feed_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!end_line(out))
      return false;
  }
  return !overflowed_;
}

bool sse_decoder::finish(std::vector<sse_event>& out) {
  if (overflowed_)
    return false;
  // A last line without its end and an event without its blank line.
  if (!line_.empty() && !end_line(out))
    return false;
  dispatch(out, true);
  return true;
}

bool sse_decoder::append_to_line(std::string_view bytes) {
  if (line_.size() + bytes.size() > max_bytes_) {
    overflowed_ = true;
    return false;
  }
  line_ += bytes;
  return true;
}

bool sse_decoder::end_line(std::vector<sse_event>& out) {
  std::string_view line{line_};
  if (std::exchange(at_start_, false) && line.starts_with(byte_order_mark))
    line.remove_prefix(byte_order_mark.size());
  if (line.empty()) {
    line_.clear();
    dispatch(out, false);
    return true;
  }
  auto colon = line.find(':');
  auto field = line.substr(0, colon);
  auto value = colon == std::string_view::npos ? std::string_view{}
                                               : line.substr(colon + 1);
  if (value.starts_with(' '))
    value.remove_prefix(1);
  if (field == "event") {
    name_ = value;
  } else if (field == "data") {
    if (data_.size() + value.size() + 1 > max_bytes_) {
      overflowed_ = true;
      return false;
    }
    if (has_data_)
      data_ += '\n';
    data_ += value;
    has_data_ = true;
  }
  line_.clear();
  return true;
}

void sse_decoder::dispatch(std::vector<sse_event>& out, bool cut) {
  if (has_data_)
    out.push_back(
      {well_formed(std::move(name_)), well_formed(std::move(data_)), cut});
  name_.clear();
  data_.clear();
  has_data_ = false;
}

} // namespace bureau::models
