#include "actors/session/store_core.hpp"

#include "messages/codec/history.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/session_key.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::session {

namespace {

constexpr std::string_view extension = ".jsonl";

std::string dashed_time(int64_t unix_ms) {
  auto result = text::iso_utc(unix_ms);
  for (auto& c : result)
    if (c == ':' || c == '.')
      c = '-';
  return result;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Matches `d` to a digit and everything else to itself, ignoring case.
bool starts_with_shape(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 'd' ? !is_digit(text[i])
                        : lower(text[i]) != lower(shape[i]))
      return false;
  return true;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size()
         && starts_with_shape(text.substr(text.size() - end.size()), end);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\v\f";
  auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

} // namespace

std::string main_file_name(int64_t created_ms, std::string_view session_id) {
  auto result = dashed_time(created_ms) + "_";
  result += session_id.substr(0, 8);
  result += extension;
  return result;
}

bool is_main_file_name(std::string_view name) {
  // YYYY-MM-DDT, at least one character, _, 8 hex digits, .jsonl
  constexpr size_t tail = 1 + 8 + extension.size();
  if (!starts_with_shape(name, "dddd-dd-ddT") || !ends_with(name, extension)
      || name.size() < 11 + 1 + tail)
    return false;
  auto end = name.substr(name.size() - tail);
  if (end.front() != '_')
    return false;
  for (auto c : end.substr(1, 8))
    if (!is_digit(c) && !(lower(c) >= 'a' && lower(c) <= 'f'))
      return false;
  return true;
}

std::optional<int64_t> main_file_time(std::string_view name) {
  // 2026-04-05T00-00-12-345Z
  constexpr size_t length = 24;
  if (!starts_with_shape(name, "dddd-dd-ddTdd-dd-dd-dddZ"))
    return std::nullopt;
  auto stamp = std::string{name.substr(0, length)};
  stamp[13] = ':';
  stamp[16] = ':';
  stamp[19] = '.';
  return text::parse_iso(stamp);
}

std::optional<std::string> thread_file_name(std::string_view suffix) {
  if (suffix.empty() || suffix == "." || suffix == ".."
      || suffix.size() > max_suffix_bytes)
    return std::nullopt;
  for (auto c : suffix) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\')
      return std::nullopt;
  }
  auto result = std::string{suffix};
  result += extension;
  if (is_main_file_name(result))
    return std::nullopt;
  return result;
}

std::string archive_file_name(int64_t now_ms, std::string_view suffix) {
  auto result = dashed_time(now_ms) + "_";
  result += suffix;
  result += extension;
  return result;
}

std::string torn_file_name(int64_t now_ms, std::string_view file) {
  auto result = dashed_time(now_ms) + "_";
  result += file;
  result += ".torn";
  return result;
}

std::optional<std::string> pointer_target(std::string_view content) {
  auto name = trimmed(content);
  if (name.empty() || name == "." || name == ".." || name == pointer_name
      || name.size() > 255 || !text::is_valid_utf8(name))
    return std::nullopt;
  for (auto c : name) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\')
      return std::nullopt;
  }
  return std::string{name};
}

file_state state_of(std::string_view text) {
  auto content = trimmed(text);
  if (content.empty())
    return file_state::empty;
  line_scanner scanner;
  auto end = content.find('\n');
  const auto& front = scanner.scan(trimmed(content.substr(0, end)));
  if (front.is_object && front.typed && front.type == record_type::header)
    return file_state::session;
  if (front.is_object && front.typed && front.id)
    return file_state::damaged;
  while (end != std::string_view::npos) {
    content = content.substr(end + 1);
    end = content.find('\n');
    const auto& line = scanner.scan(trimmed(content.substr(0, end)));
    if (line.is_object && line.typed && line.id)
      return file_state::damaged;
  }
  return file_state::foreign;
}

std::optional<int64_t> thread_time(std::string_view suffix) {
  return numeric_ts_ms(suffix);
}

std::vector<std::string> parent_names(const std::vector<std::string>& names,
                                      int64_t thread_ms) {
  constexpr int64_t slack_ms = 86'400'000;
  std::vector<std::string> result;
  for (const auto& name : names) {
    if (!is_main_file_name(name))
      continue;
    auto created = main_file_time(name);
    if (!created || *created <= thread_ms + slack_ms)
      result.push_back(name);
  }
  std::sort(result.begin(), result.end(), std::greater<>{});
  return result;
}

std::optional<parent_candidate> read_candidate(std::string_view name,
                                               std::string_view beginning) {
  auto line = first_line(beginning);
  auto header = line ? parse_session_header(*line) : std::nullopt;
  auto created = header ? text::parse_iso(header->timestamp) : std::nullopt;
  if (!created)
    return std::nullopt;
  return parent_candidate{std::string{name}, std::move(header->id), *created};
}

std::string journal_path(const office& place, std::string_view name) {
  auto result = place.key + "/sessions/";
  result += name;
  return result;
}

std::string session_path(const office& place, std::string_view name) {
  auto result = place.sessions_dir + "/";
  result += name;
  return result;
}

} // namespace bureau::session
