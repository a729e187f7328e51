#include "messages/codec/json_append.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"

#include <cmath>

namespace bureau::json {

namespace {

bool plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

void append_escape(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (c) {
  case '"':
    out += "\\\"";
    break;
  case '\\':
    out += "\\\\";
    break;
  case '\n':
    out += "\\n";
    break;
  case '\r':
    out += "\\r";
    break;
  case '\t':
    out += "\\t";
    break;
  default:
    out += "\\u00";
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 0x0F];
  }
}

void append_valid(std::string& out, std::string_view text) {
  out += '"';
  size_t begin = 0;
  for (size_t pos = 0; pos < text.size(); ++pos) {
    if (plain(text[pos]))
      continue;
    out.append(text, begin, pos - begin);
    append_escape(out, text[pos]);
    begin = pos + 1;
  }
  out.append(text, begin);
  out += '"';
}

} // namespace

void append_quoted(std::string& out, std::string_view text) {
  if (text::is_valid_utf8(text))
    append_valid(out, text);
  else
    append_valid(out, text::sanitize_utf8(text));
}

void append_name(std::string& out, std::string_view name) {
  if (!out.empty() && out.back() != '{')
    out += ',';
  append_valid(out, name);
  out += ':';
}

void append_member(std::string& out, std::string_view name,
                   std::string_view value) {
  append_name(out, name);
  append_quoted(out, value);
}

void append_member(std::string& out, std::string_view name, int64_t value) {
  append_name(out, name);
  out += std::to_string(value);
}

void append_flag(std::string& out, std::string_view name, bool value) {
  append_name(out, name);
  out += value ? "true" : "false";
}

void append_optional(std::string& out, std::string_view name,
                     std::string_view value) {
  if (!value.empty())
    append_member(out, name, value);
}

void append_json(std::string& out, std::string_view text) {
  auto parsed = parse(text);
  if (parsed)
    out += print(parsed.value);
  else
    append_quoted(out, text);
}

void append_dollars(std::string& out, int64_t micro) {
  constexpr uint64_t scale = 1'000'000;
  auto magnitude = micro < 0 ? uint64_t{0} - static_cast<uint64_t>(micro)
                             : static_cast<uint64_t>(micro);
  if (micro < 0)
    out += '-';
  out += std::to_string(magnitude / scale);
  auto rest = magnitude % scale;
  if (rest == 0)
    return;
  auto fraction = std::to_string(scale + rest).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  out += '.';
  out += fraction;
}

int64_t micro_of(double dollars) {
  constexpr double bound = 9007199254740992.0;
  auto micro = std::round(dollars * 1e6);
  if (!(micro > -bound)) // also not a number
    return micro <= -bound ? -(int64_t{1} << 53) : 0;
  return micro < bound ? static_cast<int64_t>(micro) : int64_t{1} << 53;
}

} // namespace bureau::json
