#include "actors/delivery/final_delivery_core.hpp"

#include "actors/delivery/stream_end_core.hpp"
#include "messages/contracts/text_split.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace bureau::delivery {

namespace {

/// Attempts to find a budget by proportion before it is halved.
constexpr int proportional_passes = 4;

/// Whether all pieces fit when they are rendered; else the budget that the
/// widest one suggests.
struct measure {
  bool fits = true;
  size_t suggested = 1;
};

measure measured(const std::vector<std::string>& chunks, size_t max_chars,
                 const markup_renderer& fit) {
  measure result;
  size_t widest = max_chars;
  for (const auto& chunk : chunks) {
    auto width = text::code_point_length(fit(chunk));
    if (width <= widest)
      continue;
    widest = width;
    result.fits = false;
    result.suggested = text::code_point_length(chunk) * max_chars / width;
  }
  return result;
}

} // namespace

std::string to_string(delivery_disposition disposition) {
  switch (disposition) {
  case delivery_disposition::retryable:
    return "retryable";
  case delivery_disposition::permanent:
    return "permanent";
  case delivery_disposition::unknown:
    return "unknown";
  }
  return "unknown";
}

std::vector<std::string> answer_chunks(std::string_view text, size_t max_chars,
                                       const markup_renderer& fit) {
  auto budget = std::max<size_t>(max_chars, 1);
  auto chunks = *contracts::split_text_for_chat(text, budget);
  for (auto pass = 0; fit && budget > 1; ++pass) {
    auto found = measured(chunks, max_chars, fit);
    if (found.fits)
      break;
    budget = pass < proportional_passes
               ? std::clamp<size_t>(found.suggested, 1, budget - 1)
               : std::max<size_t>(budget / 2, 1);
    chunks = *contracts::split_text_for_chat(text, budget);
  }
  auto blank = [](const std::string& chunk) {
    return trimmed(chunk).empty();
  };
  if (!std::all_of(chunks.begin(), chunks.end(), blank))
    std::erase_if(chunks, blank);
  return chunks;
}

bool is_valid(const delivery_rules& rules) {
  return rules.attempts >= 1 && rules.base_delay_ms >= 0
         && rules.delay_cap_ms >= 0 && rules.asked_cap_ms >= 0;
}

std::vector<answer_piece> text_pieces(std::vector<std::string> texts) {
  std::vector<answer_piece> result;
  result.reserve(texts.size());
  for (auto& text : texts)
    result.push_back({std::move(text), caf::none, {}});
  return result;
}

final_delivery::final_delivery(delivery_rules rules,
                               std::vector<answer_piece> pieces)
  : rules_(std::move(rules)), pieces_(std::move(pieces)), index_(rules_.first) {
}

delivery_step final_delivery::start(live_message& head) {
  if (index_ >= pieces_.size())
    return done{};
  enter();
  head.answer_attempted = true;
  if (at_ == stage::head && head.last == wanted())
    return next_piece(head);
  return attempt(head);
}

void final_delivery::enter() {
  attempts_ = 0;
  markdown_ = rules_.markdown;
  if (pieces_[index_].file)
    at_ = stage::file;
  else
    at_ = index_ == 0 ? stage::head : stage::overflow;
}

shown_text final_delivery::wanted() const {
  const auto& text = pieces_[index_].text;
  auto render = markdown_ && rules_.render;
  return {render ? rules_.render(text) : text, markdown_, content_kind::answer};
}

delivery_step final_delivery::attempt(live_message& head) {
  ++attempts_;
  message_call what;
  what.content = wanted();
  if (at_ == stage::file) {
    what.op = call_op::upload;
    what.file = pieces_[index_].file;
  }
  if (index_ > 0) {
    what.continues = head.ref.value_or("");
  } else if (at_ == stage::head && head.ref) {
    what.op = call_op::edit;
    what.ref = *head.ref;
  } else if (at_ == stage::head && !rules_.placeholder.empty()) {
    at_ = stage::placeholder;
    what.content = {rules_.placeholder, false, content_kind::status};
  }
  return call{std::move(what)};
}

delivery_step final_delivery::answered(live_message& head,
                                       const call_outcome& outcome) {
  auto placeholder = at_ == stage::placeholder;
  if (placeholder)
    at_ = stage::head;
  // A fresh message cannot stand there already.
  auto fine =
    at_ == stage::head ? outcome.fine() : outcome.kind == send_outcome::done;
  if (!fine)
    return failure(head, outcome);
  if (index_ > 0)
    return next_piece(head);
  if (!outcome.ref.empty())
    head.ref = outcome.ref;
  if (placeholder) {
    // The answer takes its place within the same attempt.
    rules_.placeholder.clear();
    --attempts_;
    return attempt(head);
  }
  head.last = wanted();
  return next_piece(head);
}

bool final_delivery::is_repeatable(const live_message& head) const {
  return (at_ == stage::head && head.ref)
         || (rules_.drops_repeats && at_ != stage::file);
}

delivery_step final_delivery::failure(live_message& head,
                                      const call_outcome& outcome) {
  last_ = outcome;
  if (rules_.recorded && !outcome.not_delivered) {
    uncertain_ = !is_repeatable(head);
    // The same edit twice is one edit.
    last_.kind = uncertain_ ? send_outcome::fatal : send_outcome::retry;
    return !uncertain_ && may_retry() ? delivery_step{wait{delay(outcome)}}
                                      : error_of_last();
  }
  uncertain_ = uncertain_ || !outcome.not_delivered;
  switch (outcome.kind) {
  case send_outcome::reformat_plain:
    if (!markdown_ || at_ == stage::last_resort)
      break;
    markdown_ = false;
    if (may_retry())
      return attempt(head);
    break;
  case send_outcome::recreate:
    if (at_ != stage::head || aborted_)
      break;
    head.forget();
    rules_.placeholder.clear();
    if (may_retry())
      return attempt(head);
    break;
  case send_outcome::retry:
    if (may_retry())
      return wait{delay(outcome)};
    break;
  default:
    break;
  }
  return give_up(head);
}

delivery_step final_delivery::waited(live_message& head) {
  return aborted_ ? delivery_step{done{}} : attempt(head);
}

int64_t final_delivery::delay(const call_outcome& outcome) const {
  if (outcome.retry_after_ms)
    return std::clamp<int64_t>(*outcome.retry_after_ms, 0, rules_.asked_cap_ms);
  auto result = rules_.base_delay_ms;
  for (int64_t i = 1; i < attempts_ && result < rules_.delay_cap_ms; ++i)
    result =
      result > rules_.delay_cap_ms / 2 ? rules_.delay_cap_ms : result * 2;
  return std::clamp<int64_t>(result, 0, rules_.delay_cap_ms);
}

delivery_step final_delivery::give_up(live_message& head) {
  if (aborted_)
    return done{};
  auto keeps = rules_.recorded && last_.kind == send_outcome::retry;
  if (keeps || (at_ != stage::head && at_ != stage::file))
    return error_of_last();
  // The last resort: a fresh message without markup.
  auto file = at_ == stage::file;
  if (file)
    pieces_[index_] = {std::move(pieces_[index_].line), caf::none, {}};
  at_ = file && index_ > 0 ? stage::overflow : stage::last_resort;
  attempts_ = 0;
  markdown_ = false;
  return attempt(head);
}

delivery_step final_delivery::error_of_last() const {
  delivery_error result;
  result.attempts = rules_.attempts;
  result.detail = last_.detail;
  // Behind a head that arrived, nobody knows what the reader sees.
  if (uncertain_ || (at_ == stage::overflow && !rules_.recorded))
    result.disposition = delivery_disposition::unknown;
  else if (last_.kind == send_outcome::retry)
    result.disposition = delivery_disposition::retryable;
  return result;
}

delivery_step final_delivery::next_piece(live_message& head) {
  ++index_;
  if (aborted_ || index_ == pieces_.size())
    return done{};
  enter();
  return attempt(head);
}

} // namespace bureau::delivery
