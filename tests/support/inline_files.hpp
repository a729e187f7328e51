#pragma once

#include "messages/interfaces/files.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/file_system.hpp"

#include <caf/error.hpp>

#include <deque>
#include <memory>
#include <vector>

namespace bureau::test {

/// What a test sees and steers of inline_files.
struct files_probe {
  /// Every job in arrival order.
  std::vector<file_job> jobs;
  /// Answers of the next jobs, instead of doing them; an empty error does the
  /// job.
  std::deque<caf::error> failures;
};

/// The files actor without threads: each job runs in its handler, with the very
/// code of the pool, on the file system of the test.
files_actor spawn_inline_files(caf::actor_system& system,
                               std::shared_ptr<file_system> fs,
                               std::shared_ptr<entropy> chance,
                               std::shared_ptr<files_probe> probe = {});

} // namespace bureau::test
