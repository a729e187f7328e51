#include "actors/io/http_core.hpp"

#include "config/host_safety.hpp"

#include <strings.h>

#include <algorithm>
#include <cctype>

namespace bureau::io {

namespace {

constexpr size_t longest_url = 16u << 10;
constexpr size_t most_headers = 128;
constexpr size_t longest_header = 64u << 10;
constexpr uint32_t most_redirects = 10;

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0
           || marks.find(c) != std::string_view::npos;
  });
}

bool is_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return c == '\r' || c == '\n' || c == '\0';
  });
}

/// Printable ASCII without blanks.
bool is_url_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > 0x20 && c < 0x7f; });
}

size_t scheme_length(std::string_view url) {
  for (std::string_view scheme : {"http://", "https://"})
    if (url.size() > scheme.size()
        && strncasecmp(url.data(), scheme.data(), scheme.size()) == 0)
      return scheme.size();
  return 0;
}

/// host[:port] without a user name.
std::string_view authority_of(std::string_view url) {
  auto start = scheme_length(url);
  auto end = std::min(url.find_first_of("/?#", start), url.size());
  auto authority = url.substr(start, end - start);
  auto user_end = authority.rfind('@');
  if (user_end != std::string_view::npos)
    authority.remove_prefix(user_end + 1);
  return authority;
}

std::string part_fault(const http_part& part) {
  if (part.name.empty())
    return "a part of the form has no name";
  if (!is_line(part.name) || !is_line(part.filename)
      || !is_line(part.content_type))
    return "a part of the form has a line break in its name or type";
  return {};
}

} // namespace

std::string request_fault(const http_request& request) {
  if (request.id == 0)
    return "the request has no id";
  if (!is_token(request.method) || request.method.size() > 32)
    return "the method is not a token";
  if (scheme_length(request.url) == 0 || authority_of(request.url).empty())
    return "the URL must begin with http:// or https:// and name a host";
  if (request.url.size() > longest_url || !is_url_text(request.url))
    return "the URL of " + shown_origin(request.url)
           + " is too long or holds characters that must be encoded";
  if (request.headers.size() > most_headers)
    return "there are too many headers";
  for (const auto& field : request.headers) {
    if (!is_token(field.name))
      return "a header name is not a token";
    if (!is_line(field.value) || field.value.size() > longest_header)
      return "the value of header " + field.name
             + " is too long or holds a line break";
  }
  if (!request.parts.empty() && !request.body.empty())
    return "a request has either a body or form parts, not both";
  for (const auto& part : request.parts)
    if (auto fault = part_fault(part); !fault.empty())
      return fault;
  // curl drops these two on the way to another host, and only these.
  for (const auto& field : request.headers)
    if (request.redirects > 0 && field.secret
        && strcasecmp(field.name.c_str(), "Authorization") != 0
        && strcasecmp(field.name.c_str(), "Cookie") != 0)
      return "header " + field.name
             + " is secret and would follow a redirect to another host";
  if (request.redirects > most_redirects)
    return "more redirects are allowed than " + std::to_string(most_redirects);
  return {};
}

std::string shown_origin(std::string_view url) {
  auto start = scheme_length(url);
  if (start == 0)
    return "an unsupported URL";
  std::string result{url.substr(0, start)};
  for (auto c : authority_of(url))
    result += is_url_text({&c, 1}) ? c : '?';
  return result;
}

bool is_loopback(std::string_view url) {
  auto parts = config::parse_url(url);
  return parts && config::is_loopback_host(parts.host);
}

caf::error fetch_failure(http_error error, const std::string& detail) {
  switch (error) {
  case http_error::too_large:
    return make_failure(errc::too_large, detail);
  case http_error::timeout:
    return make_failure(errc::timeout, detail);
  case http_error::cancelled:
    return make_failure(errc::aborted, detail);
  case http_error::shutting_down:
    return make_failure(errc::shutting_down, detail);
  default:
    return make_failure(errc::transport, detail);
  }
}

} // namespace bureau::io
