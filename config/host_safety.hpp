#pragma once

#include "messages/contracts/host_safety.hpp"

#include <string>
#include <string_view>

/// URLs of servers, and which hosts are the machine itself.
namespace bureau::config {

using contracts::host_for_url;
using contracts::is_loopback_host;
using contracts::is_safe_bind;
using contracts::is_wildcard_host;
using contracts::normalize_host_for_bind;

/// An http(s) URL taken apart; `fault` says what is wrong with it, without
/// repeating the URL, which may hold a secret.
struct url_parts {
  std::string scheme;
  /// Lower case; IPv6 without brackets.
  std::string host;
  /// 0 = not stated.
  int port = 0;
  /// Path without trailing slashes, "" for the root.
  std::string path;
  bool has_user = false;
  bool has_query = false;
  std::string fault;
  explicit operator bool() const { return fault.empty(); }
};

/// Parses `scheme://[user@]host[:port][/path][?query]`.
url_parts parse_url(std::string_view url);

} // namespace bureau::config
