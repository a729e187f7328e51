#include "actors/interaction/interaction_core.hpp"

#include "messages/errc.hpp"

#include <algorithm>
#include <utility>

namespace bureau::interaction {

using contracts::ask_refusal;
using contracts::ask_status;

caf::error interaction_core::open(const std::string& conversation,
                                  contracts::ask_snapshot ask) {
  if (open_.contains(conversation))
    return make_failure(errc::conflict, "A question is open there already.");
  if (open_.size() >= asks_open)
    return make_failure(errc::queue_full,
                        "Too many questions are open; try again later.");
  open_.emplace(conversation, std::move(ask));
  return {};
}

contracts::ask_submission_result
interaction_core::submit(const contracts::ask_submission& submission) {
  contracts::ask_submission_result result;
  auto found = open_.find(submission.conversation_id);
  if (found == open_.end()) {
    auto known =
      std::find(settled_.begin(), settled_.end(), submission.interaction_id);
    result.refusal =
      known != settled_.end() ? ask_refusal::stale : ask_refusal::not_found;
    return result;
  }
  auto& ask = found->second;
  if (ask.interaction_id != submission.interaction_id)
    result.refusal = ask_refusal::stale;
  else if (!take_answers(ask, submission.answers))
    result.refusal = ask_refusal::invalid_answer;
  result.snapshot = ask;
  if (ask.status != ask_status::pending) {
    remember(ask.interaction_id);
    open_.erase(found);
  }
  return result;
}

std::optional<contracts::ask_snapshot>
interaction_core::settle(const std::string& conversation, ask_status status) {
  auto entry = open_.extract(conversation);
  if (entry.empty())
    return std::nullopt;
  auto ask = std::move(entry.mapped());
  ask.status = status;
  remember(ask.interaction_id);
  return ask;
}

const contracts::ask_snapshot*
interaction_core::pending(const std::string& conversation) const {
  auto found = open_.find(conversation);
  return found != open_.end() ? &found->second : nullptr;
}

void interaction_core::remember(const std::string& id) {
  settled_.push_back(id);
  if (settled_.size() > asks_remembered)
    settled_.pop_front();
}

} // namespace bureau::interaction
