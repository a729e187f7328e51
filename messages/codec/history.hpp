#pragma once

#include "messages/codec/log_record.hpp"
#include "messages/codec/session_tree.hpp"
#include "messages/limits.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

/// From the chat log into a session (office note, section 12): which messages
/// of the log a session is still to learn, and in which form. Pure; the session
/// store reads the two files and writes the result.
namespace bureau {

/// How much of the log enters a session.
struct history_options {
  int64_t recent_days = limits::history_recent_days;
  size_t max_messages = limits::history_messages;
  /// Top-level messages that seed a new thread's session.
  size_t thread_seed = limits::history_thread_seed;
};

/// The instant of a sync, and how times are shown.
struct history_clock {
  int64_t now_ms = 0;
  /// Offset of the process-local zone at an instant, in minutes.
  std::function<int(int64_t)> offset_minutes;
};

/// What a session is about.
struct history_scope {
  /// Root message of the thread; nothing at the top level.
  std::optional<std::string> thread;
  /// Message that causes the run; history stops before it. Empty: none.
  std::string current_message_id;
};

/// Root message of a thread, for prompts.
struct thread_root {
  std::string text;
  std::string user;
  std::string user_name;
  std::optional<int64_t> logged_ms;
  bool from_bot = false;
};

/// The last record with the id of the thread.
std::optional<thread_root> find_thread_root(const log_contents& log,
                                            std::string_view thread);

/// Whether a record belongs to what a session is about.
bool is_in_scope(const log_record& record, const history_scope& scope);

/// Whether a record may enter a session: it says something, is no command that
/// somebody typed, and not the message that causes the run.
bool is_renderable(const log_record& record, const std::string& current);

/// What records are sorted by: the date, else a numeric id, else the place in
/// the file.
double order_of(const log_entry& entry);

/// Time that a record says it is from; nothing when it cannot be read.
std::optional<int64_t> date_ms(const log_record& record);

/// `digits[.digits]` seconds as milliseconds.
std::optional<int64_t> numeric_ts_ms(std::string_view ts);

/// What a session already knows of its log.
struct sync_facts {
  /// lastMessageId of the last marker.
  std::optional<std::string> watermark;
  /// resetAt of the last marker that has a readable one.
  std::optional<int64_t> reset_ms;
  /// Messages that are in the session for certain.
  std::unordered_set<std::string> known;
  /// Entries of the file before this node come from an old writer, who did not
  /// name the messages he took over: only their words tell which they are.
  uint32_t legacy_end = 0;
  /// Messages dated then or later cannot be among them.
  int64_t legacy_until_ms = 0;
};

sync_facts facts_of(const session_tree& tree);

/// Entries to append as one unit; empty: nothing is new.
struct history_batch {
  std::vector<session_entry> entries;
  /// Messages of the log among the entries; a marker follows them.
  size_t messages = 0;
};

/// What a session starts with when its file is created.
history_batch plan_bootstrap(const log_contents& log,
                             const history_scope& scope,
                             const history_options& options,
                             const history_clock& clock);

/// What an existing session has missed.
history_batch plan_sync(const log_contents& log, const session_tree& tree,
                        const history_scope& scope,
                        const history_options& options,
                        const history_clock& clock);

/// The marker that a reset session starts with.
session_entry reset_marker(const log_contents& log, const history_scope& scope,
                           int64_t now_ms);

} // namespace bureau
