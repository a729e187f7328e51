#include "messages/contracts/bearer.hpp"
#include "messages/contracts/host_safety.hpp"
#include "messages/errc.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

using namespace bureau::contracts;

outcome loopback_case(const bj::array& args) {
  return answer(is_loopback_host(text_of(argument(args, 0))));
}

outcome wildcard_case(const bj::array& args) {
  return answer(is_wildcard_host(text_of(argument(args, 0))));
}

outcome bind_host_case(const bj::array& args) {
  return answer(bj::value(normalize_host_for_bind(text_of(argument(args, 0)))));
}

outcome url_host_case(const bj::array& args) {
  return answer(bj::value(host_for_url(text_of(argument(args, 0)))));
}

outcome safe_bind_case(const bj::array& args) {
  auto allowed = argument(args, 1).is_bool() && argument(args, 1).get_bool();
  auto fault = assert_safe_bind(text_of(argument(args, 0)), allowed,
                                make_failure(errc::bad_config, "unsafe"));
  return fault ? failure(sentence_of(fault)) : nothing();
}

outcome read_bearer_case(const bj::array& args) {
  auto value = argument(args, 0).if_string();
  auto token = read_authorization_bearer(
    value != nullptr ? std::optional<std::string_view>{*value} : std::nullopt);
  return token ? answer(bj::value(*token)) : nothing();
}

outcome equal_bearer_case(const bj::array& args) {
  return answer(bearer_tokens_equal(text_of(argument(args, 0)),
                                    text_of(argument(args, 1))));
}

outcome headers_case(const bj::array& args) {
  return answer(sanitize_inbound_http_headers(argument(args, 0).as_object()));
}

const registration all[] = {
  {"isLoopbackHost", loopback_case},
  {"isWildcardHost", wildcard_case},
  {"normalizeHostForBind", bind_host_case},
  {"hostForUrl", url_host_case},
  {"assertSafeBind", safe_bind_case},
  {"readAuthorizationBearer", read_bearer_case},
  {"bearerTokensEqual", equal_bearer_case},
  {"sanitizeInboundHttpHeaders", headers_case},
};

} // namespace

} // namespace bureau::conformance
