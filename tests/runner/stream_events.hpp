#pragma once

#include "messages/contracts/stream_event.hpp"

#include <string>

/// Events of a turn as its tests write them down.
namespace bureau::test {

inline contracts::stream_event tool_started(std::string id, std::string name,
                                            std::string arguments = "{}",
                                            std::string metadata = {}) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::tool_call_started;
  result.id = std::move(id);
  result.name = std::move(name);
  result.arguments = json_text{std::move(arguments)};
  result.metadata = json_text{std::move(metadata)};
  return result;
}

/// The call of a subagent's tool.
inline contracts::stream_event child(std::string agent, std::string path) {
  return tool_started("c", agent + "▸Read", R"({"path":")" + path + R"("})",
                      R"({"subagent":{"id":")" + agent + R"(","name":")" + agent
                        + R"("}})");
}

/// The launch of a subagent whose name is its call's id.
inline contracts::stream_event launch(std::string id) {
  auto arguments = R"({"name":")" + id + R"("})";
  return tool_started(std::move(id), "Agent", std::move(arguments));
}

/// The end of a launching call.
/// @param content what it answered; empty = nothing
inline contracts::stream_event launched(std::string id, int64_t ms,
                                        std::string content = {},
                                        bool is_error = false) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::tool_call_completed;
  result.id = std::move(id);
  result.name = "Agent";
  result.duration_us = ms * 1000;
  if (!content.empty())
    result.content = json_text{"\"" + content + "\""};
  result.is_error = is_error;
  return result;
}

/// A message that reached the run while it worked.
inline contracts::stream_event steered(std::string line) {
  return tool_started("live-input:i", std::move(line), "{}",
                      R"({"liveInput":true,"synthetic":true})");
}

inline contracts::stream_event retrying(std::string model) {
  contracts::stream_event result;
  result.kind = contracts::stream_event_kind::provider_status;
  result.phase = contracts::provider_phase::retry_started;
  result.model = std::move(model);
  return result;
}

} // namespace bureau::test
