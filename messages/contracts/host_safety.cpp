#include "messages/contracts/host_safety.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace bureau::contracts {

namespace {

using v4_bytes = std::array<uint8_t, 4>;
using v6_bytes = std::array<uint8_t, 16>;

/// Longer text is no literal; inet_pton never sees it.
constexpr size_t max_literal = 45;

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// An address literal as bytes; nothing for a name, a zone or a port.
template <class Bytes>
std::optional<Bytes> parse_literal(int family, std::string_view host) {
  Bytes bytes{};
  if (host.size() > max_literal || host.find('\0') != std::string_view::npos
      || ::inet_pton(family, std::string{host}.c_str(), bytes.data()) != 1)
    return std::nullopt;
  return bytes;
}

std::optional<v6_bytes> parse_v6(std::string_view host) {
  return parse_literal<v6_bytes>(AF_INET6, host);
}

bool all_zero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](uint8_t x) { return x == 0; });
}

bool is_mapped_v4(const v6_bytes& bytes) {
  return all_zero(std::span{bytes}.first(10)) && bytes[10] == 0xff
         && bytes[11] == 0xff;
}

} // namespace

std::string normalize_host_for_bind(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto inside = host.substr(1, host.size() - 2);
    if (parse_v6(inside))
      return std::string{inside};
  }
  return std::string{host};
}

bool is_loopback_host(std::string_view raw_host) {
  auto host = lower(normalize_host_for_bind(raw_host));
  if (host == "localhost")
    return true;
  if (auto v4 = parse_literal<v4_bytes>(AF_INET, host))
    return v4->front() == 127;
  auto v6 = parse_v6(host);
  if (!v6)
    return false;
  if (is_mapped_v4(*v6))
    return (*v6)[12] == 127;
  return all_zero(std::span{*v6}.first(15)) && v6->back() == 1;
}

bool is_wildcard_host(std::string_view raw_host) {
  auto host = normalize_host_for_bind(raw_host);
  if (host == "0.0.0.0")
    return true;
  auto v6 = parse_v6(host);
  if (!v6)
    return false;
  return all_zero(*v6)
         || (is_mapped_v4(*v6) && all_zero(std::span{*v6}.last(4)));
}

std::string host_for_url(std::string_view raw_host) {
  auto host = normalize_host_for_bind(raw_host);
  return host.find(':') != std::string::npos ? '[' + host + ']' : host;
}

bool is_safe_bind(std::string_view host, bool allow_non_loopback) {
  return allow_non_loopback || is_loopback_host(host);
}

caf::error assert_safe_bind(std::string_view host, bool allow_non_loopback,
                            caf::error unsafe) {
  return is_safe_bind(host, allow_non_loopback) ? caf::error{}
                                                : std::move(unsafe);
}

} // namespace bureau::contracts
