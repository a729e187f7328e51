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

/// What became of one message.
struct live_input_settlement {
  std::string id;
  live_input_result result;
  friend bool operator==(const live_input_settlement&,
                         const live_input_settlement&) = default;
};

/// The books about the messages of one run: each is settled exactly once, and
/// is the same message whenever its id is offered. Without a run nothing is
/// taken.
class live_input_box {
public:
  live_input_box() = default;
  explicit live_input_box(std::string run)
    : run_(std::move(run)), open_(true) {}

  /// Whether this id is not known yet.
  bool is_new(const std::string& id) const { return !entries_.contains(id); }

  /// Takes a message, or says why not; for a known id, what became of it.
  /// Nothing: it is settled later.
  std::optional<live_input_result> offer(const live_input& input);

  /// The run has read these.
  std::vector<live_input_settlement>
  applied(const std::vector<std::string>& ids);

  /// Settles whatever was not read; the first end counts.
  std::vector<live_input_settlement> end(live_input_end how);

private:
  struct known_input {
    /// Order of the offers.
    size_t order = 0;
    std::optional<live_input_result> result;
  };

  std::string run_;
  bool open_ = false;
  std::map<std::string, known_input> entries_;
};

} // namespace bureau::harness
