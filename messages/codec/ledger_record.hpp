#pragma once

#include "messages/interfaces/session.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The delivery ledger of an office, `ledger.jsonl` in its state directory: one
/// line per transition of an accepted message (decision A3). Everything here is
/// pure.
namespace bureau {

/// Where an accepted message stands.
enum class ledger_state : uint8_t {
  accepted,
  running,
  produced,
  sending,
  sent,
  ambiguous,
  dead,
};

std::string to_string(ledger_state state);
std::optional<ledger_state> parse_ledger_state(std::string_view name);

/// Whether text is one of the closed set of notes of `sent`: silent, command,
/// not_triggered, steered, collected.
bool is_ledger_note(std::string_view text);

/// Whether text is one of the closed set of reasons of `dead`: stopped,
/// superseded, interrupted, undeliverable, refused, attachment.
bool is_death_reason(std::string_view text);

/// One line. Which members mean something depends on `state`.
struct ledger_record {
  /// ISO-8601 UTC with milliseconds.
  std::string at;
  /// Platform message id, or event:<name>@<occurrence>.
  std::string id;
  ledger_state state = ledger_state::accepted;
  /// accepted: the whole event. Its address is not stored; the office knows it.
  conversation_event event;
  /// accepted: its line in the chat log is still to be written, because it or
  /// an earlier message of its session waits for files. A second such record
  /// without the mark, with the files, goes along with that line.
  bool unlogged = false;
  /// accepted: name of its sender that the chat log shows, when it differs.
  std::string display_name;
  /// running, produced, sending, sent, ambiguous.
  std::string run;
  /// running: 1 or 2.
  uint32_t attempt = 1;
  /// produced: source text. Absent when an answer goes back to the outbox.
  std::optional<std::string> text;
  std::vector<std::string> covers;
  std::string provisional;
  json_text target;
  std::vector<contracts::reply_part> parts;
  /// sending, sent, ambiguous.
  uint32_t part = 0;
  uint32_t of = 1;
  outbound_op op = outbound_op::post;
  /// sending: message that is edited; sent: the platform's id.
  std::string ref;
  bool labelled = false;
  /// sent, with the last part: what of the answer its reader did not get.
  std::vector<contracts::delivery_outcome> outcomes;
  /// sent without a delivery: one of the closed set, else empty.
  std::string note;
  /// dead, ambiguous.
  std::string why;
  /// dead: the user knows.
  bool told = false;
  /// Bare ids of closed messages, which a compacted ledger keeps; the line then
  /// has no `id` and no state.
  std::vector<std::string> closed;
  friend bool operator==(const ledger_record&, const ledger_record&) = default;
};

/// The line, with its newline. Ill-formed UTF-8 becomes U+FFFD.
std::string print_ledger_line(const ledger_record& record);

/// Reads one line, without its newline; nothing when it is damaged, of another
/// version, or of a state this program does not know.
std::optional<ledger_record> parse_ledger_line(std::string_view line);

/// What a ledger holds.
struct ledger_contents {
  std::vector<ledger_record> records;
  /// Lines that could not be read: a power cut may tear one.
  size_t skipped = 0;
  /// 1-based number of the first skipped line, 0 for none.
  size_t first_skipped = 0;
  /// The last line has no newline: the next record must begin with one.
  bool torn = false;
};

ledger_contents read_ledger(std::string_view text);

} // namespace bureau
