#include "messages/contracts/host_safety.hpp"

#include "tests/fuzz/entry.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

/// What the system says about a literal address.
struct verdict {
  bool is_literal = false;
  bool loopback = false;
  bool wildcard = false;
};

verdict ask_system(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) {
    auto address = ntohl(four.s_addr);
    return {true, address >> 24 == 127, address == 0};
  }
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) != 1)
    return {};
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    auto rest = std::all_of(six.s6_addr + 12, six.s6_addr + 16,
                            [](uint8_t byte) { return byte == 0; });
    return {true, six.s6_addr[12] == 127, rest};
  }
  return {true, IN6_IS_ADDR_LOOPBACK(&six) != 0,
          IN6_IS_ADDR_UNSPECIFIED(&six) != 0};
}

} // namespace

void fuzz::try_input(std::string_view input) {
  auto host = normalize_host_for_bind(input);
  require(normalize_host_for_bind(host) == host, "brackets go once");
  require(!(is_loopback_host(input) && is_wildcard_host(input)),
          "no host is both");
  require(is_safe_bind(input, false) == is_loopback_host(input),
          "only the machine itself is safe");
  require(is_safe_bind(input, true), "everything may be allowed");
  // A byte 0 would end the text for the system.
  if (host.find('\0') != host.npos)
    return;
  auto truth = ask_system(host);
  require((!truth.is_literal && host.find(':') != host.npos)
            || normalize_host_for_bind(host_for_url(input)) == host,
          "a URL's host is the same host");
  auto lower = host;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  require(is_loopback_host(input) == (truth.loopback || lower == "localhost"),
          "loopback is what the system says");
  require(is_wildcard_host(input) == truth.wildcard,
          "wildcards are what the system says");
}
