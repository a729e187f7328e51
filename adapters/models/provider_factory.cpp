#include "adapters/models/provider_factory.hpp"

#include "adapters/models/anthropic_messages_core.hpp"
#include "adapters/models/anthropic_messages_stream_core.hpp"
#include "adapters/models/http_model_call.hpp"
#include "adapters/models/offline_core.hpp"
#include "adapters/models/offline_model_call.hpp"
#include "adapters/models/openai_completions_core.hpp"
#include "adapters/models/openai_completions_stream_core.hpp"

#include <caf/actor_system.hpp>

#include <utility>

namespace bureau::models {

namespace {

/// What all calls of the process share.
struct shared_parts {
  http_client_actor client;
  provider_options options;
  std::shared_ptr<wall_clock> clock;
  std::shared_ptr<entropy> chance;
  metrics_actor metrics;
};

using built_by = built_request (*)(const model_request&, cache_retention);

template <class Stream>
model_call_actor start(caf::actor_system& system, const shared_parts& parts,
                       const model_request& request,
                       const model_sink_actor& sink, built_by build,
                       call_report report) {
  auto now = parts.clock->now_ms();
  auto built = build(request, parts.options.retention);
  if (built.refusal) {
    answer_builder answer{request, now, {}};
    return spawn_refused_call(system, sink, answer.failed(*built.refusal),
                              std::move(report));
  }
  auto stream =
    std::make_shared<Stream>(request, now, random_hex(*parts.chance, 8));
  return spawn_http_model_call(
    system,
    http_call_args{parts.client, sink, std::move(built.wire), std::move(stream),
                   parts.clock, std::move(report), parts.options.idle_timeout});
}

model_call_actor dispatch(caf::actor_system& system, const shared_parts& parts,
                          const model_request& request,
                          const model_sink_actor& sink) {
  const auto& model = request.choice.model;
  call_report report{parts.metrics, model.provider, model.id,
                     model.context_window};
  if (model.api == "openai-completions")
    return start<openai_completions_stream>(system, parts, request, sink,
                                            build_openai_completions,
                                            std::move(report));
  if (model.api == "anthropic-messages")
    return start<anthropic_messages_stream>(system, parts, request, sink,
                                            build_anthropic_messages,
                                            std::move(report));
  auto now = parts.clock->now_ms();
  if (model.api == "offline")
    return spawn_offline_call(system, sink,
                              offline_answer(request, *parts.chance, now),
                              std::move(report));
  auto refusal = local_failure(
    model_error_class::bad_request,
    "The model " + model.provider + "/" + model.id + " uses the api "
      + model.api
      + ", which is not spoken here; set api to openai-completions or "
        "anthropic-messages in models.json.");
  return spawn_refused_call(system, sink,
                            answer_builder{request, now, {}}.failed(refusal),
                            std::move(report));
}

} // namespace

model_factory make_model_factory(http_client_actor client,
                                 provider_options options,
                                 std::shared_ptr<wall_clock> clock,
                                 std::shared_ptr<entropy> chance,
                                 metrics_actor metrics) {
  auto parts = std::make_shared<const shared_parts>(
    shared_parts{std::move(client), options, std::move(clock),
                 std::move(chance), std::move(metrics)});
  return [parts](caf::actor_system& system, const model_request& request,
                 const model_sink_actor& sink) {
    return dispatch(system, *parts, request, sink);
  };
}

} // namespace bureau::models
