#pragma once

#include "messages/identity/session_key.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

/// How session files are called (office note, section 9.2). Everybody who looks
/// for the file of a key asks here.
namespace bureau {

/// End of the name of every session file.
inline constexpr std::string_view session_file_extension = ".jsonl";

/// Whether a name has the form of a top-level session file,
/// `YYYY-MM-DDT…_<8 hex>.jsonl` in any case.
inline bool is_main_file_name(std::string_view name) {
  auto is_digit = [](char c) {
    return c >= '0' && c <= '9';
  };
  auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  auto is_hex = [&](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
  };
  constexpr std::string_view date = "dddd-dd-ddt";
  constexpr size_t id = 8;
  constexpr size_t tail = 1 + id + session_file_extension.size();
  // At least one character stands between the date and the id.
  if (name.size() < date.size() + 1 + tail)
    return false;
  for (size_t i = 0; i < date.size(); ++i)
    if (date[i] == 'd' ? !is_digit(name[i]) : lower(name[i]) != date[i])
      return false;
  auto end = name.substr(name.size() - tail);
  auto hex = end.substr(1, id);
  auto extension = end.substr(1 + id);
  return end.front() == '_' && std::all_of(hex.begin(), hex.end(), is_hex)
         && std::equal(extension.begin(), extension.end(),
                       session_file_extension.begin(),
                       [&](char a, char b) { return lower(a) == b; });
}

/// `<suffix>.jsonl`, or nothing for a suffix that is no safe file name: empty,
/// `.`, `..`, with a separator or a control character, too long, or one that
/// could be taken for a top-level file.
inline std::optional<std::string> thread_file_name(std::string_view suffix) {
  if (suffix.empty() || suffix == "." || suffix == ".."
      || suffix.size() > max_suffix_bytes)
    return std::nullopt;
  for (auto c : suffix) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\')
      return std::nullopt;
  }
  auto result = std::string{suffix};
  result += session_file_extension;
  if (is_main_file_name(result))
    return std::nullopt;
  return result;
}

} // namespace bureau
