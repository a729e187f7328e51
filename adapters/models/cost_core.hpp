#pragma once

#include "messages/model/content.hpp"
#include "messages/model/model_descriptor.hpp"

#include <cstdint>
#include <vector>

namespace bureau::models {

/// Largest token count and largest rate that are believed; larger ones are cut
/// so that the arithmetic cannot overflow.
inline constexpr int64_t max_counted_tokens = 1'000'000'000'000;
inline constexpr int64_t max_rate_micro = 1'000'000'000'000;

/// A count as a provider reports it: below 0 becomes 0, absurd ones are cut.
int64_t believable_tokens(int64_t reported);

/// The rates that apply to a whole request: the tier with the highest threshold
/// that the prompt (input, cache read and cache write) exceeds, else the base
/// rates; zeros when the model has none.
token_rates rates_for(const std::vector<token_rates>& rates,
                      const usage& spent);

/// Fills the total of the tokens and the cost members (note on the harness,
/// section 2.3). Integer arithmetic in millionths of a US dollar, each of the
/// four parts rounded to the nearest one.
void price(usage& spent, const std::vector<token_rates>& rates);

} // namespace bureau::models
