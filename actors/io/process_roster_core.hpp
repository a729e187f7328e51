#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

/// What a node tells its reaper (process_reaper.hpp), a line a piece:
/// `+<group> <tag>` when a process group begins, `-<group>` when nothing of it
/// is left to end.
namespace bureau::io {

/// Longest tag of a child; a notice then always goes into a pipe in one piece.
inline constexpr size_t longest_exec_tag = 128;
/// Room for any notice.
inline constexpr size_t notice_bytes = longest_exec_tag + 32;

/// Writes the notice of a group that begins. Allocates nothing: a child says it
/// itself before it runs its program.
/// @param room at least notice_bytes
/// @param tag at most longest_exec_tag bytes without control characters; may be
/// empty
/// @return how many bytes it has
size_t write_begin_notice(char* room, pid_t group, std::string_view tag);

std::string begin_notice(pid_t group, std::string_view tag);
std::string end_notice(pid_t group);

/// The groups that have begun and not ended.
class group_roster {
public:
  /// Takes notices in whatever pieces they come; what is none is passed over.
  void take(std::string_view bytes);

  /// The tag of every group; empty = none. Never holds a number below 2: a kill
  /// to those would reach the whole machine.
  const std::map<pid_t, std::string>& groups() const { return groups_; }

private:
  void take_line(std::string_view line);

  std::string begun_;
  std::map<pid_t, std::string> groups_;
};

} // namespace bureau::io
