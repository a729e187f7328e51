#include "sandbox/capability_core.hpp"

#include "config/sandbox_value.hpp"

namespace bureau::sandbox {

bool enforces_projection(std::string_view backend) {
  using config::sandbox_type;
  for (auto type :
       {sandbox_type::host, sandbox_type::bwrap, sandbox_type::container,
        sandbox_type::image, sandbox_type::gondolin, sandbox_type::firecracker,
        sandbox_type::cloudflare})
    if (config::to_string(type) == backend)
      return config::capabilities_of(type).managed_projection;
  return false;
}

std::optional<std::string> refuse_reason(std::string_view backend,
                                         std::string_view door_policy) {
  if (door_policy == "trusted" || enforces_projection(backend))
    return std::nullopt;
  std::string sentence = "The sandbox '";
  sentence += backend;
  sentence += "' cannot provide an isolated conversation office, and this "
              "conversation's door is isolated. Either use a backend that can "
              "(start with --sandbox=bwrap, the default), or trust this "
              "conversation explicitly: set sandbox.workspace.doorPolicy to "
              "\"trusted\" in its settings.";
  return sentence;
}

} // namespace bureau::sandbox
