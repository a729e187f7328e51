#include "adapters/models/stream_core.hpp"

#include "adapters/models/cost_core.hpp"
#include "adapters/models/lenient_json_core.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace bureau::models {

namespace {

constexpr std::string_view end_mark = "[DONE]";
/// What is kept of each text of an answer that broke a bound.
constexpr size_t kept_of_excess = limits::model_error_body_bytes;

stream_kind start_of(block_kind kind) {
  switch (kind) {
  case block_kind::thinking:
    return stream_kind::thinking_start;
  case block_kind::tool_call:
    return stream_kind::tool_call_start;
  default:
    return stream_kind::text_start;
  }
}

stream_kind delta_of(block_kind kind) {
  switch (kind) {
  case block_kind::thinking:
    return stream_kind::thinking_delta;
  case block_kind::tool_call:
    return stream_kind::tool_call_delta;
  default:
    return stream_kind::text_delta;
  }
}

stream_kind end_of(block_kind kind) {
  switch (kind) {
  case block_kind::thinking:
    return stream_kind::thinking_end;
  case block_kind::tool_call:
    return stream_kind::tool_call_end;
  default:
    return stream_kind::text_end;
  }
}

} // namespace

void event_batch::add(stream_event event) {
  auto is_piece = event.kind == stream_kind::text_delta
                  || event.kind == stream_kind::thinking_delta
                  || event.kind == stream_kind::tool_call_delta;
  if (is_piece && !events_.empty()) {
    auto& last = events_.back();
    if (last.kind == event.kind && last.index == event.index
        && last.delta.size() + event.delta.size()
             <= limits::stream_chunk_bytes) {
      last.delta += event.delta;
      return;
    }
  }
  events_.push_back(std::move(event));
}

answer_builder::answer_builder(const model_request& request, int64_t now_ms,
                               std::string id_seed)
  : rates_(request.choice.model.rates), id_seed_(std::move(id_seed)) {
  message_.role = message_role::assistant;
  message_.api = request.choice.model.api;
  message_.provider = request.choice.model.provider;
  message_.model = request.choice.model.id;
  message_.timestamp_ms = now_ms;
}

size_t answer_builder::open(content_block block, stream_effects& out) {
  if (message_.content.size() >= limits::model_answer_blocks)
    fault_ = "the answer has more than "
             + std::to_string(limits::model_answer_blocks) + " blocks";
  auto index = message_.content.size();
  stream_event event;
  event.kind = start_of(block.kind);
  event.index = static_cast<uint32_t>(index);
  if (block.kind == block_kind::tool_call) {
    event.block = block;
    event.block.arguments = json_text{};
  }
  out.events.push_back(std::move(event));
  message_.content.push_back(std::move(block));
  scratch_.emplace_back();
  return index;
}

void answer_builder::count(size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > limits::model_answer_bytes)
    fault_ = "the answer is longer than "
             + std::to_string(limits::model_answer_bytes) + " bytes";
}

void answer_builder::extend_signature(size_t index, std::string_view more) {
  count(more.size());
  message_.content[index].signature += more;
}

void answer_builder::append(size_t index, std::string_view delta,
                            stream_effects& out) {
  if (delta.empty() || scratch_[index].closed)
    return;
  count(delta.size());
  auto& block = message_.content[index];
  if (block.kind == block_kind::tool_call) {
    scratch_[index].arguments += delta;
    if (scratch_[index].arguments.size() > limits::json_text_bytes)
      fault_ = "the arguments of a tool call are longer than "
               + std::to_string(limits::json_text_bytes) + " bytes";
  } else {
    block.text += delta;
  }
  stream_event event;
  event.kind = delta_of(block.kind);
  event.index = static_cast<uint32_t>(index);
  event.delta = delta;
  out.events.push_back(std::move(event));
}

void answer_builder::settle_arguments(size_t index) {
  auto& block = message_.content[index];
  if (block.kind != block_kind::tool_call)
    return;
  auto& partial = scratch_[index].arguments;
  if (!partial.empty() || block.arguments.empty())
    block.arguments = lenient_arguments(partial);
  partial.clear();
}

void answer_builder::close(size_t index, stream_effects& out) {
  if (std::exchange(scratch_[index].closed, true))
    return;
  settle_arguments(index);
  stream_event event;
  event.kind = end_of(message_.content[index].kind);
  event.index = static_cast<uint32_t>(index);
  event.block = message_.content[index];
  out.events.push_back(std::move(event));
}

void answer_builder::close_all(stream_effects& out) {
  for (size_t i = 0; i < scratch_.size(); ++i)
    close(i, out);
}

bool answer_builder::has_calls() const {
  return std::any_of(
    message_.content.begin(), message_.content.end(),
    [](const auto& block) { return block.kind == block_kind::tool_call; });
}

bool answer_builder::has_call_id(std::string_view id) const {
  return std::any_of(
    message_.content.begin(), message_.content.end(), [id](const auto& block) {
      return block.kind == block_kind::tool_call && block.id == id;
    });
}

std::string answer_builder::fresh_call_id() {
  return "call_" + id_seed_ + "_" + std::to_string(++ids_made_);
}

stream_end answer_builder::finished(stop_reason stop) {
  for (size_t i = 0; i < scratch_.size(); ++i)
    if (!scratch_[i].closed)
      settle_arguments(i);
  price(message_.spent, rates_);
  message_.stop = stop;
  return {std::move(message_), {}};
}

stream_end answer_builder::failed(const call_failure& failure) {
  auto result = finished(failure.error.error == model_error_class::cancelled
                           ? stop_reason::aborted
                           : stop_reason::error);
  result.message.error_message = failure.message;
  result.message.error_class = to_string(failure.error.error);
  result.failure = failure.error;
  return result;
}

void answer_builder::shorten() {
  for (auto& block : message_.content) {
    if (block.text.size() > kept_of_excess)
      block.text = std::string{text::prefix_bytes(block.text, kept_of_excess)};
    if (block.signature.size() > kept_of_excess)
      block.signature.clear();
  }
}

model_stream::model_stream(const model_request& request, int64_t now_ms,
                           std::string id_seed)
  : answer_(request, now_ms, std::move(id_seed)),
    context_(failure_context_of(request.choice)) {
}

model_stream::~model_stream() = default;

bool model_stream::wants(std::string_view) const {
  return true;
}

void model_stream::handle_end_mark(stream_effects&) {
}

void model_stream::accept(stream_effects& out) {
  if (!ended_)
    out.events.emplace_back();
}

void model_stream::feed(const sse_event& event, stream_effects& out) {
  if (ended_ || !wants(event.name) || text::is_blank(event.data))
    return;
  ++events_taken_;
  if (text::trim(event.data) == end_mark) {
    handle_end_mark(out);
    return;
  }
  auto data = parse_repaired(event.data);
  if (!data) {
    // A cut event is not malformed: the end of the stream says what happened.
    if (!event.cut)
      fail(
        protocol_failure(context_, "an event is not JSON: " + data.fault->what),
        out);
    return;
  }
  if (!data.value.is_object())
    return;
  handle(event.name, data.value.get_object(), out);
  if (!ended_ && !answer_.fault().empty())
    fail_bound(answer_.fault(), out);
}

void model_stream::finish(stream_effects& out) {
  if (ended_)
    return;
  if (is_complete())
    complete(out);
  if (!ended_)
    fail(truncated_failure(context_), out);
}

void model_stream::fail(const call_failure& failure, stream_effects& out) {
  if (std::exchange(ended_, true))
    return;
  out.end = answer_.failed(failure);
}

void model_stream::fail_bound(std::string_view what, stream_effects& out) {
  answer_.shorten();
  fail(bound_failure(context_, what), out);
}

void model_stream::succeed(stop_reason stop, stream_effects& out) {
  if (ended_)
    return;
  if (!answer_.fault().empty()) {
    fail_bound(answer_.fault(), out);
    return;
  }
  answer_.close_all(out);
  ended_ = true;
  out.end = answer_.finished(stop);
}

std::optional<int64_t> token_member(const boost::json::object& object,
                                    std::string_view name) {
  auto value = json::number_member(object, name);
  if (!value)
    return std::nullopt;
  // Some servers send fractions or nonsense; the comparison also sorts out NaN.
  if (!(*value > 0))
    return 0;
  auto limit = static_cast<double>(max_counted_tokens);
  return static_cast<int64_t>(*value < limit ? *value : limit);
}

} // namespace bureau::models
