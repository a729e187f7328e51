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

  caf::result<std::string> carry_out(const std::string& id,
                                     const office_claim_call& wanted) {
    if (!wanted.workspace.empty() && wanted.workspace != args_.workspace_root)
      return answered(
        id, failure_line(id, errc::bad_request,
                         "This node has the workspace " + args_.workspace_root
                           + ", not " + wanted.workspace
                           + "; end it to claim a directory there."));
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    // It looks at three paths, then writes the registry.
    kit::bounded_request(self_, args_.registry, limits::disk_timeout * 4,
                         atom::claim_v, wanted.claimed)
      .then(
        [this, id, promise, claimed = wanted.claimed](caf::ok_atom) {
          open_.deliver(promise, result_of(id, office_claim_result(claimed)));
        },
        [this, id, promise](const caf::error& reason) {
          fail(promise, id, reason);
        });
    return answer;
  }

  // -- jobs -------------------------------------------------------------------

  caf::result<std::string> carry_out(const std::string& id,
                                     const jobs_list_call& wanted) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    kit::bounded_request(self_, args_.jobs, limits::mailbox_timeout,
                         atom::list_v, job_order{args_.operator_token, {}})
      .then(
        [this, id, promise, state = wanted.state](const job_list& list) {
          open_.deliver(promise, result_of(id, jobs_result(list, state)));
        },
        [this, id, promise](const caf::error& reason) {
          fail(promise, id, reason);
        });
    return answer;
  }

  caf::result<std::string> carry_out(const std::string& id,
                                     const jobs_show_call& wanted) {
    return ask_job(id, atom::read_v, wanted.job_id);
  }

  caf::result<std::string> carry_out(const std::string& id,
                                     const jobs_cancel_call& wanted) {
    return ask_job(id, atom::cancel_v, wanted.job_id);
  }

  template <class Verb>
  caf::result<std::string> ask_job(const std::string& id, Verb verb,
                                   const std::string& job_id) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    kit::bounded_request(self_, args_.jobs, limits::disk_timeout, verb,
                         job_order{args_.operator_token, job_id})
      .then(
        [this, id, promise](const job_answer& told) {
          open_.deliver(promise,
                        told.refusal
                          ? answered(id, refusal_line(id, *told.refusal))
                          : result_of(id, job_result(told)));
        },
        [this, id, promise](const caf::error& reason) {
          fail(promise, id, reason);
        });
    return answer;
  }

  // -- events -----------------------------------------------------------------

  /// Asks the schedules; `told` makes the rest of the call of their answer.
  template <class Answer, class Told, class... Args>
  void ask_events(const std::string& id, uint64_t promise, Told told,
                  const Args&... args) {
    kit::bounded_request(self_, args_.events, part_timeout, args...)
      .then([told](const Answer& found) { told(found); },
            [this, id, promise](const caf::error& reason) {
              fail(promise, id, reason);
            });
  }

  caf::result<std::string> carry_out(const std::string& id, events_list_call) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    ask_events<contracts::cron_overview>(
      id, promise,
      [this, id, promise](const contracts::cron_overview& overview) {
        ask_events<event_list>(
          id, promise,
          [this, id, promise, overview](const event_list& files) {
            open_.deliver(promise,
                          result_of(id, events_result(overview, files)));
          },
          atom::list_v, event_query{});
      },
      atom::describe_v);
    return answer;
  }

  caf::result<std::string> carry_out(const std::string& id,
                                     const events_show_call& wanted) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    if (wanted.query.run_id.empty())
      ask_events<contracts::cron_run_page>(
        id, promise,
        [this, id, promise](const contracts::cron_run_page& page) {
          open_.deliver(promise, result_of(id, event_runs_result(page)));
        },
        atom::list_v, wanted.query);
    else
      ask_events<contracts::cron_run>(
        id, promise,
        [this, id, promise](const contracts::cron_run& run) {
          open_.deliver(promise, result_of(id, event_run_result(run)));
        },
        atom::read_v, wanted.query);
    return answer;
  }

  caf::result<std::string> carry_out(const std::string& id,
                                     const events_delete_call& wanted) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    event_query query;
    query.filename = wanted.filename;
    ask_events<bool>(
      id, promise,
      [this, id, promise](bool was_there) {
        open_.deliver(promise, result_of(id, event_deleted_result(was_there)));
      },
      atom::drop_v, query);
    return answer;
  }

  // -- turns ------------------------------------------------------------------

  /// Asks the turn service; `shown` makes the result of its answer.
  template <class Answer, class Limit, class Shown, class... Args>
  caf::result<std::string> ask_turns(const std::string& id, Limit limit,
                                     Shown shown, const Args&... args) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    kit::bounded_request(self_, args_.turns, limit, args...)
      .then(
        [this, id, promise, shown](const Answer& told) {
          open_.deliver(promise, result_of(id, shown(told)));
        },
        [this, id, promise](const caf::error& reason) {
          fail(promise, id, reason);
        });
    return answer;
  }

  caf::result<std::string> carry_out(const std::string& id,
                                     const notify_call& wanted) {
    return ask_turns<contracts::notify_delivery_result>(
      id, notify_timeout,
      [](const auto& told) { return contracts::to_json(told); },
      atom::deliver_v, wanted.request);
  }

  caf::result<std::string> carry_out(const std::string& id, destinations_call) {
    return ask_turns<notify_destinations>(id, part_timeout, destinations_result,
                                          atom::list_v);
  }

  caf::result<std::string> carry_out(const std::string& id,
                                     const turn_call& wanted) {
    return ask_turns<contracts::turn_response>(id, turn_timeout, turn_result,
                                               atom::turn_v, wanted.request);
  }

  caf::result<std::string> carry_out(const std::string& id,
                                     const cancel_call& wanted) {
    return ask_turns<turn_cancelled>(id, part_timeout, cancel_result,
                                     atom::cancel_v, wanted.request);
  }

  /// A refusal at once, a settlement when there is one (agent contracts, rule
  /// 65).
  caf::result<std::string> carry_out(const std::string& id,
                                     const offer_call& wanted) {
    auto answer = self_->make_response_promise<line_promise>();
    auto promise = keep(answer);
    live_input_query query{wanted.request.conversation_id, wanted.request.id};
    kit::bounded_request(self_, args_.turns, part_timeout, atom::offer_v,
                         wanted.request)
      .then(
        [this, id, promise, query](const contracts::live_input_offer& offer) {
          if (offer.unavailable)
            open_.deliver(promise, result_of(id, contracts::to_json(offer)));
          else
            await_settlement(id, promise, query);
        },
        [this, id, promise](const caf::error& reason) {
          fail(promise, id, reason);
        });
    return answer;
  }

  void await_settlement(const std::string& id, uint64_t promise,
                        const live_input_query& query) {
    kit::bounded_request(self_, args_.turns, turn_timeout, atom::settled_v,
                         query)
      .then(
        [this, id, promise](const contracts::live_input_settlement& told) {
          open_.deliver(promise, result_of(id, contracts::to_json(told)));
        },
        [this, id, promise](const caf::error& reason) {
          fail(promise, id, reason);
        });
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
