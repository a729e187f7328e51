#include "actors/io/files.hpp"

#include "actors/io/file_jobs.hpp"
#include "actors/io/files_core.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <map>

namespace bureau::io {

namespace {

/// A worker answers the requester itself.
using worker_actor =
  caf::typed_actor<caf::replies_to<atom::file, file_job>::with<file_outcome>>;

/// A worker says that it is free again.
using worker_owner_actor =
  caf::typed_actor<caf::reacts_to<atom::ready, uint64_t>>;

using files_interface = files_actor::extend_with<worker_owner_actor>;

// (file, file_job) → file_outcome    ⇒ run_file_job, then (ready) to the owner
class worker_state {
public:
  using pointer = worker_actor::stateful_pointer<worker_state>;
  static inline const char* name = "file_worker";

  explicit worker_state(pointer) {}

  void init(std::shared_ptr<file_system> fs, std::shared_ptr<entropy> chance,
            caf::actor_addr owner, uint64_t index) {
    fs_ = std::move(fs);
    chance_ = std::move(chance);
    owner_ = std::move(owner);
    index_ = index;
  }

  worker_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job& job) { return work(job); },
    };
  }

private:
  caf::result<file_outcome> work(const file_job& job) {
    auto result = run_file_job(*fs_, *chance_, job);
    // Weak, or dispatcher and worker would keep each other alive.
    if (auto owner = caf::actor_cast<worker_owner_actor>(owner_))
      caf::anon_send(owner, atom::ready_v, index_);
    return result;
  }

  std::shared_ptr<file_system> fs_;
  std::shared_ptr<entropy> chance_;
  caf::actor_addr owner_;
  uint64_t index_ = 0;
};

// (file, file_job) → file_outcome    ⇒ accept
// (status) → status_line             ⇒ status
// (stop) → ok                        ⇒ stop
// (ready, index)                     ⇒ worker_ready
class files_state {
public:
  using pointer = files_interface::stateful_pointer<files_state>;
  static inline const char* name = "files";

  explicit files_state(pointer self) : self_(self) {}

  ~files_state() {
    for (auto& entry : answers_)
      entry.second.deliver(
        make_failure(errc::shutting_down, "the file pool has ended"));
  }

  void init(std::shared_ptr<file_system> fs, std::shared_ptr<entropy> chance,
            metrics_actor metrics) {
    fs_ = std::move(fs);
    chance_ = std::move(chance);
    metrics_ = std::move(metrics);
    self_->set_down_handler(
      [this](const caf::down_msg& down) { worker_died(down.source); });
    for (size_t i = 0; i < limits::file_workers; ++i)
      add_worker();
  }

  files_interface::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job& job) { return accept(job); },
      [this](atom::status) { return status(); },
      [this](atom::stop) { return stop(); },
      [this](atom::ready, uint64_t index) { worker_ready(index); },
    };
  }

private:
  struct worker {
    worker_actor handle;
    /// Reason of the job it does; empty = free.
    std::string reason;
    uint64_t job = 0;
  };

  caf::result<file_outcome> accept(const file_job& job) {
    if (closing_)
      return make_failure(errc::shutting_down, "the file pool is ending");
    drop_expired();
    if (queue_.waiting() >= limits::file_jobs_waiting)
      return make_failure(errc::queue_full,
                          "too many file jobs are waiting; try later");
    auto answer = self_->make_response_promise<file_outcome>();
    ++reasons_[job.reason].waiting;
    auto id = ++last_job_;
    queue_.add(id, job, self_->clock().now() + limits::disk_timeout);
    answers_.emplace(id, answer);
    dispatch();
    return answer;
  }

  /// Whoever asked has given up and may have asked again.
  void drop_expired() {
    for (auto& late : queue_.take_expired(self_->clock().now())) {
      --reasons_[late.job.reason].waiting;
      answers_.extract(late.id).mapped().deliver(expired_failure(late.job));
    }
  }

  void dispatch() {
    drop_expired();
    for (auto& [index, free] : workers_) {
      if (!free.reason.empty())
        continue;
      auto next = queue_.next();
      if (!next)
        return;
      free.job = next->id;
      free.reason = reasons_.name_of(next->job.reason);
      auto& count = reasons_[free.reason];
      --count.waiting;
      ++count.busy;
      report_busy(free.reason);
      answers_.extract(next->id).mapped().delegate(free.handle, atom::file_v,
                                                   std::move(next->job));
    }
  }

  void worker_ready(uint64_t index) {
    auto found = workers_.find(index);
    if (found == workers_.end() || found->second.reason.empty())
      return;
    release(found->second);
    dispatch();
    finish_if_idle();
  }

  void release(worker& idle) {
    auto& count = reasons_[idle.reason];
    --count.busy;
    ++count.done;
    report_busy(idle.reason);
    idle.reason.clear();
    queue_.done(idle.job);
  }

  void add_worker() {
    auto index = ++last_index_;
    auto handle =
      kit::spawn_stateful<worker_actor, worker_state, caf::detached>(
        self_->system(), fs_, chance_, self_->address(), index);
    self_->monitor(handle);
    workers_[index] = {handle, {}, 0};
  }

  void worker_died(const caf::actor_addr& source) {
    for (auto entry = workers_.begin(); entry != workers_.end(); ++entry) {
      if (entry->second.handle.address() != source)
        continue;
      if (!entry->second.reason.empty())
        release(entry->second);
      workers_.erase(entry);
      kit::log::error("files", "a file worker ended and is replaced");
      if (!closing_)
        add_worker();
      dispatch();
      finish_if_idle();
      return;
    }
  }

  status_line status() const {
    status_line line{"files", "ok", reasons_.text()};
    if (closing_)
      line.state = "stopping";
    else if (reasons_.busy() == 0)
      line.state = "idle";
    else if (queue_.waiting() > limits::file_jobs_waiting / 2)
      line.state = "busy";
    return line;
  }

  caf::result<caf::ok_atom> stop() {
    closing_ = true;
    auto answer = self_->make_response_promise<caf::ok_atom>();
    stops_.keep(answer);
    finish_if_idle();
    return answer;
  }

  /// Jobs that were accepted are done before the pool ends.
  void finish_if_idle() {
    if (!closing_ || !queue_.empty() || reasons_.busy() > 0)
      return;
    for (auto& entry : workers_) {
      self_->demonitor(entry.second.handle.address());
      self_->send_exit(entry.second.handle, caf::exit_reason::user_shutdown);
    }
    workers_.clear();
    stops_.deliver_all(caf::ok_atom_v);
  }

  void report_busy(const std::string& reason) {
    if (metrics_)
      self_->send(metrics_, atom::gauge_v,
                  metric_sample{metric::blocking_busy,
                                {reason},
                                static_cast<int64_t>(reasons_[reason].busy)});
  }

  pointer self_;
  std::shared_ptr<file_system> fs_;
  std::shared_ptr<entropy> chance_;
  metrics_actor metrics_;
  std::map<uint64_t, worker> workers_;
  uint64_t last_index_ = 0;
  job_queue queue_;
  std::map<uint64_t, caf::typed_response_promise<file_outcome>> answers_;
  uint64_t last_job_ = 0;
  reason_table reasons_;
  kit::promise_guard<caf::ok_atom> stops_;
  bool closing_ = false;
};

} // namespace

files_actor spawn_files(caf::actor_system& system,
                        std::shared_ptr<file_system> fs,
                        std::shared_ptr<entropy> chance,
                        metrics_actor metrics) {
  return kit::spawn_stateful<files_interface, files_state>(
    system, std::move(fs), std::move(chance), std::move(metrics));
}

} // namespace bureau::io
