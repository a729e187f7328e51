#include "messages/contracts/subagent_outcome.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/contracts/code_points.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace bureau::contracts {

namespace {

constexpr std::string_view reason_prefix = "reason:";
constexpr std::string_view note_prefix = "note:";

constexpr std::string_view bare_states[] = {
  "ok",        "complete",  "completed", "failed", "failure", "timeout",
  "timed out", "cancelled", "canceled",  "empty",  "stopped", "ended"};

/// Takes `expected` off the front of `rest`.
bool take(std::string_view& rest, std::string_view expected) {
  if (!begins_ignoring_case(rest, expected))
    return false;
  rest.remove_prefix(expected.size());
  return true;
}

/// Takes one or more digits.
bool take_digits(std::string_view& rest) {
  auto digits = static_cast<size_t>(
    std::find_if_not(rest.begin(), rest.end(), is_digit) - rest.begin());
  rest.remove_prefix(digits);
  return digits > 0;
}

/// Takes ` · 3 tool calls`.
void take_calls(std::string_view& rest) {
  auto after = rest;
  if (!take(after, " · ") || !take_digits(after) || !take(after, " tool call"))
    return;
  take(after, "s");
  rest = after;
}

/// Takes ` · 1.5s`.
void take_duration(std::string_view& rest) {
  auto after = rest;
  if (!take(after, " · ") || !take_digits(after))
    return;
  if (take(after, ".") && !take_digits(after))
    return;
  if (take(after, "ms") || take(after, "s"))
    rest = after;
}

/// Whether a line tells a state and nothing else.
bool is_status_only(std::string_view line) {
  return std::any_of(std::begin(bare_states), std::end(bare_states),
                     [line](auto state) {
                       auto rest = line;
                       if (!take(rest, state))
                         return false;
                       take_calls(rest);
                       take_duration(rest);
                       return rest.empty();
                     });
}

enum class tag : uint8_t { none, subagent, opens_activity, ends_activity };

tag tag_of(std::string_view line) {
  if (!line.starts_with('<') || !line.ends_with('>'))
    return tag::none;
  auto rest = line.substr(1, line.size() - 2);
  auto ends = take(rest, "/");
  auto activity = take(rest, "activity");
  if (!activity && !take(rest, "subagent"))
    return tag::none;
  if (rest.find_first_of("<>") != rest.npos
      || (!rest.empty() && is_word(rest.front())))
    return tag::none;
  if (!activity)
    return tag::subagent;
  return ends ? tag::ends_activity : tag::opens_activity;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    auto end = text.find('\n');
    result.push_back(folded_line(text.substr(0, end)));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return result;
}

std::string_view without_reason(std::string_view line) {
  return take(line, reason_prefix) ? text::trim(line) : line;
}

/// The detail of content without an envelope: all of its lines.
std::string plain_detail(const std::vector<std::string>& lines) {
  std::string joined;
  for (const auto& line : lines) {
    if (!joined.empty() && !line.empty())
      joined += ' ';
    joined += line;
  }
  if (is_status_only(joined))
    return {};
  return std::string{without_reason(joined)};
}

/// The detail of content in an envelope: its reason or its first line.
std::string envelope_detail(const std::vector<std::string>& lines,
                            bool is_error) {
  std::string_view reason;
  std::string_view summary;
  auto in_activity = false;
  for (const auto& line : lines) {
    auto kind = tag_of(line);
    if (kind == tag::opens_activity || kind == tag::ends_activity)
      in_activity = kind == tag::opens_activity;
    if (in_activity || kind != tag::none || line.empty()
        || begins_ignoring_case(line, note_prefix) || is_status_only(line))
      continue;
    if (begins_ignoring_case(line, reason_prefix)) {
      if (reason.empty())
        reason = without_reason(line);
    } else if (summary.empty()) {
      summary = line;
    }
  }
  return std::string{is_error && !reason.empty() ? reason : summary};
}

} // namespace

std::string format_subagent_outcome_activity_line(std::string_view content,
                                                  bool is_error,
                                                  const path_roots& roots) {
  auto end = forward_by(content, 0, preview_scan_chars);
  auto lines = lines_of(content.substr(0, word_end(content, end)));
  auto enveloped =
    std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return tag_of(line) != tag::none;
    });
  auto detail =
    enveloped ? envelope_detail(lines, is_error) : plain_detail(lines);
  auto preview =
    preview_of(detail, {cut_shape::head, false, detail_chars}, roots);
  if (preview.empty())
    return {};
  return (is_error ? "Reason: " : "Result: ") + preview;
}

} // namespace bureau::contracts
