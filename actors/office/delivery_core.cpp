#include "actors/office/delivery_core.hpp"

#include "messages/limits.hpp"

#include <algorithm>
#include <chrono>

namespace bureau::offices {

namespace {

int64_t backoff_ms(uint32_t attempts, int64_t retry_after_ms) {
  using std::chrono::milliseconds;
  constexpr int64_t first = milliseconds{limits::delivery_retry_delay}.count();
  constexpr int64_t cap = milliseconds{limits::delivery_retry_cap}.count();
  auto doubled = first << std::min<uint32_t>(attempts, 20);
  return std::max(std::min(doubled, cap), retry_after_ms);
}

} // namespace

bool platform_dedupes(platform_id platform) {
  return platform == platform_id::discord;
}

outbound plan_delivery(const ledger_entry& entry, const delivery_memory& memory,
                       bool streams) {
  outbound plan;
  plan.rank = outbound_class::final_answer;
  plan.content = outbound_content::answer;
  plan.conversation = entry.event.address;
  plan.run = entry.run;
  plan.message_id = entry.id;
  plan.target = entry.event.target;
  plan.text = entry.text;
  auto labelled = entry.labelled || entry.state == ledger_state::ambiguous;
  if (labelled) {
    auto label = memory.after_restart ? wording::sent_again_after_restart
                                      : wording::sent_again;
    plan.text = std::string{label} + "\n\n" + entry.text;
    return plan;
  }
  auto under_way = entry.state == ledger_state::sending;
  auto edits = under_way ? entry.op == outbound_op::edit
                         : streams && !entry.provisional.empty();
  if (edits && !memory.post_instead) {
    plan.op = outbound_op::edit;
    plan.ref = under_way ? entry.ref : entry.provisional;
  }
  return plan;
}

ledger_record sending_record(const ledger_entry& entry, const outbound& plan) {
  ledger_record record;
  record.id = entry.id;
  record.state = ledger_state::sending;
  record.run = entry.run;
  record.part = plan.part;
  record.of = std::max(plan.parts, plan.part + 1);
  record.op = plan.op;
  record.ref = plan.ref;
  record.labelled = entry.labelled || entry.state == ledger_state::ambiguous;
  return record;
}

delivery_step judge_delivery(const ledger_entry& entry, const outbound& plan,
                             const delivered& outcome, uint32_t attempts,
                             int64_t now_ms) {
  using enum delivery_verdict;
  auto delay = backoff_ms(attempts, outcome.retry_after_ms);
  auto limit = std::chrono::milliseconds{limits::delivery_give_up}.count();
  auto again = now_ms - entry.produced_ms < limit
                 ? delivery_step{retry, delay}
                 : delivery_step{undeliverable, 0};
  switch (outcome.fault) {
  case delivery_fault::none:
    return {sent, 0};
  case delivery_fault::dropped:
    return {stopped, 0};
  case delivery_fault::retryable:
  case delivery_fault::permanent:
    break;
  }
  if (outcome.certainty == failure_certainty::unknown) {
    // An edit done twice is the same edit.
    if (plan.op == outbound_op::edit
        || platform_dedupes(entry.event.address.platform))
      return again;
    return entry.labelled ? delivery_step{undeliverable, 0}
                          : delivery_step{ambiguous, delay};
  }
  if (outcome.fault == delivery_fault::retryable)
    return again;
  return plan.op == outbound_op::edit ? delivery_step{post_instead, 0}
                                      : delivery_step{undeliverable, 0};
}

delivered outcome_of_error(const ledger_entry& entry, std::string detail) {
  delivered outcome;
  outcome.fault = delivery_fault::retryable;
  outcome.certainty = entry.state == ledger_state::sending
                        ? failure_certainty::unknown
                        : failure_certainty::definite;
  outcome.detail = std::move(detail);
  return outcome;
}

outbound make_notice(const conversation_event& event, std::string text) {
  outbound notice;
  notice.rank = outbound_class::control;
  notice.content = outbound_content::notice;
  notice.conversation = event.address;
  notice.message_id = event.message_id;
  notice.target = event.target;
  notice.text = std::move(text);
  return notice;
}

} // namespace bureau::offices
