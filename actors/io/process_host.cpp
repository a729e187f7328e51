#include "actors/io/process_host.hpp"

#include "actors/io/process_core.hpp"
#include "actors/io/recent_ids.hpp"
#include "actors/io/watch_list.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <map>

namespace bureau::io {

namespace {

using host_interface =
  process_host_actor::extend_with<process_loop_owner_actor>;

// (run, proc_spec) → proc_result                     ⇒ run
// (start, proc_spec, process_sink) → proc_started    ⇒ start
// (p_write, proc_input)                              ⇒ to the loop
// (ack, proc_ack)                                    ⇒ to the loop
// (p_kill, proc_kill)                                ⇒ kill
// (status) → status_line                             ⇒ status
// (stop) → ok                                        ⇒ stop
// (ready, proc_started)                              ⇒ started
// (failed, id, error)                                ⇒ failed
// (done, proc_result)                                ⇒ finished
// (closed, id)                                       ⇒ release
// (drain)                                            ⇒ drained
class process_host_state {
public:
  using pointer = host_interface::stateful_pointer<process_host_state>;
  static inline const char* name = "process";

  explicit process_host_state(pointer self) : self_(self) {}

  void init(std::shared_ptr<process_queue> queue, metrics_actor metrics) {
    queue_ = std::move(queue);
    metrics_ = std::move(metrics);
    queue_->push(process_attach{process_loop_owner_actor{self_}});
    self_->set_down_handler(
      [this](const caf::down_msg& down) { abandon(down.source); });
  }

  host_interface::behavior_type make_behavior() {
    return {
      [this](atom::run, const proc_spec& spec) { return run(spec); },
      [this](atom::start, const proc_spec& spec,
             const process_sink_actor& sink) { return start(spec, sink); },
      [this](atom::p_write, const proc_input& input) { queue_->push(input); },
      [this](atom::ack, const proc_ack& ack) { queue_->push(ack); },
      [this](atom::p_kill, const proc_kill& request) { kill(request); },
      [this](atom::status) { return status(); },
      [this](atom::stop) { return stop(); },
      [this](atom::ready, const proc_started& child) { started(child); },
      [this](atom::failed, uint64_t id, const caf::error& reason) {
        failed(id, reason);
      },
      [this](atom::done, const proc_result& result) { finished(result); },
      [this](atom::closed, uint64_t id) { release(id); },
      [this](atom::drain) { drained(); },
    };
  }

private:
  struct entry {
    caf::actor_addr owner;
    std::string label;
    std::string reason;
    uint64_t run_promise = 0;
    uint64_t start_promise = 0;
    int32_t pid = 0;
    caf::actor_clock::time_point since;
  };

  caf::error refusal(const proc_spec& spec) const {
    if (closing_)
      return make_failure(errc::shutting_down, "processes are ending");
    if (auto fault = spec_fault(spec); !fault.empty())
      return make_failure(errc::bad_request,
                          "cannot start " + shown_name(spec) + ": " + fault);
    if (children_.count(spec.id) > 0)
      return make_failure(errc::bad_request, "cannot start " + shown_name(spec)
                                               + ": its id is in use");
    if (killed_early_.contains(spec.id))
      return make_failure(errc::aborted,
                          shown_name(spec) + " was stopped before it started");
    if (children_.size()
        >= limits::processes_running + limits::processes_waiting)
      return make_failure(errc::queue_full,
                          "too many processes are waiting to start; try later");
    return {};
  }

  /// Books a child that the loop has been told about.
  entry& admit(const proc_spec& spec, caf::actor_addr owner) {
    watched_.add(self_, owner);
    auto& added = children_[spec.id];
    added.owner = std::move(owner);
    added.label = shown_name(spec);
    added.reason = spec.reason.empty() ? "other" : spec.reason;
    added.since = self_->clock().now();
    report_active();
    return added;
  }

  caf::result<proc_result> run(const proc_spec& spec) {
    if (auto refused = refusal(spec))
      return refused;
    auto owner = caf::actor_cast<caf::actor_addr>(self_->current_sender());
    if (!queue_->push(process_begin{spec, {}}))
      return make_failure(errc::shutting_down, "the process loop has ended");
    auto answer = self_->make_response_promise<proc_result>();
    admit(spec, owner).run_promise = runs_.keep(answer);
    return answer;
  }

  caf::result<proc_started> start(const proc_spec& spec,
                                  const process_sink_actor& sink) {
    if (!sink)
      return make_failure(errc::bad_request, "a started child needs a sink");
    if (auto refused = refusal(spec))
      return refused;
    if (!queue_->push(process_begin{spec, sink}))
      return make_failure(errc::shutting_down, "the process loop has ended");
    auto answer = self_->make_response_promise<proc_started>();
    admit(spec, sink.address()).start_promise = starts_.keep(answer);
    return answer;
  }

  void kill(const proc_kill& request) {
    if (children_.count(request.id) == 0)
      killed_early_.add(request.id);
    else
      queue_->push(request);
  }

  void started(const proc_started& what) {
    auto found = children_.find(what.id);
    if (found == children_.end())
      return;
    found->second.pid = what.pid;
    starts_.deliver(found->second.start_promise, what);
  }

  void failed(uint64_t id, const caf::error& reason) {
    auto found = children_.find(id);
    if (found == children_.end())
      return;
    starts_.fail(found->second.start_promise, reason);
    runs_.fail(found->second.run_promise, reason);
    release(id);
  }

  void finished(const proc_result& result) {
    if (auto found = children_.find(result.exit.id); found != children_.end())
      runs_.deliver(found->second.run_promise, result);
  }

  void release(uint64_t id) {
    auto gone = children_.extract(id);
    if (gone.empty())
      return;
    watched_.remove(self_, gone.mapped().owner);
    report_active();
  }

  void abandon(const caf::actor_addr& owner) {
    watched_.forget(owner);
    for (const auto& [id, live] : children_)
      if (live.owner == owner)
        queue_->push(process_abandon{id});
  }

  status_line status() const {
    constexpr size_t most_shown = 10;
    status_line line{"process", closing_ ? "stopping" : "ok", {}};
    if (!closing_ && children_.empty())
      line.state = "idle";
    line.detail = std::to_string(children_.size()) + " children";
    size_t shown = 0;
    for (const auto& [id, live] : children_) {
      if (++shown > most_shown) {
        line.detail += "; …";
        break;
      }
      auto age = std::chrono::duration_cast<std::chrono::seconds>(
        self_->clock().now() - live.since);
      line.detail +=
        "; " + live.label + " ("
        + (live.pid == 0 ? "waiting" : "pid " + std::to_string(live.pid)) + ", "
        + std::to_string(age.count()) + " s, " + live.reason + ")";
    }
    return line;
  }

  caf::result<caf::ok_atom> stop() {
    auto answer = self_->make_response_promise<caf::ok_atom>();
    stops_.keep(answer);
    if (!queue_->push(process_stop{}))
      drained();
    closing_ = true;
    return answer;
  }

  void drained() {
    closing_ = true;
    // The loop has reported every child before it says this.
    auto reason = make_failure(errc::shutting_down, "processes have ended");
    starts_.fail_all(reason);
    runs_.fail_all(reason);
    children_.clear();
    stops_.deliver_all(caf::ok_atom_v);
  }

  void report_active() {
    if (metrics_)
      self_->send(metrics_, atom::gauge_v,
                  metric_sample{metric::process_active,
                                {},
                                static_cast<int64_t>(children_.size())});
  }

  pointer self_;
  std::shared_ptr<process_queue> queue_;
  metrics_actor metrics_;
  std::map<uint64_t, entry> children_;
  recent_ids killed_early_;
  watch_list watched_;
  kit::promise_guard<proc_result> runs_;
  kit::promise_guard<proc_started> starts_;
  kit::promise_guard<caf::ok_atom> stops_;
  bool closing_ = false;
};

} // namespace

process_service start_processes(caf::actor_system& system,
                                metrics_actor metrics, process_reaper* reaper) {
  process_service result;
  result.loop = std::make_unique<process_loop>(reaper);
  result.host = kit::spawn_stateful<host_interface, process_host_state>(
    system, result.loop->queue(), std::move(metrics));
  return result;
}

} // namespace bureau::io
