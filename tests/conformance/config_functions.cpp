#include "config/host_safety.hpp"
#include "config/readers.hpp"
#include "config/sandbox_value.hpp"
#include "messages/codec/json_support.hpp"
#include "tests/conformance/functions.hpp"

#include <limits>

namespace bureau::conformance {

namespace {

using namespace bureau::config;

outcome sandbox_case(const bj::array& args) {
  auto parsed = parse_sandbox_value(text_of(argument(args, 0)));
  if (!parsed)
    return failure(to_string(parsed.fault));
  const auto& value = parsed.value;
  bj::object result;
  result["type"] = to_string(value.type);
  auto put = [&result](const char* name, const std::string& text) {
    if (!text.empty())
      result[name] = text;
  };
  put("profile", value.profile);
  put("container", value.container);
  put("image", value.image);
  put("vmId", value.vm_id);
  put("hostPath", value.host_path);
  put("sshUser", value.ssh_user);
  put("sandboxId", value.sandbox_id);
  if (value.ssh_port != 0)
    result["sshPort"] = value.ssh_port;
  return answer(std::move(result));
}

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
  return is_safe_bind(text_of(argument(args, 0)), allowed) ? nothing()
                                                           : failure("unsafe");
}

outcome optional_string_case(const bj::array& args) {
  auto text = normalize_optional(text_of(argument(args, 0)));
  return text ? answer(bj::value(*text)) : nothing();
}

outcome csv_case(const bj::array& args) {
  bj::array result;
  for (const auto& entry : read_csv(text_of(argument(args, 0))))
    result.emplace_back(entry);
  return answer(std::move(result));
}

outcome boolean_case(const bj::array& args) {
  auto raw = normalize_optional(text_of(argument(args, 0)));
  if (!raw)
    return answer(argument(args, 2));
  auto value = read_boolean(*raw);
  return value ? answer(*value) : failure("config_error");
}

outcome integer_case(const bj::array& args) {
  auto raw = normalize_optional(text_of(argument(args, 0)));
  if (!raw)
    return answer(argument(args, 2));
  auto min = std::numeric_limits<int64_t>::min();
  auto max = std::numeric_limits<int64_t>::max();
  if (auto bounds = argument(args, 3).if_object()) {
    min = json::int_member(*bounds, "min").value_or(min);
    max = json::int_member(*bounds, "max").value_or(max);
  }
  auto value = read_integer(*raw, min, max);
  return value ? answer(*value) : failure("config_error");
}

const registration all[] = {
  {"parseSandboxArg", sandbox_case},
  {"isLoopbackHost", loopback_case},
  {"isWildcardHost", wildcard_case},
  {"normalizeHostForBind", bind_host_case},
  {"hostForUrl", url_host_case},
  {"assertSafeBind", safe_bind_case},
  {"normalizeOptionalString", optional_string_case},
  {"readCsv", csv_case},
  {"readBoolean", boolean_case},
  {"readInteger", integer_case},
};

} // namespace

} // namespace bureau::conformance
