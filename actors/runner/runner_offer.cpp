#include "actors/runner/payload_core.hpp"
#include "actors/runner/runner_state.hpp"
#include "messages/codec/session_record.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/text/utf8.hpp"

#include <caf/all.hpp>

#include <utility>

/// The runner's part in messages that share a turn (decisions A8, A21).
namespace bureau::runner {

// -- messages for the run under way -------------------------------------------

caf::result<contracts::live_input_offer>
runner_state::on_offer(const std::string& run, const turn_ticket& ticket,
                       const live_input_sink_actor& sink) {
  using contracts::live_input_offer;
  using contracts::live_input_refusal;
  auto takes =
    active_ && !active_->aborted && active_->request.run == run
    && (active_->at == stage::preparing || active_->at == stage::prompting);
  if (!takes)
    return live_input_offer{live_input_refusal::inactive};
  if (transport_known_ && !is_steerable())
    return live_input_offer{live_input_refusal::unsupported};
  auto input = input_of(ticket);
  if (active_->at == stage::preparing) {
    if (auto why = check_live_input(request_of(input), active_->early.size()))
      return live_input_offer{*why};
    active_->early.push_back({std::move(input), sink});
    return live_input_offer{};
  }
  auto answer = self_->make_response_promise<offer_promise>();
  auto promise = offers_.keep(answer);
  auto number = active_->number;
  active_->offered[input.id] = sink;
  auto id = input.id;
  kit::bounded_request(self_, harness_, limits::mailbox_timeout, atom::offer_v,
                       std::move(input), live_input_sink_actor{self_})
    .then(
      [this, number, promise, id](const live_input_offer& offer) {
        if (offer.unavailable && active_ && active_->number == number)
          active_->offered.erase(id);
        offers_.deliver(promise, offer);
      },
      [this, number, promise, id](const caf::error&) {
        if (active_ && active_->number == number)
          active_->offered.erase(id);
        offers_.deliver(promise,
                        live_input_offer{live_input_refusal::inactive});
      });
  return answer;
}

bool runner_state::is_steerable() const {
  return transport_.platform != platform_id::console || transport_.streaming;
}

live_input runner_state::input_of(const turn_ticket& ticket) const {
  const auto& event = ticket.event;
  auto clock = clock_of(event);
  live_input input;
  input.id = event.message_id;
  input.text = user_payload(event, clock, {});
  input.typed = text::sanitize_utf8(event.text);
  input.received_ms = clock.time_ms;
  input.conversation_id =
    contracts::contract_id(args_.place.address, args_.session_key);
  input.target_run = active_->request.run;
  if (event.origin == turn_origin::action)
    input.delivery_key = event.message_id;
  return input;
}

void runner_state::on_input_settled(const live_input_settled& what) {
  if (!active_ || active_->request.run != what.run)
    return;
  auto waiting = active_->offered.extract(what.id);
  if (waiting.empty())
    return;
  if (what.settlement.outcome == contracts::live_input_outcome::applied)
    active_->covers.push_back(what.id);
  tell_settled(waiting.mapped(), what.id, what.settlement);
}

void runner_state::tell_settled(
  const live_input_sink_actor& sink, const std::string& id,
  const contracts::live_input_settlement& settlement) {
  self_->send(sink, atom::settled_v,
              live_input_settled{active_->request.run, id, settlement});
}

void runner_state::pass_on_early() {
  for (auto& offer : std::exchange(active_->early, {}))
    pass_on(std::move(offer));
}

/// It was taken: what the harness refuses is given back.
void runner_state::pass_on(early_offer offer) {
  using contracts::live_input_refusal;
  using contracts::live_input_requeue;
  contracts::live_input_settlement back;
  auto id = offer.input.id;
  if (!is_steerable()) {
    back.reason = live_input_requeue::unsupported;
    tell_settled(offer.sink, id, back);
    return;
  }
  active_->offered[id] = offer.sink;
  auto number = active_->number;
  auto give_back = [this, number, id](live_input_requeue why) {
    if (!active_ || active_->number != number)
      return;
    contracts::live_input_settlement settlement;
    settlement.reason = why;
    on_input_settled({active_->request.run, id, settlement});
  };
  kit::bounded_request(self_, harness_, limits::mailbox_timeout, atom::offer_v,
                       std::move(offer.input), live_input_sink_actor{self_})
    .then(
      [give_back](const contracts::live_input_offer& answer) {
        if (answer.unavailable)
          give_back(*answer.unavailable == live_input_refusal::unsupported
                      ? live_input_requeue::unsupported
                      : live_input_requeue::closed);
      },
      [give_back](const caf::error&) {
        give_back(live_input_requeue::failed);
      });
}

void runner_state::settle_offers(
  const contracts::live_input_settlement& settlement) {
  for (const auto& offer : std::exchange(active_->early, {}))
    tell_settled(offer.sink, offer.input.id, settlement);
  for (const auto& [id, sink] : std::exchange(active_->offered, {}))
    tell_settled(sink, id, settlement);
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
    user_payload(ticket.event, clock_of(ticket.event), active_->listed)
    + shown_documents(active_->turn.attachments);
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
