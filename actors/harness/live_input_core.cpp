#include "actors/harness/live_input_core.hpp"

#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace bureau::harness {

namespace {

using contracts::live_input_outcome;
using contracts::live_input_refusal;
using contracts::live_input_requeue;
using contracts::live_input_settlement;

static_assert(limits::live_inputs == contracts::live_input_max_messages);
static_assert(limits::live_input_chars == contracts::live_input_max_characters);

live_input_settlement settlement_of(live_input_end how) {
  live_input_settlement result;
  switch (how) {
  case live_input_end::closed:
    result.reason = live_input_requeue::closed;
    break;
  case live_input_end::failed:
    result.reason = live_input_requeue::failed;
    break;
  case live_input_end::cancelled:
    result.outcome = live_input_outcome::discarded;
    break;
  }
  return result;
}

} // namespace

contracts::live_input_offer live_input_box::offer(const live_input& input) {
  if (entries_.contains(input.id))
    return {};
  if (at_ == state::unsupported)
    return {live_input_refusal::unsupported};
  // Whoever means another run means none that is here.
  if (at_ != state::open
      || (!input.target_run.empty() && input.target_run != run_))
    return {live_input_refusal::inactive};
  if (text::is_blank(input.text))
    return {live_input_refusal::invalid};
  if (auto why = check_live_input(request_of(input), entries_.size()))
    return {*why};
  entries_[input.id].order = entries_.size();
  return {};
}

std::optional<live_input_settled>
live_input_box::settled(const std::string& id) const {
  auto known = entries_.find(id);
  if (known == entries_.end() || !known->second.settlement)
    return std::nullopt;
  return live_input_settled{run_, id, *known->second.settlement};
}

std::vector<live_input_settled>
live_input_box::applied(const std::vector<std::string>& ids) {
  std::vector<live_input_settled> out;
  for (const auto& id : ids) {
    auto found = entries_.find(id);
    if (at_ != state::open || found == entries_.end()
        || found->second.settlement)
      continue;
    live_input_settlement read;
    read.outcome = live_input_outcome::applied;
    read.run_id = run_;
    found->second.settlement = read;
    out.push_back({run_, id, std::move(read)});
  }
  return out;
}

std::vector<live_input_settled> live_input_box::end(live_input_end how) {
  std::vector<live_input_settled> out;
  if (std::exchange(at_, state::closed) == state::closed)
    return out;
  for (auto& [id, entry] : entries_) {
    if (entry.settlement)
      continue;
    entry.settlement = settlement_of(how);
    out.push_back({run_, id, *entry.settlement});
  }
  std::sort(out.begin(), out.end(), [this](const auto& a, const auto& b) {
    return entries_.at(a.id).order < entries_.at(b.id).order;
  });
  return out;
}

} // namespace bureau::harness
