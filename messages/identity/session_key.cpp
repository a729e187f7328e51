#include "messages/identity/session_key.hpp"

#include "messages/text/utf8.hpp"

#include <array>

namespace bureau {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// What both parts of a key have in common.
bool is_plain_segment(std::string_view text) {
  if (text.empty() || text == "." || text == ".." || !text::is_valid_utf8(text))
    return false;
  for (auto c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '\\' || byte <= 0x1F || byte == 0x7F)
      return false;
  }
  return true;
}

/// Whether a suffix would name a file that looks like a top-level session:
/// YYYY-MM-DDT…_<8 hex>. A thread file of that name would take part in the
/// choice of the parent session.
bool looks_like_main_session(std::string_view text) {
  static constexpr std::string_view shape = "dddd-dd-ddT";
  // Date, at least one character, underscore, eight hexadecimal digits.
  if (text.size() < shape.size() + 1 + 9)
    return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    auto c = text[i];
    bool fits = shape[i] == 'd'   ? is_digit(c)
                : shape[i] == 'T' ? c == 'T' || c == 't'
                                  : c == shape[i];
    if (!fits)
      return false;
  }
  auto tail = text.substr(text.size() - 9);
  if (tail.front() != '_')
    return false;
  tail.remove_prefix(1);
  for (auto c : tail)
    if (!is_hex(c))
      return false;
  return true;
}

bool is_valid_key_id(std::string_view id) {
  return is_plain_segment(id) && id.find(':') == std::string_view::npos;
}

bool is_valid_suffix(std::string_view suffix) {
  return is_plain_segment(suffix) && suffix.size() <= max_suffix_bytes
         && !looks_like_main_session(suffix);
}

} // namespace

std::string to_string(key_fault fault) {
  static constexpr std::array<std::string_view, 4> names = {
    "none",
    "invalid_conversation_id",
    "invalid_suffix",
    "foreign_session_key",
  };
  auto index = static_cast<size_t>(fault);
  return std::string{index < names.size() ? names[index] : "unknown"};
}

std::string_view conversation_id_of(std::string_view key) {
  return key.substr(0, key.find(':'));
}

std::optional<std::string_view> thread_suffix_of(std::string_view key) {
  auto colon = key.find(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  return key.substr(colon + 1);
}

bool is_thread_key(std::string_view key) {
  return key.find(':') != std::string_view::npos;
}

key_result make_thread_key(std::string_view conversation_id,
                           std::string_view suffix) {
  if (!is_valid_key_id(conversation_id))
    return {"", key_fault::invalid_conversation_id};
  if (!is_valid_suffix(suffix))
    return {"", key_fault::invalid_suffix};
  std::string key{conversation_id};
  key += ':';
  key += suffix;
  return {std::move(key), key_fault::none};
}

key_fault check_belongs(std::string_view key,
                        std::string_view conversation_id) {
  if (!is_valid_key_id(conversation_id))
    return key_fault::invalid_conversation_id;
  if (conversation_id_of(key) != conversation_id)
    return key_fault::foreign_session_key;
  auto suffix = thread_suffix_of(key);
  if (suffix && !is_valid_suffix(*suffix))
    return key_fault::invalid_suffix;
  return key_fault::none;
}

key_result derive_session_key(const key_source& source) {
  if (source.session_key) {
    auto fault = check_belongs(*source.session_key, source.conversation_id);
    if (fault != key_fault::none)
      return {"", fault};
    return {*source.session_key, key_fault::none};
  }
  return make_thread_key(source.conversation_id,
                         source.thread_ts ? *source.thread_ts : source.ts);
}

key_result resolve_chat_session_key(const chat_key_options& options) {
  auto& thread = options.thread_ts;
  bool bare = (options.kind == conversation_kind::direct
               && (!thread || !options.scope_direct_threads))
              || (!thread && options.persistent_top_level);
  if (bare) {
    if (!is_valid_key_id(options.conversation_id))
      return {"", key_fault::invalid_conversation_id};
    return {options.conversation_id, key_fault::none};
  }
  // An empty thread id means "no thread" to this rule, unlike to derive.
  bool threaded = thread && !thread->empty();
  return make_thread_key(options.conversation_id,
                         threaded ? *thread : options.message_id);
}

conversation_kind infer_kind(platform_id platform, std::string_view raw_id) {
  using enum conversation_kind;
  switch (platform) {
  case platform_id::slack:
    return raw_id.starts_with("D") ? direct : shared;
  case platform_id::telegram:
    return raw_id.starts_with("-") ? shared : direct;
  case platform_id::discord:
    return raw_id.starts_with("DM") ? direct : shared;
  case platform_id::console:
    return direct;
  case platform_id::github:
    break;
  }
  return shared;
}

} // namespace bureau
