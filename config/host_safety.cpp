#include "config/host_safety.hpp"

#include "config/readers.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace bureau::config {

namespace {

using address_bytes = std::array<uint8_t, 16>;

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// A literal as 16 bytes; IPv4 becomes its IPv4-mapped form when `mapped`.
std::optional<address_bytes> parse_v6(const std::string& host) {
  address_bytes bytes{};
  if (host.find('\0') != std::string::npos
      || ::inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1)
    return std::nullopt;
  return bytes;
}

std::optional<std::array<uint8_t, 4>> parse_v4(const std::string& host) {
  std::array<uint8_t, 4> bytes{};
  if (host.find('\0') != std::string::npos
      || ::inet_pton(AF_INET, host.c_str(), bytes.data()) != 1)
    return std::nullopt;
  return bytes;
}

bool is_mapped_v4(const address_bytes& bytes) {
  static constexpr std::array<uint8_t, 12> prefix = {0, 0, 0, 0, 0,    0,
                                                     0, 0, 0, 0, 0xff, 0xff};
  return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

bool all_zero(const uint8_t* begin, const uint8_t* end) {
  return std::all_of(begin, end, [](uint8_t x) { return x == 0; });
}

} // namespace

std::string normalize_host_for_bind(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    std::string inside{host.substr(1, host.size() - 2)};
    if (parse_v6(inside))
      return inside;
  }
  return std::string{host};
}

bool is_loopback_host(std::string_view raw_host) {
  auto host = lower(normalize_host_for_bind(raw_host));
  if (host == "localhost")
    return true;
  if (auto v4 = parse_v4(host))
    return (*v4)[0] == 127;
  auto v6 = parse_v6(host);
  if (!v6)
    return false;
  if (is_mapped_v4(*v6))
    return (*v6)[12] == 127;
  return all_zero(v6->data(), v6->data() + 15) && (*v6)[15] == 1;
}

bool is_wildcard_host(std::string_view raw_host) {
  auto host = normalize_host_for_bind(raw_host);
  if (host == "0.0.0.0")
    return true;
  auto v6 = parse_v6(host);
  if (!v6)
    return false;
  return all_zero(v6->data(), v6->data() + 16)
         || (is_mapped_v4(*v6) && all_zero(v6->data() + 12, v6->data() + 16));
}

std::string host_for_url(std::string_view raw_host) {
  auto host = normalize_host_for_bind(raw_host);
  return host.find(':') != std::string::npos ? '[' + host + ']' : host;
}

bool is_safe_bind(std::string_view host, bool allow_non_loopback) {
  return allow_non_loopback || is_loopback_host(host);
}

url_parts parse_url(std::string_view url) {
  url_parts result;
  auto refuse = [&result](std::string why) {
    result.fault = std::move(why);
    return result;
  };
  auto mark = url.find("://");
  if (mark == std::string_view::npos || mark == 0)
    return refuse("it does not begin with a scheme such as https://");
  if (std::any_of(url.begin(), url.end(),
                  [](char c) { return c == '\\' || (c >= 0 && c <= ' '); }))
    return refuse("it contains a space, a backslash or a control character");
  result.scheme = lower(url.substr(0, mark));
  auto rest = url.substr(mark + 3);
  auto end = rest.find_first_of("/?#");
  auto authority = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end);
  if (auto at = authority.rfind('@'); at != std::string_view::npos) {
    result.has_user = true;
    authority = authority.substr(at + 1);
  }
  // The port follows the last ':' that is not inside an IPv6 literal.
  auto bracket = authority.rfind(']');
  auto colon = authority.rfind(':');
  if (colon != std::string_view::npos
      && (bracket == std::string_view::npos || colon > bracket)) {
    auto port = read_integer(authority.substr(colon + 1), 1, 65535);
    if (!port)
      return refuse("its port is not a number from 1 to 65535");
    result.port = static_cast<int>(*port);
    authority = authority.substr(0, colon);
  }
  if (!authority.empty() && authority.front() == '['
      && normalize_host_for_bind(authority) == authority)
    return refuse("its IPv6 address is malformed");
  result.host = lower(normalize_host_for_bind(authority));
  if (result.host.empty())
    return refuse("it names no host");
  auto query = rest.find_first_of("?#");
  result.has_query = query != std::string_view::npos;
  auto path = rest.substr(0, query);
  while (!path.empty() && path.back() == '/')
    path.remove_suffix(1);
  result.path = path;
  return result;
}

} // namespace bureau::config
