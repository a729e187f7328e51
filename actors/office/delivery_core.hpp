#pragma once

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
  /// Attempts that failed.
  uint32_t attempts = 0;
  /// The message that an edit would replace is gone: post instead.
  bool post_instead = false;
  /// The file of this part cannot be uploaded: a line tells of it instead.
  bool line_instead = false;
  /// The uncertainty came from a restart, not from the transport.
  bool after_restart = false;
};

/// The part of an answer that goes out next.
uint32_t next_part(const ledger_entry& entry);

/// The operation that delivers the next part of an entry's answer. Where files
/// can be uploaded the text is the first part and every file is one of its own;
/// elsewhere there is one part, whose text names what cannot be shown.
/// @param streams the transport takes edits of interim messages
/// @param uploads the transport takes files
outbound plan_delivery(const ledger_entry& entry, const delivery_memory& memory,
                       bool streams, bool uploads = false);

/// What of an answer the reader is only told of.
std::vector<contracts::reply_part> unsupported_parts(const ledger_entry& entry,
                                                     bool uploads);

/// The record that goes before the operation: `sending`.
ledger_record sending_record(const ledger_entry& entry, const outbound& plan);

enum class delivery_verdict : uint8_t {
  sent,
  /// Back to produced, again after a while.
  retry,
  /// It may have happened: once more, with a label.
  ambiguous,
  /// The edited message is gone: a new message, at once.
  post_instead,
  /// The file cannot be uploaded: a line about it, at once.
  line_instead,
  undeliverable,
  /// The run was stopped; the transport dropped the answer.
  stopped,
};

struct delivery_step {
  delivery_verdict verdict = delivery_verdict::sent;
  /// retry, ambiguous: wait before the next attempt.
  int64_t delay_ms = 0;
};

/// What follows from an outcome.
delivery_step judge_delivery(const ledger_entry& entry, const outbound& plan,
                             const delivered& outcome, uint32_t attempts,
                             int64_t now_ms);

/// An error reply of a transport as an outcome: before `sending` was recorded
/// nothing can have happened.
delivered outcome_of_error(const ledger_entry& entry, std::string detail);

/// Notices that are constant texts.
outbound make_notice(const conversation_event& event, std::string text);

} // namespace bureau::offices
