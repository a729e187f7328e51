#pragma once

#include <caf/error.hpp>

#include <string>
#include <string_view>

/// Which addresses are the machine itself (agent contracts, 3.14). Pure: names
/// are never resolved, addresses are compared as bytes, never as prefixes.
namespace bureau::contracts {

/// Strips one pair of brackets, only around a valid IPv6 literal.
std::string normalize_host_for_bind(std::string_view host);

/// `localhost`, a strict dotted quad in 127/8, ::1, or an IPv4-mapped 127/8.
bool is_loopback_host(std::string_view host);

/// 0.0.0.0, ::, or the IPv4-mapped form of all zeros.
bool is_wildcard_host(std::string_view host);

/// The host as it is written in a URL: IPv6 in brackets.
std::string host_for_url(std::string_view host);

/// Whether a server may listen there: loopback, or anything when allowed. A
/// name may resolve to something else: ask again for the address it got.
bool is_safe_bind(std::string_view host, bool allow_non_loopback);

/// No error when a server may listen there, else the caller's.
caf::error assert_safe_bind(std::string_view host, bool allow_non_loopback,
                            caf::error unsafe);

} // namespace bureau::contracts
