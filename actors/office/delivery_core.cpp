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

using contracts::attachment_part;
using contracts::reply_part;

/// An answer as it goes out.
struct answer_layout {
  std::vector<const attachment_part*> files;
  /// Parts that no platform shows.
  std::vector<reply_part> others;
  /// The text has a part of its own, before the files.
  bool text = true;
  /// Everything is one text.
  bool one = true;
};

answer_layout layout_of(const ledger_entry& entry, bool uploads) {
  answer_layout result;
  for (const auto& part : entry.parts) {
    if (auto file = caf::get_if<attachment_part>(&part))
      result.files.push_back(file);
    else
      result.others.push_back(part);
  }
  // Once a part is out the rest goes on in the same order, whatever the
  // transport of today takes.
  result.one = result.files.empty() || (!uploads && next_part(entry) == 0);
  result.text =
    !entry.text.empty() || !result.others.empty() || !entry.provisional.empty();
  return result;
}

std::string names_of(const std::vector<const attachment_part*>& files) {
  std::string result;
  for (auto file : files)
    result += (result.empty() ? "" : "\n") + file->name;
  return result;
}

std::string with_fallback(const std::string& text,
                          const std::vector<reply_part>& parts) {
  auto whole = contracts::append_reply_part_fallback(text, parts);
  return whole ? *whole : text;
}

bool is_uncertain(const ledger_entry& entry) {
  return entry.state == ledger_state::sending
         || entry.state == ledger_state::ambiguous;
}

} // namespace

uint32_t next_part(const ledger_entry& entry) {
  return entry.state == ledger_state::sent ? entry.part + 1 : entry.part;
}

std::vector<reply_part> unsupported_parts(const ledger_entry& entry,
                                          bool uploads) {
  return uploads ? layout_of(entry, true).others : entry.parts;
}

bool platform_dedupes(platform_id platform) {
  return platform == platform_id::discord;
}

outbound plan_delivery(const ledger_entry& entry, const delivery_memory& memory,
                       bool streams, bool uploads) {
  outbound plan;
  plan.rank = outbound_class::final_answer;
  plan.content = outbound_content::answer;
  plan.conversation = entry.event.address;
  plan.run = entry.run;
  plan.message_id = entry.id;
  plan.target = entry.event.target;
  auto layout = layout_of(entry, uploads);
  auto before = layout.text ? 1u : 0u;
  plan.part = next_part(entry);
  if (!layout.one)
    plan.parts = before + static_cast<uint32_t>(layout.files.size());
  auto is_file = !layout.one && plan.part >= before
                 && plan.part - before < layout.files.size();
  auto labelled = entry.labelled || entry.state == ledger_state::ambiguous;
  if (is_file) {
    const auto& file = *layout.files[plan.part - before];
    auto told = is_uncertain(entry) && entry.op == outbound_op::post;
    if (uploads && !memory.line_instead && !told) {
      plan.op = outbound_op::upload;
      plan.file = file;
    } else {
      plan.text = with_fallback({}, {file});
      // The label is about the line, not about the file before it.
      labelled = labelled && told;
    }
  } else if (layout.one) {
    plan.text = with_fallback(entry.text, entry.parts);
  } else {
    plan.text = with_fallback(entry.text, layout.others);
    if (plan.text.empty())
      plan.text = names_of(layout.files);
  }
  if (labelled) {
    auto label = memory.after_restart ? wording::sent_again_after_restart
                                      : wording::sent_again;
    plan.text = label + (plan.text.empty() ? "" : "\n\n" + plan.text);
    return plan;
  }
  if (plan.part > 0 || is_file)
    return plan;
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
  // A file that does not arrive leaves a line.
  auto never = delivery_step{
    plan.op == outbound_op::upload ? line_instead : undeliverable, 0};
  auto again =
    now_ms - entry.produced_ms < limit ? delivery_step{retry, delay} : never;
  switch (outcome.fault) {
  case delivery_fault::none:
  case delivery_fault::not_modified:
    return {sent, 0};
  case delivery_fault::dropped:
    return {stopped, 0};
  case delivery_fault::retryable:
  case delivery_fault::recreate:
  case delivery_fault::reformat_plain:
  case delivery_fault::permanent:
    break;
  }
  if (outcome.certainty == failure_certainty::unknown) {
    // An edit done twice is the same edit.
    if (plan.op == outbound_op::edit
        || platform_dedupes(entry.event.address.platform))
      return again;
    return entry.labelled ? never : delivery_step{ambiguous, delay};
  }
  if (outcome.fault == delivery_fault::retryable)
    return again;
  return plan.op == outbound_op::edit ? delivery_step{post_instead, 0} : never;
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
