#pragma once

#include "messages/codec/session_record.hpp"
#include "messages/identity/session_file_name.hpp"
#include "messages/identity/workspace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Names and rules of the sessions directory of an office (office note, section
/// 9). Pure: what is on the disk comes in as text.
namespace bureau::session {

/// Name of the pointer file.
inline constexpr std::string_view pointer_name = "current";
/// Directory of the sessions directory that reset threads go to.
inline constexpr std::string_view archive_name = "archive";

/// `2026-04-05T00-00-12-345Z_7b54cf90.jsonl`.
std::string main_file_name(int64_t created_ms, std::string_view session_id);

/// `2026-04-05T00-00-12-345Z_<suffix>.jsonl`, below the archive directory.
std::string archive_file_name(int64_t now_ms, std::string_view suffix);

/// `2026-04-05T00-00-12-345Z_<file>.torn`, below the archive directory: where
/// the torn last line of a file goes when the file is mended.
std::string torn_file_name(int64_t now_ms, std::string_view file);

/// `<suffix>.jsonl.next`, below the archive directory: a fresh session on its
/// way to the place of a thread's file.
std::string next_file_name(std::string_view suffix);

/// The file name that a pointer's content gives; nothing unless it is one
/// single, visible path segment.
std::optional<std::string> pointer_target(std::string_view content);

/// What a file that may be a session holds.
enum class file_state : uint8_t {
  /// Nothing but white space, or no file.
  empty,
  /// Its first line is a session object: it can be opened, or is corrupted.
  session,
  /// No session object in front, and nothing behind it that could be lost.
  foreign,
  /// No session object in front, but entries of a session behind it.
  damaged,
};

file_state state_of(std::string_view text);

/// A top-level file as a possible parent of a thread.
struct parent_candidate {
  std::string name;
  std::string id;
  int64_t created_ms = 0;
};

/// Time of the root of a thread whose suffix is a decimal number of seconds.
std::optional<int64_t> thread_time(std::string_view suffix);

/// Names of the top-level files among those of a directory, newest first by
/// name: a thread's parent is one of them, chosen by its header alone.
std::vector<std::string> parent_names(const std::vector<std::string>& names);

/// The later one of two possible parents of a thread that began at an instant;
/// one without an id counts as none.
parent_candidate better_parent(parent_candidate one, parent_candidate other,
                               int64_t thread_ms);

/// Id and time of a header line; nothing when it cannot be a parent.
std::optional<parent_candidate> read_candidate(std::string_view name,
                                               std::string_view beginning);

/// Path of a session file for the journal, relative to the workspace root.
std::string journal_path(const office& place, std::string_view name);

/// Absolute path of a session file, for headers and sentences.
std::string session_path(const office& place, std::string_view name);

} // namespace bureau::session
