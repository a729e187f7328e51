#pragma once

#include "messages/identity/platform.hpp"
#include "messages/inspect_support.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace bureau {

/// Canonical identity of a conversation inside the process: the platform plus
/// its own conversation id (core interface seed, section 10). Two addresses are
/// the same office exactly if both parts are byte-equal.
struct office_address {
  platform_id platform = platform_id::console;
  std::string conversation_id;
  friend bool operator==(const office_address&,
                         const office_address&) = default;
  friend auto operator<=>(const office_address&,
                          const office_address&) = default;
};

BUREAU_INSPECT(office_address, x.platform, x.conversation_id);

/// Why an address was refused. `none` means that it is valid.
enum class address_fault : uint8_t {
  none,
  unsupported_platform,
  not_an_object,
  platform_not_string,
  conversation_id_not_string,
  invalid_conversation_id,
};

/// Stable lower-case name of a fault (the class names of the golden cases).
std::string to_string(address_fault fault);

/// Checks a raw conversation id: valid UTF-8, not empty, not "." or "..", no
/// path separator, no control character of U+0000–001F and U+007F–009F.
address_fault check_conversation_id(std::string_view raw_id);

/// Storage identity of an office: v1-<platform>-<readable>-<16 hex>. The same
/// segment names the directory on the host, in sandboxes and in the vault.
/// @pre check_conversation_id(address.conversation_id) == none
std::string office_key(const office_address& address);

/// Whether text has the shape of an office key. Never parse one.
bool is_office_key(std::string_view text);

/// Legacy identity used by sandbox resource names and the boot migration.
/// @param kind "user", "conversation" or "container"
std::string legacy_identity(std::string_view kind, std::string_view value);

} // namespace bureau

template <>
struct std::hash<bureau::office_address> {
  size_t operator()(const bureau::office_address& x) const noexcept {
    return std::hash<std::string>{}(x.conversation_id) * 31u
           + static_cast<size_t>(x.platform);
  }
};
