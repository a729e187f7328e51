#pragma once

#include "actors/delivery/answer_split_core.hpp"
#include "actors/delivery/final_delivery_core.hpp"
#include "actors/office/ledger_core.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// How the answers of an office reach the user (decisions A3 and A15), decided
/// without an actor. Instants are Unix milliseconds.
namespace bureau::offices {

/// Sentences that people see.
namespace wording {

inline constexpr const char* nothing_running = "_Nothing running._";
inline constexpr const char* reset_done =
  "Conversation reset. Send a new message to start fresh.";
inline constexpr const char* reset_refused =
  "/new works in a direct conversation only: here it would erase what "
  "everybody shares.";
inline constexpr const char* interrupted_by_restart =
  "I was interrupted by a restart before I finished this. Send it again to "
  "retry.";
inline constexpr const char* interrupted_by_fault =
  "I was interrupted by an internal error before I finished this. Send it "
  "again to retry.";
inline constexpr const char* sent_again_after_restart =
  "(sent again after a restart; you may see this twice)";
inline constexpr const char* sent_again =
  "(sent again; you may see this twice)";

} // namespace wording

/// Whether a platform drops a repeated post by its nonce.
bool platform_dedupes(platform_id platform);

/// What the office remembers of a delivery besides the ledger.
struct delivery_memory {
  /// Attempts that failed, and rounds of them.
  uint32_t attempts = 0;
  uint32_t rounds = 0;
  /// The file of this part cannot be uploaded: a line tells of it instead.
  bool line_instead = false;
  /// The uncertainty came from a restart, not from the transport.
  bool after_restart = false;
  /// Files that went out as lines.
  std::vector<contracts::reply_part> unshown;
};

/// The part of an answer that goes out next.
uint32_t next_part(const ledger_entry& entry);

/// An answer as it goes out: text in pieces that fit, then every file; where
/// files cannot be uploaded the text names what is not shown. Part and piece
/// are one and the same.
struct answer_plan {
  std::vector<delivery::answer_piece> pieces;
  /// Piece that goes out next.
  size_t first = 0;
  /// Visible message: it becomes the answer, or what follows hangs on it.
  delivery::live_message head;
  /// Parts that the reader of the answer is only told of.
  std::vector<contracts::reply_part> unshown;
  /// Files that are to be uploaded, by their piece.
  std::vector<caf::optional<contracts::attachment_part>> files;
};

/// @param info what the transport can do
/// @param split empty: delivery::split_for
answer_plan plan_answer(const ledger_entry& entry,
                        const delivery_memory& memory,
                        const transport_info& info,
                        const delivery::answer_splitter& split = {});

/// How attempts to deliver go on (decision A3).
delivery::delivery_rules rules_of(const answer_plan& plan,
                                  platform_id platform);

/// The operation of a call that delivers a part.
/// @param part of the plan; the last one takes what is not shown along
outbound answer_operation(const ledger_entry& entry, const answer_plan& plan,
                          uint32_t part, delivery::message_call call);

/// The record that goes before the operation: `sending`.
ledger_record sending_record(const ledger_entry& entry, const outbound& plan);

enum class delivery_verdict : uint8_t {
  /// Back to produced, another round after a while.
  retry,
  /// It may have happened: once more, with a label.
  ambiguous,
  /// The file cannot be uploaded: a line about it, at once.
  line_instead,
  undeliverable,
};

struct delivery_judgement {
  delivery_verdict verdict = delivery_verdict::undeliverable;
  /// retry, ambiguous: wait before the next attempt.
  int64_t delay_ms = 0;
};

/// What follows from a round that failed.
/// @param is_file the part on its way is a file
delivery_judgement judge_delivery(const ledger_entry& entry,
                                  const delivery::delivery_error& fault,
                                  bool is_file, uint32_t rounds,
                                  int64_t now_ms);

/// Whether an answer is still worth an attempt.
bool is_worth_an_attempt(const ledger_entry& entry, int64_t now_ms);

/// An error reply of a transport as an outcome: before `sending` was recorded
/// nothing can have happened.
delivered outcome_of_error(const ledger_entry& entry, std::string detail);

/// Notices that are constant texts.
outbound make_notice(const conversation_event& event, std::string text);

} // namespace bureau::offices
