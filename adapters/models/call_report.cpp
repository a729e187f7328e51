#include "adapters/models/call_report.hpp"

#include "actors/kit/log.hpp"
#include "adapters/models/error_core.hpp"

#include <caf/actor_clock.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/send.hpp>

#include <utility>

namespace bureau::models {

call_report::call_report(metrics_actor metrics, std::string provider,
                         std::string model, int64_t context_window)
  : metrics_(std::move(metrics)), provider_(std::move(provider)),
    model_(std::move(model)), context_window_(context_window) {
}

void call_report::begin(caf::scheduled_actor* self) {
  began_ = self->clock().now();
}

void call_report::saw(caf::scheduled_actor* self, const stream_event& event) {
  if (!metrics_ || first_seen_ || event.kind == stream_kind::start)
    return;
  first_seen_ = true;
  auto waited = std::chrono::duration_cast<std::chrono::microseconds>(
    self->clock().now() - began_);
  caf::anon_send(
    metrics_, atom::observe_v,
    metric_sample{metric::llm_first_token, {provider_}, waited.count()});
}

void call_report::end(const stream_end& end) {
  if (auto line = failure_line(provider_, model_, end); !line.empty())
    kit::log::warning("models", line);
  if (!metrics_)
    return;
  auto ok = end.failure.error == model_error_class::none;
  add(metric::llm_calls,
      {provider_, model_, ok ? "ok" : to_string(end.failure.error)}, 1);
  const auto& spent = end.message.spent;
  add(metric::llm_tokens, {provider_, model_, "input"}, spent.input);
  add(metric::llm_tokens, {provider_, model_, "output"}, spent.output);
  add(metric::llm_tokens, {provider_, model_, "cache_read"}, spent.cache_read);
  add(metric::llm_tokens, {provider_, model_, "cache_write"},
      spent.cache_write);
  add(metric::llm_cost, {provider_, model_}, spent.cost_total_micro);
  auto held = spent.input + spent.cache_read + spent.cache_write + spent.output;
  if (held > 0 && context_window_ > 0)
    caf::anon_send(metrics_, atom::observe_v,
                   metric_sample{metric::context_utilization,
                                 {provider_, model_},
                                 held * 1'000'000 / context_window_});
}

void call_report::add(metric id, std::vector<std::string> labels,
                      int64_t value) {
  if (value > 0)
    caf::anon_send(metrics_, atom::add_v,
                   metric_sample{id, std::move(labels), value});
}

} // namespace bureau::models
