#pragma once

#include "messages/contracts/process_job.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// What of a job's output is kept and shown, and how a job is spoken of.
namespace bureau::jobs {

/// How a command ended, as its executor tells it.
enum class job_ending : uint8_t {
  /// By itself.
  exited,
  /// Its time was over.
  timed_out,
  /// It was asked to end.
  aborted,
  /// The environment failed.
  failed,
};

/// The end of a job: its output within bounds.
struct job_end {
  job_ending how = job_ending::exited;
  /// 128+n: it was ended by signal n.
  int64_t exit_code = 0;
  std::string out;
  std::string err;
  bool truncated = false;
  std::string preview;
};

/// Cuts both streams so that together they keep to `max_bytes`: each may have
/// half, and what the other leaves. The beginning stays. Then makes the
/// preview.
void fit_output(job_end& end, const contracts::process_job_limits& limits);

/// The end of the output as people and models may see it: valid UTF-8, without
/// what looks like a secret, at most `max_chars` UTF-16 code units.
std::string preview_of_output(std::string_view out, std::string_view err,
                              size_t max_chars);

/// The name of the signal that an exit code tells of; empty: it tells of none.
std::string signal_of(int64_t exit_code);

/// One line about a command: folded, without what looks like a secret.
std::string summary_of(std::string_view command);

/// `Background job pj-… succeeded (exit code 0, 12.3 s)`, `… started`, with
/// what it is about.
std::string update_text(const contracts::process_job_projection& job);

/// The message that wakes the conversation at the end of a job. Output is
/// quoted line by line: none of it can pass for the line of another message.
std::string wake_text(const contracts::process_job_projection& job);

} // namespace bureau::jobs
