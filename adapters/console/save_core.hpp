#pragma once

#include "messages/contracts/reply_parts.hpp"

#include <cstdint>
#include <deque>
#include <string>

/// Files of answers that a user may keep (decision A35). Pure.
namespace bureau::console {

/// A file that an answer carried.
struct offered_file {
  uint64_t number = 0;
  /// Contract id of its conversation.
  std::string conversation_id;
  contracts::attachment_part file;
};

/// The files that were told of, by the numbers that people type; the last
/// limits::console_visible_messages of them.
class offered_files {
public:
  uint64_t add(std::string conversation_id, contracts::attachment_part file);
  /// Null: there is none of this number, or not any more.
  const offered_file* find(uint64_t number) const;

private:
  uint64_t last_ = 0;
  std::deque<offered_file> files_;
};

/// The line that tells of a file: name, size, type and how to keep it.
std::string file_line(const offered_file& offered);

/// Where a file is to go: an absolute path. Without one that was typed, or with
/// a directory (it ends with `/`), under its own name.
/// @param typed resolved; empty: nothing was typed
std::string target_of(const std::string& typed, const std::string& name,
                      const std::string& working_dir);

/// One sentence about a file that cannot be had.
std::string sentence_of_fault(contracts::part_failure_code fault);

} // namespace bureau::console
