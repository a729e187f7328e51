#include "actors/runner/runner.hpp"

#include "actors/kit/log.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/runner/runner_state.hpp"
#include "messages/codec/session_record.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <utility>

namespace bureau::runner {

namespace {

/// Owners of tools, each once.
std::vector<tool_actor> owners_of(const std::vector<tool_binding>& tools) {
  std::vector<tool_actor> result;
  for (const auto& tool : tools)
    if (tool.owner
        && std::find(result.begin(), result.end(), tool.owner) == result.end())
      result.push_back(tool.owner);
  return result;
}

constexpr const char* lost_harness =
  "The run ended unexpectedly. Send the message again to retry.";

} // namespace

runner_state::~runner_state() {
  constexpr auto end = caf::exit_reason::user_shutdown;
  if (active_ && active_->responder)
    caf::anon_send_exit(active_->responder, end);
  if (harness_)
    caf::anon_send_exit(harness_, end);
  for (const auto& owner : owners_of(tools_))
    caf::anon_send_exit(owner, end);
  if (executor_)
    caf::anon_send_exit(executor_, end);
}

void runner_state::init(runner_deps deps, runner_args args) {
  deps_ = std::move(deps);
  args_ = std::move(args);
  label_ = "runner/" + args_.place.key + "#" + args_.session_key;
  self_->set_down_handler(
    [this](caf::scheduled_actor*, caf::down_msg& down) { on_down(down); });
}

full_runner_actor::behavior_type runner_state::make_behavior() {
  return {
    [this](atom::run, const run_request& request) { return on_run(request); },
    [this](atom::offer, const std::string& run, const turn_ticket& ticket,
           const live_input_sink_actor& sink) {
      return on_offer(run, ticket, sink);
    },
    [this](atom::settled, const live_input_settled& what) {
      on_input_settled(what);
    },
    [this](atom::abort, const contracts::cancel_reason& reason) {
      on_abort(reason);
    },
    [this](atom::dispose) { return on_dispose(); },
    [this](atom::event, const harness_event& event) { on_event(event); },
    [this](atom::run, turn_started& fact) {
      return self_->delegate(args_.owner, atom::run_v, std::move(fact));
    },
    [this](atom::produced, turn_produced& fact) {
      return on_produced(std::move(fact));
    },
    [this](atom::failed, turn_dead& fact) {
      return self_->delegate(args_.owner, atom::failed_v, std::move(fact));
    },
    [this](atom::notice, posted_notice& fact) {
      self_->send(args_.owner, atom::notice_v, std::move(fact));
    },
    [this](atom::settled, session_snapshot& fact) {
      self_->send(args_.owner, atom::settled_v, std::move(fact));
    },
  };
}

// -- handlers -----------------------------------------------------------------

runner_state::run_promise runner_state::on_run(const run_request& request) {
  auto promise = self_->make_response_promise<run_promise>();
  if (disposing_) {
    promise.deliver(
      make_failure(errc::shutting_down, "The runner is being disposed."));
    return promise;
  }
  if (active_) {
    promise.deliver(
      make_failure(errc::busy, "The runner works on another message."));
    return promise;
  }
  active_.emplace();
  active_->request = request;
  active_->promise = results_.keep(promise);
  active_->number = ++runs_;
  active_->began = self_->clock().now();
  for (const auto& event : request.ticket.collected)
    active_->covers.push_back(event.message_id);
  count(metric::runs_started, {platform()});
  learn_transport();
  return promise;
}

void runner_state::on_abort(const contracts::cancel_reason& reason) {
  if (!active_ || active_->aborted)
    return;
  active_->aborted = true;
  active_->cancel = reason;
  switch (active_->at) {
  case stage::preparing:
  case stage::finishing:
    dismiss();
    return;
  case stage::prompting:
    kit::urgent_send(self_, harness_, atom::abort_v, reason);
    // The urgent one may overtake the prompt itself; this one cannot.
    self_->send(harness_, atom::abort_v, reason);
    return;
  case stage::dismissing:
    return;
  }
}

void runner_state::on_event(const harness_event& event) {
  if (!active_ || active_->at != stage::prompting || active_->aborted
      || event.run != active_->request.run)
    return;
  using verb = output_call::verb;
  if (!active_->output)
    begin_output();
  for (auto& call : active_->output->event(event)) {
    switch (call.what) {
    case verb::status:
      self_->send(active_->responder, atom::status_v, std::move(call.text));
      break;
    case verb::append:
      self_->send(active_->responder, atom::append_v, std::move(call.text));
      break;
    case verb::replace:
      self_->send(active_->responder, atom::replace_v, std::move(call.text));
      break;
    case verb::event:
      self_->send(active_->responder, atom::event_v, std::move(call.event));
      break;
    }
  }
}

void runner_state::on_down(const caf::down_msg& down) {
  if (harness_ && down.source == harness_.address()) {
    harness_ = nullptr;
    if (active_ && active_->at == stage::prompting)
      prompt_failed(make_failure(errc::internal, lost_harness));
  } else if (executor_ && down.source == executor_.address()) {
    // What uses it now gets errors; the next run makes a new one.
    kit::log::warning(label_,
                      "the executor ended: " + sentence_of(down.reason));
    executor_ = nullptr;
    drop_executor(caf::exit_reason::user_shutdown);
  }
}

// -- the end of a run ---------------------------------------------------------

void runner_state::prompt_settled(const prompt_outcome& outcome) {
  auto& result = active_->result;
  result.stop = outcome.stop;
  result.error_class = outcome.error_class;
  result.stats = outcome.stats;
  active_->deferred = outcome.deferred;
  if (active_->aborted) {
    dismiss();
    return;
  }
  if (active_->output)
    self_->send(active_->responder, atom::event_v, run_ended(outcome));
  finish(final_answer_of(outcome, active_->request.ticket.event.origin));
}

void runner_state::prompt_failed(const caf::error& reason) {
  auto why = code_of(reason);
  switch (why) {
  case errc::no_credential:
  case errc::corrupt:
  case errc::disk:
    break;
  default:
    // It did not say what became of its run: it is not used again.
    drop_harness(caf::exit_reason::kill);
    break;
  }
  if (active_->aborted)
    dismiss();
  // Nobody can send a wake again; its session offers it anew.
  else if (why == errc::disk
           && active_->request.ticket.event.origin == turn_origin::action)
    fail(reason);
  else
    give_up(sentence_of(reason), why);
}

void runner_state::give_up(std::string sentence, errc why) {
  active_->result.stop = stop_reason::error;
  active_->result.error_class = to_string(why);
  final_answer answer;
  answer.text = std::move(sentence);
  finish(std::move(answer));
}

void runner_state::finish(final_answer answer) {
  active_->at = stage::finishing;
  contracts::live_input_settlement unread;
  unread.reason = contracts::live_input_requeue::failed;
  settle_offers(unread);
  active_->answer = std::move(answer);
  ensure_responder();
  ask_responder();
}

void runner_state::ask_responder() {
  auto number = active_->number;
  kit::bounded_request(self_, active_->responder, limits::finish_timeout,
                       atom::finish_v, active_->answer)
    .then(
      [this, number](caf::ok_atom) {
        if (!is_at(number, stage::finishing))
          return;
        active_->result.produced = true;
        commit_deferred();
      },
      [this, number](const caf::error& reason) {
        if (!is_at(number, stage::finishing))
          return;
        // A responder that broke on the way must not cost the answer.
        if (reason == caf::sec::request_receiver_down
            && !active_->second_responder) {
          active_->second_responder = true;
          active_->responder = nullptr;
          ensure_responder();
          ask_responder();
          return;
        }
        // The office has closed the turn by a stop.
        if (code_of(reason) == errc::aborted)
          dismiss();
        else
          fail(reason);
      });
}

// The answer is in the ledger, which sees to its delivery: from here on it is
// part of what was said.
void runner_state::commit_deferred() {
  auto held = std::exchange(active_->deferred, {});
  if (held.empty()) {
    settle();
    return;
  }
  session_append news;
  news.entries.push_back(
    run_cause_entry(active_->request.ticket.event.message_id));
  for (auto& message : held) {
    session_entry entry;
    entry.message = std::move(message);
    news.entries.push_back(std::move(entry));
  }
  auto number = active_->number;
  kit::bounded_request(self_, args_.store, limits::disk_timeout, atom::append_v,
                       std::move(news))
    .then(
      [this, number](const std::vector<std::string>&) {
        if (is_at(number, stage::finishing))
          settle();
      },
      [this, number](const caf::error& reason) {
        kit::log::warning(label_, "an answer is not in the session: "
                                    + sentence_of(reason));
        if (is_at(number, stage::finishing))
          settle();
      });
}

void runner_state::dismiss() {
  active_->at = stage::dismissing;
  contracts::live_input_settlement cancelled;
  cancelled.outcome = contracts::live_input_outcome::discarded;
  settle_offers(cancelled);
  active_->result.stop = stop_reason::aborted;
  if (!active_->responder) {
    settle();
    return;
  }
  auto number = active_->number;
  auto done = [this, number] {
    if (is_at(number, stage::dismissing))
      settle();
  };
  kit::urgent_request(self_, active_->responder, limits::kill_confirm_timeout,
                      atom::dismiss_v)
    .then([done](caf::ok_atom) { done(); },
          [this, number, done](const caf::error&) {
            if (is_at(number, stage::dismissing))
              self_->send_exit(active_->responder, caf::exit_reason::kill);
            done();
          });
}

void runner_state::settle() {
  auto& result = active_->result;
  auto took = std::chrono::duration_cast<std::chrono::microseconds>(
    self_->clock().now() - active_->began);
  count(metric::runs_completed, {platform(), to_string(result.stop)});
  if (result.stop == stop_reason::error)
    count(metric::run_errors, {platform()});
  if (deps_.metrics)
    self_->send(deps_.metrics, atom::observe_v,
                metric_sample{metric::run_duration, {}, took.count()});
  results_.deliver(active_->promise, std::move(result));
  leave_run();
}

void runner_state::fail(caf::error reason) {
  kit::log::error(label_,
                  "the answer was not recorded: " + sentence_of(reason));
  count(metric::runs_completed, {platform(), to_string(stop_reason::error)});
  count(metric::run_errors, {platform()});
  self_->send_exit(active_->responder, caf::exit_reason::kill);
  results_.fail(active_->promise, std::move(reason));
  leave_run();
}

void runner_state::leave_run() {
  active_.reset();
  if (disposing_)
    teardown();
}

// -- children -----------------------------------------------------------------

void runner_state::ensure_responder() {
  if (active_->responder)
    return;
  const auto& ticket = active_->request.ticket;
  responder_args args;
  args.event = ticket.event;
  if (!ticket.collected.empty())
    args.event.target = ticket.collected.back().target;
  args.run = active_->request.run;
  args.provisional = ticket.provisional;
  args.owner = full_runner_actor{self_};
  args.transport = args_.transport;
  args.info = transport_;
  if (active_->settings.output_mode == "final")
    args.info.streaming = false;
  active_->responder = deps_.responders(self_->system(), args);
}

void runner_state::drop_harness(caf::exit_reason reason) {
  if (!harness_)
    return;
  self_->demonitor(harness_.address());
  self_->send_exit(harness_, reason);
  harness_ = nullptr;
}

void runner_state::drop_executor(caf::exit_reason reason) {
  for (const auto& owner : owners_of(std::exchange(tools_, {})))
    self_->send_exit(owner, reason);
  executor_known_ = false;
  if (!executor_)
    return;
  self_->demonitor(executor_.address());
  self_->send_exit(executor_, reason);
  executor_ = nullptr;
}

runner_state::ok_promise runner_state::on_dispose() {
  auto promise = self_->make_response_promise<ok_promise>();
  disposals_.keep(promise);
  if (std::exchange(disposing_, true))
    return promise;
  if (!active_) {
    teardown();
    return promise;
  }
  on_abort({"The runner is being disposed.", caf::none});
  if (active_)
    force_timer_.arm(self_, limits::abort_settle_timeout, [this] {
      if (active_)
        fail(make_failure(errc::shutting_down, "The runner was disposed."));
    });
  return promise;
}

void runner_state::teardown() {
  force_timer_.cancel();
  if (!harness_) {
    teardown_executor();
    return;
  }
  auto next = [this](caf::exit_reason reason) {
    drop_harness(reason);
    teardown_executor();
  };
  kit::bounded_request(self_, harness_, limits::kill_confirm_timeout,
                       atom::dispose_v)
    .then([next](caf::ok_atom) { next(caf::exit_reason::user_shutdown); },
          [next](const caf::error&) { next(caf::exit_reason::kill); });
}

void runner_state::teardown_executor() {
  if (!executor_) {
    finish_dispose();
    return;
  }
  auto next = [this](caf::exit_reason reason) {
    drop_executor(reason);
    finish_dispose();
  };
  kit::bounded_request(self_, executor_, limits::abort_settle_timeout,
                       atom::stop_v)
    .then([next](caf::ok_atom) { next(caf::exit_reason::user_shutdown); },
          [next](const caf::error&) { next(caf::exit_reason::kill); });
}

void runner_state::finish_dispose() {
  drop_executor(caf::exit_reason::user_shutdown);
  disposals_.deliver_all(caf::ok_atom_v);
  self_->quit();
}

// -- helpers ------------------------------------------------------------------

void runner_state::count(metric id, std::vector<std::string> labels,
                         int64_t value) {
  if (deps_.metrics)
    self_->send(deps_.metrics, atom::add_v,
                metric_sample{id, std::move(labels), value});
}

void runner_state::begin_output() {
  const auto& model = active_->settings.choice.model;
  run_output_style style;
  style.origin = active_->request.ticket.event.origin;
  style.model = model.provider + "/" + model.id;
  style.roots = output_roots(executor_info_, paths_);
  self_->send(active_->responder, atom::paths_v, style.roots.workspace,
              style.roots.home);
  for (auto& event : active_->recalled)
    self_->send(active_->responder, atom::event_v, std::move(event));
  active_->output.emplace(std::move(style));
}

std::string runner_state::platform() const {
  return to_string(args_.place.address.platform);
}

// -- spawning -----------------------------------------------------------------

runner_actor spawn_runner(caf::actor_system& system, runner_deps deps,
                          runner_args args) {
  return kit::spawn_stateful<full_runner_actor, runner_state>(
    system, std::move(deps), std::move(args));
}

runner_factory make_runner_factory(runner_deps deps) {
  return [deps = std::move(deps)](caf::actor_system& system,
                                  const runner_args& args) {
    return spawn_runner(system, deps, args);
  };
}

} // namespace bureau::runner
