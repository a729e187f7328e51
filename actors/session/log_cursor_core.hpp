#pragma once

#include "messages/codec/log_record.hpp"
#include "messages/interfaces/files.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How far a session has read the chat log, so that a sync looks only at what
/// was logged since the one before. Pure: the bytes come in.
namespace bureau::session {

/// The log is append-only. What lies before the cursor was decided about: it is
/// in the session, or never will be.
struct log_cursor {
  uint64_t device = 0;
  uint64_t inode = 0;
  /// Behind the last whole line that was read.
  uint64_t end = 0;
  /// Records that are read and not decided about: the message that caused the
  /// last run, and what was logged behind it.
  std::vector<log_record> open;
  /// The last message that was taken over: what is older and logged later stays
  /// out, as when all of the log is looked at. Nothing: none, or not in the
  /// log.
  std::optional<log_record> mark;
};

/// Whether a file is the one that the cursor is in, or has grown out of it.
bool continues(const log_cursor& cursor, const file_outcome& found);

/// Where a read begins that adds to the cursor: at the line break before its
/// end, which tells that the cursor is at the beginning of a line.
uint64_t read_begin(const log_cursor& cursor);

/// Whether a part read from read_begin begins as it must.
bool fits(const log_cursor& cursor, std::string_view part);

/// Bytes up to the last line break.
uint64_t whole_lines(std::string_view part);

/// The open records, and behind them what was read now.
log_contents joined(const log_cursor& cursor, log_contents read);

bool contains(const log_contents& log, const std::string& message_id);

/// The records from the last one with the id of the current message on; none
/// without one.
std::vector<log_record> from_current(const log_contents& log,
                                     const std::string& current_message_id);

/// The last record with the id of a message.
std::optional<log_record> record_of(const log_contents& log,
                                    const std::string& message_id);

/// Puts a record that was read before in front of the others.
void put_first(log_contents& log, const log_record& record);

/// Leaves out what a sync would pass over in any case: answers of our own runs,
/// and messages that are in the session with their runs.
void drop_known(log_contents& log, const std::string& current_message_id,
                const std::vector<std::string>& handled);

/// Whether anything stands before the current message.
bool has_news(const log_contents& log, const std::string& current_message_id);

} // namespace bureau::session
