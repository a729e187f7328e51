#include "messages/identity/office_address.hpp"

#include "messages/text/sha256.hpp"
#include "messages/text/utf8.hpp"

#include <array>

namespace bureau {

namespace {

constexpr std::string_view key_version = "v1";
constexpr std::string_view hash_domain = "office-address-v1";
constexpr size_t key_digest_digits = 16;
constexpr size_t key_readable_cap = 32;
constexpr size_t legacy_digest_digits = 12;
constexpr size_t legacy_readable_cap = 40;

constexpr char32_t kelvin_sign = 0x212A;
constexpr char32_t dotted_capital_i = 0x0130;

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_lower_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// Lower-case ASCII letters and digits with single dashes between their runs.
/// Only two non-ASCII code points have a lower case with such characters.
std::string slug(std::string_view text) {
  std::string result;
  bool gap = false;
  auto keep = [&](char c) {
    if (gap && !result.empty())
      result += '-';
    gap = false;
    result += c;
  };
  for (size_t pos = 0; pos < text.size();) {
    auto [code_point, bytes] = text::decode_at(text, pos);
    pos += bytes;
    if (code_point == kelvin_sign) {
      keep('k');
    } else if (code_point == dotted_capital_i) {
      keep('i');
      gap = true;
    } else if (code_point >= U'A' && code_point <= U'Z') {
      keep(static_cast<char>(code_point - U'A' + U'a'));
    } else if (code_point < 0x80
               && is_lower_alnum(static_cast<char>(code_point))) {
      keep(static_cast<char>(code_point));
    } else {
      gap = true;
    }
  }
  return result;
}

std::string readable_part(std::string_view text, size_t cap,
                          std::string_view fallback) {
  auto result = slug(text);
  if (result.size() > cap)
    result.resize(cap);
  while (!result.empty() && result.back() == '-')
    result.pop_back();
  if (result.empty())
    result = fallback;
  return result;
}

/// Whether the text is one or more [a-z0-9]+ groups joined by single dashes.
bool is_slug(std::string_view text) {
  if (text.empty() || text.front() == '-' || text.back() == '-')
    return false;
  char previous = 0;
  for (auto c : text) {
    if (c == '-') {
      if (previous == '-')
        return false;
    } else if (!is_lower_alnum(c)) {
      return false;
    }
    previous = c;
  }
  return true;
}

} // namespace

std::string to_string(address_fault fault) {
  static constexpr std::array<std::string_view, 6> names = {
    "none",
    "unsupported_platform",
    "not_an_object",
    "platform_not_string",
    "conversation_id_not_string",
    "invalid_conversation_id",
  };
  auto index = static_cast<size_t>(fault);
  return std::string{index < names.size() ? names[index] : "unknown"};
}

address_fault check_conversation_id(std::string_view raw_id) {
  constexpr auto invalid = address_fault::invalid_conversation_id;
  if (raw_id.empty() || raw_id == "." || raw_id == "..")
    return invalid;
  if (!text::is_valid_utf8(raw_id))
    return invalid;
  for (size_t pos = 0; pos < raw_id.size();) {
    auto [code_point, bytes] = text::decode_at(raw_id, pos);
    pos += bytes;
    if (code_point == U'/' || code_point == U'\\' || code_point <= 0x1F
        || (code_point >= 0x7F && code_point <= 0x9F))
      return invalid;
  }
  return address_fault::none;
}

std::string office_key(const office_address& address) {
  auto platform = to_string(address.platform);
  std::string preimage{hash_domain};
  preimage += '\0';
  preimage += platform;
  preimage += '\0';
  preimage += address.conversation_id;
  std::string key{key_version};
  key += '-';
  key += platform;
  key += '-';
  key +=
    readable_part(address.conversation_id, key_readable_cap, "conversation");
  key += '-';
  key += text::sha256_hex(preimage).substr(0, key_digest_digits);
  return key;
}

bool is_office_key(std::string_view text) {
  auto take = [&](std::string_view prefix) {
    if (!text.starts_with(prefix))
      return false;
    text.remove_prefix(prefix.size());
    return true;
  };
  if (!take(key_version) || !take("-"))
    return false;
  auto dash = text.find('-');
  if (dash == std::string_view::npos || !parse_platform(text.substr(0, dash)))
    return false;
  text.remove_prefix(dash + 1);
  if (text.size() < key_digest_digits + 2)
    return false;
  auto digest = text.substr(text.size() - key_digest_digits);
  for (auto c : digest)
    if (!is_lower_hex(c))
      return false;
  text.remove_suffix(key_digest_digits);
  if (text.back() != '-')
    return false;
  text.remove_suffix(1);
  return is_slug(text);
}

std::string legacy_identity(std::string_view kind, std::string_view value) {
  std::string preimage{kind};
  preimage += '\0';
  preimage += value;
  auto result = readable_part(value, legacy_readable_cap, "unknown");
  result += '-';
  result += text::sha256_hex(preimage).substr(0, legacy_digest_digits);
  return result;
}

} // namespace bureau
