#include "adapters/models/cost_core.hpp"

#include <algorithm>

namespace bureau::models {

namespace {

constexpr int64_t million = 1'000'000;

/// Tokens times a rate per million tokens, as a whole number and a rest in
/// millionths of it. Both stay below 2 * 10^18.
struct product {
  int64_t whole = 0;
  int64_t rest = 0;

  product(int64_t tokens, int64_t rate_micro) {
    tokens = believable_tokens(tokens);
    rate_micro = std::clamp(rate_micro, int64_t{0}, max_rate_micro);
    auto part = tokens % million * rate_micro;
    whole = tokens / million * rate_micro + part / million;
    rest = part % million;
  }
};

int64_t rounded(const product& cost) {
  return cost.whole + (cost.rest * 2 >= million ? 1 : 0);
}

int64_t rounded_sum(const product& left, const product& right) {
  auto rest = left.rest + right.rest;
  auto whole = left.whole + right.whole + rest / million;
  return whole + (rest % million * 2 >= million ? 1 : 0);
}

} // namespace

int64_t believable_tokens(int64_t reported) {
  return std::clamp(reported, int64_t{0}, max_counted_tokens);
}

token_rates rates_for(const std::vector<token_rates>& rates,
                      const usage& spent) {
  if (rates.empty())
    return {};
  auto prompt = spent.input + spent.cache_read + spent.cache_write;
  auto result = rates.front();
  int64_t threshold = 0;
  for (auto tier = std::next(rates.begin()); tier != rates.end(); ++tier)
    if (tier->above_tokens < prompt && tier->above_tokens >= threshold) {
      threshold = tier->above_tokens;
      result = *tier;
    }
  return result;
}

void price(usage& spent, const std::vector<token_rates>& rates) {
  spent.total_tokens =
    spent.input + spent.output + spent.cache_read + spent.cache_write;
  auto rate = rates_for(rates, spent);
  auto hour = std::min(spent.cache_write_1h, spent.cache_write);
  spent.cost_input_micro = rounded({spent.input, rate.input_micro});
  spent.cost_output_micro = rounded({spent.output, rate.output_micro});
  spent.cost_cache_read_micro =
    rounded({spent.cache_read, rate.cache_read_micro});
  // Writing for an hour costs twice the plain input.
  spent.cost_cache_write_micro =
    rounded_sum({spent.cache_write - hour, rate.cache_write_micro},
                {hour, std::min(rate.input_micro, max_rate_micro / 2) * 2});
  spent.cost_total_micro = spent.cost_input_micro + spent.cost_output_micro
                           + spent.cost_cache_read_micro
                           + spent.cost_cache_write_micro;
}

} // namespace bureau::models
