#include "web/http/request_core.hpp"

#include "messages/contracts/bearer.hpp"

#include <algorithm>
#include <cctype>

namespace bureau::web {

namespace {

constexpr size_t max_target = 8192;

int hex_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

bool is_refused(unsigned char c) {
  return c < 0x20 || c == 0x7f || c == '\\';
}

std::optional<std::string> decode_path(std::string_view raw) {
  std::string result;
  for (size_t i = 0; i < raw.size(); ++i) {
    auto byte = raw[i];
    if (byte == '%') {
      if (i + 2 >= raw.size())
        return std::nullopt;
      auto high = hex_value(raw[i + 1]);
      auto low = hex_value(raw[i + 2]);
      if (high < 0 || low < 0)
        return std::nullopt;
      byte = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (is_refused(static_cast<unsigned char>(byte)))
      return std::nullopt;
    result += byte;
  }
  return result;
}

std::string lower(std::string_view text) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return result;
}

} // namespace

std::optional<request_target> parse_target(std::string_view raw) {
  if (raw.empty() || raw.size() > max_target)
    return std::nullopt;
  for (auto scheme :
       {std::string_view{"http://"}, std::string_view{"https://"}})
    if (raw.starts_with(scheme)) {
      auto slash = raw.find('/', scheme.size());
      raw = slash == std::string_view::npos ? std::string_view{"/"}
                                            : raw.substr(slash);
    }
  if (raw.front() != '/')
    return std::nullopt;
  auto fragment = raw.find('#');
  if (fragment != std::string_view::npos)
    raw = raw.substr(0, fragment);
  auto mark = raw.find('?');
  auto path = decode_path(raw.substr(0, mark));
  if (!path)
    return std::nullopt;
  request_target result;
  result.path = std::move(*path);
  if (mark != std::string_view::npos)
    result.query = std::string{raw.substr(mark + 1)};
  auto clean = [](char c) {
    return !is_refused(static_cast<unsigned char>(c));
  };
  if (!std::all_of(result.query.begin(), result.query.end(), clean))
    return std::nullopt;
  return result;
}

std::optional<host_header> parse_host(std::string_view raw) {
  while (!raw.empty() && raw.front() == ' ')
    raw.remove_prefix(1);
  while (!raw.empty() && raw.back() == ' ')
    raw.remove_suffix(1);
  if (raw.empty() || raw.size() > 255)
    return std::nullopt;
  host_header result;
  std::string_view port;
  if (raw.front() == '[') {
    auto end = raw.find(']');
    if (end == std::string_view::npos)
      return std::nullopt;
    result.host = lower(raw.substr(1, end - 1));
    auto rest = raw.substr(end + 1);
    if (!rest.empty()) {
      if (rest.front() != ':')
        return std::nullopt;
      port = rest.substr(1);
    }
  } else {
    auto colon = raw.find(':');
    result.host = lower(raw.substr(0, colon));
    if (colon != std::string_view::npos)
      port = raw.substr(colon + 1);
  }
  if (result.host.empty() || port.size() > 5)
    return std::nullopt;
  for (auto c : port) {
    if (c < '0' || c > '9')
      return std::nullopt;
    result.port = result.port * 10 + (c - '0');
  }
  return result.port <= 65535 ? std::optional{result} : std::nullopt;
}

bool bearer_matches(std::string_view authorization, std::string_view token) {
  auto given = contracts::read_authorization_bearer(authorization);
  return given && contracts::bearer_tokens_equal(*given, token);
}

} // namespace bureau::web
