#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The value of `--sandbox` and of the setting sandbox.default.
namespace bureau::config {

/// Execution environments, in the order in which the grammar tries them
/// (decision B6).
enum class sandbox_type : uint8_t {
  host,
  bwrap,
  container,
  image,
  gondolin,
  firecracker,
  cloudflare,
};

std::string to_string(sandbox_type type);

/// A parsed value; members that do not belong to the type stay empty.
struct sandbox_value {
  sandbox_type type = sandbox_type::bwrap;
  /// bwrap and gondolin: always "default".
  std::string profile;
  std::string container;
  std::string image;
  /// firecracker.
  std::string vm_id;
  std::string host_path;
  std::string ssh_user;
  int ssh_port = 0;
  /// cloudflare.
  std::string sandbox_id;
  friend bool operator==(const sandbox_value&, const sandbox_value&) = default;
};

/// The value as it would be typed; parses to an equal value.
std::string to_string(const sandbox_value& value);

/// Classes of refusal; the names are those of the golden cases.
enum class sandbox_fault : uint8_t {
  none,
  invalid_type,
  missing_container_name,
  missing_image_name,
  missing_profile,
  unsupported_profile,
  firecracker_usage,
  missing_vm_or_path,
  invalid_ssh_port,
  missing_sandbox_id,
  unsupported_docker,
};

std::string to_string(sandbox_fault fault);

/// A value, or why there is none: a message and further lines for stderr.
struct sandbox_result {
  sandbox_value value;
  sandbox_fault fault = sandbox_fault::none;
  std::string message;
  std::vector<std::string> details;
  explicit operator bool() const { return fault == sandbox_fault::none; }
  /// Message and details as one text.
  std::string sentence() const;
};

/// Parses a value (note 04, section 2.2, with bwrap added by decision B6). A
/// form that recognises its prefix and dislikes the rest fails at once.
sandbox_result parse_sandbox_value(std::string_view value);

/// What the rest of the program may ask about a type, instead of its name
/// (decision B6, capability table).
struct sandbox_capabilities {
  bool environment = false;
  bool file_mounts = false;
  /// The projection of the office is managed, so that an isolated door can be
  /// kept.
  bool managed_projection = false;
  bool ambient_shared_vault = false;
  /// "host", "container" or "conversation".
  std::string routing_label;
  bool direct_executor = false;
  /// Whether this version has an executor for it.
  bool available = false;
};

sandbox_capabilities capabilities_of(sandbox_type type);

} // namespace bureau::config
