#include "actors/harness/live_input_core.hpp"

#include "messages/contracts/live_input.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace bureau::harness {

namespace {

static_assert(limits::live_inputs == contracts::live_input_max_messages);
static_assert(limits::live_input_chars == contracts::live_input_max_characters);

live_input_result unavailable(contracts::live_input_refusal why) {
  return {live_input_state::unavailable, to_string(why), {}};
}

live_input_result result_of(live_input_end how) {
  switch (how) {
  case live_input_end::closed:
    return {live_input_state::requeue, "closed", {}};
  case live_input_end::failed:
    return {live_input_state::requeue, "failed", {}};
  case live_input_end::cancelled:
    break;
  }
  return {live_input_state::discarded, "cancelled", {}};
}

/// The message as the contracts measure it: by what was typed.
contracts::live_input_request request_of(const live_input& input) {
  contracts::live_input_request result;
  result.id = input.id;
  result.text = input.typed;
  if (input.received_ms > 0)
    result.received_at = text::iso_utc(input.received_ms);
  return result;
}

} // namespace

std::optional<live_input_result>
live_input_box::offer(const live_input& input) {
  using contracts::live_input_refusal;
  if (auto known = entries_.find(input.id); known != entries_.end())
    return known->second.result;
  if (!open_)
    return unavailable(live_input_refusal::inactive);
  if (text::is_blank(input.text))
    return unavailable(live_input_refusal::invalid);
  if (auto why = check_live_input(request_of(input), entries_.size()))
    return unavailable(*why);
  entries_[input.id].order = entries_.size();
  return std::nullopt;
}

std::vector<live_input_settlement>
live_input_box::applied(const std::vector<std::string>& ids) {
  std::vector<live_input_settlement> out;
  for (const auto& id : ids) {
    auto found = entries_.find(id);
    if (!open_ || found == entries_.end() || found->second.result)
      continue;
    found->second.result = {live_input_state::applied, {}, run_};
    out.push_back({id, *found->second.result});
  }
  return out;
}

std::vector<live_input_settlement> live_input_box::end(live_input_end how) {
  std::vector<live_input_settlement> out;
  if (!std::exchange(open_, false))
    return out;
  for (auto& [id, entry] : entries_) {
    if (entry.result)
      continue;
    entry.result = result_of(how);
    out.push_back({id, *entry.result});
  }
  std::sort(out.begin(), out.end(), [this](const auto& a, const auto& b) {
    return entries_.at(a.id).order < entries_.at(b.id).order;
  });
  return out;
}

} // namespace bureau::harness
