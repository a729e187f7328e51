#include "actors/memory/memory_core.hpp"

#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::memory {

namespace {

constexpr std::string_view heading_mark = "## ";
constexpr std::string_view cut_mark = "\n\n(cut here)";

/// The last heading of the second level, without its mark.
std::string_view last_heading(std::string_view file) {
  std::string_view result;
  while (!file.empty()) {
    auto end = file.find('\n');
    auto line = file.substr(0, end);
    if (line.starts_with(heading_mark))
      result = text::trim(line.substr(heading_mark.size()));
    if (end == std::string_view::npos)
      break;
    file.remove_prefix(end + 1);
  }
  return result;
}

} // namespace

contracts::memory_block block_of(std::string_view bytes, uint64_t size) {
  contracts::memory_block result;
  result.content = text::sanitize_utf8(bytes);
  result.source = "MEMORY.md";
  result.truncated = size > bytes.size();
  return result;
}

std::string entry_text(std::string_view summary) {
  auto valid = text::sanitize_utf8(summary);
  std::string result{text::trim(valid)};
  // A comment could hide what follows.
  constexpr std::string_view comment = "<!--";
  for (auto at = result.find(comment); at != std::string::npos;
       at = result.find(comment, at))
    result.replace(at, comment.size(), "<!- -");
  if (result.size() <= limits::memory_entry_bytes)
    return result;
  auto room = limits::memory_entry_bytes - cut_mark.size();
  return std::string{text::prefix_bytes(result, room)} + std::string{cut_mark};
}

bool is_run_id(std::string_view run) {
  constexpr size_t longest = 128;
  return !run.empty() && run.size() <= longest
         && std::all_of(run.begin(), run.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                     || (c >= '0' && c <= '9') || c == '_' || c == '.'
                     || c == ':' || c == '-';
            });
}

bool has_entry(std::string_view file, std::string_view entry) {
  auto line = std::string{entry} + '\n';
  for (auto at = file.find(line); at != std::string_view::npos;
       at = file.find(line, at + 1))
    if (at == 0 || file[at - 1] == '\n')
      return true;
  return false;
}

std::string with_entry(std::string_view file, std::string_view day,
                       std::string_view entry) {
  std::string result{file};
  if (!result.empty() && !result.ends_with('\n'))
    result += '\n';
  if (!result.empty())
    result += '\n';
  if (last_heading(file) != day) {
    result += heading_mark;
    result += day;
    result += "\n\n";
  }
  result += entry;
  result += '\n';
  return result;
}

} // namespace bureau::memory
