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
///   (paths, root, home)       => shorten
///   (status, text)            => status
///   (append, text)            => append
///   (replace, text)           => replace
///   (event, stream_event)     => event
///   (finish, final_answer)    → ok => finish
///   (dismiss)                 → ok => dismiss
///
/// The shell of resilient_stream_core. Child of its runner, one per run.
class responder_state {
public:
  using pointer = responder_actor::stateful_pointer<responder_state>;

  static inline const char* name = "responder";

  explicit responder_state(pointer self) : self_(self) {}

  void init(responder_args args) {
    args_ = std::move(args);
    core_.emplace(stream_options_of(args_.info, args_.provisional));
  }

  responder_actor::behavior_type make_behavior() {
    return {
      [this](atom::paths, const std::string& root, const std::string& home) {
        core_->shorten({root, home});
      },
      [this](atom::status, const std::string& text) {
        carry_out(core_->status(text, now_ms()));
      },
      [this](atom::append, const std::string& text) {
        carry_out(core_->append(text, now_ms()));
      },
      [this](atom::replace, const std::string& text) {
        carry_out(core_->replace(text, now_ms()));
      },
      [this](atom::event, const contracts::stream_event& event) {
        carry_out(core_->event(event, now_ms()));
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
    if (answer.suppressed)
      carry_out(core_->finish_silently());
    else
      carry_out(core_->finish({answer.text, answer.parts, {}}));
    return promise;
  }

  ok_promise dismiss() {
    auto promise = self_->make_response_promise<ok_promise>();
    finishes_.fail_all(make_failure(errc::aborted, "The run was stopped."));
    promise.deliver(caf::ok_atom_v);
    carry_out(core_->dismiss());
    return promise;
  }

  int64_t now_ms() const {
    auto now = self_->clock().now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }

  void carry_out(stream_effects effects) {
    for (auto& item : effects)
      std::visit([this](auto& effect) { apply(effect); }, item);
  }

  template <class Then>
  void deliver(outbound operation, Then then) {
    operation.conversation = args_.event.address;
    operation.run = args_.run;
    operation.message_id = args_.event.message_id;
    operation.target = args_.event.target;
    kit::bounded_request(self_, args_.transport, limits::delivery_timeout,
                         atom::deliver_v, std::move(operation))
      .then([then](const delivered& outcome) { then(outcome); },
            [this, then](caf::error& reason) {
              kit::log::debug(self_->name(), "an interim operation failed: "
                                               + sentence_of(reason));
              delivered outcome;
              outcome.fault = delivery_fault::retryable;
              then(outcome);
            });
  }

  void apply(stream::send& item) {
    deliver(operation_of(std::move(item.what), item.activity),
            [this, call = item.call](const delivered& outcome) {
              carry_out(core_->answered(call, outcome_of(outcome), now_ms()));
            });
  }

  void apply(stream::indicate&) {
    outbound operation;
    operation.op = outbound_op::typing;
    operation.rank = outbound_class::cosmetic;
    deliver(std::move(operation), [](const delivered&) {});
  }

  void apply(stream::arm_debounce& item) {
    debounce_.arm(self_, std::chrono::milliseconds{item.ms},
                  [this] { carry_out(core_->debounce_due()); });
  }

  void apply(stream::cancel_debounce&) { debounce_.cancel(); }

  void apply(stream::arm_settle&) {
    timer_.arm(self_, limits::interim_settle_timeout,
               [this] { carry_out(core_->settle_timeout()); });
  }

  void apply(stream::write_failed& item) {
    kit::log::debug(self_->name(), "nothing is shown yet: " + item.detail);
  }

  void apply(stream::produce& item) {
    timer_.cancel();
    turn_produced fact;
    fact.session_key = args_.event.session_key;
    fact.message_id = args_.event.message_id;
    fact.run = args_.run;
    fact.text = std::move(item.text);
    fact.parts = std::move(item.parts);
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

  void apply(stream::finished&) { finishes_.deliver_all(caf::ok_atom_v); }

  // The office delivers the answer, and tries again.
  void apply(stream::wait&) {}
  void apply(stream::failed&) {}

  void apply(stream::linger&) {
    timer_.arm(self_, limits::responder_linger_timeout,
               [this] { self_->quit(); });
  }

  void apply(stream::end&) { self_->quit(); }

  pointer self_;
  responder_args args_;
  std::optional<resilient_stream_core> core_;
  kit::promise_guard<caf::ok_atom> finishes_;
  kit::generation_timer timer_;
  kit::generation_timer debounce_;
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
