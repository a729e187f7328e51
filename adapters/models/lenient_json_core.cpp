#include "adapters/models/lenient_json_core.hpp"

#include "messages/text/utf8.hpp"

#include <array>
#include <cstdio>
#include <optional>
#include <vector>

namespace bureau::models {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Value of the four hexadecimal digits at `pos`; nothing when they are not.
std::optional<unsigned> hex4(std::string_view text, size_t pos) {
  if (pos + 4 > text.size())
    return std::nullopt;
  unsigned value = 0;
  for (auto c : text.substr(pos, 4)) {
    if (!is_hex(c))
      return std::nullopt;
    auto digit = is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return value;
}

bool is_high_half(unsigned unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}

bool is_low_half(unsigned unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/// Copies the escape at `pos` (a backslash) and answers its length in `text`.
size_t repair_escape(std::string_view text, size_t pos, std::string& out) {
  constexpr std::string_view simple = "\"\\/bfnrt";
  if (pos + 1 >= text.size()) {
    out += "\\\\";
    return 1;
  }
  auto c = text[pos + 1];
  if (simple.find(c) != std::string_view::npos) {
    out += text.substr(pos, 2);
    return 2;
  }
  auto unit = c == 'u' ? hex4(text, pos + 2) : std::nullopt;
  if (!unit) {
    out += "\\\\";
    return 1;
  }
  if (is_high_half(*unit) && pos + 7 < text.size() && text[pos + 6] == '\\'
      && text[pos + 7] == 'u') {
    auto low = hex4(text, pos + 8);
    if (low && is_low_half(*low)) {
      out += text.substr(pos, 12);
      return 12;
    }
  }
  if (is_high_half(*unit) || is_low_half(*unit))
    out += "\\ufffd";
  else
    out += text.substr(pos, 6);
  return 6;
}

/// Completes a prefix of JSON. One pass copies the text up to the last place
/// where the value may end, remembering what has to be closed.
class prefix_completer {
public:
  explicit prefix_completer(std::string_view text) : text_(trimmed(text)) {}

  /// The completed text; nothing when the text is no prefix of JSON.
  std::optional<std::string> run() {
    if (!walk())
      return std::nullopt;
    auto result = std::string{text_.substr(0, keep_)} + tail_;
    // Every bracket that opens or closes marks, so the open ones are those.
    result.append(closers_.rbegin(), closers_.rend());
    return result;
  }

private:
  enum class expect { value, first_key, key, colon, separator, first_item };

  static constexpr size_t max_depth = 256;

  /// Everything up to `pos` plus `tail` plus the open brackets is JSON.
  void mark(std::string tail = {}) {
    keep_ = pos_;
    tail_ = std::move(tail);
    marked_ = true;
  }

  bool walk() {
    auto state = expect::value;
    while (true) {
      skip_space();
      if (pos_ >= text_.size())
        return marked_;
      auto c = text_[pos_];
      switch (state) {
      case expect::first_item:
        if (c == ']') {
          close(state);
          break;
        }
        [[fallthrough]];
      case expect::value:
        if (!value(c, state))
          return false;
        break;
      case expect::first_key:
        if (c == '}') {
          close(state);
          break;
        }
        [[fallthrough]];
      case expect::key:
        if (c != '"')
          return false;
        if (!string())
          return !broken_ && marked_;
        state = expect::colon;
        break;
      case expect::colon:
        if (c != ':')
          return false;
        ++pos_;
        state = expect::value;
        break;
      case expect::separator:
        if (c == closers_.back()) {
          close(state);
          break;
        }
        if (c != ',')
          return false;
        ++pos_;
        state = closers_.back() == '}' ? expect::key : expect::value;
        break;
      }
      if (done_)
        return true;
      if (at_end_)
        return marked_;
    }
  }

  /// One value, or the start of one.
  bool value(char c, expect& state) {
    if (c == '{' || c == '[') {
      if (closers_.size() >= max_depth)
        return false;
      ++pos_;
      closers_ += c == '{' ? '}' : ']';
      mark();
      state = c == '{' ? expect::first_key : expect::first_item;
      return true;
    }
    if (c == '"') {
      if (!string()) {
        if (broken_)
          return false;
        at_end_ = true;
        pos_ = string_keep_;
        mark("\"");
        return true;
      }
    } else if (c == '-' || is_digit(c)) {
      if (!number())
        return false;
    } else if (!literal()) {
      return false;
    }
    if (!at_end_)
      mark();
    if (closers_.empty())
      done_ = true;
    state = expect::separator;
    return true;
  }

  /// Leaves the innermost container.
  void close(expect& state) {
    ++pos_;
    closers_.pop_back();
    mark();
    state = expect::separator;
    done_ = closers_.empty();
  }

  /// Skips a string; false when the text ends inside, `string_keep_` then is
  /// the end of its last complete character.
  bool string() {
    ++pos_;
    string_keep_ = pos_;
    while (pos_ < text_.size()) {
      auto c = text_[pos_];
      if (c == '"') {
        ++pos_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        broken_ = true;
        return false;
      }
      if (c != '\\') {
        ++pos_;
        string_keep_ = pos_;
        continue;
      }
      if (!escape())
        return false;
    }
    return false;
  }

  /// Skips an escape; false when it is broken or cut.
  bool escape() {
    constexpr std::string_view simple = "\"\\/bfnrt";
    if (pos_ + 1 >= text_.size())
      return false;
    auto c = text_[pos_ + 1];
    if (simple.find(c) != std::string_view::npos) {
      pos_ += 2;
      string_keep_ = pos_;
      return true;
    }
    auto unit = hex4(text_, pos_ + 2);
    if (c != 'u' || !unit) {
      auto cut = c == 'u' && text_.size() < pos_ + 6;
      for (auto i = pos_ + 2; cut && i < text_.size(); ++i)
        cut = is_hex(text_[i]);
      broken_ = !cut;
      return false;
    }
    pos_ += 6;
    // The first half of a pair counts only together with its second half.
    if (!is_high_half(*unit))
      string_keep_ = pos_;
    return true;
  }

  bool digits() {
    auto begin = pos_;
    while (pos_ < text_.size() && is_digit(text_[pos_]))
      ++pos_;
    return pos_ > begin;
  }

  /// A number; one that the text cuts ends where it still is a number.
  bool number() {
    auto begin = pos_;
    if (text_[pos_] == '-')
      ++pos_;
    if (!digits()) {
      at_end_ = pos_ == text_.size();
      return at_end_ && begin < pos_;
    }
    auto good = pos_;
    if (pos_ < text_.size() && text_[pos_] == '.') {
      ++pos_;
      if (digits())
        good = pos_;
      else if (pos_ < text_.size())
        return false;
    }
    if (pos_ < text_.size() && (text_[pos_] | 0x20) == 'e') {
      ++pos_;
      if (pos_ < text_.size() && (text_[pos_] == '+' || text_[pos_] == '-'))
        ++pos_;
      if (digits())
        good = pos_;
      else if (pos_ < text_.size())
        return false;
    }
    if (good < text_.size() && pos_ == text_.size() && good < pos_) {
      pos_ = good;
      mark();
      at_end_ = true;
    }
    return true;
  }

  bool literal() {
    for (std::string_view word : {"true", "false", "null"}) {
      auto rest = text_.substr(pos_);
      if (rest.starts_with(word)) {
        pos_ += word.size();
        return true;
      }
      if (word.starts_with(rest)) {
        mark(std::string{word.substr(rest.size())});
        // The letters that are there belong to the literal.
        keep_ = text_.size();
        at_end_ = true;
        return true;
      }
    }
    return false;
  }

  void skip_space() {
    while (pos_ < text_.size() && is_space(text_[pos_]))
      ++pos_;
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::string closers_;
  size_t keep_ = 0;
  std::string tail_;
  size_t string_keep_ = 0;
  bool marked_ = false;
  bool broken_ = false;
  bool at_end_ = false;
  bool done_ = false;
};

std::optional<std::string> completed(std::string_view text) {
  auto result = prefix_completer{text}.run();
  if (result && json::parse(*result))
    return result;
  return std::nullopt;
}

} // namespace

std::string repair_json_strings(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  auto in_string = false;
  for (size_t i = 0; i < text.size();) {
    auto c = text[i];
    if (in_string && c == '\\') {
      i += repair_escape(text, i, out);
      continue;
    }
    if (in_string && static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x",
                    static_cast<unsigned>(c));
      out += escaped.data();
    } else {
      if (c == '"')
        in_string = !in_string;
      out += c;
    }
    ++i;
  }
  return out;
}

json::parsed parse_repaired(std::string_view text) {
  auto strict = json::parse(text);
  if (strict)
    return strict;
  auto repaired = json::parse(repair_json_strings(text));
  return repaired ? repaired : strict;
}

json_text lenient_arguments(std::string_view text) {
  if (!text::is_valid_utf8(text))
    return lenient_arguments(text::sanitize_utf8(text));
  auto value = trimmed(text);
  if (value.empty())
    return json_text{"{}"};
  if (json::parse(value))
    return json_text{std::string{value}};
  auto repaired = repair_json_strings(value);
  if (json::parse(repaired))
    return json_text{std::move(repaired)};
  if (auto whole = completed(value))
    return json_text{std::move(*whole)};
  if (auto whole = completed(repaired))
    return json_text{std::move(*whole)};
  return json_text{"{}"};
}

} // namespace bureau::models
