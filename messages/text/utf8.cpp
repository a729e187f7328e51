#include "messages/text/utf8.hpp"

namespace bureau::text {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

unsigned char byte_at(std::string_view bytes, size_t pos) {
  return static_cast<unsigned char>(bytes[pos]);
}

/// Examines the sequence at `pos`. `length` is the number of bytes that belong
/// together; `complete` tells whether they form a character, `cut` whether more
/// input could still complete them.
struct scan_result {
  size_t length = 1;
  bool complete = false;
  bool cut = false;
  char32_t code_point = 0xFFFD;
};

scan_result scan(std::string_view bytes, size_t pos) {
  auto lead = byte_at(bytes, pos);
  if (lead < 0x80)
    return {1, true, false, lead};
  size_t need = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  char32_t value = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    need = 1;
    value = lead & 0x1Fu;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    need = 2;
    value = lead & 0x0Fu;
    if (lead == 0xE0)
      low = 0xA0;
    else if (lead == 0xED)
      high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    need = 3;
    value = lead & 0x07u;
    if (lead == 0xF0)
      low = 0x90;
    else if (lead == 0xF4)
      high = 0x8F;
  } else {
    return {};
  }
  size_t taken = 1;
  for (size_t i = 0; i < need; ++i, ++taken) {
    if (pos + taken >= bytes.size())
      return {taken, false, true, 0xFFFD};
    auto next = byte_at(bytes, pos + taken);
    if (next < low || next > high)
      return {taken, false, false, 0xFFFD};
    value = (value << 6) | (next & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {taken, true, false, value};
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0xA0 || c == 0x1680
         || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029
         || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

} // namespace

bool is_valid_utf8(std::string_view bytes) {
  for (size_t pos = 0; pos < bytes.size();) {
    auto step = scan(bytes, pos);
    if (!step.complete)
      return false;
    pos += step.length;
  }
  return true;
}

std::string sanitize_utf8(std::string_view bytes) {
  std::string result;
  result.reserve(bytes.size());
  for (size_t pos = 0; pos < bytes.size();) {
    auto step = scan(bytes, pos);
    result += step.complete ? bytes.substr(pos, step.length) : replacement;
    pos += step.length;
  }
  return result;
}

size_t utf16_length(std::string_view valid) {
  size_t units = 0;
  for (auto c : valid) {
    auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0u) != 0x80u)
      units += byte >= 0xF0u ? 2u : 1u;
  }
  return units;
}

size_t code_point_length(std::string_view valid) {
  size_t count = 0;
  for (auto c : valid)
    if (!is_continuation(c))
      ++count;
  return count;
}

std::string_view prefix_bytes(std::string_view valid, size_t max_bytes) {
  if (valid.size() <= max_bytes)
    return valid;
  auto end = max_bytes;
  while (end > 0 && is_continuation(valid[end]))
    --end;
  return valid.substr(0, end);
}

std::string_view suffix_bytes(std::string_view valid, size_t max_bytes) {
  if (valid.size() <= max_bytes)
    return valid;
  auto begin = valid.size() - max_bytes;
  while (begin < valid.size() && is_continuation(valid[begin]))
    ++begin;
  return valid.substr(begin);
}

std::string_view prefix_utf16(std::string_view valid, size_t max_units) {
  size_t units = 0;
  size_t pos = 0;
  while (pos < valid.size()) {
    auto step = scan(valid, pos);
    size_t width = step.complete && step.code_point > 0xFFFF ? 2 : 1;
    if (units + width > max_units)
      break;
    units += width;
    pos += step.length;
  }
  return valid.substr(0, pos);
}

decoded decode_at(std::string_view bytes, size_t pos) {
  auto step = scan(bytes, pos);
  return step.complete ? decoded{step.code_point, step.length}
                       : decoded{0xFFFD, 1};
}

void append_code_point(std::string& out, char32_t code_point) {
  auto put = [&out](char32_t byte) {
    out += static_cast<char>(byte);
  };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0u | (code_point >> 6));
    put(0x80u | (code_point & 0x3Fu));
  } else if (code_point < 0x10000) {
    put(0xE0u | (code_point >> 12));
    put(0x80u | ((code_point >> 6) & 0x3Fu));
    put(0x80u | (code_point & 0x3Fu));
  } else {
    put(0xF0u | (code_point >> 18));
    put(0x80u | ((code_point >> 12) & 0x3Fu));
    put(0x80u | ((code_point >> 6) & 0x3Fu));
    put(0x80u | (code_point & 0x3Fu));
  }
}

std::string_view trim(std::string_view valid) {
  size_t begin = 0;
  while (begin < valid.size()) {
    auto step = decode_at(valid, begin);
    if (!is_space(step.code_point))
      break;
    begin += step.bytes;
  }
  auto end = valid.size();
  while (end > begin) {
    auto start = end - 1;
    while (start > begin && is_continuation(valid[start]))
      --start;
    if (!is_space(decode_at(valid, start).code_point))
      break;
    end = start;
  }
  return valid.substr(begin, end - begin);
}

bool is_blank(std::string_view valid) {
  return trim(valid).empty();
}

std::string utf8_stream::feed(std::string_view chunk) {
  pending_ += chunk;
  std::string result;
  size_t pos = 0;
  while (pos < pending_.size()) {
    auto step = scan(pending_, pos);
    if (step.cut)
      break;
    result += step.complete
                ? std::string_view{pending_}.substr(pos, step.length)
                : replacement;
    pos += step.length;
  }
  pending_.erase(0, pos);
  return result;
}

std::string utf8_stream::finish() {
  auto rest = sanitize_utf8(pending_);
  pending_.clear();
  return rest;
}

} // namespace bureau::text
