#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The chat log `log.jsonl` of an office: what people and bots said on the
/// platform, one JSON object a line, append-only (office note, section 11).
/// Everything here is pure; the office actor is the only writer of the file.
namespace bureau {

/// An attachment as the log stores it.
struct log_attachment {
  /// Name as it was received.
  std::string original;
  /// Workspace-relative: `<officeKey>/attachments/<file>`.
  std::string local_path;
  friend bool operator==(const log_attachment&,
                         const log_attachment&) = default;
};

/// One record of the log. An empty optional-like string means "absent".
struct log_record {
  /// Message time, ISO-8601 UTC with milliseconds.
  std::string date;
  /// Platform message id.
  std::string ts;
  /// Thread or reply root; empty at the top level.
  std::string thread_ts;
  /// Platform user id; `bot` for our own posts, `bot:<id>` or `external-bot`
  /// for other bots.
  std::string user;
  std::string user_name;
  std::string display_name;
  /// Cleaned of the mention of the bot; for our posts the source text.
  std::string text;
  std::vector<log_attachment> attachments;
  /// Our own posts and those of external bots.
  bool from_bot = false;
  // -- our posts --------------------------------------------------------------
  std::string platform;
  /// Message that the post answers.
  std::string reply_to;
  /// Session of the post, or of a user's message (reply chains).
  std::string session_key;
  // -- external bots ----------------------------------------------------------
  std::string bot_id;
  std::string app_id;
  std::string subtype;
  friend bool operator==(const log_record&, const log_record&) = default;
};

/// A record and its number: its position among the non-empty lines of the
/// file, malformed ones included, from 0.
struct log_entry {
  log_record record;
  size_t index = 0;
  friend bool operator==(const log_entry&, const log_entry&) = default;
};

/// What a log holds.
struct log_contents {
  std::vector<log_entry> entries;
  /// One sentence per skipped line, naming file and 1-based line (blank lines
  /// not counted); at most limits::log_warnings of them.
  std::vector<std::string> warnings;
  /// Lines that were skipped in all.
  size_t skipped = 0;
};

/// One line of the log, with its newline. Absent members are omitted;
/// ill-formed UTF-8 becomes U+FFFD, so that the line can always be read back.
std::string print_log_line(const log_record& record);

/// Reads one line (without its newline); nothing when it is no JSON object.
/// A member of a wrong type counts as absent, a numeric `ts` as its digits.
std::optional<log_record> parse_log_line(std::string_view line);

/// Reads a whole log. Chunks of one bot message (equal ts, threadTs and user,
/// directly behind each other) become one record with the first one's fields.
/// @param file name for the warnings
log_contents read_log(std::string_view text, std::string_view file);

/// Reads the trailing part of a log, as read_log does, but drops the first line
/// unless the part starts the file. The numbers then count from the part.
/// @param whole the part is the whole file
log_contents read_log_tail(std::string_view part, bool whole,
                           std::string_view file);

/// Ids of the messages in the trailing part of a log, in file order, each once;
/// records without an id are passed over.
std::vector<std::string> log_tail_ids(std::string_view part, bool whole);

} // namespace bureau
