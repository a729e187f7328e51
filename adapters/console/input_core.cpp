#include "adapters/console/input_core.hpp"

#include "messages/codec/conversation_names.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace bureau::console {

std::vector<raw_line> line_splitter::feed(std::string_view chunk) {
  std::vector<raw_line> out;
  while (!chunk.empty()) {
    any_ = true;
    auto end = chunk.find('\n');
    take(chunk.substr(0, end));
    if (end == std::string_view::npos)
      break;
    complete(out);
    chunk.remove_prefix(end + 1);
  }
  return out;
}

std::vector<raw_line> line_splitter::finish() {
  std::vector<raw_line> out;
  if (any_)
    complete(out);
  return out;
}

void line_splitter::take(std::string_view part) {
  // One byte more than allowed tells read_line that the line was longer.
  auto room = limits::message_text_bytes + 1 - open_.bytes.size();
  open_.cut = open_.cut || part.size() > room;
  open_.bytes += part.substr(0, room);
}

void line_splitter::complete(std::vector<raw_line>& out) {
  out.push_back(std::exchange(open_, {}));
  any_ = false;
}

namespace {

constexpr const char* attach_usage =
  "/attach needs the path of a file, in quotes when there are spaces in it: "
  "/attach \"my notes.txt\" what is this?";

constexpr const char* save_usage =
  "/save needs the number of a file, as the line about it tells, and may name "
  "where it goes: /save 1 \"my notes.txt\"";

/// The rest behind a command of ours; nothing when the line is another one.
std::optional<std::string_view> behind(std::string_view line,
                                       std::string_view command) {
  if (!line.starts_with(command))
    return std::nullopt;
  line.remove_prefix(command.size());
  if (!line.empty() && line.front() != ' ' && line.front() != '\t')
    return std::nullopt;
  return text::trim(line);
}

/// `PATH [text]`; the path may stand in quotes of either kind. It keeps its
/// bytes: a name need not be UTF-8.
console_line read_attach(std::string_view rest) {
  using verb = console_line::verb;
  console_line result{verb::attach, {}, false};
  auto quoted = rest.starts_with('"') || rest.starts_with('\'');
  auto end = std::string_view::npos;
  if (quoted) {
    auto quote = rest.front();
    rest.remove_prefix(1);
    end = rest.find(quote);
    if (end == std::string_view::npos)
      return {verb::wrong, attach_usage, false};
  } else {
    end = std::min(rest.find_first_of(" \t"), rest.size());
  }
  result.path = rest.substr(0, end);
  rest.remove_prefix(end + (quoted ? 1 : 0));
  if (result.path.empty())
    return {verb::wrong, attach_usage, false};
  auto clean = text::sanitize_utf8(text::trim(rest));
  result.text = text::prefix_bytes(clean, limits::message_text_bytes);
  return result;
}

/// `N [PATH]`; the path may stand in quotes of either kind.
console_line read_save(std::string_view rest) {
  using verb = console_line::verb;
  console_line result{verb::save, {}, false};
  auto end = rest.data() + rest.size();
  auto [stopped, fault] = std::from_chars(rest.data(), end, result.number);
  if (fault != std::errc{} || result.number == 0
      || (stopped != end && *stopped != ' ' && *stopped != '\t'))
    return {verb::wrong, save_usage, false};
  auto path =
    text::trim(rest.substr(static_cast<size_t>(stopped - rest.data())));
  auto quoted = path.size() > 1 && (path.front() == '"' || path.front() == '\'')
                && path.back() == path.front();
  if (quoted)
    path = path.substr(1, path.size() - 2);
  result.path = path;
  return result;
}

} // namespace

console_line read_line(const raw_line& line) {
  using verb = console_line::verb;
  std::string_view bytes = line.bytes;
  if (!line.cut && bytes.ends_with('\r'))
    bytes.remove_suffix(1);
  auto clean = text::sanitize_utf8(bytes);
  auto trimmed = text::trim(clean);
  if (trimmed.empty())
    return {};
  if (trimmed == "/help")
    return {verb::help, {}, false};
  if (trimmed == "/quit")
    return {verb::quit, {}, false};
  if (auto name = behind(trimmed, "/to")) {
    if (is_console_name(*name))
      return {verb::switch_to, std::string{*name}, false};
    return {verb::wrong,
            "/to needs the name of a conversation: 1 to 32 of a-z, 0-9 and -.",
            false};
  }
  if (auto rest = behind(text::trim(bytes), "/attach")) {
    auto result = read_attach(*rest);
    result.cut = result.what == verb::attach && line.cut;
    return result;
  }
  if (auto rest = behind(trimmed, "/save"))
    return read_save(*rest);
  console_line result{verb::message, {}, line.cut};
  result.text = text::prefix_bytes(clean, limits::message_text_bytes);
  result.cut = result.cut || result.text.size() < clean.size();
  return result;
}

std::string help_text() {
  return "/to NAME             talk in the conversation NAME\n"
         "/attach PATH [text]  send a file, and text with it; a path with "
         "spaces in quotes\n"
         "/save N [PATH]       keep file N of an answer\n"
         "/quit                end the program\n"
         "/help                show this text\n"
         "/queue [MODE]        what lines do while a turn runs: follow-up, "
         "steer, collect or interrupt\n"
         "/new                 begin a fresh session\n"
         "stop                 end the running turn (^C does the same, a "
         "second ^C ends "
         "the program)\n"
         "Everything else goes to the conversation.\n";
}

} // namespace bureau::console
