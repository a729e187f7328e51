#pragma once

#include "config/file_report.hpp"
#include "messages/secret.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

/// auth.json: stored credentials, one for a provider (note 03, 2.15).
namespace bureau::config {

enum class credential_kind : uint8_t {
  api_key,
  oauth,
  /// Of a known type, but malformed: it still owns its provider, so that a
  /// typing error cannot silently select another account.
  broken,
};

/// A stored credential.
struct stored_credential {
  credential_kind kind = credential_kind::broken;
  /// api_key.
  secret_text key;
  std::map<std::string, secret_text> env;
  /// oauth; the refresh token and extra members stay in the file.
  secret_text access;
  /// Unix milliseconds.
  int64_t expires_ms = 0;
  /// broken: pointer and reason, never a value.
  std::string fault;
};

/// Credentials by provider id.
struct auth_file {
  std::map<std::string, stored_credential> entries;
  const stored_credential* find(std::string_view provider) const;
};

/// Checks a credential file. Text that is not a JSON object is a fault; entries
/// of an unknown type are ignored and malformed ones disabled, each with a
/// warning, as is every unknown key of an API key. No message holds any value
/// of the file.
reading<auth_file> parse_auth(std::string_view text, std::string_view path);

/// Reads and checks a credential file; an absent one is empty.
reading<auth_file> load_auth(file_system& fs, const std::string& path);

} // namespace bureau::config
