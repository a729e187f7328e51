#include "actors/io/directory_watch.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <map>

namespace bureau::io {

namespace {

using full_watch_actor = directory_watch_actor::extend_with<watch_owner_actor>;

// (watch, path, sink) → ok     ⇒ watch
// (status) → status_line       ⇒ status
// (ready, id)                  ⇒ the answer
// (failed, id, error)          ⇒ failed
class directory_watch_state {
public:
  using pointer = full_watch_actor::stateful_pointer<directory_watch_state>;
  static inline const char* name = "watch";

  explicit directory_watch_state(pointer self) : self_(self) {}

  ~directory_watch_state() {
    for (const auto& [id, sink] : sinks_)
      queue_->push(watch_end{id});
  }

  void init(std::shared_ptr<process_queue> queue) {
    queue_ = std::move(queue);
    self_->set_down_handler(
      [this](const caf::down_msg& down) { forget(down.source); });
  }

  full_watch_actor::behavior_type make_behavior() {
    return {
      [this](atom::watch, const std::string& path,
             const watch_sink_actor& sink) { return watch(path, sink); },
      [this](atom::status) {
        return status_line{"watch", sinks_.empty() ? "idle" : "ok",
                           std::to_string(sinks_.size()) + " directories"};
      },
      [this](atom::ready, uint64_t id) {
        answers_.deliver(promises_[id], caf::ok_atom_v);
        promises_.erase(id);
      },
      [this](atom::failed, uint64_t id, const caf::error& reason) {
        failed(id, reason);
      },
    };
  }

private:
  caf::result<caf::ok_atom> watch(const std::string& path,
                                  const watch_sink_actor& sink) {
    if (!sink || path.empty() || path.front() != '/')
      return make_failure(errc::bad_request,
                          "a watch needs an absolute path and a sink");
    if (sinks_.size() >= limits::watched_directories)
      return make_failure(errc::queue_full, "too many directories are watched");
    auto id = ++last_id_;
    if (!queue_->push(watch_begin{id, path, sink, watch_owner_actor{self_}}))
      return make_failure(errc::shutting_down, "the process loop has ended");
    auto answer = self_->make_response_promise<caf::ok_atom>();
    promises_[id] = answers_.keep(answer);
    sinks_[id] = sink.address();
    self_->monitor(sink);
    return answer;
  }

  void failed(uint64_t id, const caf::error& reason) {
    if (auto open = promises_.extract(id); !open.empty())
      answers_.fail(open.mapped(), reason);
    sinks_.erase(id);
  }

  void forget(const caf::actor_addr& sink) {
    std::erase_if(sinks_, [this, &sink](const auto& entry) {
      if (entry.second != sink)
        return false;
      queue_->push(watch_end{entry.first});
      return true;
    });
  }

  pointer self_;
  std::shared_ptr<process_queue> queue_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, caf::actor_addr> sinks_;
  std::map<uint64_t, uint64_t> promises_;
  kit::promise_guard<caf::ok_atom> answers_;
};

} // namespace

directory_watch_actor spawn_directory_watch(caf::actor_system& system,
                                            const process_service& processes) {
  return kit::spawn_stateful<full_watch_actor, directory_watch_state>(
    system, processes.loop->queue());
}

} // namespace bureau::io
