#include "actors/runner/payload_core.hpp"

#include "messages/text/history_line.hpp"
#include "messages/text/utf8.hpp"

#include <array>
#include <cctype>
#include <utility>

namespace bureau::runner {

namespace {

using type_row = std::pair<std::string_view, std::string_view>;

constexpr std::array<type_row, 5> image_types = {{
  {"jpg", "image/jpeg"},
  {"jpeg", "image/jpeg"},
  {"png", "image/png"},
  {"gif", "image/gif"},
  {"webp", "image/webp"},
}};

constexpr const char* event_mode =
  "## Event Trigger Mode\n"
  "A schedule started this turn; it was prepared earlier and nobody is "
  "watching. Do the task without a greeting or closing phrases, follow the "
  "wording it asks for, and answer [SILENT] when there is nothing worth "
  "reporting.\n\n";

/// A path on a line of its own: a line break inside it would forge another.
std::string one_line(std::string_view path) {
  std::string result{path};
  for (auto& c : result)
    if (c == '\n' || c == '\r')
      c = ' ';
  return result;
}

/// Text of others on one line, which can neither be a path nor end the list.
std::string harmless_words(std::string_view words) {
  auto result = one_line(text::sanitize_utf8(words));
  for (auto& c : result)
    if (c == '<' || c == '>')
      c = '_';
  return result;
}

/// One line for each file that could not be saved.
std::string missing_files(const conversation_event& event) {
  std::string result;
  for (const auto& item : event.attachments) {
    if (!item.local_path.empty())
      continue;
    result += "not saved: " + harmless_words(item.name);
    if (!item.fault.empty())
      result += " (" + harmless_words(item.fault) + ")";
    result += "\n";
  }
  return result;
}

} // namespace

std::optional<std::string> image_mime_type(std::string_view name) {
  auto dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return std::nullopt;
  std::string extension{name.substr(dot + 1)};
  for (auto& c : extension)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [known, type] : image_types)
    if (extension == known)
      return std::string{type};
  return std::nullopt;
}

bool is_safe_relative(std::string_view path) {
  if (path.empty() || path.front() == '/'
      || path.find('\0') != std::string_view::npos)
    return false;
  while (!path.empty()) {
    auto end = path.find('/');
    auto part = path.substr(0, end);
    if (part == "..")
      return false;
    path =
      end == std::string_view::npos ? std::string_view{} : path.substr(end + 1);
  }
  return true;
}

std::string user_payload(const conversation_event& event, payload_clock clock,
                         const std::vector<std::string>& listed) {
  text::history_line line;
  line.time_ms = clock.time_ms;
  line.offset_minutes = clock.offset_minutes;
  line.name = event.user_name;
  line.thread = event.thread_ts;
  line.text = text::sanitize_utf8(event.text);
  auto result = turn_instructions(event) + text::print_history_line(line);
  auto missing = missing_files(event);
  if (listed.empty() && missing.empty())
    return result;
  result += "\n\n<slack_attachments>\n";
  for (const auto& path : listed)
    result += one_line(path) + "\n";
  result += missing;
  result += "</slack_attachments>";
  return result;
}

std::string turn_instructions(const conversation_event& event) {
  return event.origin == turn_origin::event ? event_mode : "";
}

} // namespace bureau::runner
