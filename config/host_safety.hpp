#pragma once

#include <string>
#include <string_view>

/// Which addresses are the machine itself (agent contracts, shared safety
/// helpers). Pure: names are never resolved.
namespace bureau::config {

/// Strips one pair of brackets, only around a valid IPv6 literal.
std::string normalize_host_for_bind(std::string_view host);

/// `localhost`, a strict dotted quad in 127/8, ::1, or an IPv4-mapped 127/8.
bool is_loopback_host(std::string_view host);

/// 0.0.0.0, ::, or the IPv4-mapped form of all zeros.
bool is_wildcard_host(std::string_view host);

/// The host as it is written in a URL: IPv6 in brackets.
std::string host_for_url(std::string_view host);

/// Whether a server may listen there: loopback, or anything when allowed.
bool is_safe_bind(std::string_view host, bool allow_non_loopback);

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
