#include "messages/contracts/text_split.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/contracts/code_points.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::contracts {

namespace {

bool is_newline(char c) {
  return c == '\n' || c == '\r';
}

bool is_blank_or_tab(char c) {
  return c == ' ' || c == '\t';
}

/// Last index in [low, high) of a break: an empty line, else a line, else a
/// word; npos without one.
size_t find_break(std::string_view text, size_t low, size_t high) {
  auto line = std::string_view::npos;
  auto word = std::string_view::npos;
  for (auto at = high; at > low; --at) {
    auto index = at - 1;
    if (is_newline(text[index])) {
      if (index > 0 && is_newline(text[index - 1]))
        return index;
      if (line == std::string_view::npos)
        line = index;
    } else if (is_blank_or_tab(text[index]) && word == std::string_view::npos) {
      word = index;
    }
  }
  return line != std::string_view::npos ? line : word;
}

template <class Predicate>
size_t skip(std::string_view text, size_t pos, Predicate predicate) {
  while (pos < text.size() && predicate(text[pos]))
    ++pos;
  return pos;
}

} // namespace

std::string normalize_trailing(std::string_view text,
                               std::string_view fallback) {
  auto kept = trim_end(text);
  return std::string{kept.empty() ? fallback : kept};
}

std::optional<std::vector<std::string>>
split_text_by_code_points(std::string_view text, size_t max_chars) {
  if (max_chars == 0)
    return std::nullopt;
  std::vector<std::string> result;
  size_t start = 0;
  do {
    auto end = forward_by(text, start, max_chars);
    result.emplace_back(text.substr(start, end - start));
    start = end;
  } while (start < text.size());
  return result;
}

std::optional<std::vector<std::string>>
split_text_for_chat(std::string_view text, size_t max_chars) {
  if (max_chars == 0)
    return std::nullopt;
  std::vector<std::string> result;
  auto emit = [&](size_t begin, size_t end) {
    auto piece = text.substr(begin, end - begin);
    if (!text::is_blank(piece))
      result.emplace_back(piece);
  };
  auto half = std::max<size_t>(1, max_chars / 2);
  for (size_t start = 0; start < text.size();) {
    auto end = forward_by(text, start, max_chars);
    if (end == text.size()) {
      // A text that fits as a whole stays as it is, blank or not.
      if (start > 0)
        emit(start, end);
      break;
    }
    auto cut = find_break(text, forward_by(text, start, half), end);
    if (cut == std::string_view::npos) {
      result.emplace_back(text.substr(start, end - start));
      start = end;
      continue;
    }
    emit(start, start + trim_end(text.substr(start, cut - start)).size());
    start = is_newline(text[cut]) ? skip(text, cut, is_newline)
                                  : skip(text, cut, is_blank_or_tab);
  }
  if (result.empty())
    result.emplace_back(text);
  return result;
}

std::string build_streaming_tail_preview(std::string_view text,
                                         size_t max_chars,
                                         std::string_view prefix) {
  if (forward_by(text, 0, max_chars) == text.size())
    return std::string{text};
  auto taken = text::code_point_length(prefix);
  auto room = max_chars > taken ? max_chars - taken : size_t{1};
  std::string result{prefix};
  result += text.substr(back_from_end_by(text, room));
  return result;
}

} // namespace bureau::contracts
