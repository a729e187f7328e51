#include "messages/contracts/reply_parts.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

using namespace bureau::contracts;

outcome fallback_case(const bj::array& args) {
  caf::optional<std::string> text;
  if (has_argument(args, 0))
    text = text_of(args[0]);
  std::vector<reply_part> parts;
  if (auto list = argument(args, 1).if_array())
    for (const auto& part : *list)
      parts.push_back(parse_reply_part(part));
  auto policy = text_of(argument(args, 2)) == "none"
                  ? unsupported_part_fallback::none
                  : unsupported_part_fallback::human;
  auto result = append_reply_part_fallback(text, parts, policy);
  return result ? answer(bj::value(*result)) : nothing();
}

outcome outcomes_or_nothing(const std::vector<delivery_outcome>& outcomes) {
  return outcomes.empty() ? nothing() : answer(to_json(outcomes));
}

outcome unsupported_case(const bj::array& args) {
  return outcomes_or_nothing(unsupported_outcomes(argument(args, 0)));
}

outcome sanitize_case(const bj::array& args) {
  return outcomes_or_nothing(sanitize_outcomes(argument(args, 0)));
}

outcome strict_case(const bj::array& args) {
  return answer(is_outcomes(argument(args, 0)));
}

const registration all[] = {
  {"appendReplyPartFallback", fallback_case},
  {"unsupportedReplyPartDeliveryOutcomes", unsupported_case},
  {"sanitizeReplyPartDeliveryOutcomes", sanitize_case},
  {"isAgentReplyPartDeliveryOutcomes", strict_case},
};

} // namespace

} // namespace bureau::conformance
