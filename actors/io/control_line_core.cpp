#include "actors/io/control_line_core.hpp"

#include <algorithm>

namespace bureau::io {

void line_splitter::feed(std::string_view bytes) {
  if (!too_long_)
    buffer_ += bytes;
}

std::optional<std::string> line_splitter::take() {
  if (too_long_)
    return std::nullopt;
  auto end = buffer_.find('\n', searched_);
  auto length = std::min(end, buffer_.size()) - begin_;
  if (length > most_) {
    too_long_ = true;
    buffer_ = {};
    begin_ = 0;
    return std::nullopt;
  }
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    return std::nullopt;
  }
  auto line = buffer_.substr(begin_, length);
  if (line.ends_with('\r'))
    line.pop_back();
  begin_ = searched_ = end + 1;
  if (begin_ > buffer_.size() / 2) {
    // A copy: the room of a large line is not kept.
    buffer_ = buffer_.substr(begin_);
    begin_ = searched_ = 0;
  }
  return line;
}

bool may_control(uid_t peer, uid_t own) {
  return peer == own || peer == 0;
}

std::string socket_error_line(int code, std::string_view failure,
                              std::string_view sentence) {
  std::string line = R"({"jsonrpc":"2.0","id":null,"error":{"code":)"
                     + std::to_string(code) + R"(,"message":")";
  line += sentence;
  line += R"(","data":{"errc":")";
  line += failure;
  line += "\"}}}";
  return line;
}

} // namespace bureau::io
