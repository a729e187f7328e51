#pragma once

#include "messages/codec/ledger_record.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

/// The state machine of the delivery ledger (decision A3): which transitions
/// are legal, what an office must remember, what a restart has to do. Knows no
/// file, no clock, no actor. Instants are Unix milliseconds.
namespace bureau::offices {

/// Ids seen before, bounded by age and number.
class id_window {
public:
  /// @param keep_ms ids younger than this stay, but never more than `max`
  /// @param min at least this many ids stay whatever their age
  id_window(int64_t keep_ms, size_t min, size_t max)
    : keep_ms_(keep_ms), min_(min), max_(max) {}

  // The set looks into the queue, whose elements never move.
  id_window(id_window&&) = default;
  id_window& operator=(id_window&&) = default;

  bool contains(std::string_view id) const;
  void add(std::string id, int64_t at_ms);
  size_t size() const { return order_.size(); }

  struct item {
    std::string id;
    int64_t at_ms = 0;
  };
  /// Oldest first.
  const std::deque<item>& items() const { return order_; }

private:
  int64_t keep_ms_;
  size_t min_;
  size_t max_;
  std::deque<item> order_;
  std::unordered_set<std::string_view> ids_;
};

/// An accepted message that is not closed.
struct ledger_entry {
  std::string id;
  ledger_state state = ledger_state::accepted;
  /// Accept order.
  uint64_t order = 0;
  conversation_event event;
  /// Its line in the chat log is still to be written.
  bool unlogged = false;
  /// Name of its sender for that line, when it differs.
  std::string display_name;
  int64_t accepted_ms = 0;
  std::string run;
  /// Number of runs so far.
  uint32_t attempt = 0;
  /// Accept order that the next entry had when the run began.
  uint64_t run_order = 0;
  std::string text;
  /// What goes with the text.
  std::vector<contracts::reply_part> parts;
  std::vector<std::string> covers;
  /// Visible interim message that the answer replaces.
  std::string provisional;
  /// 0 while there is no answer.
  int64_t produced_ms = 0;
  /// Part of the answer that is on its way, or was sent last.
  uint32_t part = 0;
  uint32_t of = 1;
  outbound_op op = outbound_op::post;
  /// Message that is being edited.
  std::string ref;
  bool labelled = false;
  /// Platform id of part 0.
  std::string answer_ref;
};

/// An answer that was delivered, for its line in the chat log.
struct ledger_answer {
  conversation_event event;
  std::string run;
  std::string text;
  std::string ref;
  int64_t at_ms = 0;
};

/// What a restart does about one open entry.
enum class boot_step : uint8_t {
  /// To its session, in accept order.
  requeue,
  /// Ask the session file whether the run did any work.
  ask_cause,
  /// Deliver the answer; an edit that was under way is done again.
  deliver,
  /// The post may have happened: ambiguous, then once more with a label.
  resend_labelled,
  /// Even the labelled repetition is uncertain: give up.
  give_up,
  /// Covered by the answer of another open entry.
  wait,
};

/// After a restart found an entry running.
enum class cause_verdict : uint8_t { rerun, interrupted };

class ledger_core {
public:
  explicit ledger_core(office_address place);

  // -- recording --------------------------------------------------------------

  /// Whether a record is a legal next transition of its entry.
  bool allows(const ledger_record& record) const;

  /// Takes a transition in. False when it is not legal; nothing changes then.
  bool apply(const ledger_record& record, int64_t at_ms);

  /// Takes a line of the file in. Unlike apply it learns closed ids from lines
  /// whose beginning was compacted away.
  void replay(const ledger_record& record, int64_t at_ms);

  // -- looking ----------------------------------------------------------------

  const ledger_entry* find(std::string_view id) const;

  /// Open entries in accept order.
  std::vector<const ledger_entry*> open() const;

  size_t open_count() const { return open_.size(); }

  /// Whether an id was accepted before: open, or closed within the window.
  bool knows(std::string_view id) const;

  /// Notes for the entries that an answer covers; call it before the record
  /// that closes the answer is applied.
  std::vector<ledger_record> closing_notes(const ledger_entry& answer) const;

  /// Where an answer goes: to the last message that its prompt was collected
  /// from, else to the one that caused it.
  json_text reply_target(const ledger_entry& answer,
                         const std::vector<std::string>& covers) const;

  /// The message whose run has read this one: then it is `running` with the
  /// number of that run, and shares its end. Null: none.
  const ledger_entry* head_of(const ledger_entry& read) const;

  /// What the run of a message has read besides, in accept order.
  std::vector<const ledger_entry*> read_by(const ledger_entry& head) const;

  // -- restart ----------------------------------------------------------------

  /// @param platform_dedupes the platform drops a repeated post by its nonce
  boot_step after_restart(const ledger_entry& entry,
                          bool platform_dedupes) const;

  static cause_verdict after_cause(const ledger_entry& entry,
                                   const cause_report& report);

  /// The last answers that a replay saw delivered, oldest first; asked once.
  std::vector<ledger_answer> take_answers();

  // -- compaction -------------------------------------------------------------

  /// Whether more than half of a file of this size is about closed entries and
  /// it is large enough to bother.
  bool should_compact(size_t file_bytes) const;

  /// The whole file anew: closed ids, then the open entries.
  std::string compacted() const;

private:
  bool legal(const ledger_entry& entry, const ledger_record& record) const;
  void take(ledger_entry& entry, const ledger_record& record, int64_t at_ms);
  void close(const ledger_entry& entry, const ledger_record& record,
             int64_t at_ms);
  void erase(std::string_view id, int64_t at_ms);
  ledger_entry* entry_of(std::string_view id);
  /// An answer that is on its way covers it.
  bool is_covered(const ledger_entry& entry) const;
  /// The run of an earlier message that it is not in yet.
  bool runs_before(const ledger_entry& entry, const std::string& run) const;
  /// Whether a message was there when the run began, and is in its prompt.
  static bool is_collected(const ledger_entry& answer,
                           const ledger_entry& covered);

  office_address place_;
  uint64_t next_order_ = 1;
  std::map<uint64_t, ledger_entry> open_;
  std::unordered_map<std::string, uint64_t> orders_;
  id_window closed_;
  std::deque<ledger_answer> answers_;
  bool keep_answers_ = true;
};

/// Whether a record ends its entry.
bool closes(const ledger_record& record);

} // namespace bureau::offices
