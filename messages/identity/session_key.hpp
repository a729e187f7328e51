#pragma once

#include "messages/identity/platform.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bureau {

/// The one owner of the session-key grammar `conversationId[":" suffix]`
/// (core interface seed, section 10). Nobody else splits a key.

/// Why a key or a part of it was refused.
enum class key_fault : uint8_t {
  none,
  invalid_conversation_id,
  invalid_suffix,
  foreign_session_key,
};

std::string to_string(key_fault fault);

/// A key, or the reason why there is none.
struct key_result {
  std::string key;
  key_fault fault = key_fault::none;
  explicit operator bool() const { return fault == key_fault::none; }
};

/// Longest suffix in UTF-8 bytes; it becomes a file name.
inline constexpr size_t max_suffix_bytes = 200;

/// The text before the first ':' or all of it.
std::string_view conversation_id_of(std::string_view key);

/// The text after the first ':', nothing for a bare key.
std::optional<std::string_view> thread_suffix_of(std::string_view key);

/// Whether the key has a suffix part.
bool is_thread_key(std::string_view key);

/// Joins two validated parts.
key_result make_thread_key(std::string_view conversation_id,
                           std::string_view suffix);

/// Checks that a key belongs to a conversation.
key_fault check_belongs(std::string_view key, std::string_view conversation_id);

/// What the derive rule looks at; absent members are "not given".
struct key_source {
  std::string conversation_id;
  std::optional<std::string> session_key;
  std::optional<std::string> thread_ts;
  std::string ts;
};

/// Session key of an event: the explicit one if given, else the thread's, else
/// the message's own.
key_result derive_session_key(const key_source& source);

/// Inputs of the chat platforms' own rule.
struct chat_key_options {
  std::string conversation_id;
  conversation_kind kind = conversation_kind::shared;
  std::string message_id;
  std::optional<std::string> thread_ts;
  bool persistent_top_level = false;
  bool scope_direct_threads = false;
};

/// Session key that a chat adapter selects.
key_result resolve_chat_session_key(const chat_key_options& options);

/// Kind of a raw id where the platform tells it by its form.
conversation_kind infer_kind(platform_id platform, std::string_view raw_id);

} // namespace bureau
