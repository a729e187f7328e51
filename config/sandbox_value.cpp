#include "config/sandbox_value.hpp"

#include "config/readers.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <array>

namespace bureau::config {

namespace {

constexpr std::array<const char*, 7> type_names = {
  "host",     "bwrap",       "container",  "image",
  "gondolin", "firecracker", "cloudflare",
};

constexpr std::array<const char*, 11> fault_names = {
  "none",
  "invalid_type",
  "missing_container_name",
  "missing_image_name",
  "missing_profile",
  "unsupported_profile",
  "firecracker_usage",
  "missing_vm_or_path",
  "invalid_ssh_port",
  "missing_sandbox_id",
  "unsupported_docker",
};

sandbox_result refuse(sandbox_fault fault, std::string message,
                      std::vector<std::string> details = {}) {
  sandbox_result result;
  result.fault = fault;
  result.message = "Error: " + std::move(message);
  result.details = std::move(details);
  return result;
}

sandbox_result parse_profile(sandbox_type type, std::string_view profile) {
  auto name = to_string(type);
  if (profile.empty())
    return refuse(sandbox_fault::missing_profile,
                  name + " sandbox requires a profile",
                  {"Use: " + name + ":default"});
  if (profile != "default")
    return refuse(sandbox_fault::unsupported_profile,
                  "unsupported " + name + " profile '" + std::string{profile}
                    + "'",
                  {"Use: " + name + ":default"});
  sandbox_result result;
  result.value.type = type;
  result.value.profile = profile;
  return result;
}

std::vector<std::string> firecracker_help() {
  return {"Usage: firecracker:<vm-id>:<host-path>[:<ssh-user>[:<ssh-port>]]",
          "Example: firecracker:vm1:/srv/workspace:ubuntu:22"};
}

sandbox_result parse_firecracker(std::string_view rest) {
  std::vector<std::string> fields;
  for (size_t pos = 0; pos <= rest.size();) {
    auto end = std::min(rest.find(':', pos), rest.size());
    fields.emplace_back(rest.substr(pos, end - pos));
    pos = end + 1;
  }
  if (fields.size() < 2)
    return refuse(sandbox_fault::firecracker_usage,
                  "firecracker sandbox requires vm-id and host-path",
                  firecracker_help());
  if (fields[0].empty() || fields[1].empty())
    return refuse(sandbox_fault::missing_vm_or_path,
                  "firecracker sandbox requires vm-id and host-path",
                  firecracker_help());
  if (fields.size() > 4)
    return refuse(sandbox_fault::firecracker_usage,
                  "firecracker sandbox has more fields than it knows",
                  firecracker_help());
  sandbox_result result;
  result.value.type = sandbox_type::firecracker;
  result.value.vm_id = fields[0];
  result.value.host_path = fields[1];
  result.value.ssh_user =
    fields.size() > 2 && !fields[2].empty() ? fields[2] : "root";
  result.value.ssh_port = 22;
  if (fields.size() > 3 && !fields[3].empty()) {
    auto port = read_integer(fields[3], 1, 65535);
    if (!port || text::trim(fields[3]).size() != fields[3].size())
      return refuse(sandbox_fault::invalid_ssh_port,
                    "invalid SSH port '" + fields[3]
                      + "'; use a number from 1 to 65535",
                    firecracker_help());
    result.value.ssh_port = static_cast<int>(*port);
  }
  return result;
}

} // namespace

std::string to_string(sandbox_type type) {
  return type_names.at(static_cast<size_t>(type));
}

std::string to_string(sandbox_fault fault) {
  return fault_names.at(static_cast<size_t>(fault));
}

std::string to_string(const sandbox_value& value) {
  auto name = to_string(value.type);
  switch (value.type) {
  case sandbox_type::host:
    return name;
  case sandbox_type::bwrap:
  case sandbox_type::gondolin:
    return name + ':' + value.profile;
  case sandbox_type::container:
    return name + ':' + value.container;
  case sandbox_type::image:
    return name + ':' + value.image;
  case sandbox_type::firecracker:
    return name + ':' + value.vm_id + ':' + value.host_path + ':'
           + value.ssh_user + ':' + std::to_string(value.ssh_port);
  case sandbox_type::cloudflare:
    return name + ':' + value.sandbox_id;
  }
  return name;
}

std::string sandbox_result::sentence() const {
  auto result = message;
  for (const auto& line : details)
    result += '\n' + line;
  return result;
}

sandbox_result parse_sandbox_value(std::string_view value) {
  sandbox_result result;
  auto rest_after = [value](std::string_view prefix) {
    return value.substr(prefix.size());
  };
  if (value == "host") {
    result.value.type = sandbox_type::host;
    return result;
  }
  if (value == "bwrap")
    return parse_profile(sandbox_type::bwrap, "default");
  if (value.starts_with("bwrap:"))
    return parse_profile(sandbox_type::bwrap, rest_after("bwrap:"));
  if (value.starts_with("container:")) {
    result.value.type = sandbox_type::container;
    result.value.container = rest_after("container:");
    if (result.value.container.empty())
      return refuse(sandbox_fault::missing_container_name,
                    "container sandbox requires container name",
                    {"Usage: container:<container-name>"});
    return result;
  }
  if (value.starts_with("image:")) {
    result.value.type = sandbox_type::image;
    result.value.image = rest_after("image:");
    if (result.value.image.empty())
      return refuse(sandbox_fault::missing_image_name,
                    "image sandbox requires image name",
                    {"Usage: image:<image-name>"});
    return result;
  }
  if (value.starts_with("gondolin:"))
    return parse_profile(sandbox_type::gondolin, rest_after("gondolin:"));
  if (value.starts_with("firecracker:"))
    return parse_firecracker(rest_after("firecracker:"));
  if (value.starts_with("cloudflare:")) {
    result.value.type = sandbox_type::cloudflare;
    result.value.sandbox_id = text::trim(rest_after("cloudflare:"));
    if (result.value.sandbox_id.empty())
      return refuse(sandbox_fault::missing_sandbox_id,
                    "cloudflare sandbox requires sandbox id",
                    {"Usage: cloudflare:<sandbox-id>"});
    return result;
  }
  if (value.starts_with("docker:"))
    return refuse(sandbox_fault::unsupported_docker,
                  "sandbox value '" + std::string{value} + "' is not supported",
                  {"Use container:<container-name> for one shared container, "
                   "or image:<image-name> for managed ones."});
  return refuse(sandbox_fault::invalid_type,
                "Invalid sandbox type '" + std::string{value} + "'",
                {"Use host, bwrap[:default], container:<container-name>, "
                 "image:<image-name>, gondolin:default, "
                 "firecracker:<vm-id>:<host-path>[:<ssh-user>[:<ssh-port>]] "
                 "or cloudflare:<sandbox-id>."});
}

sandbox_capabilities capabilities_of(sandbox_type type) {
  switch (type) {
  case sandbox_type::host:
    return {false, false, false, false, "host", true, true};
  case sandbox_type::bwrap:
    return {true, true, true, false, "conversation", true, true};
  case sandbox_type::container:
    return {true, false, false, false, "container", true, false};
  case sandbox_type::image:
    return {true, true, true, true, "conversation", false, false};
  case sandbox_type::gondolin:
    return {true, true, true, false, "conversation", true, false};
  case sandbox_type::firecracker:
    return {true, false, false, false, "conversation", true, false};
  case sandbox_type::cloudflare:
    return {true, false, false, true, "conversation", true, false};
  }
  return {};
}

} // namespace bureau::config
