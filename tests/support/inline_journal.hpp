#pragma once

#include "messages/interfaces/journal.hpp"
#include "messages/ports/file_system.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bureau::test {

/// What a test sees and steers of inline_journal.
struct journal_probe {
  /// Every record that was asked for, refused ones included, in order.
  std::vector<journal_record> asked;
  /// Every record that reached its file, in order.
  std::vector<journal_record> written;
  std::vector<std::pair<journal_root, std::string>> seals;
  /// While true every append and seal fails with errc::disk and writes nothing.
  bool broken = false;
  /// After this many further appends, a group being one, the journal breaks;
  /// negative: never.
  int breaks_after = -1;
};

/// The journal actor without a thread and without a write-ahead file: a record
/// is appended at once to its target below the two directories, created 0600
/// when absent, and the answer is the offset it really got.
journal_actor spawn_inline_journal(caf::actor_system& system,
                                   std::shared_ptr<file_system> fs,
                                   std::string state_dir,
                                   std::string workspace_root,
                                   std::shared_ptr<journal_probe> probe = {});

} // namespace bureau::test
