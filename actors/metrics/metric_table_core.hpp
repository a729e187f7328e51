#pragma once

#include "messages/interfaces/metrics.hpp"

#include <functional>
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

/// Value of labels that would say too much, or of too many.
inline constexpr const char* other_label = "other";

/// Label sets a metric may have; further ones are counted under other_label.
inline constexpr size_t max_label_sets = 256;

/// Puts other_label in the place of a model that is not in the catalogue: the
/// settings of any conversation can name one, and the name may say more than a
/// metric should.
/// @param values of the labels of the definition, in their order
void hide_unlisted_model(
  const metric_definition& definition, std::vector<std::string>& values,
  const std::function<bool(const std::string& provider,
                           const std::string& model)>& is_listed);

} // namespace bureau::metrics
