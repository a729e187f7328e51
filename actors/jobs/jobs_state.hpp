#pragma once

#include "actors/jobs/job_table_core.hpp"
#include "actors/jobs/jobs.hpp"
#include "actors/jobs/routing_core.hpp"
#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace bureau::jobs {

/// What the jobs actor is, seen from inside.
using full_jobs_actor = jobs_actor::extend_with<job_operator_actor>;

/// Handlers:
///   (submit, job_request)   → job_answer => on_submit
///   (list, conversation)    → job_list => on_list
///   (read, job_query)       → job_answer => on_read
///   (cancel, job_query)     → job_answer => on_cancel
///   (describe, platform)    → job_outlook => on_describe
///   (settled, continuation_context) => keep_context
///   (load, wake id)         → job_continuation => on_load
///   (start, desk)           => on_start
///   (attach, platform, transport) => on_attach
///   (status)                → status_line => status
///   (stop)                  → ok => on_stop
///   (list, job_order)       → job_list => on_list
///   (read, job_order)       → job_answer => on_read
///   (cancel, job_order)     → job_answer => on_cancel
///
/// The shell of job_table_core.
class jobs_state {
public:
  using pointer = full_jobs_actor::stateful_pointer<jobs_state>;

  static inline const char* name = "jobs";

  explicit jobs_state(pointer self) : self_(self) {}
  ~jobs_state();

  void init(jobs_deps deps);
  full_jobs_actor::behavior_type make_behavior();

private:
  using answer_promise = caf::typed_response_promise<job_answer>;
  using list_promise = caf::typed_response_promise<job_list>;
  using outlook_promise = caf::typed_response_promise<job_outlook>;
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;
  using continuation_promise = caf::typed_response_promise<job_continuation>;

  /// The steps of one job, one after the other.
  struct chain {
    std::deque<job_effect> steps;
    bool busy = false;
  };

  /// The environment of a job that is started or runs.
  struct world {
    /// Tells late answers of an earlier one.
    uint64_t number = 0;
    executor_actor executor;
    uint64_t exec_id = 0;
    /// When the command was given to it.
    int64_t began_ms = 0;
    /// The command is taken to run.
    kit::generation_timer launch_timer;
    /// Its office stays awake for it.
    bool holds = false;
  };

  /// What a command printed, on its way to the disk.
  struct printed {
    std::string out;
    std::string err;
  };

  // -- requests (jobs.cpp) ----------------------------------------------------

  answer_promise on_submit(const job_request& request);
  void admit(const job_request& request, uint64_t promise);
  list_promise on_list(std::string conversation_id);
  answer_promise on_read(const job_query& query);
  answer_promise on_cancel(const job_query& query);
  list_promise on_list(const job_order& order);
  answer_promise on_read(const job_order& order);
  answer_promise on_cancel(const job_order& order);
  outlook_promise on_describe(platform_id platform);
  continuation_promise on_load(std::string wake);
  void on_start(job_desk_actor offices);
  void on_attach(platform_id platform, const transport_actor& transport);
  ok_promise on_stop();
  status_line status() const;
  bool is_operator(const job_order& order) const;
  void answer_list(uint64_t promise, const std::string& conversation_id);
  void answer_job(uint64_t promise, const job_record* record);
  void answer_cancel(uint64_t promise, const job_record* record);
  void refuse(uint64_t promise, contracts::process_job_error_code why);

  // -- effects (jobs.cpp) -----------------------------------------------------

  void carry_out(job_effects effects);
  void run_chain(std::string id);
  void step_done(const std::string& id);
  /// Whether the step is over; else step_done follows.
  bool perform(const job_effect& step);
  void tell(const job_effect& step);
  void post(const job_record& job, std::string text);
  void wake(const std::string& id);
  void follow(const std::string& id);
  void count(const job_effect& what);
  void count(metric id, std::vector<std::string> labels, int64_t value = 1);
  void show_load();
  std::optional<contracts::notify_delivery_result>
  refused(const job_record& job, caf::optional<std::string> text) const;
  void arm();
  void when_loaded(std::function<void()> action);
  void loaded();
  void finish_stop();

  // -- environments (jobs_run.cpp) --------------------------------------------

  void launch(const std::string& id);
  void resolve(const std::string& id);
  void make_world(const std::string& id, const run_settings& settings);
  void run_command(const std::string& id, const path_context& paths);
  void command_done(const std::string& id, job_end end);
  void launch_failed(const std::string& id, const caf::error& reason);
  /// Whether a step is for the environment that the job has now.
  bool is_current(const std::string& id, uint64_t number) const;
  void take_as_launched(const std::string& id);
  void let_go(const std::string& id, bool holds);
  /// An environment ended by itself.
  void world_ended(const caf::actor_addr& source);
  void abort(const std::string& id);
  void release(const std::string& id);
  void kill(const std::string& id);

  // -- disk (jobs_store.cpp) --------------------------------------------------

  void load();
  void load_next();
  void save(const std::string& id);
  void write_record(const std::string& id);
  void save_failed(const std::string& id, const caf::error& reason);
  void save_again();
  void keep_output(const std::string& id);
  void keep_error_output(const std::string& id, bool kept);
  void forget(const std::string& id);
  file_job job_file(file_op op, std::string path) const;

  /// A request to the disk with both ends in our hands.
  template <class Good, class Bad>
  void ask_files(file_job job, Good good, Bad bad) {
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(std::move(good), std::move(bad));
  }

  int64_t now() const { return deps_.wall->now_ms(); }

  pointer self_;
  jobs_deps deps_;
  job_desk_actor offices_;
  std::map<platform_id, transport_actor> transports_;
  job_table_core core_;
  bool loaded_ = false;
  bool started_ = false;
  bool stopping_ = false;
  /// Nobody is waited for any more.
  bool forced_ = false;
  std::string trouble_;
  /// While the earlier jobs are read: those to come, and those that came.
  std::deque<std::string> unread_;
  std::vector<job_record> found_;
  std::vector<std::function<void()>> held_;
  std::map<std::string, chain> chains_;
  std::map<std::string, world> worlds_;
  std::map<std::string, printed> printed_;
  /// Jobs on their way to the disk, with who asked.
  std::map<std::string, uint64_t> admissions_;
  /// Wakes that the offices have and did not tell the end of.
  std::map<std::string, kit::generation_timer> follow_timers_;
  /// Running and waiting jobs, as last told.
  std::pair<size_t, size_t> load_{0, 0};
  uint64_t worlds_made_ = 0;
  /// Environments that are ending.
  size_t leaving_ = 0;
  size_t interrupted_ = 0;
  kit::promise_guard<job_answer> answers_;
  kit::promise_guard<job_list> lists_;
  kit::promise_guard<job_outlook> outlooks_;
  kit::promise_guard<caf::ok_atom> stops_;
  kit::promise_guard<job_continuation> continuations_;
  kit::generation_timer timer_;
  kit::generation_timer stop_timer_;
  /// Jobs whose last state the disk has refused.
  std::set<std::string> unsaved_;
  kit::generation_timer save_timer_;
};

} // namespace bureau::jobs
