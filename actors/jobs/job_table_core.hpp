#pragma once

#include "actors/jobs/job_output_core.hpp"
#include "actors/jobs/job_record_core.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/limits.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The life of process jobs (agent contracts, rule 81): queued → starting →
/// running → ended, their bounds and deadlines, and the wake that follows.
namespace bureau::jobs {

/// Bounds that messages/limits.hpp does not know.
/// Jobs of one conversation that have not ended.
inline constexpr size_t jobs_per_conversation = 8;
/// A job waits so long for a free place.
inline constexpr auto queue_timeout = limits::minutes{5};
/// A job runs so long when its request does not say, and at most.
inline constexpr auto usual_runtime = std::chrono::hours{1};
inline constexpr auto longest_runtime = std::chrono::hours{24};
/// Bytes that are kept of both streams, when nothing is said, and at most.
inline constexpr int64_t output_bytes = 8 << 20;
/// UTF-16 code units of a preview. Quoted in a wake it still is short enough
/// for a live input.
inline constexpr int64_t job_preview_chars = 2000;
/// A job may start a job from the turn that it woke, and so on.
inline constexpr int64_t longest_chain = 8;
/// A command that does not answer its deadline, or a cancel, is given up after
/// this.
inline constexpr auto end_grace = limits::abort_settle_timeout;
/// Waits between attempts to deliver a wake.
inline constexpr auto wake_delay = limits::delivery_retry_delay;
inline constexpr auto wake_delay_cap = limits::delivery_retry_cap;

/// Something to carry out for a job. A step waits for the one before it of the
/// same job.
enum class job_step : uint8_t {
  /// Write what was printed into its files.
  keep_output,
  /// Write job.json.
  save,
  /// The job is on the disk: answer the one who asked; then accepted().
  accept,
  /// Ready an environment and run the command; launched, launch_failed, ended.
  launch,
  /// Ask the environment to end the command.
  abort,
  /// End the environment, in order or by force.
  release,
  kill,
  /// Post the text for people.
  tell,
  /// Offer the wake to the offices; then wake_answered.
  wake,
  /// Learn what became of a wake that the offices have; then wake_ended.
  follow,
  /// An end, and the end of a wake, for the metrics.
  count,
  count_wake,
  /// The end is known and on the disk: settled.
  settle,
  /// Remove its directory.
  forget,
};

struct job_effect {
  job_step what = job_step::save;
  std::string id;
  std::string text;
  friend bool operator==(const job_effect&, const job_effect&) = default;
};

using job_effects = std::vector<job_effect>;

/// A job that may be stored, or why there is none.
struct job_admission {
  std::string id;
  std::optional<contracts::process_job_error_code> refusal;
  job_effects effects;
};

struct job_cancellation {
  std::optional<contracts::process_job_error_code> refusal;
  job_effects effects;
};

/// What became of an offered wake: the offices have it, it is to be offered
/// again, or never will arrive.
enum class wake_outcome : uint8_t { taken, again, refused };

/// How a wake that the offices had came to its end.
struct wake_end {
  bool delivered = false;
  std::optional<contracts::wake_disposition> disposition;
  friend bool operator==(const wake_end&, const wake_end&) = default;
};

/// What the end of its ledger entry says about a wake.
wake_end wake_end_of(const entry_end& entry);

/// Decides for all jobs; knows no clock, no file and no actor.
class job_table_core {
public:
  /// Takes over what an earlier run of the node left: what waited goes on
  /// waiting, what ran was interrupted, wakes are still due.
  job_effects restore(std::vector<job_record> left, int64_t now_ms);

  // -- requests ---------------------------------------------------------------

  /// @param id new and unique
  job_admission admit(const job_request& request, std::string id,
                      int64_t now_ms);
  /// The job is stored.
  job_effects accepted(const std::string& id, int64_t now_ms);
  /// It could not be stored: it never was.
  void withdraw(const std::string& id);
  job_cancellation cancel(const std::string& id, int64_t now_ms);
  /// The node ends: nothing starts any more, what runs is interrupted.
  job_effects drain(int64_t now_ms);
  /// What still runs gets no more time.
  job_effects give_up(int64_t now_ms);

  // -- reports ----------------------------------------------------------------

  /// The command runs.
  /// @param began_ms when it was given to its environment
  job_effects launched(const std::string& id, int64_t began_ms);
  job_effects launch_failed(const std::string& id, int64_t now_ms);
  /// @param end its output within the limits of the job
  job_effects ended(const std::string& id, const job_end& end, int64_t now_ms);
  /// The output is in its files, or could not be kept.
  void output_kept(const std::string& id, bool kept);
  job_effects wake_answered(const std::string& id, wake_outcome outcome,
                            int64_t now_ms);
  job_effects wake_ended(const std::string& id, const wake_end& end);
  /// Keeps what a run knew at its end for the jobs that it admitted.
  job_effects keep_context(const contracts::continuation_context& context);
  /// Its last state is on the disk.
  job_effects settled(const std::string& id);
  /// A platform can be reached: its wakes are due.
  job_effects hurry(platform_id platform, int64_t now_ms);

  // -- time -------------------------------------------------------------------

  job_effects tick(int64_t now_ms);
  /// When tick has something to do; nothing: only after another event.
  std::optional<int64_t> next_due() const;

  // -- views ------------------------------------------------------------------

  const job_record* find(const std::string& id) const;
  /// The record of a job of this conversation.
  const job_record* find(const job_query& query) const;
  /// Newest first. Empty conversation: of all.
  std::vector<contracts::process_job_projection>
  list(const std::string& conversation_id) const;
  job_outlook outlook(platform_id platform) const;
  size_t running() const;
  size_t queued() const;
  size_t size() const { return jobs_.size(); }

private:
  struct row {
    job_record record;
    /// It is stored and may start.
    bool stored = false;
    /// When a cancel or a deadline has to have had its effect; 0: none has.
    int64_t end_due_ms = 0;
    int64_t wake_due_ms = 0;
    bool wake_under_way = false;
    /// Ended, and its conversation knows.
    bool settled = false;
    contracts::process_job_projection& shown() { return record.shown; }
    const contracts::process_job_projection& shown() const {
      return record.shown;
    }
  };

  void end_wake(job_effects& out, row& entry, const wake_end& end);
  bool occupies(const row& entry) const;
  row* at(const std::string& id);
  void start_waiting(job_effects& out);
  void end(job_effects& out, row& entry, contracts::process_job_state state,
           std::optional<contracts::process_job_error_code> error,
           int64_t now_ms);
  void due_wake(job_effects& out, row& entry, int64_t now_ms);
  void settle(job_effects& out, row& entry);
  std::optional<contracts::process_job_error_code>
  refusal_of(const job_request& request, const std::string& conversation_id,
             int64_t chain_depth) const;

  std::map<std::string, row> jobs_;
  /// By admission.
  std::deque<std::string> order_;
  std::deque<std::string> settled_;
  uint64_t admitted_ = 0;
  bool draining_ = false;
};

} // namespace bureau::jobs
