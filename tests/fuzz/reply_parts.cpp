#include "messages/contracts/reply_parts.hpp"

#include "tests/fuzz/entry.hpp"

using namespace bureau;
using namespace bureau::contracts;

namespace {

void check_outcomes(const std::vector<delivery_outcome>& outcomes) {
  fuzz::require(outcomes.size() <= max_delivery_outcomes,
                "outcomes have a bound");
  auto printed = to_json(outcomes);
  fuzz::require(is_outcomes(printed) == !outcomes.empty(),
                "what is made is well-formed");
  fuzz::require(sanitize_outcomes(printed) == outcomes,
                "sanitising twice is sanitising once");
}

} // namespace

void fuzz::try_input(std::string_view input) {
  auto value = json_of(input);
  auto part = parse_reply_part(value);
  auto again = parse_reply_part(to_json(part));
  require(parse_reply_part(to_json(again)) == again, "a part settles");
  auto clean = sanitize_outcomes(value);
  check_outcomes(clean);
  check_outcomes(unsupported_outcomes(value));
  if (is_outcomes(value))
    require(same_on_wire(to_json(clean), value),
            "well-formed outcomes stay as they are");
  std::vector<reply_part> parts{part, again};
  check_outcomes(unsupported_outcomes(parts));
  caf::optional<std::string> text{std::string{input}};
  auto told = append_reply_part_fallback(text, parts);
  require(told && told->substr(0, input.size()) == input,
          "the answer itself stays");
  require(
    append_reply_part_fallback(text, parts, unsupported_part_fallback::none)
      == text,
    "a machine's answer stays");
}
