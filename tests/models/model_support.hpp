#pragma once

#include "adapters/models/http_call_core.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/model.hpp"

#include <caf/fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bureau::test {

/// What a sink got.
struct sink_record {
  std::vector<stream_event> events;
  std::vector<stream_end> ends;

  /// All text deltas, joined.
  std::string text() const;
};

model_sink_actor spawn_recorder(caf::actor_system& system,
                                std::shared_ptr<sink_record> record);

/// A request to lab/tiny at a loopback address.
model_request lab_request(std::string api);

/// The tool of the worked examples.
tool_definition read_tool();

content_block call_of(std::string id, std::string name, std::string arguments);
transcript_message assistant_of(std::vector<content_block> content,
                                stop_reason stop = stop_reason::stop);
transcript_message result_of(std::string id, std::string text);

/// The text "Hi" and a call read{path:"a.txt"}, 24 tokens in all.
std::string recorded_chat();
std::string recorded_anthropic();

std::shared_ptr<models::model_stream> stream_of(const model_request& request);

/// Plays a whole answer of status 200 through a call core, in pieces of the
/// given sizes (the last size repeats).
sink_record play(const model_request& request, std::string_view body,
                 std::vector<size_t> sizes, http_error end = http_error::none);

/// Equal JSON, members in any order.
bool same_json(std::string_view left, std::string_view right);

} // namespace bureau::test
