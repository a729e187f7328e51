#include "config/host_safety.hpp"

#include "config/readers.hpp"

#include <algorithm>

namespace bureau::config {

namespace {

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

} // namespace

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
