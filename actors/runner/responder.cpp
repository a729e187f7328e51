#include "actors/runner/responder.hpp"

#include "actors/delivery/transport_core.hpp"
#include "actors/kit/generation_timer.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/runner/buffered_stream_core.hpp"
#include "actors/runner/responder_core.hpp"

#include <caf/all.hpp>

#include <optional>

namespace bureau::runner {

namespace {

stream_end end_of(const final_answer& answer) {
  stream_end end;
  end.text = answer.text;
  // The office knows what its transport can show.
  end.options = {answer.parts, contracts::unsupported_part_fallback::none};
  return end;
}

/// The answer of a run, without what it says.
turn_produced fact_of(const responder_args& args) {
  turn_produced fact;
  fact.session_key = args.event.session_key;
  fact.message_id = args.event.message_id;
  fact.run = args.run;
  return fact;
}

/// A write came after the end: nobody would see it.
void tell_closed(const char* name) {
  kit::log::debug(name, "a write came after the end of its stream");
}

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
      carry_out(core_->finish(end_of(answer)));
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
              then(outcome_of_error(reason,
                                    reason == caf::sec::request_receiver_down));
            });
  }

  void apply(stream::send& item) {
    deliver(operation_of(std::move(item.what), item.activity),
            [this, call = item.call](const delivered& outcome) {
              carry_out(
                core_->answered(call, delivery::outcome_of(outcome), now_ms()));
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

  void apply(stream::closed&) { tell_closed(self_->name()); }

  void apply(stream::produce& item) {
    timer_.cancel();
    auto fact = fact_of(args_);
    fact.text = std::move(item.text);
    fact.parts = std::move(item.options.parts);
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

/// Handlers:
///   (append, text)            => append
///   (replace, text)           => replace
///   (finish, final_answer)    → ok => finish
///   (dismiss)                 → ok => ends
///   what else a run tells is shown nowhere
///
/// The shell of buffered_stream_core, for a platform that shows answers alone.
class buffered_responder_state {
public:
  using pointer = responder_actor::stateful_pointer<buffered_responder_state>;

  static inline const char* name = "responder";

  explicit buffered_responder_state(pointer self) : self_(self) {}

  void init(responder_args args) { args_ = std::move(args); }

  responder_actor::behavior_type make_behavior() {
    return {
      [](atom::paths, const std::string&, const std::string&) {},
      [](atom::status, const std::string&) {},
      [this](atom::append, const std::string& text) {
        if (!core_.append(text))
          tell_closed(self_->name());
      },
      [this](atom::replace, const std::string& text) {
        if (!core_.replace(text))
          tell_closed(self_->name());
      },
      [](atom::event, const contracts::stream_event&) {},
      [this](atom::finish, const final_answer& answer) {
        return finish(answer);
      },
      [this](atom::dismiss) {
        finishes_.fail_all(make_failure(errc::aborted, "The run was stopped."));
        self_->quit();
        return caf::ok_atom_v;
      },
    };
  }

private:
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;

  ok_promise finish(const final_answer& answer) {
    auto promise = self_->make_response_promise<ok_promise>();
    finishes_.keep(promise);
    auto fact = fact_of(args_);
    fact.silent = answer.suppressed;
    if (!answer.suppressed) {
      core_.finish(end_of(answer));
      fact.text = core_.text();
      fact.parts = answer.parts;
    }
    kit::bounded_request(self_, args_.owner, limits::disk_timeout,
                         atom::produced_v, std::move(fact))
      .then(
        [this](caf::ok_atom) {
          finishes_.deliver_all(caf::ok_atom_v);
          self_->quit();
        },
        [this](caf::error& reason) {
          finishes_.fail_all(reason);
          self_->quit();
        });
    return promise;
  }

  pointer self_;
  responder_args args_;
  buffered_stream_core core_;
  kit::promise_guard<caf::ok_atom> finishes_;
};

} // namespace

responder_actor spawn_responder(caf::actor_system& system,
                                responder_args args) {
  // What an earlier attempt shows is to become the answer.
  if (shows_only_answers(args.info) && args.provisional.empty())
    return kit::spawn_stateful<responder_actor, buffered_responder_state>(
      system, std::move(args));
  return kit::spawn_stateful<responder_actor, responder_state>(system,
                                                               std::move(args));
}

responder_factory make_responder_factory() {
  return [](caf::actor_system& system, const responder_args& args) {
    return spawn_responder(system, args);
  };
}

} // namespace bureau::runner
