#include "adapters/console/input_core.hpp"

#include "messages/codec/conversation_names.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

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
  constexpr std::string_view to = "/to";
  if (trimmed == to || trimmed.starts_with("/to ")
      || trimmed.starts_with("/to\t")) {
    auto name = text::trim(trimmed.substr(to.size()));
    if (is_console_name(name))
      return {verb::switch_to, std::string{name}, false};
    return {verb::wrong,
            "/to needs the name of a conversation: 1 to 32 of a-z, 0-9 and -.",
            false};
  }
  console_line result{verb::message, {}, line.cut};
  result.text = text::prefix_bytes(clean, limits::message_text_bytes);
  result.cut = result.cut || result.text.size() < clean.size();
  return result;
}

std::string help_text() {
  return "/to NAME  talk in the conversation NAME\n"
         "/quit     end the program\n"
         "/help     show this text\n"
         "stop      end the running turn (^C does the same, a second ^C ends "
         "the program)\n"
         "Everything else goes to the conversation.\n";
}

} // namespace bureau::console
