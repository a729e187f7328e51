#include "messages/text/history_line.hpp"

#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::text {

namespace {

std::string bracket_safe(std::string_view value) {
  std::string result;
  result.reserve(value.size());
  for (auto c : value) {
    if (c == ']')
      result += ')';
    else if (c == '\n' || c == '\r')
      result += ' ';
    else
      result += c;
  }
  return result;
}

/// `YYYY-MM-DD HH:MM:SS±HH:MM` digit by digit.
bool is_stamp(std::string_view text) {
  constexpr std::string_view shape = "dddd-dd-dd dd:dd:ddsdd:dd";
  if (text.size() != shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    auto c = text[i];
    auto fits = shape[i] == 'd'   ? c >= '0' && c <= '9'
                : shape[i] == 's' ? c == '+' || c == '-'
                                  : c == shape[i];
    if (!fits)
      return false;
  }
  return true;
}

void skip_space(std::string_view& rest) {
  auto begin = rest.find_first_not_of(" \t\r\n");
  rest =
    begin == std::string_view::npos ? std::string_view{} : rest.substr(begin);
}

/// Takes `[…]` off the front.
std::optional<std::string_view> take_bracket(std::string_view& rest) {
  if (rest.empty() || rest.front() != '[')
    return std::nullopt;
  auto end = rest.find(']');
  if (end == std::string_view::npos)
    return std::nullopt;
  auto inside = rest.substr(1, end - 1);
  rest = rest.substr(end + 1);
  return inside;
}

} // namespace

std::string print_history_line(const history_line& line) {
  std::string result;
  if (line.time_ms)
    result += "[" + local_stamp(*line.time_ms, line.offset_minutes) + "] ";
  auto name = bracket_safe(line.name);
  result += "[" + (is_blank(name) ? std::string{"unknown"} : name) + "]";
  if (!line.thread.empty())
    result += " [in-thread:" + bracket_safe(line.thread) + "]";
  result += ": ";
  result += line.text;
  return result;
}

std::optional<parsed_history_line> parse_history_line(std::string_view line) {
  constexpr std::string_view thread_mark = "in-thread:";
  parsed_history_line result;
  auto rest = line;
  auto time = take_bracket(rest);
  if (!time || !is_stamp(*time))
    return std::nullopt;
  auto before = rest.size();
  skip_space(rest);
  if (rest.size() == before)
    return std::nullopt;
  auto name = take_bracket(rest);
  if (!name || name->empty())
    return std::nullopt;
  auto ahead = rest;
  skip_space(ahead);
  if (auto mark = take_bracket(ahead);
      mark && mark->substr(0, thread_mark.size()) == thread_mark) {
    result.thread = mark->substr(thread_mark.size());
    rest = ahead;
  }
  if (rest.empty() || rest.front() != ':')
    return std::nullopt;
  result.time = *time;
  result.name = *name;
  result.text = trim(rest.substr(1));
  return result;
}

std::string_view strip_history_line(std::string_view line) {
  auto parsed = parse_history_line(line);
  return parsed ? parsed->text : line;
}

} // namespace bureau::text
