#pragma once

#include "messages/inspect_support.hpp"

#include <string>
#include <string_view>

namespace bureau {

/// Arbitrary JSON that crosses a mailbox: UTF-8 text of one complete JSON
/// value, parsed where it is read. Empty means "absent". The writer checks the
/// bound limits::json_text_bytes.
struct json_text {
  std::string text;
  json_text() = default;
  explicit json_text(std::string value) : text(std::move(value)) {}
  bool empty() const { return text.empty(); }
  friend bool operator==(const json_text&, const json_text&) = default;
};

BUREAU_INSPECT(json_text, x.text);

} // namespace bureau
