#include "messages/contracts/preview.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/contracts/code_points.hpp"
#include "messages/contracts/redact.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::contracts {

namespace {

/// A root without its trailing slash; empty when it shortens nothing.
std::string_view usable_root(std::string_view root) {
  if (root.ends_with('/'))
    root.remove_suffix(1);
  return root;
}

std::string expand_home(std::string_view path, std::string_view home) {
  if (path == "~")
    return std::string{home};
  if (path.starts_with("~/"))
    return std::string{home} + std::string{path.substr(1)};
  return std::string{path};
}

/// End of the directory of a `cd`: quoted, or up to a space, `;`, `&` or `|`.
size_t directory_end(std::string_view text, size_t pos) {
  if (pos < text.size() && (text[pos] == '"' || text[pos] == '\'')) {
    auto close = text.find(text[pos], pos + 1);
    if (close != std::string_view::npos)
      return close + 1;
  }
  while (pos < text.size() && text[pos] != ';' && text[pos] != '&'
         && text[pos] != '|' && space_at(text, pos) == 0)
    ++pos;
  return pos;
}

/// A command without its leading `cd <workspace> &&`, unless that is all of it.
std::string_view without_own_cd(std::string_view command,
                                const path_roots& roots) {
  auto workspace = usable_root(roots.workspace);
  auto begin = skip_spaces(command, 2);
  if (workspace.empty() || !command.starts_with("cd") || begin == 2)
    return command;
  auto end = directory_end(command, begin);
  auto target = command.substr(begin, end - begin);
  if (target.size() >= 2 && (target.front() == '"' || target.front() == '\'')
      && target.back() == target.front())
    target = target.substr(1, target.size() - 2);
  auto path = expand_home(target, usable_root(roots.home));
  if (usable_root(path) != workspace)
    return command;
  auto joint = skip_spaces(command, end);
  auto rest = command.substr(joint);
  if (rest.starts_with("&&"))
    joint += 2;
  else if (rest.starts_with(';'))
    joint += 1;
  else
    return command;
  rest = command.substr(skip_spaces(command, joint));
  return rest.empty() ? command : rest;
}

std::string replaced(std::string_view text, std::string_view from,
                     std::string_view to) {
  std::string result;
  size_t start = 0;
  for (auto at = text.find(from); at != std::string_view::npos;
       at = text.find(from, start)) {
    result += text.substr(start, at - start);
    result += to;
    start = at + from.size();
  }
  result += text.substr(start);
  return result;
}

std::string with_short_paths(std::string text, const path_roots& roots) {
  if (auto root = usable_root(roots.workspace); !root.empty())
    text = replaced(text, std::string{root} + "/", "");
  if (auto root = usable_root(roots.home); !root.empty())
    text = replaced(text, std::string{root} + "/", "~/");
  return text;
}

constexpr std::string_view gap_mark = "…";

} // namespace

size_t word_end(std::string_view text, size_t pos) {
  constexpr size_t longest_token = 512;
  auto limit = std::min(text.size(), pos + longest_token);
  while (pos < limit && text[pos] > ' ' && text[pos] < 0x7F)
    ++pos;
  return pos;
}

std::string cut_to(std::string_view text, size_t max_chars, cut_shape shape) {
  if (forward_by(text, 0, max_chars) == text.size())
    return std::string{text};
  auto kept = max_chars - std::min<size_t>(max_chars, 1);
  auto head = kept;
  if (shape == cut_shape::middle)
    head = kept / 3;
  else if (shape == cut_shape::balanced)
    head = kept - kept / 2;
  std::string result{text.substr(0, forward_by(text, 0, head))};
  result += gap_mark;
  result += text.substr(back_from_end_by(text, kept - head));
  return result;
}

std::string folded_line(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  auto gap = false;
  for (size_t pos = 0; pos < text.size();) {
    if (text[pos] > ' ' && text[pos] < 0x7F) {
      auto end = pos + 1;
      while (end < text.size() && text[end] > ' ' && text[end] < 0x7F)
        ++end;
      if (gap && !result.empty())
        result += ' ';
      gap = false;
      result += text.substr(pos, end - pos);
      pos = end;
      continue;
    }
    auto space = space_at(text, pos);
    auto next = text::decode_at(text, pos);
    if (space > 0 || is_control_or_format(next.code_point)) {
      gap = true;
    } else {
      if (gap && !result.empty())
        result += ' ';
      gap = false;
      text::append_code_point(result, next.code_point);
    }
    pos += next.bytes;
  }
  return result;
}

std::string preview_of(std::string_view text, preview_style style,
                       const path_roots& roots) {
  std::string_view seen = text;
  std::string_view rest_of_word;
  if (forward_by(text, 0, preview_scan_chars) < text.size()) {
    auto end = forward_by(text, 0, preview_scan_chars - 1);
    rest_of_word = text.substr(end, word_end(text, end) - end);
    seen = text.substr(0, end);
  }
  auto line = folded_line(text.substr(0, seen.size() + rest_of_word.size()));
  std::string_view shown = line;
  if (style.shell)
    shown = without_own_cd(shown, roots);
  auto harmless = redact(with_short_paths(std::string{shown}, roots));
  if (seen.size() < text.size()) {
    if (harmless.ends_with(rest_of_word))
      harmless.resize(harmless.size() - rest_of_word.size());
    harmless += gap_mark;
  }
  return cut_to(folded_line(harmless), style.max_chars, style.shape);
}

} // namespace bureau::contracts
