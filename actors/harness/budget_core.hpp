#pragma once

#include "messages/interfaces/harness.hpp"

#include <cstddef>
#include <string>

/// The budget breaker of a run (note on the harness, section 3.7).
namespace bureau::harness {

/// What an answer means for the call cap.
enum class call_need : uint8_t {
  /// The answer is complete; no further call is needed.
  settled,
  /// An error or a tool call: the run would have to call again.
  another_call,
};

/// Why the counters are at a cap, in the order calls, tokens, cost, duration;
/// empty when they are below all of them. Caps of 0 do not exist.
/// @param elapsed_ms time since the run began
std::string budget_fault(const run_budget& caps, const run_stats& spent,
                         int64_t elapsed_ms, call_need need);

/// Why a run that goes in circles is ended, in the form of budget_fault.
std::string repetition_reason(size_t rounds);

/// Money as text: 1250000 → "1.25", 10000000 → "10".
std::string money_text(int64_t micro);

} // namespace bureau::harness
