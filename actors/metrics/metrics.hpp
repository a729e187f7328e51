#pragma once

#include "messages/interfaces/metrics.hpp"

#include <functional>
#include <string>

namespace bureau::metrics {

/// Figures of the operating system about this process, read at a scrape.
struct process_figures {
  int64_t resident_bytes = 0;
  int64_t virtual_bytes = 0;
  int64_t cpu_micros = 0;
  int64_t open_fds = 0;
  int64_t max_fds = 0;
  int64_t start_unix_ms = 0;
  int64_t now_unix_ms = 0;
};

/// Spawns the metrics actor: it owns the registry, counts what others send and
/// renders the Prometheus text exposition.
/// @param figures called at every scrape; must not block
/// @param is_listed whether the catalogue has a model; the others share the
///   label `other` (decision B14). Empty: every model is listed
metrics_actor spawn_metrics(
  caf::actor_system& system, std::function<process_figures()> figures,
  std::function<bool(const std::string& provider, const std::string& model)>
    is_listed = {});

} // namespace bureau::metrics
