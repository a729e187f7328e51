#include "actors/office/delivery_core.hpp"

#include "actors/delivery/stream_end_core.hpp"
#include "actors/delivery/transport_core.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <chrono>

namespace bureau::offices {

namespace {

using contracts::attachment_part;
using contracts::reply_part;
using delivery::answer_piece;

template <class Duration>
constexpr int64_t ms(Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

/// Delay before a round, once `rounds` have failed before the last one.
int64_t round_delay(uint32_t rounds) {
  constexpr uint32_t most_doublings = 20;
  return std::min(ms(limits::delivery_round_delay)
                    << std::min(rounds, most_doublings),
                  ms(limits::delivery_retry_cap));
}

std::string names_of(const std::vector<const attachment_part*>& files) {
  std::string result;
  for (auto file : files)
    result += (result.empty() ? "" : "\n") + file->name;
  return result;
}

bool is_uncertain(const ledger_entry& entry) {
  return entry.state == ledger_state::sending
         || entry.state == ledger_state::ambiguous;
}

/// Lays answers out for one transport.
class layout {
public:
  layout(const ledger_entry& entry, const transport_info& info,
         const delivery::answer_splitter& split)
    : entry_(entry), info_(info), split_(split) {
    for (const auto& part : entry.parts) {
      if (auto file = caf::get_if<attachment_part>(&part))
        files_.push_back(file);
      else
        others_.push_back(part);
    }
  }

  bool has_files() const { return !files_.empty(); }
  const std::vector<reply_part>& others() const { return others_; }

  /// Everything in the text.
  std::vector<answer_piece> together() const {
    return text_pieces(whole_text(entry_.text, entry_.parts));
  }

  /// The text, then the files.
  std::vector<answer_piece> apart() const {
    std::vector<answer_piece> result;
    auto text = whole_text(entry_.text, others_);
    // What is shown of the run is to become something.
    if (text.empty() && !entry_.provisional.empty())
      text = names_of(files_);
    if (!text.empty())
      result = text_pieces(text);
    for (auto file : files_)
      result.push_back({{}, *file, line_of(*file)});
    return result;
  }

private:
  std::string whole_text(const std::string& text,
                         const std::vector<reply_part>& parts) const {
    delivery::stream_end end;
    end.text = text;
    end.options = {parts, info_.fallback};
    return delivery::final_text_of(end, {});
  }

  std::string line_of(const attachment_part& file) const {
    delivery::stream_end end;
    end.options.parts = {reply_part{file}};
    return delivery::final_text_of(end, {});
  }

  std::vector<answer_piece> text_pieces(const std::string& text) const {
    return delivery::text_pieces(split_ ? split_(text, info_)
                                        : delivery::split_for(text, info_));
  }

  const ledger_entry& entry_;
  const transport_info& info_;
  const delivery::answer_splitter& split_;
  std::vector<const attachment_part*> files_;
  std::vector<reply_part> others_;
};

void put_label(answer_piece& piece, bool after_restart) {
  std::string label =
    after_restart ? wording::sent_again_after_restart : wording::sent_again;
  piece.text = label + (piece.text.empty() ? "" : "\n\n" + piece.text);
}

} // namespace

uint32_t next_part(const ledger_entry& entry) {
  return entry.state == ledger_state::sent ? entry.part + 1 : entry.part;
}

bool platform_dedupes(platform_id platform) {
  return platform == platform_id::discord;
}

answer_plan plan_answer(const ledger_entry& entry,
                        const delivery_memory& memory,
                        const transport_info& info,
                        const delivery::answer_splitter& split) {
  answer_plan plan;
  layout shape{entry, info, split};
  plan.first = next_part(entry);
  auto apart = info.uploads && shape.has_files();
  plan.pieces = apart ? shape.apart() : shape.together();
  auto labelled = entry.labelled || entry.state == ledger_state::ambiguous;
  if (plan.first > 0 && plan.pieces.size() != entry.of) {
    // Once a part is out the rest goes on as it began, whatever the transport
    // of today takes.
    plan.pieces = apart ? shape.together() : shape.apart();
    apart = !apart && shape.has_files();
  }
  if (plan.first > 0 && plan.pieces.size() != entry.of) {
    // Its messages held more or less then: nobody knows where the rest begins.
    plan.pieces.insert(plan.pieces.begin(), plan.first, answer_piece{});
    labelled = true;
  }
  plan.unshown = apart && info.uploads ? shape.others() : entry.parts;
  if (info.uploads)
    for (const auto& piece : plan.pieces)
      plan.files.push_back(piece.file);
  auto& next = plan.pieces[plan.first];
  if (next.file) {
    auto told = is_uncertain(entry) && entry.op == outbound_op::post;
    // The label is about the line, not about the file before it.
    if (!info.uploads || memory.line_instead || told) {
      labelled = labelled && told;
      next = {next.line, caf::none, {}};
    }
  }
  if (!info.uploads)
    for (auto& piece : plan.pieces)
      if (piece.file)
        piece = {piece.line, caf::none, {}};
  if (labelled)
    put_label(next, memory.after_restart);
  auto& head = plan.head;
  if (plan.first > 0) {
    if (!entry.answer_ref.empty())
      head.ref = entry.answer_ref;
  } else if (!labelled && !next.file) {
    auto under_way = entry.state == ledger_state::sending;
    auto edits = under_way ? entry.op == outbound_op::edit
                           : info.streaming && !entry.provisional.empty();
    if (edits)
      head.ref = under_way ? entry.ref : entry.provisional;
  }
  return plan;
}

delivery::delivery_rules rules_of(const answer_plan& plan,
                                  platform_id platform) {
  delivery::delivery_rules rules;
  rules.attempts = limits::delivery_attempts;
  rules.base_delay_ms = ms(limits::delivery_retry_delay);
  rules.delay_cap_ms = ms(limits::delivery_attempt_cap);
  rules.asked_cap_ms = ms(limits::delivery_give_up);
  rules.recorded = true;
  rules.drops_repeats = platform_dedupes(platform);
  rules.first = plan.first;
  return rules;
}

outbound answer_operation(const ledger_entry& entry, const answer_plan& plan,
                          uint32_t part, delivery::message_call call) {
  auto result = delivery::operation_of(std::move(call));
  result.rank = outbound_class::final_answer;
  result.conversation = entry.event.address;
  result.run = entry.run;
  result.message_id = entry.id;
  result.target = entry.event.target;
  result.part = part;
  result.parts = static_cast<uint32_t>(plan.pieces.size());
  if (part + 1 == result.parts) {
    result.attached = plan.unshown;
    result.outcomes = contracts::unsupported_outcomes(plan.unshown);
  }
  return result;
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

bool is_worth_an_attempt(const ledger_entry& entry, int64_t now_ms) {
  return now_ms - entry.produced_ms < ms(limits::delivery_give_up);
}

delivery_judgement judge_delivery(const ledger_entry& entry,
                                  const delivery::delivery_error& fault,
                                  bool is_file, uint32_t rounds,
                                  int64_t now_ms) {
  using enum delivery_verdict;
  using disposition = delivery::delivery_disposition;
  // A file that does not arrive leaves a line.
  delivery_judgement never{is_file ? line_instead : undeliverable, 0};
  switch (fault.disposition) {
  case disposition::retryable:
    if (is_worth_an_attempt(entry, now_ms))
      return {retry, round_delay(rounds)};
    break;
  case disposition::unknown:
    if (!entry.labelled)
      return {ambiguous, ms(limits::delivery_retry_delay)};
    break;
  case disposition::permanent:
    break;
  }
  return never;
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
