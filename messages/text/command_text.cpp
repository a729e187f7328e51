#include "messages/text/command_text.hpp"

#include "messages/text/utf8.hpp"

#include <array>

namespace bureau::text {

namespace {

/// Names and aliases of the built-in commands, lower-case.
constexpr std::array<std::string_view, 11> command_names = {
  "login", "session",    "model",      "sandbox",   "stop",  "new",
  "admin", "extensions", "auto-reply", "autoreply", "queue",
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    c = lower(c);
  return result;
}

bool is_word(char c) {
  c = lower(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Takes a prefix off, ignoring the case of ASCII letters.
bool take(std::string_view& text, std::string_view prefix) {
  if (text.size() < prefix.size()
      || lower(text.substr(0, prefix.size())) != prefix)
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

size_t word_length(std::string_view text, bool dashes) {
  size_t n = 0;
  while (n < text.size() && (is_word(text[n]) || (dashes && text[n] == '-')))
    ++n;
  return n;
}

/// Takes `@word` off when it is there whole.
void take_mention(std::string_view& text) {
  if (!text.starts_with('@'))
    return;
  auto length = word_length(text.substr(1), false);
  if (length > 0)
    text.remove_prefix(1 + length);
}

size_t space_length(std::string_view text) {
  if (text.empty())
    return 0;
  auto step = decode_at(text, 0);
  return is_blank(text.substr(0, step.bytes)) ? step.bytes : 0;
}

/// Whether a command name may end here, a mention included.
bool name_ends(std::string_view rest) {
  take_mention(rest);
  return rest.empty() || space_length(rest) > 0;
}

} // namespace

bool is_command_text(std::string_view message) {
  auto rest = trim(message);
  if (!take(rest, "/"))
    return false;
  auto product = rest;
  if (take(product, "pi-")) {
    auto length = word_length(product, true);
    if (length > 0 && name_ends(product.substr(length)))
      return true;
  }
  for (auto name : command_names) {
    auto tail = rest;
    if (take(tail, name) && name_ends(tail))
      return true;
  }
  return false;
}

bool is_stop_word(std::string_view message) {
  auto rest = trim(message);
  take(rest, "/");
  if (!take(rest, "stop"))
    return false;
  take_mention(rest);
  return rest.empty();
}

std::optional<command_line>
match_command(std::string_view message,
              const std::vector<std::string>& spellings, bool strip_mention) {
  std::vector<std::string> words;
  auto rest = trim(message);
  std::string word;
  while (!rest.empty()) {
    auto gap = space_length(rest);
    if (gap == 0) {
      auto step = decode_at(rest, 0);
      word += rest.substr(0, step.bytes);
      rest.remove_prefix(step.bytes);
      continue;
    }
    rest.remove_prefix(gap);
    if (!word.empty())
      words.push_back(std::move(word));
    word.clear();
  }
  if (!word.empty())
    words.push_back(std::move(word));
  if (words.empty())
    return std::nullopt;
  auto name = lower(words.front());
  if (strip_mention) {
    auto at = name.rfind('@');
    auto mention = at == std::string::npos
                     ? std::string_view{}
                     : std::string_view{name}.substr(at + 1);
    if (!mention.empty() && word_length(mention, false) == mention.size())
      name.resize(at);
  }
  for (auto& spelling : spellings) {
    if (spelling != name)
      continue;
    command_line result;
    result.command = name;
    result.args.assign(std::make_move_iterator(words.begin() + 1),
                       std::make_move_iterator(words.end()));
    return result;
  }
  return std::nullopt;
}

} // namespace bureau::text
