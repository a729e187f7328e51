#include "actors/harness/budget_core.hpp"

namespace bureau::harness {

namespace {

constexpr int64_t micro_per_unit = 1'000'000;
constexpr int64_t micro_per_cent = 10'000;

/// Two decimals, rounded half up.
std::string cents_text(int64_t micro) {
  auto cents = (micro + micro_per_cent / 2) / micro_per_cent;
  auto rest = cents % 100;
  return std::to_string(cents / 100) + "." + (rest < 10 ? "0" : "")
         + std::to_string(rest);
}

std::string reason(const std::string& have, const char* unit,
                   const std::string& cap) {
  return have + unit + " >= " + cap + " limit";
}

} // namespace

std::string repetition_reason(size_t rounds) {
  return std::to_string(rounds) + " identical rounds of tool calls";
}

std::string money_text(int64_t micro) {
  auto text = std::to_string(micro / micro_per_unit);
  auto fraction = std::to_string(micro % micro_per_unit);
  fraction.insert(0, 6 - fraction.size(), '0');
  while (!fraction.empty() && fraction.back() == '0')
    fraction.pop_back();
  return fraction.empty() ? text : text + "." + fraction;
}

std::string budget_fault(const run_budget& caps, const run_stats& spent,
                         int64_t elapsed_ms, call_need need) {
  if (caps.max_llm_calls > 0 && spent.llm_calls >= caps.max_llm_calls
      && need == call_need::another_call)
    return reason(std::to_string(spent.llm_calls), " LLM calls",
                  std::to_string(caps.max_llm_calls));
  if (caps.max_tokens > 0 && spent.spent.total_tokens >= caps.max_tokens)
    return reason(std::to_string(spent.spent.total_tokens), " tokens",
                  std::to_string(caps.max_tokens));
  if (caps.max_cost_micro > 0
      && spent.spent.cost_total_micro >= caps.max_cost_micro)
    return "cost " + cents_text(spent.spent.cost_total_micro)
           + " USD >= " + money_text(caps.max_cost_micro) + " USD limit";
  if (caps.max_duration_ms > 0 && elapsed_ms >= caps.max_duration_ms)
    return reason(std::to_string(elapsed_ms), "ms",
                  std::to_string(caps.max_duration_ms) + "ms");
  return {};
}

} // namespace bureau::harness
