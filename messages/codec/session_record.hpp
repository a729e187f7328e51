#pragma once

#include "messages/interfaces/session.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Lines of a session file: JSONL, version 3, append-only (office note, section
/// 10). This file knows single lines; session_tree.hpp knows how they hang
/// together.
namespace bureau {

/// The version that is written; older ones are migrated, newer ones refused.
inline constexpr int64_t session_version = 3;

/// `customType` of the entry that says how far the chat log is in a session.
inline constexpr std::string_view chat_sync_type = "mikan.chat_sync";
/// `customType` of the entry that names the message which caused a prompt.
inline constexpr std::string_view run_cause_type = "mikan.run_cause";
/// Provider of assistant messages that an older writer made out of chat
/// history; they say nothing about the model in use.
inline constexpr std::string_view history_provider = "platform-history";

/// Types of lines.
enum class record_type : uint8_t {
  header,
  message,
  model_change,
  thinking_level_change,
  active_tools_change,
  compaction,
  branch_summary,
  custom,
  custom_message,
  label,
  session_info,
  leaf,
  /// A type of a newer or foreign writer: kept, part of the tree, no message.
  other,
};

/// The `type` member of a line.
std::string_view name_of(record_type type);

/// Role of a stored message, as far as the tree cares.
enum class entry_role : uint8_t { none, user, assistant, tool_result, other };

/// The few members of a line that the tree needs. The views point into the line
/// or, for text with escapes, into the scanner that produced them.
struct scanned_line {
  /// The line is a JSON object.
  bool is_object = false;
  /// It has a member `type` that is a string.
  bool typed = false;
  record_type type = record_type::other;
  std::optional<std::string_view> id;
  /// A link to another entry.
  enum class link : uint8_t { absent, null, text, invalid };
  link parent = link::absent;
  std::string_view parent_id;
  link target = link::absent;
  std::string_view target_id;
  std::optional<std::string_view> first_kept;
  std::string_view custom_type;
  /// Header: integer version; -1 for a member that is no integer.
  std::optional<int64_t> version;
  entry_role role = entry_role::none;
  /// A message whose role is the old spelling `hookMessage`.
  bool hook_message = false;
  /// Assistant message made out of chat history.
  bool from_history = false;
};

/// Reads lines one after the other without building a document.
class line_scanner {
public:
  line_scanner();
  line_scanner(const line_scanner&) = delete;
  line_scanner& operator=(const line_scanner&) = delete;
  ~line_scanner();

  /// Scans one line. The result lives until the next call.
  const scanned_line& scan(std::string_view line);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// The first line of a file.
struct session_header {
  int64_t version = session_version;
  std::string id;
  std::string timestamp;
  /// Directory that the tools of the session saw.
  std::string cwd;
  /// Thread sessions: file and id of the session they branched from.
  std::string parent_session;
  std::string parent_session_id;
  /// `source.kind` of old derived files.
  std::string source_kind;
  friend bool operator==(const session_header&,
                         const session_header&) = default;
};

/// One header line without its newline.
std::string print_session_header(const session_header& header);

/// Reads a line as a header: an object of type `session` with a string id.
std::optional<session_header> parse_session_header(std::string_view line);

/// First non-blank line of a file's beginning, trimmed; nothing when the text
/// ends before the line does.
std::optional<std::string_view> first_line(std::string_view text);

/// One entry line without its newline.
/// @param parent_id empty: a root
std::string print_session_entry(const session_entry& entry, std::string_view id,
                                std::string_view parent_id, int64_t now_ms);

/// One line that moves the leaf.
/// @param target_id empty: before the first entry
std::string print_leaf(std::string_view target_id, std::string_view id,
                       std::string_view parent_id, int64_t now_ms);

/// A custom entry.
/// @param data JSON object
session_entry custom_entry(std::string_view custom_type, std::string data);

/// The entry that names the message which caused a prompt.
session_entry run_cause_entry(std::string_view message_id);

} // namespace bureau
