#include "actors/system/line_reader_core.hpp"

#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <utility>

namespace bureau::system {

void line_reader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    auto end = bytes.find('\n');
    auto piece = bytes.substr(0, end);
    if (end != std::string_view::npos && partial_.empty()
        && !partial_too_long_) {
      end_line(piece);
    } else {
      if (partial_.size() + piece.size() > limits::json_text_bytes)
        partial_too_long_ = true;
      if (partial_too_long_)
        partial_ = {};
      else
        partial_ += piece;
      if (end != std::string_view::npos)
        end_line(std::exchange(partial_, {}));
    }
    if (end == std::string_view::npos)
      return;
    bytes.remove_prefix(end + 1);
  }
}

void line_reader::finish() {
  if (partial_too_long_ || !text::is_blank(partial_))
    ++lines_;
  partial_ = {};
  partial_too_long_ = false;
}

void line_reader::end_line(std::string_view line) {
  auto too_long = std::exchange(partial_too_long_, false);
  if (!too_long && text::is_blank(line))
    return;
  ++lines_;
  on_line_(line);
}

} // namespace bureau::system
