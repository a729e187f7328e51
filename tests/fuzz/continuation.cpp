#include "messages/contracts/continuation.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/wire_json.hpp"
#include "tests/fuzz/entry.hpp"

#include <boost/json/array.hpp>

using namespace bureau;
using namespace bureau::contracts;

void fuzz::try_input(std::string_view input) {
  auto value = json_of(input);
  if (check_continuation_origin_context(value) != continuation_fault::none)
    return;
  auto printed = print_wire(value, continuation_max_bytes);
  require(printed.has_value(), "a context has a bound");
  auto messages = json::member(value, "messages");
  auto list = messages != nullptr ? messages->if_array() : nullptr;
  require(list != nullptr && list->size() >= continuation_min_messages
            && list->size() <= continuation_max_messages,
          "a context has 2 to 64 messages");
  require(check_continuation_origin_context(json_of(*printed))
            == continuation_fault::none,
          "a context survives the wire");
}
