#include "messages/contracts/bearer.hpp"

#include "messages/text/utf8.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 5> credential_headers = {
  "authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key"};

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_without_case(std::string_view left, std::string_view lower_right) {
  return std::equal(left.begin(), left.end(), lower_right.begin(),
                    lower_right.end(),
                    [](char a, char b) { return lower(a) == b; });
}

} // namespace

std::string generate_bearer_token(entropy& source) {
  std::string result;
  for (int i = 0; i < 4; ++i)
    result += random_hex(source, 16);
  return result;
}

bool bearer_tokens_equal(std::string_view left, std::string_view right) {
  return left.size() == right.size()
         && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

std::optional<std::string>
read_authorization_bearer(std::optional<std::string_view> value) {
  constexpr std::string_view scheme = "bearer ";
  if (!value || !equal_without_case(value->substr(0, scheme.size()), scheme))
    return std::nullopt;
  auto token = text::trim(value->substr(scheme.size()));
  if (token.empty())
    return std::nullopt;
  return std::string{token};
}

bool is_credential_header(std::string_view name) {
  return std::any_of(
    credential_headers.begin(), credential_headers.end(),
    [name](std::string_view other) { return equal_without_case(name, other); });
}

boost::json::object
sanitize_inbound_http_headers(const boost::json::object& headers) {
  boost::json::object result;
  for (const auto& header : headers)
    if (!is_credential_header(header.key()))
      result.insert(header);
  return result;
}

} // namespace bureau::contracts
