#include "tests/models/model_support.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "adapters/models/anthropic_messages_stream_core.hpp"
#include "adapters/models/openai_completions_stream_core.hpp"
#include "messages/codec/json_support.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace bureau::test {

namespace {

struct recorder_state {
  model_sink_actor::stateful_pointer<recorder_state> self;
  std::shared_ptr<sink_record> record;
  static inline const char* name = "recorder";

  explicit recorder_state(model_sink_actor::stateful_pointer<recorder_state> me)
    : self(me) {}

  void init(std::shared_ptr<sink_record> target) { record = std::move(target); }

  model_sink_actor::behavior_type make_behavior() {
    return {
      [this](atom::delta, const stream_event& event) {
        record->events.push_back(event);
      },
      [this](atom::done, const stream_end& end) {
        record->ends.push_back(end);
      },
    };
  }
};

} // namespace

std::string sink_record::text() const {
  std::string result;
  for (const auto& event : events)
    if (event.kind == stream_kind::text_delta)
      result += event.delta;
  return result;
}

model_sink_actor spawn_recorder(caf::actor_system& system,
                                std::shared_ptr<sink_record> record) {
  return kit::spawn_stateful<model_sink_actor, recorder_state>(
    system, std::move(record));
}

model_request lab_request(std::string api) {
  model_request result;
  result.choice.model.id = "tiny";
  result.choice.model.provider = "lab";
  result.choice.model.api = std::move(api);
  result.choice.model.base_url = "http://127.0.0.1:9000/v1";
  result.choice.model.max_tokens = 4096;
  result.choice.api_key = secret_text{"k-1234567890"};
  result.system_prompt = "SYS";
  result.messages = {user_message("hello", 1)};
  return result;
}

tool_definition read_tool() {
  tool_definition result;
  result.name = "read";
  result.description = "Read";
  result.parameters =
    json_text{R"({"type":"object","properties":{"path":{"type":"string"}},)"
              R"("required":["path"]})"};
  return result;
}

content_block call_of(std::string id, std::string name, std::string arguments) {
  content_block result;
  result.kind = block_kind::tool_call;
  result.id = std::move(id);
  result.name = std::move(name);
  result.arguments = json_text{std::move(arguments)};
  return result;
}

transcript_message assistant_of(std::vector<content_block> content,
                                stop_reason stop) {
  transcript_message result;
  result.role = message_role::assistant;
  result.provider = "lab";
  result.model = "tiny";
  result.api = "openai-completions";
  result.content = std::move(content);
  result.stop = stop;
  return result;
}

transcript_message result_of(std::string id, std::string text) {
  transcript_message result;
  result.role = message_role::tool_result;
  result.tool_call_id = std::move(id);
  result.tool_name = "read";
  result.content = {text_block(std::move(text))};
  return result;
}

std::string recorded_chat() {
  return R"(: hello

data: {"id":"r1","model":"tiny","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}

data: {"id":"r1","choices":[{"index":0,"delta":{"content":"H"}}]}

data: {"id":"r1","choices":[{"index":0,"delta":{"content":"i"}}]}

data: {"id":"r1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]}}]}

data: {"id":"r1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}

data: {"id":"r1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.txt\"}"}}]}}]}

data: {"id":"r1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"r1","choices":[],"usage":{"prompt_tokens":17,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":3}}}

data: [DONE]

)";
}

std::string recorded_anthropic() {
  return R"(event: message_start
data: {"type":"message_start","message":{"id":"m1","model":"tiny","usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":5,"cache_creation_input_tokens":2}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"H"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"i"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"a.txt\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7,"input_tokens":null}}

event: message_stop
data: {"type":"message_stop"}

)";
}

std::shared_ptr<models::model_stream> stream_of(const model_request& request) {
  if (request.choice.model.api == "anthropic-messages")
    return std::make_shared<models::anthropic_messages_stream>(request, 7,
                                                               "seed");
  return std::make_shared<models::openai_completions_stream>(request, 7,
                                                             "seed");
}

sink_record play(const model_request& request, std::string_view body,
                 std::vector<size_t> sizes, http_error end) {
  models::http_call_core core{stream_of(request)};
  sink_record record;
  models::stream_effects out;
  auto take = [&record, &out] {
    for (auto& event : out.events)
      record.events.push_back(std::move(event));
    if (out.end)
      record.ends.push_back(std::move(*out.end));
    out = {};
  };
  http_head head;
  head.status = 200;
  core.head(head, 0, out);
  take();
  http_chunk chunk;
  for (size_t i = 0; !body.empty(); ++i) {
    auto size = i < sizes.size() ? sizes[i] : sizes.back();
    size = std::clamp<size_t>(size, 1, body.size());
    chunk.bytes = body.substr(0, size);
    body.remove_prefix(size);
    core.chunk(chunk, out);
    take();
    ++chunk.seq;
  }
  http_done done;
  done.error = end;
  core.done(done, out);
  take();
  return record;
}

bool same_json(std::string_view left, std::string_view right) {
  auto a = json::parse(left);
  auto b = json::parse(right);
  return a && b && a.value == b.value;
}

} // namespace bureau::test
