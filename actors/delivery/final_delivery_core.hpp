#pragma once

#include "actors/delivery/stream_message_core.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The delivery of a final answer (agent contracts, rules 33 to 35).
namespace bureau::delivery {

/// What is known of an answer that could not be delivered.
enum class delivery_disposition : uint8_t { retryable, permanent, unknown };

std::string to_string(delivery_disposition disposition);

struct delivery_rules {
  /// Calls for one piece of the answer, at least 1.
  int64_t attempts = 4;
  int64_t base_delay_ms = 500;
  int64_t delay_cap_ms = 60'000;
  /// Longest wait that the transport may ask for.
  int64_t asked_cap_ms = 60'000;
  bool markdown = true;
  markup_renderer render;
  /// Text of the message that stands before the answer takes its place; empty =
  /// the answer is posted at once.
  std::string placeholder;
  /// Somebody records every piece: one that may have arrived is not sent again
  /// here, and what fails for now keeps for another delivery.
  bool recorded = false;
  /// The platform drops a post that it has already.
  bool drops_repeats = false;
  /// Piece to begin with: those before it have arrived.
  size_t first = 0;
};

/// Whether every number is within its range.
bool is_valid(const delivery_rules& rules);

/// A piece of an answer: a text, or a file.
struct answer_piece {
  /// Of a file: what is said about it.
  std::string text;
  caf::optional<contracts::attachment_part> file;
  /// Says instead of the file that there is one.
  std::string line;
  friend bool operator==(const answer_piece&, const answer_piece&) = default;
};

std::vector<answer_piece> text_pieces(std::vector<std::string> texts);

/// Answer with answered.
struct call {
  message_call what;
};
/// Answer with waited.
struct wait {
  int64_t ms = 0;
};
struct done {};
/// The answer exists but did not arrive, or not whole.
struct delivery_error {
  int64_t attempts = 0;
  delivery_disposition disposition = delivery_disposition::permanent;
  std::string detail;
};

using delivery_step = std::variant<call, wait, done, delivery_error>;

/// Pieces of an answer. Where the transport cuts what is too long without a
/// word, `fit` measures them as they are rendered.
std::vector<std::string> answer_chunks(std::string_view text, size_t max_chars,
                                       const markup_renderer& fit);

/// Sends a final answer: the head in place of the visible message, the rest
/// below it. Knows no clock and no actor.
class final_delivery {
public:
  final_delivery(delivery_rules rules, std::vector<answer_piece> pieces);

  /// Piece that is on its way; as many as there are when all have arrived.
  size_t piece() const { return index_; }
  size_t pieces() const { return pieces_.size(); }

  delivery_step start(live_message& head);
  delivery_step answered(live_message& head, const call_outcome& outcome);
  delivery_step waited(live_message& head);

  /// Nobody waits for the answer any more: what is under way may still
  /// succeed, nothing new is posted.
  void abort() { aborted_ = true; }

private:
  enum class stage : uint8_t { placeholder, head, last_resort, overflow, file };

  delivery_step attempt(live_message& head);
  delivery_step failure(live_message& head, const call_outcome& outcome);
  delivery_step give_up(live_message& head);
  delivery_step error_of_last() const;
  delivery_step next_piece(live_message& head);
  void enter();
  shown_text wanted() const;
  int64_t delay(const call_outcome& outcome) const;
  /// Whether a second call has no second effect.
  bool is_repeatable(const live_message& head) const;
  bool may_retry() const { return attempts_ < rules_.attempts; }

  delivery_rules rules_;
  std::vector<answer_piece> pieces_;
  stage at_ = stage::head;
  size_t index_ = 0;
  int64_t attempts_ = 0;
  bool markdown_ = false;
  bool aborted_ = false;
  /// Whether any failure may still have had an effect.
  bool uncertain_ = false;
  call_outcome last_;
};

} // namespace bureau::delivery
