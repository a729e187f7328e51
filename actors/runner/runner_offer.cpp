#include "actors/runner/payload_core.hpp"
#include "actors/runner/runner_state.hpp"
#include "messages/codec/session_record.hpp"
#include "messages/text/utf8.hpp"

#include <caf/all.hpp>

#include <utility>

/// The runner's part in messages that share a turn (decisions A8, A21).
namespace bureau::runner {

// -- messages for the run under way -------------------------------------------

caf::result<live_input_result>
runner_state::on_offer(const turn_ticket& ticket) {
  auto takes =
    active_ && !active_->aborted
    && (active_->at == stage::preparing || active_->at == stage::prompting);
  if (!takes)
    return live_input_result{live_input_state::unavailable, "inactive", {}};
  auto answer = self_->make_response_promise<live_input_result>();
  waiting_offer next{offers_.keep(answer), ticket};
  if (active_->at == stage::preparing)
    active_->early.push_back(std::move(next));
  else
    pass_on(next);
  return answer;
}

void runner_state::pass_on_early() {
  for (const auto& offer : std::exchange(active_->early, {}))
    pass_on(offer);
}

void runner_state::settle_early(const live_input_result& result) {
  for (const auto& offer : std::exchange(active_->early, {}))
    offers_.deliver(offer.promise, result);
}

void runner_state::pass_on(const waiting_offer& offer) {
  // A pipe is answered line by line (decision B5).
  if (transport_.platform == platform_id::console && !transport_.streaming) {
    offers_.deliver(
      offer.promise,
      live_input_result{live_input_state::unavailable, "unsupported", {}});
    return;
  }
  const auto& event = offer.ticket.event;
  auto clock = clock_of(event);
  live_input input;
  input.id = event.message_id;
  input.text = user_payload(event, clock, {});
  input.typed = text::sanitize_utf8(event.text);
  input.received_ms = clock.time_ms;
  auto number = active_->number;
  auto promise = offer.promise;
  kit::bounded_request(self_, harness_, limits::run_timeout, atom::offer_v,
                       std::move(input))
    .then(
      [this, number, promise,
       id = event.message_id](const live_input_result& result) {
        if (result.state == live_input_state::applied && active_
            && active_->number == number)
          active_->covers.push_back(id);
        offers_.deliver(promise, result);
      },
      [this, promise](const caf::error&) {
        offers_.deliver(
          promise, live_input_result{live_input_state::requeue, "failed", {}});
      });
}

payload_clock runner_state::clock_of(const conversation_event& event) const {
  payload_clock result;
  result.time_ms = event.sent_ms > 0 ? event.sent_ms : deps_.wall->now_ms();
  result.offset_minutes = deps_.wall->offset_minutes(result.time_ms);
  return result;
}

// -- a turn of several messages -----------------------------------------------

/// Names all messages of the turn in the session file, beside the cause that
/// the harness writes: the history must not bring them in again.
void runner_state::record_collected() {
  const auto& ticket = active_->request.ticket;
  if (ticket.collected.empty()) {
    start_prompt();
    return;
  }
  auto failed = [this](const caf::error& reason) {
    give_up(sentence_of(reason), code_of(reason));
  };
  step<session_context>(
    args_.store,
    [this, failed](const session_context&) {
      session_append causes;
      for (const auto& event : active_->request.ticket.collected)
        causes.entries.push_back(run_cause_entry(event.message_id));
      step<std::vector<std::string>>(
        args_.store,
        [this](const std::vector<std::string>&) { start_prompt(); }, failed,
        atom::append_v, std::move(causes));
    },
    failed, atom::open_v,
    session_open{ticket.event.message_id, active_->settings.history});
}

/// Text of the prompt: a line for each message of the turn.
std::string runner_state::prompt_text() const {
  const auto& ticket = active_->request.ticket;
  auto result =
    user_payload(ticket.event, clock_of(ticket.event), active_->listed);
  for (const auto& event : ticket.collected)
    result += "\n" + user_payload(event, clock_of(event), {});
  return result;
}

// -- between responder and office ---------------------------------------------

caf::result<caf::ok_atom> runner_state::on_produced(turn_produced fact) {
  if (active_ && active_->request.run == fact.run)
    fact.covers = active_->covers;
  return self_->delegate(args_.owner, atom::produced_v, std::move(fact));
}

} // namespace bureau::runner
