#include "actors/control/control.hpp"

#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <memory>
#include <utility>

namespace bureau::control {

namespace {

kit::log::level level_of(const std::string& name) {
  if (name == "debug")
    return kit::log::level::debug;
  if (name == "warning")
    return kit::log::level::warning;
  if (name == "error")
    return kit::log::level::error;
  return kit::log::level::info;
}

/// One answer of `status` in the making.
struct status_collection {
  std::string id;
  uint64_t promise = 0;
  size_t missing = 0;
  status_parts parts;
};

// (call, line) → line     ⇒ call
// (status) → status_line  ⇒ status
class control_state {
public:
  using pointer = control_actor::stateful_pointer<control_state>;
  static inline const char* name = "control";

  explicit control_state(pointer self) : self_(self) {}

  void init(control_args args) {
    args_ = std::move(args);
    began_ = self_->clock().now();
  }

  control_actor::behavior_type make_behavior() {
    return {
      [this](atom::call, const std::string& line) { return call(line); },
      [this](atom::status) { return status(); },
    };
  }

private:
  using line_promise = caf::typed_response_promise<std::string>;

  status_line status() const {
    return {"control", open_.empty() ? "idle" : "ok",
            std::to_string(open_.size()) + " calls"};
  }

  caf::result<std::string> call(const std::string& line) {
    auto what = parse_call(line);
    if (!what.call)
      return what.refusal;
    if (open_.size() >= open_calls)
      return answered(what.id,
                      failure_line(what.id, errc::queue_full,
                                   "Too many calls are open; try later."));
    return std::visit(
      [&](const auto& wanted) { return carry_out(what.id, wanted); },
      *what.call);
  }

  /// A notification is carried out and not answered.
  static std::string answered(const std::string& id, std::string line) {
    return id.empty() ? std::string{} : std::move(line);
  }

  static std::string result_of(const std::string& id,
                               const json::bj::object& result) {
    return answered(id, result_line(id, json::print(result)));
  }

  /// Keeps a promise; its failures become lines, which `fail` makes.
  uint64_t keep(const line_promise& answer) { return open_.keep(answer); }

  void fail(uint64_t promise, const std::string& id, const caf::error& reason) {
    open_.deliver(promise, answered(id, failure_line(id, code_of(reason),
                                                     sentence_of(reason))));
  }

  // -- status -----------------------------------------------------------------

  caf::result<std::string> carry_out(const std::string& id, status_call) {
    auto answer = self_->make_response_promise<line_promise>();
    auto collection = std::make_shared<status_collection>();
    collection->id = id;
    collection->promise = keep(answer);
    collection->missing = 2;
    collection->parts.facts = args_.facts;
    collection->parts.log_level = args_.log_level;
    kit::bounded_request(self_, args_.node, part_timeout, atom::describe_v)
      .then(
        [this, collection](const node_report& report) {
          collection->parts.node = report;
          part_told(*collection);
        },
        [this, collection](const caf::error& reason) {
          part_silent(*collection, "node", reason);
        });
    kit::bounded_request(self_, args_.offices, part_timeout, atom::describe_v)
      .then(
        [this, collection](const runtime_snapshot& snapshot) {
          collection->parts.runtime = snapshot;
          part_told(*collection);
        },
        [this, collection](const caf::error& reason) {
          part_silent(*collection, "offices", reason);
        });
    return answer;
  }

  void part_silent(status_collection& collection, const char* part,
                   const caf::error& reason) {
    collection.parts.silent.push_back(
      {part, code_of(reason), sentence_of(reason)});
    part_told(collection);
  }

  void part_told(status_collection& collection) {
    if (--collection.missing > 0)
      return;
    collection.parts.uptime_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(self_->clock().now()
                                                            - began_)
        .count();
    open_.deliver(collection.promise,
                  result_of(collection.id, status_result(collection.parts)));
  }

  // -- shutdown ---------------------------------------------------------------

  caf::result<std::string> carry_out(const std::string& id,
                                     const shutdown_call& wanted) {
    const std::string why = "asked for on the control socket";
    if (wanted.deadline_ms)
      self_->send(args_.node, atom::shutdown_v, why, *wanted.deadline_ms);
    else
      self_->send(args_.node, atom::shutdown_v, why);
    return result_of(
      id, shutdown_result(wanted.deadline_ms.value_or(args_.deadline.count())));
  }

  // -- offices ----------------------------------------------------------------

  caf::result<std::string> carry_out(const std::string& id, office_list_call) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    kit::bounded_request(self_, args_.registry, limits::mailbox_timeout,
                         atom::list_v)
      .then(
        [this, id, promise](const office_inventory& inventory) {
          open_.deliver(promise, result_of(id, office_list_result(inventory)));
        },
        [this, id, promise](const caf::error& reason) {
          fail(promise, id, reason);
        });
    return answer;
  }

  caf::result<std::string> carry_out(const std::string& id,
                                     const office_show_call& wanted) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    kit::bounded_request(self_, args_.inspector, show_timeout, atom::describe_v,
                         wanted.address)
      .then(
        [this, id, promise](const std::string& told) {
          open_.deliver(promise, answered(id, result_line(id, told)));
        },
        [this, id, promise](const caf::error& reason) {
          fail(promise, id, reason);
        });
    return answer;
  }

  // -- log --------------------------------------------------------------------

  caf::result<std::string> carry_out(const std::string& id,
                                     const log_level_call& wanted) {
    auto before = std::exchange(args_.log_level, wanted.level);
    kit::log::set_level(level_of(wanted.level));
    kit::log::info(name, "the log level is " + wanted.level + " now");
    return result_of(id, log_level_result(wanted.level, before));
  }

  pointer self_;
  control_args args_;
  caf::actor_clock::time_point began_;
  kit::promise_guard<std::string> open_;
};

} // namespace

control_actor spawn_control(caf::actor_system& system, control_args args) {
  return kit::spawn_stateful<control_actor, control_state>(system,
                                                           std::move(args));
}

} // namespace bureau::control
