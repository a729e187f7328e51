#pragma once

#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/model.hpp"
#include "messages/interfaces/session.hpp"
#include "messages/interfaces/settings.hpp"

#include <functional>

/// Rooms of one level never include each other: a parent spawns its children
/// through a value from here, given to it when it is spawned.
namespace bureau {

/// Makes an execution environment for an office.
using executor_factory =
  std::function<executor_actor(caf::actor_system&, const executor_args&)>;

/// Starts one model call that reports to the sink. The api of the model is
/// known to the factory, or the stream ends with an error at once.
using model_factory = std::function<model_call_actor(
  caf::actor_system&, const model_request&, const model_sink_actor&)>;

/// Opens the store of one session key.
using session_store_factory = std::function<session_store_actor(
  caf::actor_system&, const office&, const std::string& session_key)>;

/// What a harness is made for.
struct harness_args {
  office place;
  std::string session_key;
  session_store_actor store;
  harness_listener_actor listener;
};

using harness_factory =
  std::function<harness_actor(caf::actor_system&, const harness_args&)>;

/// The built-in tools of one runner.
struct tool_pack_args {
  office place;
  std::string session_key;
  executor_actor executor;
  path_context paths;
};

using tool_pack_factory = std::function<std::vector<tool_binding>(
  caf::actor_system&, const tool_pack_args&)>;

/// What a runner is made for.
struct runner_args {
  office place;
  std::string session_key;
  session_store_actor store;
  turn_owner_actor owner;
  transport_actor transport;
};

using runner_factory =
  std::function<runner_actor(caf::actor_system&, const runner_args&)>;

/// What a responder is made for.
struct responder_args {
  conversation_event event;
  std::string run;
  std::string provisional;
  turn_owner_actor owner;
  transport_actor transport;
  transport_info info;
};

using responder_factory =
  std::function<responder_actor(caf::actor_system&, const responder_args&)>;

/// What a session is made for.
struct session_args {
  office place;
  std::string session_key;
  turn_owner_actor owner;
  transport_actor transport;
};

using session_factory =
  std::function<session_actor(caf::actor_system&, const session_args&)>;

} // namespace bureau
