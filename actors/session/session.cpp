#include "actors/session/session.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/session/session_core.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <utility>

namespace bureau::session {

namespace {

namespace log = kit::log;

/// What a session is, seen from inside: it also hears what became of messages
/// that it offered to its runs.
using full_session_actor = session_actor::extend_with<live_input_sink_actor>;

/// Handlers:
///   (turn, turn_ticket)      => on_ticket
///   (stop, stop_turn)        => on_stop
///   (reset)                  → ok => on_reset
///   (renew)
///   (describe)               → session_snapshot => snapshot
///   (drain, drain_phase)     → ok => on_drain
///   (settled, live_input_settled)   => input_settled
///
/// The shell of session_core: carries its effects out, in order, and feeds what
/// comes of them back. Child of its office; owns its runner and store.
class session_state {
public:
  using pointer = full_session_actor::stateful_pointer<session_state>;

  static inline const char* name = "session";

  explicit session_state(pointer self) : self_(self) {}

  ~session_state() {
    count_changes(0, 0);
    if (runner_)
      caf::anon_send_exit(runner_, caf::exit_reason::user_shutdown);
    if (store_)
      caf::anon_send_exit(store_, caf::exit_reason::user_shutdown);
  }

  void init(session_deps deps, session_args args) {
    deps_ = std::move(deps);
    args_ = std::move(args);
    label_ = "session/" + args_.place.key + "#" + args_.session_key;
    core_.emplace(args_.place.address, args_.session_key);
    self_->set_down_handler(
      [this](caf::scheduled_actor*, caf::down_msg& down) { on_down(down); });
  }

  full_session_actor::behavior_type make_behavior() {
    return {
      [this](atom::turn, const turn_ticket& accepted) { on_ticket(accepted); },
      [this](atom::stop, const stop_turn& request) { on_stop(request); },
      [this](atom::reset) { return on_reset(); },
      [this](atom::renew) { carry_out(core_->renew()); },
      [this](atom::describe) { return core_->snapshot(); },
      [this](atom::drain, drain_phase phase) { return on_drain(phase); },
      [this](atom::settled, const live_input_settled& what) {
        carry_out(core_->input_settled(what));
      },
    };
  }

private:
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;

  struct open_drain {
    drain_phase phase;
    uint64_t promise;
  };

  // -- events -----------------------------------------------------------------

  void on_ticket(const turn_ticket& accepted) {
    carry_out(core_->ticket(accepted, now()));
  }

  void on_stop(const stop_turn& request) { carry_out(core_->stop(request)); }

  ok_promise on_reset() {
    auto answer = self_->make_response_promise<ok_promise>();
    resets_.keep(answer);
    carry_out(core_->reset());
    return answer;
  }

  ok_promise on_drain(drain_phase phase) {
    auto answer = self_->make_response_promise<ok_promise>();
    drains_.push_back({phase, promises_.keep(answer)});
    carry_out(core_->drain(phase));
    return answer;
  }

  void on_down(const caf::down_msg& down) {
    if (runner_ && down.source == runner_.address()) {
      runner_ = nullptr;
      carry_out(
        core_->runner_down("it ended: " + sentence_of(down.reason), now()));
    } else if (store_ && down.source == store_.address()) {
      store_ = nullptr;
      carry_out(core_->store_down());
    }
  }

  // -- effects ----------------------------------------------------------------

  /// Carries effects out. What an effect causes at once joins the end of the
  /// line, so that the order of the core is kept.
  void carry_out(session_effects effects) {
    for (auto& item : effects)
      todo_.push_back(std::move(item));
    if (busy_)
      return;
    busy_ = true;
    while (!todo_.empty()) {
      auto next = std::move(todo_.front());
      todo_.pop_front();
      std::visit([this](auto& item) { apply(item); }, next);
    }
    busy_ = false;
    report();
  }

  /// Tells the owner when something changed, and answers reached drains.
  void report() {
    auto now_seen = core_->snapshot();
    if (now_seen != reported_) {
      reported_ = now_seen;
      self_->send(args_.owner, atom::settled_v, std::move(now_seen));
    }
    auto phase = core_->phase();
    auto active =
      phase == session_phase::running || phase == session_phase::stopping;
    count_changes(active ? 1 : 0, reported_.waiting);
    std::erase_if(drains_, [this](const open_drain& entry) {
      if (!core_->holds(entry.phase))
        return false;
      promises_.deliver(entry.promise, caf::ok_atom_v);
      return true;
    });
  }

  void apply(effect::name_run&) {
    carry_out(core_->run_named(timed_uuid(*deps_.chance, now())));
  }

  void apply(effect::record_start& item) {
    auto run = item.fact.run;
    kit::bounded_request(self_, args_.owner, limits::disk_timeout, atom::run_v,
                         std::move(item.fact))
      .then(
        [this, run](caf::ok_atom) { carry_out(core_->start_recorded(run)); },
        [this, run](caf::error& reason) {
          log::warning(label_,
                       "a turn was not recorded: " + sentence_of(reason));
          carry_out(core_->start_refused(run, code_of(reason)));
        });
  }

  void apply(effect::record_covered& item) {
    kit::bounded_request(self_, args_.owner, limits::disk_timeout, atom::run_v,
                         std::move(item.fact))
      .then([](caf::ok_atom) {},
            [this](caf::error& reason) {
              log::warning(label_, "what a turn covers was not recorded: "
                                     + sentence_of(reason));
            });
  }

  void apply(effect::retry_start&) {
    retry_timer_.arm(self_, limits::ledger_retry_delay,
                     [this] { carry_out(core_->retry_due()); });
  }

  void apply(effect::open_runner&) {
    auto& system = self_->system();
    store_ = deps_.stores(system, args_.place, args_.session_key);
    if (store_) {
      self_->monitor(store_);
      runner_ = deps_.runners(system, {args_.place, args_.session_key, store_,
                                       args_.owner, args_.transport});
    }
    if (runner_)
      self_->monitor(runner_);
  }

  void apply(effect::start_run& item) {
    if (!runner_) {
      carry_out(core_->runner_down("it could not be started", now()));
      return;
    }
    auto run = item.request.run;
    kit::bounded_request(self_, runner_, limits::run_timeout, atom::run_v,
                         std::move(item.request))
      .then(
        [this, run](const run_result& result) {
          carry_out(core_->settled(run, result, now()));
        },
        [this, run](caf::error& reason) {
          carry_out(core_->run_failed(run, code_of(reason), sentence_of(reason),
                                      now()));
        });
  }

  void apply(effect::abort_run& item) {
    if (!runner_)
      return;
    kit::urgent_send(self_, runner_, atom::abort_v, item.reason);
    // The urgent one may overtake the run itself; this one cannot.
    self_->send(runner_, atom::abort_v, std::move(item.reason));
  }

  void apply(effect::kill_runner&) {
    drop_runner(caf::exit_reason::kill);
    shut_store();
  }

  void apply(effect::dispose_runner&) {
    if (!runner_) {
      shut_store();
      return;
    }
    kit::bounded_request(self_, runner_, limits::runner_dispose_timeout,
                         atom::dispose_v)
      .then(
        [this](caf::ok_atom) {
          drop_runner(caf::exit_reason::user_shutdown);
          shut_store();
        },
        [this](caf::error& reason) {
          log::warning(label_,
                       "the runner was not disposed: " + sentence_of(reason));
          drop_runner(caf::exit_reason::kill);
          shut_store();
        });
  }

  void apply(effect::close_store&) { shut_store(); }

  void apply(effect::reset_store&) {
    auto store = deps_.stores(self_->system(), args_.place, args_.session_key);
    auto done = [this, store](const caf::error& failure) {
      if (failure)
        log::warning(label_,
                     "the session was not reset: " + sentence_of(failure));
      if (store)
        self_->send_exit(store, caf::exit_reason::user_shutdown);
      if (failure)
        resets_.fail_all(failure);
      else
        resets_.deliver_all(caf::ok_atom_v);
      carry_out(core_->store_reset());
    };
    if (!store) {
      done(make_failure(errc::not_ready, "the session store did not start"));
      return;
    }
    // The next store opens the file only after this one has let go of it.
    auto close = [this, store, done](const caf::error& failure) {
      kit::bounded_request(self_, store, limits::disk_timeout, atom::close_v)
        .then([done, failure](caf::ok_atom) { done(failure); },
              [done, failure](caf::error& reason) {
                done(failure ? failure : reason);
              });
    };
    kit::bounded_request(self_, store, limits::disk_timeout, atom::reset_v,
                         session_open{})
      .then([close](const session_context&) { close({}); },
            [close](caf::error& reason) { close(reason); });
  }

  void apply(effect::record_dead& item) { record_dead(std::move(item.fact)); }

  void apply(effect::drop_output& item) {
    kit::urgent_send(self_, args_.transport, atom::drop_v, std::move(item.run));
  }

  void apply(effect::notice& item) {
    auto token = item.token;
    // A notice with a successor is only the first half of it.
    posted_notice fact{args_.session_key,
                       item.operation.message_id,
                       {},
                       token == 0 ? item.operation.text : std::string{}};
    kit::bounded_request(self_, args_.transport, limits::delivery_timeout,
                         atom::deliver_v, std::move(item.operation))
      .then(
        [this, token, fact](const delivered& outcome) {
          auto fine = outcome.fault == delivery_fault::none;
          if (fine && !outcome.ref.empty() && !fact.text.empty()) {
            auto posted = fact;
            posted.ref = outcome.ref;
            self_->send(args_.owner, atom::notice_v, std::move(posted));
          }
          carry_out(
            core_->notice_delivered(token, fine ? outcome.ref : std::string{}));
        },
        [this, token](caf::error& reason) {
          log::warning(label_,
                       "a notice was not delivered: " + sentence_of(reason));
          carry_out(core_->notice_delivered(token, {}));
        });
  }

  void apply(effect::arm_settle&) {
    settle_timer_.arm(self_, limits::abort_settle_timeout,
                      [this] { carry_out(core_->settle_timeout(now())); });
  }

  void apply(effect::cancel_settle&) { settle_timer_.cancel(); }

  void apply(effect::arm_idle&) {
    idle_timer_.arm(self_, limits::runner_idle_timeout,
                    [this] { carry_out(core_->idle_timeout()); });
  }

  void apply(effect::cancel_idle&) { idle_timer_.cancel(); }

  void apply(effect::read_rules&) {
    if (!deps_.settings) {
      carry_out(core_->rules_unknown(now()));
      return;
    }
    kit::bounded_request(self_, deps_.settings, limits::disk_timeout,
                         atom::resolve_v, args_.place.address)
      .then(
        [this](const run_settings& found) {
          queue_rules rules;
          rules.cap = found.queue_cap;
          rules.mode = found.mode;
          rules.overflow = found.overflow;
          carry_out(core_->rules_known(rules, now()));
        },
        // The run itself reports bad settings to the user.
        [this](caf::error&) { carry_out(core_->rules_unknown(now())); });
  }

  void apply(effect::offer_input& item) {
    auto run = item.run;
    auto id = item.ticket.event.message_id;
    // A turn of its own, when nobody can say whether it was taken.
    contracts::live_input_offer lost{contracts::live_input_refusal::inactive};
    if (!runner_) {
      carry_out(core_->input_answered(run, id, lost));
      return;
    }
    kit::bounded_request(self_, runner_, limits::mailbox_timeout, atom::offer_v,
                         run, std::move(item.ticket),
                         live_input_sink_actor{self_})
      .then(
        [this, run, id](const contracts::live_input_offer& offer) {
          carry_out(core_->input_answered(run, id, offer));
        },
        [this, run, id, lost](caf::error&) {
          carry_out(core_->input_answered(run, id, lost));
        });
  }

  void apply(effect::count_loss& item) {
    log::error(label_, "the runner was lost: " + item.why);
    if (deps_.metrics)
      self_->send(deps_.metrics, atom::add_v,
                  metric_sample{metric::actor_restarts, {"runner"}, 1});
  }

  // -- helpers ----------------------------------------------------------------

  void drop_runner(caf::exit_reason reason) {
    if (!runner_)
      return;
    self_->demonitor(runner_.address());
    self_->send_exit(runner_, reason);
    runner_ = nullptr;
  }

  /// Ends the store in order; its file has one live writer, so the next store
  /// must not be opened before.
  void shut_store() {
    if (!store_) {
      carry_out(core_->released());
      return;
    }
    self_->demonitor(store_.address());
    auto gone = [this](caf::exit_reason reason) {
      self_->send_exit(store_, reason);
      store_ = nullptr;
      carry_out(core_->released());
    };
    kit::bounded_request(self_, store_, limits::disk_timeout, atom::close_v)
      .then([gone](caf::ok_atom) { gone(caf::exit_reason::user_shutdown); },
            [this, gone](caf::error& reason) {
              log::warning(label_, "the session store was not closed: "
                                     + sentence_of(reason));
              gone(caf::exit_reason::kill);
            });
  }

  /// Has the owner close a turn; what the disk refuses is offered again, while
  /// the lane goes on.
  void record_dead(turn_dead fact) {
    kit::bounded_request(self_, args_.owner, limits::disk_timeout,
                         atom::failed_v, fact)
      .then([](caf::ok_atom) {},
            [this, fact](caf::error& reason) {
              log::warning(label_, "the end of a turn was not recorded: "
                                     + sentence_of(reason));
              auto why = code_of(reason);
              if (why != errc::disk && why != errc::timeout)
                return;
              unrecorded_.push_back(fact);
              if (unrecorded_.size() > limits::unrecorded_turns)
                unrecorded_.pop_front();
              record_timer_.arm(self_, limits::ledger_retry_delay,
                                [this] { record_again(); });
            });
  }

  void record_again() {
    for (auto& fact : std::exchange(unrecorded_, {}))
      record_dead(std::move(fact));
  }

  /// Keeps the gauges of the process right by what changed here.
  void count_changes(int64_t active, int64_t waiting) {
    auto change = [this](metric id, int64_t& before, int64_t after) {
      auto difference = after - std::exchange(before, after);
      if (difference != 0 && deps_.metrics)
        caf::anon_send(deps_.metrics, atom::add_v,
                       metric_sample{id, {}, difference});
    };
    change(metric::sessions_active, active_counted_, active);
    change(metric::queue_waiting, waiting_counted_, waiting);
  }

  int64_t now() const { return deps_.wall->now_ms(); }

  pointer self_;
  session_deps deps_;
  session_args args_;
  /// `session/<office key>#<session key>`, for the log.
  std::string label_;
  std::optional<session_core> core_;
  runner_actor runner_;
  session_store_actor store_;
  std::deque<session_effect> todo_;
  bool busy_ = false;
  session_snapshot reported_;
  int64_t active_counted_ = 0;
  int64_t waiting_counted_ = 0;
  std::vector<open_drain> drains_;
  kit::promise_guard<caf::ok_atom> promises_;
  kit::promise_guard<caf::ok_atom> resets_;
  std::deque<turn_dead> unrecorded_;
  kit::generation_timer settle_timer_;
  kit::generation_timer idle_timer_;
  kit::generation_timer retry_timer_;
  kit::generation_timer record_timer_;
};

} // namespace

session_actor spawn_session(caf::actor_system& system, session_deps deps,
                            session_args args) {
  return kit::spawn_stateful<full_session_actor, session_state>(
    system, std::move(deps), std::move(args));
}

session_factory make_session_factory(session_deps deps) {
  return [deps = std::move(deps)](caf::actor_system& system,
                                  const session_args& args) {
    return spawn_session(system, deps, args);
  };
}

} // namespace bureau::session
