#include "actors/runner/payload_core.hpp"

#include "actors/runner/turn_request_core.hpp"
#include "messages/text/history_line.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::runner {

namespace {

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

/// Backticks that no line of a text can end.
std::string fence_of(std::string_view text) {
  size_t longest = 2;
  size_t run = 0;
  for (auto c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
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
  line.name = contracts::sender_label(sender_of(event));
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

std::string
shown_documents(const std::vector<contracts::request_attachment>& attachments) {
  std::string result;
  for (const auto& item : attachments) {
    if (!item.text)
      continue;
    auto fence = fence_of(*item.text);
    result += "\n\n" + one_line(item.name.value_or(std::string{})) + " ("
              + item.mime_type + "):\n" + fence + "\n" + *item.text;
    if (!item.text->ends_with('\n'))
      result += '\n';
    result += fence;
  }
  return result;
}

std::string turn_instructions(const conversation_event& event) {
  return event.origin == turn_origin::event ? event_mode : "";
}

} // namespace bureau::runner
