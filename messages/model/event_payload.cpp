#include "messages/model/event_payload.hpp"

namespace bureau {

std::string to_string(event_type type) {
  switch (type) {
  case event_type::immediate:
    return "immediate";
  case event_type::one_shot:
    return "one-shot";
  case event_type::periodic:
    return "periodic";
  }
  return "unknown";
}

std::optional<event_type> parse_event_type(std::string_view name) {
  using enum event_type;
  for (auto type : {immediate, one_shot, periodic})
    if (to_string(type) == name)
      return type;
  return std::nullopt;
}

} // namespace bureau
