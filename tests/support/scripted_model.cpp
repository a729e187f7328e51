#include "tests/support/scripted_model.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/model/error_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace bureau::test {

struct scripted_model::script {
  std::shared_ptr<wall_clock> clock;
  std::deque<reply_maker> queue;
  reply_maker fallback;
  std::vector<model_request> requests;
  /// Last prompt of each session id, for the cache estimate.
  std::map<std::string, std::string> prompts;
  size_t open = 0;
  size_t cancelled = 0;
  size_t next_call_id = 0;
};

namespace {

using script_ptr = std::shared_ptr<scripted_model::script>;

using scripted_call_actor =
  model_call_actor::extend<caf::reacts_to<atom::tick>>;

/// What the model would read, for the token estimate.
std::string prompt_text(const model_request& request) {
  auto result = request.system_prompt;
  for (const auto& tool : request.tools)
    result += "\n" + tool.name + " " + tool.description + tool.parameters.text;
  for (const auto& message : request.messages) {
    result += "\n" + to_string(message.role) + ": " + message.summary;
    for (const auto& block : message.content)
      result += block.text + block.name + block.arguments->text;
  }
  return result;
}

int64_t token_estimate(size_t characters) {
  return static_cast<int64_t>((characters + 3) / 4);
}

size_t common_prefix(const std::string& left, const std::string& right) {
  auto end = std::min(left.size(), right.size());
  size_t length = 0;
  while (length < end && left[length] == right[length])
    ++length;
  return length;
}

usage estimate_prompt(scripted_model::script& script,
                      const model_request& request) {
  usage result;
  auto prompt = prompt_text(request);
  auto all = token_estimate(text::utf16_length(prompt));
  if (request.session_id.empty()) {
    result.input = all;
    return result;
  }
  auto& previous = script.prompts[request.session_id];
  auto shared = common_prefix(previous, prompt);
  result.cache_read =
    token_estimate(text::utf16_length(text::prefix_bytes(prompt, shared)));
  result.cache_write = all - std::min(all, result.cache_read);
  previous = std::move(prompt);
  return result;
}

/// One event and the state of the message after it.
struct step {
  stream_event event;
  size_t output_chars = 0;
};

/// The whole stream of a reply, up to its cut.
class step_builder {
public:
  explicit step_builder(const scripted_reply& reply) : reply_(reply) {}

  std::vector<step> build() {
    add({stream_kind::start, 0, {}, {}});
    for (const auto& block : reply_.content) {
      if (cut_)
        break;
      add_block(block);
      ++index_;
    }
    return std::move(steps_);
  }

  bool was_cut() const { return cut_; }

private:
  void add(stream_event event) {
    event.index = index_;
    steps_.push_back({std::move(event), 0});
  }

  void add_block(const content_block& block) {
    switch (block.kind) {
    case block_kind::thinking:
      add({stream_kind::thinking_start, 0, {}, {}});
      add_deltas(stream_kind::thinking_delta, block.text);
      if (!cut_)
        add({stream_kind::thinking_end, 0, {}, block});
      return;
    case block_kind::tool_call: {
      auto opened = block;
      opened.arguments = json_text{};
      add({stream_kind::tool_call_start, 0, {}, std::move(opened)});
      add_deltas(stream_kind::tool_call_delta, block.arguments->text);
      if (!cut_)
        add({stream_kind::tool_call_end, 0, {}, block});
      return;
    }
    case block_kind::text:
    case block_kind::image:
      add({stream_kind::text_start, 0, {}, {}});
      add_deltas(stream_kind::text_delta, block.text);
      if (!cut_)
        add({stream_kind::text_end, 0, {}, block});
      return;
    }
  }

  void add_deltas(stream_kind kind, std::string_view rest) {
    while (!rest.empty() && !cut_) {
      auto want = 12 + (pieces_++ * 5) % 9;
      if (reply_.cut_after)
        want = std::min(want, *reply_.cut_after - output_);
      auto piece = characters(rest, want);
      rest.remove_prefix(piece.size());
      output_ += text::code_point_length(piece);
      if (!piece.empty()) {
        add({kind, 0, std::string{piece}, {}});
        steps_.back().output_chars = text::utf16_length(piece);
      }
      cut_ = reply_.cut_after && output_ >= *reply_.cut_after;
    }
  }

  static std::string_view characters(std::string_view valid, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count && bytes < valid.size(); ++i)
      bytes += text::decode_at(valid, bytes).bytes;
    return valid.substr(0, bytes);
  }

  const scripted_reply& reply_;
  std::vector<step> steps_;
  uint32_t index_ = 0;
  size_t pieces_ = 0;
  size_t output_ = 0;
  bool cut_ = false;
};

scripted_reply take_reply(scripted_model::script& script,
                          const model_request& request) {
  script.requests.push_back(request);
  if (!script.queue.empty()) {
    auto make = std::move(script.queue.front());
    script.queue.pop_front();
    return make(request);
  }
  if (script.fallback)
    return script.fallback(request);
  return fails(model_error_class::unknown,
               "The script of the test model is at its end.");
}

/// Handlers:
///   (cancel) ⇒ cancel
///   (tick)   ⇒ next   (internal: one event of the stream)
struct scripted_call_state {
  scripted_call_actor::stateful_pointer<scripted_call_state> self;
  script_ptr script;
  model_sink_actor sink;
  scripted_call_actor alive;
  scripted_reply reply;
  std::vector<step> steps;
  size_t at = 0;
  size_t output_chars = 0;
  transcript_message message;
  bool was_cut = false;
  bool ended = false;
  bool counted = false;
  kit::generation_timer timer;
  static inline const char* name = "scripted_call";

  explicit scripted_call_state(
    scripted_call_actor::stateful_pointer<scripted_call_state> me)
    : self(me) {}

  ~scripted_call_state() { leave(); }

  void init(script_ptr shared, const model_request& request,
            model_sink_actor target, scripted_reply prepared) {
    script = std::move(shared);
    sink = std::move(target);
    // Whoever started the call may drop the handle; the sink decides.
    alive = scripted_call_actor{self};
    counted = true;
    ++script->open;
    reply = std::move(prepared);
    for (auto& block : reply.content)
      if (block.kind == block_kind::tool_call && block.id.empty())
        block.id = "call_" + std::to_string(++script->next_call_id);
    message.role = message_role::assistant;
    message.api = request.choice.model.api;
    message.provider = request.choice.model.provider;
    message.model = request.choice.model.id;
    message.response_id =
      "faux-response-" + std::to_string(script->requests.size());
    message.timestamp_ms = script->clock ? script->clock->now_ms() : 0;
    message.spent = estimate_prompt(*script, request);
    step_builder builder{reply};
    steps = builder.build();
    was_cut = builder.was_cut();
    if (reply.content.empty() && !reply.error_message.empty())
      steps.clear();
    self->monitor(sink);
    self->set_down_handler([this](caf::down_msg&) { stop(); });
    self->set_exit_handler([this](caf::exit_msg&) { stop(); });
    if (!reply.silent)
      schedule(reply.first_delay);
  }

  scripted_call_actor::behavior_type make_behavior() {
    return {[this](atom::cancel) { cancel(); },
            [this](atom::tick) {
              next();
            }};
  }

  void schedule(std::chrono::milliseconds delay) {
    if (delay.count() > 0)
      timer.arm(self, delay, [this] { next(); });
    else
      self->send(self, atom::tick_v);
  }

  void next() {
    if (ended)
      return;
    if (at == steps.size()) {
      if (!reply.hangs)
        finish();
      return;
    }
    auto& current = steps[at++];
    apply(current);
    auto timed = !current.event.delta.empty();
    self->send(sink, atom::delta_v, std::move(current.event));
    schedule(timed ? reply.delta_delay : std::chrono::milliseconds{0});
  }

  /// Keeps the message as far as it was streamed.
  void apply(const step& current) {
    const auto& event = current.event;
    output_chars += current.output_chars;
    switch (event.kind) {
    case stream_kind::start:
      return;
    case stream_kind::text_start:
    case stream_kind::thinking_start:
      message.content.emplace_back();
      if (event.kind == stream_kind::thinking_start)
        message.content.back().kind = block_kind::thinking;
      return;
    case stream_kind::text_delta:
    case stream_kind::thinking_delta:
      message.content.back().text += event.delta;
      return;
    case stream_kind::tool_call_start:
      message.content.push_back(event.block);
      message.content.back().arguments = json_text{"{}"};
      return;
    case stream_kind::tool_call_delta:
      return;
    case stream_kind::text_end:
    case stream_kind::thinking_end:
    case stream_kind::tool_call_end:
      message.content.back() = event.block;
      return;
    }
  }

  void cancel() {
    ++script->cancelled;
    if (ended || reply.deaf)
      return;
    message.stop = stop_reason::aborted;
    end("The request was aborted.", {model_error_class::cancelled, 0, {}, 0});
  }

  void finish() {
    if (was_cut) {
      message.stop = stop_reason::error;
      end("The model stream ended without its final event.",
          {model_error_class::truncated, 200, {}, 0});
    } else if (!reply.error_message.empty()) {
      auto failure = reply.failure;
      if (failure.error == model_error_class::none)
        failure.error = classify_error_text(reply.error_message,
                                            error_text_rule::words_and_numbers);
      message.stop = stop_reason::error;
      end(reply.error_message, failure);
    } else {
      auto has_call = std::any_of(
        message.content.begin(), message.content.end(),
        [](const auto& block) { return block.kind == block_kind::tool_call; });
      auto natural = has_call ? stop_reason::tool_use : stop_reason::stop;
      message.stop = reply.stop.value_or(natural);
      end({}, {});
    }
  }

  void end(std::string error_message, const model_error& failure) {
    ended = true;
    timer.cancel();
    if (failure.error != model_error_class::none) {
      message.error_message = std::move(error_message);
      message.error_class = to_string(failure.error);
    }
    message.spent.output = token_estimate(output_chars);
    message.spent.total_tokens = message.spent.input + message.spent.output
                                 + message.spent.cache_read
                                 + message.spent.cache_write;
    if (reply.spent)
      message.spent = *reply.spent;
    self->send(sink, atom::done_v, stream_end{message, failure});
    stop();
  }

  void stop() {
    timer.cancel();
    leave();
    alive = nullptr;
    self->quit();
  }

  void leave() {
    if (counted)
      --script->open;
    counted = false;
  }
};

} // namespace

scripted_reply says(std::string text) {
  scripted_reply result;
  result.content.push_back(text_block(std::move(text)));
  return result;
}

content_block call_block(std::string tool, std::string arguments,
                         std::string id) {
  content_block result;
  result.kind = block_kind::tool_call;
  result.id = std::move(id);
  result.name = std::move(tool);
  result.arguments = json_text{std::move(arguments)};
  return result;
}

content_block thinking_block(std::string text, std::string signature) {
  content_block result;
  result.kind = block_kind::thinking;
  result.text = std::move(text);
  result.signature = std::move(signature);
  return result;
}

scripted_reply calls(std::string tool, std::string arguments, std::string id) {
  scripted_reply result;
  result.content.push_back(
    call_block(std::move(tool), std::move(arguments), std::move(id)));
  return result;
}

scripted_reply fails(std::string message) {
  scripted_reply result;
  result.error_message = std::move(message);
  return result;
}

scripted_reply fails(model_error_class error, std::string message,
                     uint32_t http_status, int64_t retry_after_ms) {
  auto result = fails(std::move(message));
  result.failure = {error, http_status, {}, retry_after_ms};
  return result;
}

scripted_reply hangs_after(std::string text) {
  auto result = says(std::move(text));
  result.hangs = true;
  return result;
}

scripted_reply cut_after(std::string text, size_t characters) {
  auto result = says(std::move(text));
  result.cut_after = characters;
  return result;
}

scripted_model::scripted_model(std::shared_ptr<wall_clock> clock)
  : script_(std::make_shared<script>()) {
  script_->clock = std::move(clock);
}

scripted_model& scripted_model::push(scripted_reply reply) {
  return push(
    [reply = std::move(reply)](const model_request&) { return reply; });
}

scripted_model& scripted_model::push(reply_maker make) {
  script_->queue.push_back(std::move(make));
  return *this;
}

scripted_model& scripted_model::otherwise(reply_maker make) {
  script_->fallback = std::move(make);
  return *this;
}

model_factory scripted_model::factory() const {
  return
    [shared = script_](caf::actor_system& system, const model_request& request,
                       const model_sink_actor& sink) -> model_call_actor {
      return kit::spawn_stateful<scripted_call_actor, scripted_call_state>(
        system, shared, request, sink, take_reply(*shared, request));
    };
}

model_choice scripted_model::choice() {
  model_choice result;
  result.model.id = "faux-1";
  result.model.name = "faux-1";
  result.model.api = "faux";
  result.model.provider = "faux";
  result.model.image_input = true;
  result.model.context_window = 128'000;
  result.model.max_tokens = 16'384;
  result.reason = "scripted";
  return result;
}

const std::vector<model_request>& scripted_model::requests() const {
  return script_->requests;
}

size_t scripted_model::waiting() const {
  return script_->queue.size();
}

size_t scripted_model::open_calls() const {
  return script_->open;
}

size_t scripted_model::cancelled() const {
  return script_->cancelled;
}

} // namespace bureau::test
