#pragma once

#include "messages/interfaces/metrics.hpp"

#include <string>
#include <vector>

namespace bureau::metrics {

/// How samples of a metric are combined.
enum class metric_kind : uint8_t { counter, gauge, histogram };

/// What a metric is called and how it reads (decision B14).
struct metric_definition {
  const char* name;
  const char* help;
  metric_kind kind;
  std::vector<const char*> labels{};
  /// Samples are integers; the exposition divides by this.
  int64_t scale = 1;
  /// Upper bounds of histogram buckets, in exposed units.
  std::vector<double> buckets{};
};

/// Definition of a metric; every id has one.
const metric_definition& definition_of(metric id);

/// Label sets a metric may have; further ones are counted under "other".
inline constexpr size_t max_label_sets = 256;

} // namespace bureau::metrics
