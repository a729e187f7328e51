#pragma once

#include "messages/contracts/reply_parts.hpp"
#include "messages/contracts/stream_event.hpp"
#include "messages/contracts/turn.hpp"
#include "messages/identity/office_address.hpp"
#include "messages/interfaces/common.hpp"
#include "messages/json_text.hpp"

namespace bureau {

/// What an outbound operation does (decision A15).
enum class outbound_op : uint8_t { post, edit, remove, react, typing, upload };

/// Rank of an operation; lower goes first.
enum class outbound_class : uint8_t {
  control,
  final_answer,
  diagnostic,
  interim,
  cosmetic
};

/// What the text is, for transports that present kinds differently.
enum class outbound_content : uint8_t { answer, activity, notice };

std::string to_string(outbound_op op);
std::string to_string(outbound_class rank);

/// One operation for a platform's outbox.
struct outbound {
  outbound_op op = outbound_op::post;
  outbound_class rank = outbound_class::final_answer;
  outbound_content content = outbound_content::answer;
  office_address conversation;
  /// Run this belongs to; empty for notices outside a run.
  std::string run;
  /// Message that is answered; with `part` the ledger key of a final.
  std::string message_id;
  uint32_t part = 0;
  uint32_t parts = 1;
  /// Whole source text (GFM) of the message, also for an edit.
  std::string text;
  /// The text is marked up; false: it is shown as it is, because the platform
  /// refused its markup.
  bool markdown = true;
  /// Head of the answer that a post continues; empty = none.
  std::string continues;
  /// Platform id of the message to edit or remove.
  std::string ref;
  /// Opaque target that the adapter itself made at intake.
  json_text target;
  /// File to upload.
  caf::optional<contracts::attachment_part> file;
  /// With the last part of an answer: what of it is not shown here, and what
  /// became of that. For readers that are programs; people are told in `text`.
  std::vector<contracts::reply_part> attached;
  std::vector<contracts::delivery_outcome> outcomes;
  friend bool operator==(const outbound&, const outbound&) = default;
};

BUREAU_INSPECT(outbound, x.op, x.rank, x.content, x.conversation, x.run,
               x.message_id, x.part, x.parts, x.text, x.markdown, x.continues,
               x.ref, x.target, x.file, x.attached, x.outcomes);

/// Whether a failed operation may still have had its effect.
enum class failure_certainty : uint8_t { definite, unknown };

/// Why an operation did not succeed (agent contracts, 2.6).
enum class delivery_fault : uint8_t {
  none,
  /// The message shows that text already.
  not_modified,
  /// The message to edit is gone; a new one is needed.
  recreate,
  /// Its markup was refused; the text may be sent without.
  reformat_plain,
  /// May be tried again, after retry_after_ms if given.
  retryable,
  /// Will never succeed.
  permanent,
  /// Dropped: its run was stopped, or a later edit replaced it.
  dropped,
};

/// Outcome of an outbound operation.
struct delivered {
  /// Platform id of the visible message; after an edit, of the one that took
  /// its place.
  std::string ref;
  delivery_fault fault = delivery_fault::none;
  failure_certainty certainty = failure_certainty::definite;
  int64_t retry_after_ms = 0;
  std::string detail;
  friend bool operator==(const delivered&, const delivered&) = default;
};

BUREAU_INSPECT(delivered, x.ref, x.fault, x.certainty, x.retry_after_ms,
               x.detail);

/// An accepted message whose ledger entry has closed.
struct closed_entry {
  office_address conversation;
  std::string session_key;
  std::string message_id;
  /// sent, silent, command, stopped, interrupted, undeliverable, …
  std::string outcome;
  /// Why its turn was cancelled; absent: it was not.
  caf::optional<contracts::cancel_reason> cancelled{};
  friend bool operator==(const closed_entry&, const closed_entry&) = default;
};

BUREAU_INSPECT(closed_entry, x.conversation, x.session_key, x.message_id,
               x.outcome, x.cancelled);

/// A file that came with a message, to be brought to a path of this machine.
struct attachment_fetch {
  office_address conversation;
  std::string message_id;
  /// Name of the file for the adapter that announced it, and for people.
  std::string ref;
  std::string name;
  /// Where the bytes go: below the workspace root, in a directory that exists,
  /// under a name that is free.
  std::string root;
  std::string path;
  uint64_t max_bytes = 0;
  friend bool operator==(const attachment_fetch&,
                         const attachment_fetch&) = default;
};

BUREAU_INSPECT(attachment_fetch, x.conversation, x.message_id, x.ref, x.name,
               x.root, x.path, x.max_bytes);

/// How a platform shows what a run is doing (decision A4).
enum class activity_style : uint8_t {
  none,
  /// A few words in the place of the answer until its first text.
  hint,
  /// Lines in a message of their own; of the final answer alone: in its place.
  ledger,
};

/// What a transport can do.
struct transport_info {
  platform_id platform = platform_id::console;
  /// Interim posts and edits are welcome; otherwise finals only.
  bool streaming = true;
  activity_style activity = activity_style::ledger;
  /// What was shown can be taken back.
  bool removes = true;
  /// It can show that an answer is being made.
  bool typing = false;
  /// Longest text of one message; 0 = any.
  uint32_t max_length = 0;
  /// "utf16", "bytes" or "code_points".
  std::string length_unit = "utf16";
  /// It cuts what is too long without a word: what is rendered has to fit.
  bool splits_oversized = false;
  /// Files of an answer can be uploaded.
  bool uploads = false;
  /// Whether its reader is told in the text of what cannot be shown. A program
  /// gets the text as it is, and the rest beside it.
  contracts::unsupported_part_fallback fallback =
    contracts::unsupported_part_fallback::human;
  friend bool operator==(const transport_info&,
                         const transport_info&) = default;
};

BUREAU_INSPECT(transport_info, x.platform, x.streaming, x.activity, x.removes,
               x.typing, x.max_length, x.length_unit, x.splits_oversized,
               x.uploads, x.fallback);

/// The TRANSPORT actor interface: a platform's outbox. It alone calls the
/// platform's send API.
using transport_actor = caf::typed_actor<
  // Queues an operation; answered when it succeeded, failed or was dropped.
  // Before a post of class final_answer it asks the delivery gate. Errors:
  // queue_full, shutting_down.
  caf::replies_to<atom::deliver, outbound>::with<delivered>,
  // Drops every queued operation of a run but its control notices, and what of
  // it comes later; a final that comes later is judged by its gate alone.
  caf::reacts_to<atom::drop, std::string>,
  // Brings a file of an accepted message; answers its size. Errors: too_large,
  // not_found, transport, disk, denied, shutting_down.
  caf::replies_to<atom::fetch, attachment_fetch>::with<uint64_t>,
  // An accepted message of this platform is closed for good.
  caf::reacts_to<atom::closed, closed_entry>,
  caf::replies_to<atom::config>::with<transport_info>>;

/// The final answer of a run.
struct final_answer {
  std::string text;
  bool suppressed = false;
  /// What goes with the text.
  std::vector<contracts::reply_part> parts;
  friend bool operator==(const final_answer&, const final_answer&) = default;
};

BUREAU_INSPECT(final_answer, x.text, x.suppressed, x.parts);

/// The RESPONDER actor interface: output of one run (decision A4). One-way
/// calls never hold the runner up.
using responder_actor = caf::typed_actor<
  // Directories that activity lines shorten: the run's own, and its home.
  caf::reacts_to<atom::paths, std::string, std::string>,
  // A few words about what the run is doing, until there is answer text.
  caf::reacts_to<atom::status, std::string>,
  // Adds answer text.
  caf::reacts_to<atom::append, std::string>,
  // Replaces all answer text so far.
  caf::reacts_to<atom::replace, std::string>,
  // Something happened besides the text.
  caf::reacts_to<atom::event, contracts::stream_event>,
  // Ends the output: answered when the ledger holds the answer (produced).
  // Errors: disk, shutting_down.
  caf::replies_to<atom::finish, final_answer>::with<caf::ok_atom>,
  // Removes what is visible of the run and ends (stop, silence).
  caf::replies_to<atom::dismiss>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_transport, bureau::type_ids::transport)
CAF_ADD_TYPE_ID(bureau_transport, (bureau::platform_id))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::office_address))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::outbound))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::delivered))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::closed_entry))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::attachment_fetch))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::transport_info))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::transport_actor))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::final_answer))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::responder_actor))
CAF_ADD_TYPE_ID(bureau_transport, (bureau::contracts::stream_event))
CAF_END_TYPE_ID_BLOCK(bureau_transport)
