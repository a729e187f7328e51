#include "messages/contracts/stream_event.hpp"

#include "messages/contracts/provider_status.hpp"
#include "tests/fuzz/entry.hpp"

using namespace bureau;
using namespace bureau::contracts;

void fuzz::try_input(std::string_view input) {
  auto value = json_of(input);
  auto event = parse_stream_event(value);
  auto line = format_provider_status_line(event);
  require(line.empty() || event.kind == stream_event_kind::provider_status,
          "only providers have a status line");
  auto again = parse_stream_event(to_json(event));
  require(again == event, "an event survives the wire");
  if (!is_stream_event(value))
    return;
  require(event.kind != stream_event_kind::unknown, "a closed event is known");
  require(is_stream_event(to_json(event)), "a closed event stays one");
}
