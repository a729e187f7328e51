#include "config/readers.hpp"

#include "messages/contracts/config_readers.hpp"
#include "messages/errc.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bureau::config {

namespace {

caf::error plain_fault(std::string sentence, const contracts::config_fault&) {
  return make_failure(errc::bad_config, std::move(sentence));
}

} // namespace

std::optional<std::string> normalize_optional(std::string_view raw) {
  return contracts::normalize_optional_string(raw);
}

std::optional<int64_t> read_integer(std::string_view raw, int64_t min,
                                    int64_t max) {
  if (!normalize_optional(raw))
    return std::nullopt;
  auto value =
    contracts::read_integer(raw, {}, min, plain_fault, {{min}, {max}});
  return value ? std::optional{*value} : std::nullopt;
}

std::optional<bool> read_boolean(std::string_view raw) {
  if (!normalize_optional(raw))
    return std::nullopt;
  auto value = contracts::read_boolean(raw, {}, false, plain_fault);
  return value ? std::optional{*value} : std::nullopt;
}

std::vector<std::string> read_csv(std::string_view raw) {
  return contracts::read_csv(raw);
}

int64_t micro_of(double dollars) {
  constexpr double micro_per_dollar = 1e6;
  // What is not exact in binary must not become one more.
  constexpr double noise = 1e-3;
  return std::max<int64_t>(
    1, static_cast<int64_t>(std::ceil(dollars * micro_per_dollar - noise)));
}

} // namespace bureau::config
