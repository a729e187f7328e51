#pragma once

#include "messages/contracts/ask.hpp"

#include <caf/error.hpp>

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The books about asks (agent contracts, rules 76 to 79).
namespace bureau::interaction {

/// Asks that are open at one time, in all conversations.
inline constexpr size_t asks_open = 256;
/// Settled asks that a late answer still finds stale instead of unknown.
inline constexpr size_t asks_remembered = 256;

/// One open ask a conversation; settled once. Pure.
class interaction_core {
public:
  /// Registers an ask that has its id.
  /// @returns conflict: one is open there; queue_full
  caf::error open(const std::string& conversation, contracts::ask_snapshot ask);

  /// Takes answers. An ask that they complete is closed.
  contracts::ask_submission_result
  submit(const contracts::ask_submission& submission);

  /// Closes an open ask without an answer; nothing when it is not open.
  std::optional<contracts::ask_snapshot> settle(const std::string& conversation,
                                                contracts::ask_status status);

  /// The open ask of a conversation; null without one.
  const contracts::ask_snapshot* pending(const std::string& conversation) const;

  size_t size() const { return open_.size(); }

private:
  void remember(const std::string& id);

  /// By conversation.
  std::map<std::string, contracts::ask_snapshot> open_;
  std::deque<std::string> settled_;
};

} // namespace bureau::interaction
