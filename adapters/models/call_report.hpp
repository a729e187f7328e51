#pragma once

#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/model.hpp"

#include <caf/fwd.hpp>
#include <caf/typed_actor.hpp>

#include <chrono>
#include <string>

namespace bureau::models {

/// What one model call tells the log and the metrics (decision B14): the call
/// by outcome, its tokens and cost, how full the context was, and the time to
/// the first token. Without a metrics actor nothing is counted. No label holds
/// more than names of the catalogue.
class call_report {
public:
  /// @param context_window tokens; 0: unknown, nothing is told about it
  call_report(metrics_actor metrics, std::string provider, std::string model,
              int64_t context_window);

  /// The call begins; the time to the first token counts from here.
  void begin(caf::scheduled_actor* self);

  /// An event goes to the sink; the first one with content is observed.
  void saw(caf::scheduled_actor* self, const stream_event& event);

  /// The terminal event; a failure is one warning in the log.
  void end(const stream_end& end);

private:
  void add(metric id, std::vector<std::string> labels, int64_t value);

  metrics_actor metrics_;
  std::string provider_;
  std::string model_;
  int64_t context_window_;
  std::chrono::steady_clock::time_point began_;
  bool first_seen_ = false;
};

} // namespace bureau::models
