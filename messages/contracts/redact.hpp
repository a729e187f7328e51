#pragma once

#include <string>
#include <string_view>

/// Secrets in text that is shown to people.
namespace bureau::contracts {

/// Replaces what looks like a secret: user and password of addresses, values of
/// telling query parameters, flags and assignments, basic-auth flags, passwords
/// of MySQL programs, bearer and basic credentials, and well-known kinds of
/// tokens. Redact before cutting a text: a cut secret is no longer recognised.
/// Linear time on any input.
std::string redact(std::string_view text);

} // namespace bureau::contracts
