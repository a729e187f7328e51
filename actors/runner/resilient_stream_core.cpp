#include "actors/runner/resilient_stream_core.hpp"

#include "actors/delivery/answer_split_core.hpp"
#include "messages/contracts/provider_status.hpp"
#include "messages/contracts/text_split.hpp"
#include "messages/contracts/tool_names.hpp"

#include <utility>

namespace bureau::runner {

namespace {

using contracts::stream_event;
using contracts::stream_event_kind;

constexpr int64_t min_message_chars = 32;
constexpr int64_t indicator_gap_ms = 4000;
constexpr std::string_view tail_prefix = "…\n";
constexpr std::string_view default_status = "Thinking…";

bool is_blank(std::string_view text) {
  return delivery::trimmed(text).empty();
}

} // namespace

bool is_valid(const stream_options& options) {
  return options.edit_debounce_ms >= 0
         && options.max_message_chars >= min_message_chars;
}

resilient_stream_core::resilient_stream_core(stream_options options)
  : options_(std::move(options)), status_(contracts::normalize_trailing(
                                    options_.initial_status, default_status)) {
  if (!options_.provisional.empty())
    main_.ref = options_.provisional;
}

// -- writing ------------------------------------------------------------------

stream_effects resilient_stream_core::status(std::string_view text,
                                             int64_t now_ms) {
  stream_effects out;
  if (!is_open())
    return {stream::closed{}};
  if (has_hint()) {
    status_ = contracts::normalize_trailing(text, status_);
    main_.post_due = true;
    main_.edit_due = main_.edit_due || !has_answer_;
    pump(out);
  } else {
    indicate_if_bare(out, now_ms);
  }
  return out;
}

stream_effects resilient_stream_core::append(const std::string& delta,
                                             int64_t now_ms) {
  stream_effects out;
  if (!is_open())
    return {stream::closed{}};
  if (delta.empty())
    return out;
  text_ += delta;
  has_answer_ = has_answer_ || !is_blank(delta);
  text_changed(out, now_ms);
  return out;
}

stream_effects resilient_stream_core::replace(std::string text,
                                              int64_t now_ms) {
  stream_effects out;
  if (!is_open())
    return {stream::closed{}};
  text_ = std::move(text);
  has_answer_ = has_answer_ || !is_blank(text_);
  text_changed(out, now_ms);
  return out;
}

void resilient_stream_core::text_changed(stream_effects& out, int64_t now_ms) {
  if (options_.final_only) {
    indicate_if_bare(out, now_ms);
    return;
  }
  main_.post_due = true;
  schedule(out, main_);
  pump(out);
}

stream_effects resilient_stream_core::event(const stream_event& event,
                                            int64_t now_ms) {
  stream_effects out;
  if (!is_open())
    return {stream::closed{}};
  if (has_hint())
    show_hint(event);
  else
    keep_ledger(out, event, now_ms);
  pump(out);
  return out;
}

void resilient_stream_core::show_hint(const stream_event& event) {
  if (!options_.show_hints || has_answer_)
    return;
  std::string line = contracts::format_provider_status_line(event);
  if (event.kind == stream_event_kind::tool_call_started)
    line = is_steering(event)
             ? event.name.value_or("")
             : contracts::tool_hint_for(event.name.value_or(""));
  if (line.empty())
    return;
  status_ = std::move(line);
  main_.post_due = true;
  main_.edit_due = true;
}

void resilient_stream_core::keep_ledger(stream_effects& out,
                                        const stream_event& event,
                                        int64_t now_ms) {
  switch (event.kind) {
  case stream_event_kind::runtime_warning:
    return;
  case stream_event_kind::tool_call_started:
    tool_started(out, event, now_ms);
    return;
  case stream_event_kind::tool_call_completed:
    if (ledger_.tool_completed(event)) {
      // It shows where a message is; it never makes one.
      schedule(out, ledger_home());
      return;
    }
    break;
  case stream_event_kind::provider_status:
    if (auto line = contracts::format_provider_status_line(event);
        options_.show_hints && !line.empty()) {
      ledger_.add_line(std::move(line));
      ledger_changed(out);
      return;
    }
    break;
  default:
    break;
  }
  indicate_if_bare(out, now_ms);
}

void resilient_stream_core::tool_started(stream_effects& out,
                                         const stream_event& event,
                                         int64_t now_ms) {
  if (!options_.show_hints) {
    indicate_if_bare(out, now_ms);
    return;
  }
  if (!ledger_.tool_started(event))
    return;
  if (options_.final_only && is_steering(event)) {
    // The ledger moves below the message that steered the run.
    relocate_ = true;
    main_.post_due = true;
    return;
  }
  ledger_changed(out);
}

void resilient_stream_core::ledger_changed(stream_effects& out) {
  ledger_home().post_due = true;
  schedule(out, ledger_home());
}

void resilient_stream_core::schedule(stream_effects& out,
                                     live_message& subject) {
  if (options_.edit_debounce_ms == 0) {
    subject.edit_due = true;
    return;
  }
  debounce_armed_ = true;
  out.push_back(stream::arm_debounce{options_.edit_debounce_ms});
}

stream_effects resilient_stream_core::debounce_due() {
  stream_effects out;
  if (!std::exchange(debounce_armed_, false))
    return out;
  main_.edit_due = true;
  activity_.edit_due = true;
  pump(out);
  return out;
}

void resilient_stream_core::indicate(stream_effects& out, int64_t now_ms) {
  if (!options_.can_indicate
      || (indicated_ms_ && now_ms - *indicated_ms_ < indicator_gap_ms))
    return;
  indicated_ms_ = now_ms;
  out.push_back(stream::indicate{});
}

void resilient_stream_core::indicate_if_bare(stream_effects& out,
                                             int64_t now_ms) {
  if (options_.final_only && ledger_.empty())
    indicate(out, now_ms);
}

// -- showing ------------------------------------------------------------------

void resilient_stream_core::pump(stream_effects& out) {
  if (!is_open() || pending_ || relocate(out))
    return;
  // Neither message may starve the other.
  for (auto activity : {!last_shown_activity_, last_shown_activity_})
    if (auto text = due(activity)) {
      show(out, std::move(*text), activity);
      return;
    }
}

bool resilient_stream_core::relocate(stream_effects& out) {
  if (!std::exchange(relocate_, false) || !main_.ref)
    return false;
  if (!is_transient(main_)) {
    schedule(out, main_);
    return false;
  }
  if (std::exchange(debounce_armed_, false))
    out.push_back(stream::cancel_debounce{});
  send(out, purpose::relocation, {call_op::remove, *main_.ref, {}, {}, {}},
       false);
  return true;
}

bool resilient_stream_core::is_transient(const live_message& subject) const {
  return options_.can_remove && !subject.answer_attempted && is_status(subject);
}

shown_text resilient_stream_core::preview(std::string_view text,
                                          content_kind kind) const {
  auto shown =
    options_.length != nullptr
      ? delivery::tail_preview(text, budget(), tail_prefix, options_.length)
      : contracts::build_streaming_tail_preview(text, budget(), tail_prefix);
  return {std::move(shown), false, kind};
}

std::optional<shown_text> resilient_stream_core::wanted(bool activity) const {
  if (is_ledger_home(activity)) {
    if (ledger_.empty())
      return std::nullopt;
    return preview(ledger_.text(), content_kind::status);
  }
  if (activity)
    return std::nullopt;
  if (!is_blank(text_))
    return preview(text_, content_kind::answer);
  if (has_hint())
    return preview(status_, content_kind::status);
  return std::nullopt;
}

std::optional<shown_text> resilient_stream_core::due(bool activity) {
  auto& subject = message(activity);
  if (!subject.usable || !(subject.ref ? subject.edit_due : subject.post_due))
    return std::nullopt;
  auto text = wanted(activity);
  if (text && subject.last != text)
    return text;
  // The next change of the text sets it again.
  subject.edit_due = false;
  return std::nullopt;
}

void resilient_stream_core::show(stream_effects& out, shown_text text,
                                 bool activity) {
  auto& subject = message(activity);
  message_call what;
  what.content = std::move(text);
  subject.post_due = false;
  if (subject.ref) {
    subject.edit_due = false;
    what.op = call_op::edit;
    what.ref = *subject.ref;
  } else if (has_hint()) {
    // The answer takes the place of the status once that stands.
    what.content = preview(status_, content_kind::status);
  } else {
    subject.edit_due = false;
  }
  if (what.content.kind == content_kind::answer)
    subject.answer_attempted = true;
  last_shown_activity_ = activity;
  send(out, purpose::interim, std::move(what), activity);
}

void resilient_stream_core::send(stream_effects& out, purpose why,
                                 message_call what, bool activity) {
  pending_ = pending_call{++last_call_, why, activity, what};
  out.push_back(stream::send{last_call_, std::move(what), activity});
}

void resilient_stream_core::settle_interim(stream_effects& out,
                                           const pending_call& settled,
                                           const call_outcome& outcome,
                                           int64_t now_ms) {
  auto& subject = message(settled.activity);
  auto post = settled.what.op == call_op::post;
  if (outcome.fine()) {
    if (!outcome.ref.empty())
      subject.ref = outcome.ref;
    // What has no reference can neither be edited nor posted again.
    subject.usable = subject.ref.has_value();
    subject.last = settled.what.content;
    return;
  }
  if (outcome.kind == send_outcome::recreate)
    subject.forget();
  // A preview that can never succeed, or that stands there perhaps, is not
  // worth a second one.
  if (options_.hand_over
      && (outcome.kind == send_outcome::fatal
          || (post && !outcome.not_delivered)))
    subject.usable = false;
  if (!post || !is_open())
    return;
  if (is_ledger_home(settled.activity))
    indicate(out, now_ms);
  else
    out.push_back(stream::write_failed{outcome.detail});
}

} // namespace bureau::runner
