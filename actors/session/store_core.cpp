#include "actors/session/store_core.hpp"

#include "messages/codec/history.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace bureau::session {

namespace {

constexpr auto extension = session_file_extension;

std::string dashed_time(int64_t unix_ms) {
  auto result = text::iso_utc(unix_ms);
  for (auto& c : result)
    if (c == ':' || c == '.')
      c = '-';
  return result;
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

std::string next_file_name(std::string_view suffix) {
  auto result = std::string{suffix};
  result += extension;
  result += ".next";
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

std::vector<std::string> parent_names(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               is_main_file_name);
  std::sort(result.begin(), result.end(), std::greater<>{});
  return result;
}

parent_candidate better_parent(parent_candidate one, parent_candidate other,
                               int64_t thread_ms) {
  auto fits = [thread_ms](const parent_candidate& parent) {
    return !parent.id.empty() && parent.created_ms <= thread_ms;
  };
  if (!fits(other))
    return one;
  return fits(one) && one.created_ms >= other.created_ms ? one : other;
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
