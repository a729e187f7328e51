#pragma once

#include "messages/interfaces/files.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bureau::io {

/// What the file pool counts for one reason.
struct reason_counts {
  uint64_t waiting = 0;
  uint64_t busy = 0;
  uint64_t done = 0;
};

/// Counters of the file pool by reason, with a bound on the reasons.
class reason_table {
public:
  /// The name under which a reason is counted; those beyond the bound share
  /// "other".
  std::string name_of(const std::string& reason) const;

  reason_counts& operator[](const std::string& reason);

  /// `session 2 busy 1 waiting 17 done, …`
  std::string text() const;

  uint64_t waiting() const;
  uint64_t busy() const;

private:
  static constexpr size_t most_reasons = 32;
  std::map<std::string, reason_counts> counts_;
};

/// A path that a job names, and whether it may change what is there.
struct path_use {
  /// Absolute, without empty parts, `.` and `..`; links are not resolved.
  std::string path;
  bool changes = false;
  friend bool operator==(const path_use&, const path_use&) = default;
};

/// The paths that a job names: one, or two for a rename.
std::vector<path_use> uses_of(const file_job& job);

/// A job that may run now.
struct ready_job {
  uint64_t id = 0;
  file_job job;
};

/// The jobs of the pool that wait and run, without a thread or a clock. Jobs
/// run side by side, except that two which name the same path run one after the
/// other, in the order of their arrival, as soon as one of them may change it.
class job_queue {
public:
  using time_point = std::chrono::steady_clock::time_point;

  size_t waiting() const { return waiting_.size(); }
  bool empty() const { return waiting_.empty(); }

  /// @param deadline from then on nobody waits for the answer any more; never
  ///        before that of an earlier job
  void add(uint64_t id, file_job job, time_point deadline);

  /// Takes out the jobs whose deadline has come. What runs is not stopped.
  std::vector<ready_job> take_expired(time_point now);

  /// Takes out the first job that no earlier one holds back. It runs until
  /// `done`.
  std::optional<ready_job> next();

  void done(uint64_t id);

private:
  struct waiting_job {
    ready_job what;
    time_point deadline;
    std::vector<path_use> uses;
  };

  std::deque<waiting_job> waiting_;
  std::map<uint64_t, std::vector<path_use>> running_;
};

} // namespace bureau::io
