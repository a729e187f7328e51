#pragma once

#include "messages/interfaces/harness.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Messages that are offered to one run (agent contracts, rules 62 and 63;
/// decision A21).
namespace bureau::harness {

/// How a run stops taking messages.
enum class live_input_end : uint8_t {
  /// It has its answer.
  closed,
  /// It has none.
  failed,
  /// Its user ended it.
  cancelled,
};

/// The books about the messages of one run: each is settled exactly once, and
/// is the same message whenever its id is offered. Without a run nothing is
/// taken.
class live_input_box {
public:
  live_input_box() = default;
  /// @param reads whether the run ever looks at what it is offered
  live_input_box(std::string run, bool reads)
    : run_(std::move(run)), at_(reads ? state::open : state::unsupported) {}

  /// Whether this id is not known yet.
  bool is_new(const std::string& id) const { return !entries_.contains(id); }

  /// Takes a message, or says why not. A known id was taken.
  contracts::live_input_offer offer(const live_input& input);

  /// What became of a message that was taken; nothing: it is settled later.
  std::optional<live_input_settled> settled(const std::string& id) const;

  /// The run has read these.
  std::vector<live_input_settled> applied(const std::vector<std::string>& ids);

  /// Settles whatever was not read; the first end counts.
  std::vector<live_input_settled> end(live_input_end how);

private:
  enum class state : uint8_t { closed, open, unsupported };

  struct known_input {
    /// Order of the offers.
    size_t order = 0;
    std::optional<contracts::live_input_settlement> settlement;
  };

  std::string run_;
  state at_ = state::closed;
  std::map<std::string, known_input> entries_;
};

} // namespace bureau::harness
