#include "adapters/models/json_writer_core.hpp"

#include "messages/text/utf8.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace bureau::models {

std::string sendable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    auto byte = [&text, i](size_t offset) {
      return i + offset < text.size()
               ? static_cast<unsigned char>(text[i + offset])
               : 0u;
    };
    // A half of a pair, encoded on its own: ED A0 80 to ED BF BF.
    auto half = byte(0) == 0xed && byte(1) >= 0xa0 && byte(1) <= 0xbf
                && byte(2) >= 0x80 && byte(2) <= 0xbf;
    if (!half)
      result += text[i];
    i += half ? 3u : 1u;
  }
  return text::sanitize_utf8(result);
}

void json_writer::separate() {
  if (!std::exchange(first_, false))
    out_ += ',';
}

void json_writer::begin_object() {
  separate();
  out_ += '{';
  first_ = true;
}

void json_writer::end_object() {
  out_ += '}';
  first_ = false;
}

void json_writer::begin_array() {
  separate();
  out_ += '[';
  first_ = true;
}

void json_writer::end_array() {
  out_ += ']';
  first_ = false;
}

void json_writer::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
  first_ = true;
}

void json_writer::string(std::string_view text) {
  separate();
  quote(text);
}

void json_writer::number(int64_t value) {
  separate();
  out_ += std::to_string(value);
}

void json_writer::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void json_writer::null() {
  separate();
  out_ += "null";
}

void json_writer::raw(std::string_view json) {
  separate();
  out_ += json;
}

void json_writer::member(std::string_view name, std::string_view text) {
  key(name);
  string(text);
}

void json_writer::member(std::string_view name, const char* text) {
  member(name, std::string_view{text});
}

void json_writer::member(std::string_view name, int64_t value) {
  key(name);
  number(value);
}

void json_writer::member(std::string_view name, int value) {
  member(name, int64_t{value});
}

void json_writer::member(std::string_view name, bool value) {
  key(name);
  boolean(value);
}

std::string json_writer::take() {
  first_ = true;
  return std::exchange(out_, {});
}

void json_writer::quote(std::string_view text) {
  if (!text::is_valid_utf8(text)) {
    quote(sendable(text));
    return;
  }
  out_ += '"';
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\')
      continue;
    out_ += text.substr(plain, i - plain);
    plain = i + 1;
    switch (c) {
    case '"':
      out_ += "\\\"";
      break;
    case '\\':
      out_ += "\\\\";
      break;
    case '\n':
      out_ += "\\n";
      break;
    case '\r':
      out_ += "\\r";
      break;
    case '\t':
      out_ += "\\t";
      break;
    default: {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x",
                    static_cast<unsigned>(c));
      out_ += escaped.data();
    }
    }
  }
  out_ += text.substr(plain);
  out_ += '"';
}

} // namespace bureau::models
