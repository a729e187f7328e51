#pragma once

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/requests.hpp"
#include "messages/interfaces/process.hpp"
#include "messages/limits.hpp"
#include "sandbox/result_core.hpp"

#include <caf/error.hpp>
#include <caf/send.hpp>
#include <caf/typed_actor.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace bureau::sandbox {

/// How a child process ended, as far as its executor knows.
struct child_end {
  /// Why it was killed; the output is then what there was until then.
  kill_cause cause = kill_cause::none;
  proc_result result;
  /// Set: there is no result, because it never started or the way to it broke.
  caf::error fault;
  /// It was killed and did not end in time.
  bool unkillable = false;
};

/// The running children of one actor: their time limits, their kills, and one
/// answer for each at most limits::kill_confirm_timeout after a kill. What is
/// left when the table ends is killed.
/// @tparam Pointer pointer to the typed actor that owns the table
template <class Pointer>
class child_table {
public:
  using end_action = std::function<void(child_end)>;

  child_table() = default;
  child_table(const child_table&) = delete;
  child_table& operator=(const child_table&) = delete;

  ~child_table() {
    for (const auto& entry : children_)
      send_kill(entry.first);
  }

  void init(Pointer self, process_host_actor processes) {
    self_ = self;
    processes_ = std::move(processes);
  }

  /// Runs a child; `action` is called exactly once, later.
  /// @param timeout_ms 0 or less = no limit
  /// @return the id that names the child
  uint64_t run(proc_spec spec, int64_t timeout_ms, end_action action) {
    auto id = (static_cast<uint64_t>(self_->id()) << 32) | ++last_id_;
    spec.id = id;
    auto& entry = children_[id];
    entry.action = std::move(action);
    if (timeout_ms > 0)
      entry.limit.arm(self_, std::chrono::milliseconds{timeout_ms},
                      [this, id] { kill(id, kill_cause::timeout); });
    kit::bounded_request(self_, processes_, limits::run_timeout, atom::run_v,
                         std::move(spec))
      .then(
        [this, id](proc_result& result) {
          child_end end;
          end.result = std::move(result);
          finish(id, std::move(end));
        },
        [this, id](caf::error& fault) {
          child_end end;
          end.fault = std::move(fault);
          finish(id, std::move(end));
        });
    return id;
  }

  /// Kills a child; a stronger cause replaces a weaker one.
  void kill(uint64_t id, kill_cause cause) {
    auto entry = children_.find(id);
    if (entry == children_.end())
      return;
    auto& live = entry->second;
    auto first = live.cause == kill_cause::none;
    live.cause = std::max(live.cause, cause);
    if (!first)
      return;
    live.limit.cancel();
    send_kill(id);
    live.confirm.arm(self_, limits::kill_confirm_timeout, [this, id] {
      child_end end;
      end.unkillable = true;
      finish(id, std::move(end));
    });
  }

  void kill_all() {
    std::vector<uint64_t> ids;
    for (const auto& entry : children_)
      ids.push_back(entry.first);
    for (auto id : ids)
      kill(id, kill_cause::aborted);
  }

  bool empty() const { return children_.empty(); }

  size_t size() const { return children_.size(); }

private:
  struct child {
    kill_cause cause = kill_cause::none;
    kit::generation_timer limit;
    kit::generation_timer confirm;
    end_action action;
  };

  void send_kill(uint64_t id) {
    caf::anon_send<caf::message_priority::high>(processes_, atom::p_kill_v,
                                                proc_kill{id, 0});
  }

  void finish(uint64_t id, child_end end) {
    auto gone = children_.extract(id);
    if (gone.empty())
      return;
    auto& live = gone.mapped();
    end.cause = live.cause;
    end.unkillable = end.unkillable || end.result.exit.unkillable;
    if (end.unkillable)
      end.fault = make_failure(errc::transport,
                               "the command could not be killed within a "
                               "second; it may still be running");
    else if (end.cause != kill_cause::none)
      end.fault = {};
    else if (end.fault && code_of(end.fault) == errc::timeout)
      send_kill(id);
    live.action(std::move(end));
  }

  Pointer self_ = nullptr;
  process_host_actor processes_;
  uint32_t last_id_ = 0;
  std::map<uint64_t, child> children_;
};

} // namespace bureau::sandbox
