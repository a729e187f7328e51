#include "actors/runner/responder_core.hpp"

#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <utility>

namespace bureau::runner {

responder_core::responder_core(output_style style) : style_(std::move(style)) {
  answer_.ref = style_.provisional;
  answer_.usable = style_.streaming;
  activity_.usable = style_.show_activity;
}

output_effects responder_core::append(const std::string& text) {
  if (mode_ != mode::open)
    return {};
  answer_.wanted += text;
  return pump();
}

output_effects responder_core::replace(std::string text) {
  if (mode_ != mode::open)
    return {};
  answer_.wanted = std::move(text);
  return pump();
}

output_effects responder_core::activity(std::string line) {
  if (mode_ != mode::open || !activity_.usable)
    return {};
  activity_lines_.push_back(std::move(line));
  if (activity_lines_.size() > limits::activity_lines)
    activity_lines_.pop_front();
  activity_.wanted.clear();
  for (const auto& entry : activity_lines_) {
    if (!activity_.wanted.empty())
      activity_.wanted += '\n';
    activity_.wanted += entry;
  }
  return pump();
}

output_effects responder_core::pump() {
  output_effects out;
  if (mode_ != mode::open || pending_)
    return out;
  auto answer = answer_.dirty() && !text::is_blank(answer_.wanted);
  // Neither kind may starve the other.
  if (answer && (!activity_.dirty() || last_ == outbound_content::activity))
    start(out, outbound_content::answer);
  else if (activity_.dirty())
    start(out, outbound_content::activity);
  return out;
}

responder_core::visible& responder_core::message(outbound_content content) {
  return content == outbound_content::answer ? answer_ : activity_;
}

void responder_core::start(output_effects& out, outbound_content content) {
  auto& subject = message(content);
  last_ = content;
  pending_ =
    pending{++last_token_, content, subject.wanted, subject.ref.empty()};
  output::send operation;
  operation.token = last_token_;
  operation.op = subject.ref.empty() ? outbound_op::post : outbound_op::edit;
  operation.content = content;
  operation.text = subject.wanted;
  operation.ref = subject.ref;
  out.push_back(std::move(operation));
}

output_effects responder_core::delivered_op(uint64_t token,
                                            const delivered& outcome) {
  output_effects out;
  if (!pending_ || pending_->token != token)
    return out;
  auto settled = std::exchange(pending_, std::nullopt);
  auto& subject = message(settled->content);
  // A failure costs the user a preview, not the answer: it is not repeated, the
  // next change of the text tries again.
  subject.shown = settled->text;
  if (outcome.fault == delivery_fault::none) {
    if (!outcome.ref.empty())
      subject.ref = outcome.ref;
    if (subject.ref.empty())
      subject.usable = false;
  } else if (outcome.fault == delivery_fault::permanent
             || outcome.certainty == failure_certainty::unknown) {
    subject.usable = false;
  }
  switch (mode_) {
  case mode::open:
    return pump();
  case mode::finishing:
    produce(out);
    return out;
  case mode::producing:
    return out;
  case mode::ended:
  case mode::dismissed:
    // A post that nobody counted on any more; what is edited has an owner.
    if (settled->post)
      remove(out, subject, settled->content);
    out.push_back(output::end{});
    return out;
  }
  return out;
}

output_effects responder_core::finish(std::string text, bool suppressed) {
  output_effects out;
  if (mode_ != mode::open)
    return out;
  final_text_ = std::move(text);
  suppressed_ = suppressed;
  mode_ = mode::finishing;
  if (pending_)
    out.push_back(output::arm_settle{});
  else
    produce(out);
  return out;
}

output_effects responder_core::settle_timeout() {
  output_effects out;
  if (mode_ == mode::finishing)
    produce(out);
  return out;
}

void responder_core::produce(output_effects& out) {
  mode_ = mode::producing;
  output::produce fact;
  fact.silent = suppressed_;
  if (!suppressed_) {
    fact.text = final_text_;
    fact.provisional = answer_.ref;
    handed_over_ = answer_.ref;
  }
  out.push_back(std::move(fact));
}

output_effects responder_core::recorded() {
  output_effects out;
  if (mode_ != mode::producing)
    return out;
  mode_ = mode::ended;
  out.push_back(output::answer_finish{});
  // The ledger now owns the message it was told of; any other one goes.
  if (suppressed_ || answer_.ref != handed_over_)
    remove(out, answer_, outbound_content::answer);
  answer_.ref.clear();
  remove(out, activity_, outbound_content::activity);
  settle_down(out);
  return out;
}

output_effects responder_core::not_recorded() {
  output_effects out;
  if (mode_ != mode::producing)
    return out;
  mode_ = mode::ended;
  answer_.ref.clear();
  activity_.ref.clear();
  settle_down(out);
  return out;
}

output_effects responder_core::dismiss() {
  output_effects out;
  if (mode_ == mode::ended || mode_ == mode::dismissed)
    return out;
  mode_ = mode::dismissed;
  remove(out, answer_, outbound_content::answer);
  remove(out, activity_, outbound_content::activity);
  settle_down(out);
  return out;
}

void responder_core::remove(output_effects& out, visible& gone,
                            outbound_content content) {
  if (gone.ref.empty())
    return;
  output::send operation;
  operation.op = outbound_op::remove;
  // After a stop the transport drops all of the run but its control operations.
  operation.rank = outbound_class::control;
  operation.content = content;
  operation.ref = std::exchange(gone.ref, {});
  out.push_back(std::move(operation));
}

void responder_core::settle_down(output_effects& out) {
  if (pending_)
    out.push_back(output::linger{});
  else
    out.push_back(output::end{});
}

} // namespace bureau::runner
