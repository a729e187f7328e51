#include "messages/contracts/notify_suppression.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::contracts {

std::string to_string(notify_suppression reason) {
  switch (reason) {
  case notify_suppression::none:
    return "none";
  case notify_suppression::empty:
    return "empty";
  case notify_suppression::sentinel:
    return "sentinel";
  case notify_suppression::narrated_sentinel:
    return "narrated-sentinel";
  }
  return {};
}

notify_suppression classify_notify_suppression(std::string_view text) {
  auto trimmed = text::trim(text);
  if (trimmed.empty())
    return notify_suppression::empty;
  if (same_ignoring_case(trimmed, nothing_to_report))
    return notify_suppression::sentinel;
  auto line = trimmed.rfind('\n');
  if (line != trimmed.npos
      && same_ignoring_case(text::trim(trimmed.substr(line + 1)),
                            nothing_to_report))
    return notify_suppression::narrated_sentinel;
  return notify_suppression::none;
}

bool suppresses_notification(std::string_view text) {
  return classify_notify_suppression(text) != notify_suppression::none;
}

} // namespace bureau::contracts
