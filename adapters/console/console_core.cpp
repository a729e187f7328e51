#include "adapters/console/console_core.hpp"

#include "messages/text/utf8.hpp"

#include <algorithm>
#include <cstdio>

namespace bureau::console {

namespace {

constexpr size_t max_open_messages = 64;

std::optional<int64_t> digits(std::string_view text) {
  if (text.empty() || text.size() > 15)
    return std::nullopt;
  int64_t value = 0;
  for (auto c : text) {
    if (c < '0' || c > '9')
      return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// Length of the part of a text that can be shown now: whole lines, and of a
/// long unfinished line what fills the width up to a blank.
size_t showable(std::string_view text, size_t width) {
  auto line_break = text.rfind('\n');
  auto done = line_break == std::string_view::npos ? 0 : line_break + 1;
  if (width == 0)
    return done;
  while (text::code_point_length(text.substr(done)) > width) {
    auto fits = text::prefix_utf16(text.substr(done), width);
    auto blank = fits.rfind(' ');
    done +=
      blank == std::string_view::npos || blank == 0 ? fits.size() : blank + 1;
  }
  return done;
}

} // namespace

void id_sequence::resume_above(std::string_view id) {
  auto dot = id.find('.');
  if (dot == std::string_view::npos || id.size() - dot != 7)
    return;
  auto seconds = digits(id.substr(0, dot));
  auto fraction = digits(id.substr(dot + 1));
  if (seconds && fraction && *seconds < 1'000'000'000'000)
    last_ = std::max(last_, *seconds * 1'000'000 + *fraction);
}

std::string id_sequence::next(int64_t unix_ms) {
  last_ = std::max(last_ + 1, unix_ms * 1000);
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%lld.%06lld",
                static_cast<long long>(last_ / 1'000'000),
                static_cast<long long>(last_ % 1'000'000));
  return buffer;
}

bool is_conversation_name(std::string_view name) {
  return !name.empty() && name.size() <= 32
         && std::all_of(name.begin(), name.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || c == '-';
            });
}

typed_line read_line(std::string_view raw) {
  auto clean = text::sanitize_utf8(raw);
  auto trimmed = text::trim(clean);
  if (trimmed.empty())
    return {};
  if (trimmed == "/help")
    return {line_kind::help, {}};
  if (trimmed == "/quit")
    return {line_kind::quit, {}};
  if (trimmed == "/to" || trimmed.starts_with("/to ")) {
    auto name = text::trim(trimmed.substr(3));
    if (!is_conversation_name(name))
      return {line_kind::unknown_name, std::string{name}};
    return {line_kind::select, std::string{name}};
  }
  return {line_kind::message, std::string{trimmed}};
}

std::string help_text() {
  return "Type a message and press Enter.\n"
         "  stop       ends the running turn at once\n"
         "  /to NAME   goes to another conversation (a-z, 0-9, -)\n"
         "  /quit      ends the node; so does ^D on an empty line\n"
         "  ^C         ends the running turn, a second one the node\n"
         "Everything else, other words with a slash included, goes to the "
         "agent.\n";
}

std::string cut_notice(size_t limit) {
  return "[This line was longer than " + std::to_string(limit / 1024)
         + " KiB; only its beginning was taken.]";
}

printer::printer(bool interactive, size_t width)
  : interactive_(interactive), width_(width) {
}

void printer::add_conversation(const std::string& name) {
  if (std::find(conversations_.begin(), conversations_.end(), name)
      == conversations_.end())
    conversations_.push_back(name);
}

printed printer::show(const outbound& operation, const std::string& ref) {
  printed result;
  auto answer = operation.content == outbound_content::answer;
  result.where = interactive_ || answer ? stream::out : stream::err;
  auto& entry = open_[ref];
  if (std::find(order_.begin(), order_.end(), ref) == order_.end()) {
    order_.push_back(ref);
    if (order_.size() > max_open_messages) {
      open_.erase(order_.front());
      order_.erase(order_.begin());
    }
  }
  auto final_part = operation.rank != outbound_class::interim
                    && operation.rank != outbound_class::cosmetic;
  std::string_view rest = operation.text;
  if (rest.starts_with(entry.shown))
    rest.remove_prefix(entry.shown.size());
  else
    entry.shown.clear();
  // An activity line is complete as it stands.
  auto whole = final_part || operation.content == outbound_content::activity;
  auto length = whole ? rest.size() : showable(rest, width_);
  auto piece = rest.substr(0, length);
  entry.shown += piece;
  if (operation.content == outbound_content::activity
      && piece.starts_with('\n'))
    piece.remove_prefix(1);
  if (!piece.empty())
    result.text = decorate(piece, operation);
  if (final_part) {
    open_.erase(ref);
    std::erase(order_, ref);
  }
  return result;
}

std::string printer::decorate(std::string_view lines,
                              const outbound& operation) const {
  std::string prefix;
  if (conversations_.size() > 1)
    prefix = "[" + operation.conversation.conversation_id + "] ";
  auto dim = interactive_ && operation.content != outbound_content::answer;
  std::string result;
  while (!lines.empty()) {
    auto end = lines.find('\n');
    auto line = lines.substr(0, end);
    lines = end == std::string_view::npos ? std::string_view{}
                                          : lines.substr(end + 1);
    if (dim)
      result += "\x1b[2m";
    result += prefix;
    // What a model or a command writes must not steer the terminal.
    for (auto c : line)
      if (!interactive_ || c == '\t' || static_cast<unsigned char>(c) >= 0x20)
        result += c;
    if (dim)
      result += "\x1b[0m";
    result += '\n';
  }
  return result;
}

} // namespace bureau::console
