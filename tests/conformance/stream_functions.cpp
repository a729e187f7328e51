#include "actors/runner/buffered_stream_core.hpp"
#include "actors/runner/resilient_stream_core.hpp"
#include "messages/codec/json_support.hpp"
#include "tests/conformance/functions.hpp"
#include "tests/support/whole_stream.hpp"

#include <cmath>
#include <deque>

namespace bureau::conformance {

namespace {

using namespace bureau::runner;

// -- arguments ----------------------------------------------------------------

const bj::object& object_of(const bj::value* value) {
  static const bj::object none;
  auto object = value != nullptr ? value->if_object() : nullptr;
  return object != nullptr ? *object : none;
}

bool flag(const bj::object& object, std::string_view name, bool fallback) {
  return json::bool_member(object, name).value_or(fallback);
}

stream_end end_of(const bj::object& step) {
  stream_end result;
  if (auto text = json::string_member(step, "text"))
    result.text = *text;
  auto parts = json::member(step, "parts");
  if (auto list = parts != nullptr ? parts->if_array() : nullptr)
    for (const auto& part : *list)
      result.options.parts.push_back(contracts::parse_reply_part(part));
  if (json::text_or_empty(step, "policy") == "none")
    result.options.fallback = contracts::unsupported_part_fallback::none;
  return result;
}

contracts::stream_event event_of(bj::value value) {
  // A time that is none is no reason to refuse the event here: what the ledger
  // makes of it is the question.
  auto odd_time = false;
  if (auto object = value.if_object()) {
    auto time = json::number_member(*object, "executionMs");
    odd_time = time && !(std::isfinite(*time) && *time >= 0);
    if (odd_time)
      object->erase("executionMs");
  }
  auto result = contracts::parse_stream_event(value);
  if (odd_time)
    result.duration_us = -1;
  return result;
}

const bj::value& event_member(const bj::object& step) {
  static const bj::value none;
  auto event = json::member(step, "event");
  return event != nullptr ? *event : none;
}

/// A whole number; -1, which no option allows, for anything else.
void read_count(const bj::object& options, std::string_view name,
                int64_t& into) {
  auto value = json::number_member(options, name);
  if (!value)
    return;
  auto whole = std::isfinite(*value) && std::floor(*value) == *value;
  into = whole ? static_cast<int64_t>(*value) : -1;
}

void read_time(const bj::object& options, std::string_view name,
               int64_t& into) {
  auto value = json::number_member(options, name);
  if (!value)
    return;
  auto good = std::isfinite(*value) && *value >= 0;
  into = good ? std::llround(*value) : -1;
}

std::string with_entities(std::string_view text) {
  std::string result;
  for (auto c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

std::string widened(std::string_view text) {
  std::string result;
  for (auto c : text)
    result += c == '@' ? std::string(200, 'A') : std::string(1, c);
  return result;
}

stream_options options_of(const bj::object& options,
                          const bj::object& transport) {
  stream_options result;
  if (auto text = json::string_member(options, "initialStatusText"))
    result.initial_status = *text;
  read_time(options, "editDebounceMs", result.edit_debounce_ms);
  read_count(transport, "maxMessageChars", result.max_message_chars);
  read_count(options, "maxMessageChars", result.max_message_chars);
  result.show_hints = flag(options, "showHints", true);
  result.final_only = flag(options, "finalOnly", false);
  result.can_remove = flag(transport, "canDelete", true);
  result.can_indicate = flag(transport, "canIndicate", true);
  return result;
}

delivery::delivery_rules rules_of(const bj::object& options,
                                  const bj::object& transport) {
  delivery::delivery_rules result;
  int64_t retries = result.attempts - 1;
  read_count(options, "maxSendRetries", retries);
  result.attempts = retries + 1;
  read_time(options, "retryCapMs", result.delay_cap_ms);
  result.asked_cap_ms = result.delay_cap_ms;
  read_time(options, "retryBaseDelayMs", result.base_delay_ms);
  result.markdown = flag(options, "formatMarkdown", true);
  auto render = json::text_or_empty(transport, "render");
  if (render == "entities")
    result.render = with_entities;
  else if (render == "wide")
    result.render = widened;
  return result;
}

// -- a stream between a scripted transport and a fake clock -------------------

class stream_world {
public:
  stream_world(stream_options options, delivery::delivery_rules rules,
               const bj::object& setting)
    : setting_(object_of(json::member(setting, "transport"))),
      abort_on_wait_(json::int_member(setting, "abortOnWait").value_or(0)),
      core_(std::move(options), std::move(rules),
            flag(setting_, "splitsOversizedMessages", false)) {
    core_.shorten({"/ws", "/home/agent"});
  }

  bj::array play(const bj::array& steps) {
    for (const auto& element : steps) {
      ++step_;
      take(element.as_object());
    }
    return std::move(records_);
  }

private:
  void take(const bj::object& step) {
    auto op = json::text_or_empty(step, "op");
    auto text = json::text_or_empty(step, "text");
    if (op == "status") {
      carry_out(core_.status(text, now_));
    } else if (op == "append") {
      carry_out(core_.append(text, now_));
    } else if (op == "replace") {
      carry_out(core_.replace(text, now_));
    } else if (op == "event") {
      carry_out(core_.event(event_of(event_member(step)), now_));
    } else if (op == "burst") {
      burst(step);
    } else if (op == "advance") {
      advance(json::int_member(step, "ms").value_or(0));
    } else if (op == "finish") {
      carry_out(core_.finish(end_of(step)));
    } else if (op == "dismiss") {
      carry_out(core_.dismiss());
    } else if (op == "abort") {
      carry_out(core_.abort());
    }
  }

  void burst(const bj::object& step) {
    auto count = json::int_member(step, "count").value_or(0);
    auto event = event_of(event_member(step));
    auto id = event.id;
    for (int64_t i = 0; i < count; ++i) {
      auto number = std::to_string(i);
      event.id = id + number;
      event.arguments =
        json_text{json::print(bj::object{{"path", "f" + number}})};
      carry_out(core_.event(event, now_));
    }
  }

  void advance(int64_t ms) {
    auto until = now_ + ms;
    while (due_ && *due_ <= until) {
      now_ = *due_;
      due_.reset();
      carry_out(core_.debounce_due());
    }
    now_ = until;
  }

  void carry_out(test::whole_effects effects) {
    for (auto& item : effects)
      std::visit([this](auto& effect) { apply(effect); }, item);
  }

  void apply(stream_effect& item) {
    std::visit([this](auto& effect) { apply(effect); }, item);
  }

  void apply(stream::send& item) {
    auto outcome = call(item.what);
    if (item.call != 0)
      carry_out(core_.answered(item.call, outcome, now_));
  }

  void apply(stream::indicate&) {
    auto record = begin("indicate");
    scripted("indicate", record);
    records_.push_back(std::move(record));
  }

  void apply(stream::arm_debounce& item) { due_ = now_ + item.ms; }
  void apply(stream::cancel_debounce&) { due_.reset(); }

  void apply(delivery::wait& item) {
    if (item.ms > 0) {
      auto record = begin("wait");
      record["ms"] = item.ms;
      records_.push_back(std::move(record));
    }
    if (++waits_ == abort_on_wait_) {
      carry_out(core_.abort());
      return;
    }
    now_ += item.ms;
    carry_out(core_.wait_over());
  }

  void apply(stream::write_failed&) { throws("transport_failure"); }

  void apply(stream::closed&) { throws("closed"); }

  void apply(delivery::delivery_error& item) {
    throws("ChannelDeliveryError");
    auto& record = records_.back().as_object();
    record["attempts"] = item.attempts;
    record["disposition"] = to_string(item.disposition);
  }

  // These belong to the other mode, or tell what the records tell already.
  void apply(stream::arm_settle&) {}
  void apply(stream::produce&) {}
  void apply(stream::finished&) {}
  void apply(stream::linger&) {}
  void apply(stream::end&) {}

  call_outcome call(const message_call& what) {
    auto name = what.op == call_op::post   ? "post"
                : what.op == call_op::edit ? "edit"
                                           : "delete";
    auto record = begin(name);
    if (!what.ref.empty())
      record["id"] = what.ref;
    if (what.op != call_op::remove) {
      record["text"] = what.content.text;
      record["markdown"] = what.content.markdown;
      record["kind"] =
        what.content.kind == content_kind::status ? "status" : "answer";
    }
    if (!what.continues.empty())
      record["continues"] = what.continues;
    auto outcome = scripted(name, record);
    if (outcome.kind == send_outcome::done) {
      if (what.op == call_op::post) {
        outcome.ref = next_id();
        record["id"] = outcome.ref;
      } else if (what.op == call_op::edit
                 && flag(setting_, "replaceOnEdit", false)) {
        outcome.ref = next_id();
        record["replacedBy"] = outcome.ref;
      }
    }
    records_.push_back(std::move(record));
    return outcome;
  }

  /// How the next call of a kind ends.
  call_outcome scripted(const char* name, bj::object& record) {
    call_outcome result;
    auto count = ++counts_[name];
    auto failures = json::member(setting_, "failures");
    if (failures == nullptr || !failures->is_array())
      return result;
    for (const auto& element : failures->get_array()) {
      const auto& failure = element.as_object();
      auto nth = json::int_member(failure, "nth").value_or(count);
      if (json::text_or_empty(failure, "call") != name || nth != count)
        continue;
      auto kind = json::text_or_empty(failure, "kind");
      record["fails"] = kind;
      result.kind = kind == "not_modified"     ? send_outcome::not_modified
                    : kind == "recreate"       ? send_outcome::recreate
                    : kind == "reformat_plain" ? send_outcome::reformat_plain
                    : kind == "retry"          ? send_outcome::retry
                                               : send_outcome::fatal;
      result.not_delivered =
        json::text_or_empty(failure, "failureCertainty") == "not_delivered";
      result.retry_after_ms = json::int_member(failure, "retryAfterMs");
      return result;
    }
    return result;
  }

  bj::object begin(const char* name) const {
    return {{"t", now_}, {"call", name}};
  }

  void throws(const char* what) {
    records_.push_back(
      bj::object{{"t", now_}, {"step", step_}, {"throws", what}});
  }

  std::string next_id() { return "m" + std::to_string(++posts_); }

  bj::object setting_;
  int64_t abort_on_wait_;
  test::whole_stream core_;
  bj::array records_;
  int64_t step_ = -1;
  int64_t now_ = 0;
  std::optional<int64_t> due_;
  int64_t waits_ = 0;
  size_t posts_ = 0;
  std::map<std::string, int64_t> counts_;
};

outcome resilient_case(const bj::array& args) {
  const auto& setting = object_of(&argument(args, 0));
  const auto& stream = object_of(json::member(setting, "stream"));
  const auto& transport = object_of(json::member(setting, "transport"));
  auto options = options_of(stream, transport);
  auto rules = rules_of(stream, transport);
  if (!is_valid(options) || !is_valid(rules))
    return answer(bj::array{bj::object{{"t", 0}, {"throws", "RangeError"}}});
  stream_world world{std::move(options), std::move(rules), setting};
  return answer(world.play(argument(args, 1).as_array()));
}

outcome buffered_case(const bj::array& args) {
  auto closed = flag(object_of(&argument(args, 0)), "customClosed", false)
                  ? "own_closed"
                  : "closed";
  buffered_stream_core core;
  bj::array reads;
  bj::array errors;
  int64_t index = 0;
  for (const auto& element : argument(args, 1).as_array()) {
    const auto& step = element.as_object();
    auto op = json::text_or_empty(step, "op");
    auto text = json::text_or_empty(step, "text");
    auto open = true;
    if (op == "append")
      open = core.append(text);
    else if (op == "replace")
      open = core.replace(text);
    else if (op == "finish")
      core.finish(end_of(step));
    else if (op == "read")
      reads.emplace_back(core.text());
    if (!open)
      errors.push_back(bj::object{{"step", index}, {"throws", closed}});
    ++index;
  }
  return answer(
    bj::object{{"text", core.text()}, {"reads", reads}, {"errors", errors}});
}

const registration all[] = {
  {"ResilientMessageStream", resilient_case},
  {"BufferedMessageStream", buffered_case},
};

} // namespace

} // namespace bureau::conformance
