#include "config/sandbox_value.hpp"
#include "tests/conformance/functions.hpp"

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

const registration sandbox{"parseSandboxArg", sandbox_case};

} // namespace

} // namespace bureau::conformance
