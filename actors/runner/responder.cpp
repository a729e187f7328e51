#include "actors/runner/responder.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/runner/responder_core.hpp"

#include <caf/all.hpp>

#include <optional>

namespace bureau::runner {

namespace {

/// Handlers:
///   (append, text)            => append
///   (replace, text)           => replace
///   (activity, line)          => activity
///   (finish, final_answer)    → ok => finish
///   (dismiss)                 → ok => dismiss
///
/// The shell of responder_core. Child of its runner, one per run.
class responder_state {
public:
  using pointer = responder_actor::stateful_pointer<responder_state>;

  static inline const char* name = "responder";

  explicit responder_state(pointer self) : self_(self) {}

  void init(responder_args args) {
    args_ = std::move(args);
    core_.emplace(output_style{args_.info.streaming, args_.info.show_activity,
                               args_.provisional});
  }

  responder_actor::behavior_type make_behavior() {
    return {
      [this](atom::append, const std::string& text) {
        carry_out(core_->append(text));
      },
      [this](atom::replace, const std::string& text) {
        carry_out(core_->replace(text));
      },
      [this](atom::activity, const std::string& line) {
        carry_out(core_->activity(line));
      },
      [this](atom::finish, const final_answer& answer) {
        return finish(answer);
      },
      [this](atom::dismiss) { return dismiss(); },
    };
  }

private:
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;

  ok_promise finish(const final_answer& answer) {
    auto promise = self_->make_response_promise<ok_promise>();
    finishes_.keep(promise);
    carry_out(core_->finish(answer.text, answer.suppressed));
    return promise;
  }

  ok_promise dismiss() {
    auto promise = self_->make_response_promise<ok_promise>();
    finishes_.fail_all(make_failure(errc::aborted, "The run was stopped."));
    promise.deliver(caf::ok_atom_v);
    carry_out(core_->dismiss());
    return promise;
  }

  void carry_out(output_effects effects) {
    for (auto& item : effects)
      std::visit([this](auto& effect) { apply(effect); }, item);
  }

  void apply(output::send& item) {
    outbound operation;
    operation.op = item.op;
    operation.rank = item.rank;
    operation.content = item.content;
    operation.conversation = args_.event.address;
    operation.run = args_.run;
    operation.message_id = args_.event.message_id;
    operation.text = std::move(item.text);
    operation.ref = std::move(item.ref);
    operation.target = args_.event.target;
    auto token = item.token;
    kit::bounded_request(self_, args_.transport, limits::delivery_timeout,
                         atom::deliver_v, std::move(operation))
      .then(
        [this, token](const delivered& outcome) {
          carry_out(core_->delivered_op(token, outcome));
        },
        [this, token](caf::error& reason) {
          kit::log::debug(self_->name(), "an interim operation failed: "
                                           + sentence_of(reason));
          delivered outcome;
          outcome.fault = delivery_fault::retryable;
          carry_out(core_->delivered_op(token, outcome));
        });
  }

  void apply(output::arm_settle&) {
    timer_.arm(self_, limits::interim_settle_timeout,
               [this] { carry_out(core_->settle_timeout()); });
  }

  void apply(output::produce& item) {
    timer_.cancel();
    turn_produced fact;
    fact.session_key = args_.event.session_key;
    fact.message_id = args_.event.message_id;
    fact.run = args_.run;
    fact.text = std::move(item.text);
    fact.provisional = std::move(item.provisional);
    fact.silent = item.silent;
    kit::bounded_request(self_, args_.owner, limits::disk_timeout,
                         atom::produced_v, std::move(fact))
      .then([this](caf::ok_atom) { carry_out(core_->recorded()); },
            [this](caf::error& reason) {
              finishes_.fail_all(reason);
              carry_out(core_->not_recorded());
            });
  }

  void apply(output::answer_finish&) { finishes_.deliver_all(caf::ok_atom_v); }

  void apply(output::linger&) {
    timer_.arm(self_, limits::responder_linger_timeout,
               [this] { self_->quit(); });
  }

  void apply(output::end&) { self_->quit(); }

  pointer self_;
  responder_args args_;
  std::optional<responder_core> core_;
  kit::promise_guard<caf::ok_atom> finishes_;
  kit::generation_timer timer_;
};

} // namespace

responder_actor spawn_responder(caf::actor_system& system,
                                responder_args args) {
  return kit::spawn_stateful<responder_actor, responder_state>(system,
                                                               std::move(args));
}

responder_factory make_responder_factory() {
  return [](caf::actor_system& system, const responder_args& args) {
    return spawn_responder(system, args);
  };
}

} // namespace bureau::runner
