#include "actors/system/office_inspector.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/system/office_study_core.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <memory>
#include <utility>

namespace bureau::system {

namespace {

/// Offices that are looked at at one time.
constexpr size_t studies_at_once = 16;

// (describe, office_address) → JSON text  ⇒ describe
class office_inspector_state {
public:
  using pointer =
    office_inspector_actor::stateful_pointer<office_inspector_state>;
  static inline const char* name = "office_inspector";

  explicit office_inspector_state(pointer self) : self_(self) {}

  void init(workspace place, files_actor files) {
    place_ = std::move(place);
    files_ = std::move(files);
  }

  office_inspector_actor::behavior_type make_behavior() {
    return {[this](atom::describe, const office_address& address) {
      return describe(address);
    }};
  }

private:
  using study_ptr = std::shared_ptr<office_study>;

  caf::result<std::string> describe(const office_address& address) {
    if (open_.size() >= studies_at_once)
      return make_failure(errc::queue_full,
                          "too many offices are looked at; try later");
    auto answer = self_->make_response_promise<std::string>();
    // The study hands its own address to its readers: it must not move.
    go_on(std::make_shared<office_study>(place_, address), open_.keep(answer));
    return answer;
  }

  void go_on(const study_ptr& study, uint64_t promise) {
    auto job = study->next();
    if (!job) {
      if (study->fault())
        open_.fail(promise, study->fault());
      else
        open_.deliver(promise, json::print(study->result()));
      return;
    }
    kit::bounded_request(self_, files_, limits::disk_timeout, atom::file_v,
                         std::move(*job))
      .then(
        [this, study, promise](const file_outcome& found) {
          study->take(found);
          go_on(study, promise);
        },
        [this, study, promise](const caf::error& reason) {
          study->fail(reason);
          go_on(study, promise);
        });
  }

  pointer self_;
  workspace place_;
  files_actor files_;
  kit::promise_guard<std::string> open_;
};

} // namespace

office_inspector_actor spawn_office_inspector(caf::actor_system& system,
                                              workspace place,
                                              files_actor files) {
  return kit::spawn_stateful<office_inspector_actor, office_inspector_state>(
    system, std::move(place), std::move(files));
}

} // namespace bureau::system
