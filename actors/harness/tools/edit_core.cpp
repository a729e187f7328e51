#include "actors/harness/tools/edit_core.hpp"

#include "actors/harness/tools/outcome_core.hpp"
#include "actors/harness/tools/truncate_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <vector>

namespace bureau::harness {

namespace {

constexpr size_t context_lines = 4;

using lines = std::vector<std::string_view>;

lines split_lines(std::string_view text) {
  lines result;
  while (true) {
    auto newline = text.find('\n');
    result.push_back(text.substr(0, newline));
    if (newline == std::string_view::npos)
      break;
    text.remove_prefix(newline + 1);
  }
  // What follows the final newline is no line of its own in a diff.
  if (result.size() > 1 && result.back().empty())
    result.pop_back();
  return result;
}

/// One line of the comparison: ' ' in both, '-' only before, '+' only after.
struct diff_line {
  char mark = ' ';
  size_t number = 0;
  std::string_view text;
};

/// Longest common subsequence of the changed middle, or its plain replacement
/// when that would cost too much.
void compare_middle(std::vector<diff_line>& out, const lines& before,
                    const lines& after, size_t prefix, size_t suffix) {
  auto rows = before.size() - prefix - suffix;
  auto columns = after.size() - prefix - suffix;
  auto removed = [&](size_t i) {
    out.push_back({'-', prefix + i + 1, before[prefix + i]});
  };
  auto added = [&](size_t j) {
    out.push_back({'+', prefix + j + 1, after[prefix + j]});
  };
  if (rows == 0 || columns == 0 || rows > limits::tool_diff_cells / columns) {
    for (size_t i = 0; i < rows; ++i)
      removed(i);
    for (size_t j = 0; j < columns; ++j)
      added(j);
    return;
  }
  // common[i][j]: length of the best match of the rests from i and j on.
  auto width = columns + 1;
  std::vector<uint32_t> common((rows + 1) * width, 0);
  for (auto i = rows; i-- > 0;)
    for (auto j = columns; j-- > 0;)
      common[i * width + j] =
        before[prefix + i] == after[prefix + j]
          ? common[(i + 1) * width + j + 1] + 1
          : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  size_t i = 0;
  size_t j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && before[prefix + i] == after[prefix + j]) {
      out.push_back({' ', prefix + i + 1, before[prefix + i]});
      ++i;
      ++j;
    } else if (i < rows
               && (j == columns
                   || common[(i + 1) * width + j]
                        >= common[i * width + j + 1])) {
      removed(i++);
    } else {
      added(j++);
    }
  }
}

std::vector<diff_line> compare(const lines& before, const lines& after) {
  auto shorter = std::min(before.size(), after.size());
  size_t prefix = 0;
  while (prefix < shorter && before[prefix] == after[prefix])
    ++prefix;
  size_t suffix = 0;
  while (suffix < shorter - prefix
         && before[before.size() - 1 - suffix]
              == after[after.size() - 1 - suffix])
    ++suffix;
  std::vector<diff_line> result;
  for (size_t i = 0; i < prefix; ++i)
    result.push_back({' ', i + 1, before[i]});
  compare_middle(result, before, after, prefix, suffix);
  for (auto i = before.size() - suffix; i < before.size(); ++i)
    result.push_back({' ', i + 1, before[i]});
  return result;
}

} // namespace

edited_text apply_edit(std::string_view path, std::string_view content,
                       std::string_view old_text, std::string_view new_text) {
  edited_text result;
  if (old_text.empty()) {
    result.fault = "oldText is empty. Give the exact passage to replace; use "
                   "write to create a file.";
    return result;
  }
  size_t found = 0;
  auto first = std::string_view::npos;
  for (auto at = content.find(old_text); at != std::string_view::npos;
       at = content.find(old_text, at + old_text.size())) {
    if (found++ == 0)
      first = at;
  }
  if (found == 0) {
    result.fault = "oldText does not occur in " + std::string{path}
                   + ". It must match exactly, white space and line ends "
                     "included; read the file again.";
    return result;
  }
  if (found > 1) {
    result.fault = "oldText occurs " + std::to_string(found) + " times in "
                   + std::string{path}
                   + ". Add surrounding lines until it is unique.";
    return result;
  }
  if (old_text == new_text) {
    result.fault = "The replacement leaves " + std::string{path}
                   + " unchanged; nothing was written.";
    return result;
  }
  result.content.reserve(content.size() - old_text.size() + new_text.size());
  result.content += content.substr(0, first);
  result.content += new_text;
  result.content += content.substr(first + old_text.size());
  return result;
}

std::string edit_diff(std::string_view before, std::string_view after) {
  auto old_lines = split_lines(before);
  auto new_lines = split_lines(after);
  auto all = compare(old_lines, new_lines);
  auto width =
    std::to_string(std::max(old_lines.size(), new_lines.size())).size();
  // A context line is shown when a change is at most four lines away.
  std::vector<bool> shown(all.size(), false);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].mark == ' ')
      continue;
    auto begin = i > context_lines ? i - context_lines : 0;
    auto end = std::min(all.size(), i + context_lines + 1);
    for (auto j = begin; j < end; ++j)
      shown[j] = true;
  }
  std::string result;
  auto gap = false;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!shown[i]) {
      if (!gap)
        result += std::string(width + 2, ' ') + "...\n";
      gap = true;
      continue;
    }
    gap = false;
    auto number = std::to_string(all[i].number);
    result += all[i].mark;
    result.append(width - std::min(width, number.size()), ' ');
    result += number;
    result += ' ';
    result += all[i].text;
    result += '\n';
  }
  if (!result.empty())
    result.pop_back();
  auto cut = truncate_head(text::sanitize_utf8(result));
  return cut.truncated() ? cut.content + "\n[diff cut]" : cut.content;
}

tool_outcome edit_outcome(std::string_view path, std::string_view before,
                          std::string_view after, std::string_view old_text,
                          std::string_view new_text) {
  auto result = text_outcome(
    "Replaced " + std::to_string(text::utf16_length(old_text))
    + " characters by " + std::to_string(text::utf16_length(new_text)) + " in "
    + std::string{path} + ".");
  boost::json::object details;
  details["diff"] = edit_diff(before, after);
  result.details = json_text{json::print(details)};
  return result;
}

tool_outcome write_outcome(std::string_view path, uint64_t bytes) {
  return text_outcome("Wrote " + std::to_string(bytes) + " bytes to "
                      + std::string{path} + ".");
}

} // namespace bureau::harness
