#pragma once

#include "messages/contracts/turn.hpp"
#include "messages/interfaces/session.hpp"

namespace bureau {

/// Whether a message asks for an answer (decision A2).
enum class trigger_class : uint8_t { addressed, candidate, log_only };

/// Where a magic word may look for its target (note on the runtime, 3.3).
enum class stop_scope : uint8_t { never, top_level, always };

/// One native update, decoded by its adapter.
struct intake_request {
  /// session_key may be empty: then the derive rule decides.
  conversation_event event;
  std::string display_name;
  trigger_class trigger = trigger_class::addressed;
  /// Text the magic word is matched on; empty = event.text.
  std::string magic_text;
  bool magic_addressed = true;
  stop_scope scope = stop_scope::top_level;
  /// Offered to the turn that runs, whatever the queue mode.
  bool offer = false;
  friend bool operator==(const intake_request&,
                         const intake_request&) = default;
};

BUREAU_INSPECT(intake_request, x.event, x.display_name, x.trigger, x.magic_text,
               x.magic_addressed, x.scope, x.offer);

/// What became of an update. All of them let the adapter acknowledge it.
enum class intake_outcome : uint8_t {
  /// Durable, will be answered.
  taken,
  /// Seen before; nothing was done.
  duplicate,
  /// Written to the chat log only.
  logged,
  /// A magic word was carried out.
  stopped,
};

std::string to_string(intake_outcome outcome);

struct intake_reply {
  intake_outcome outcome = intake_outcome::taken;
  std::string session_key;
  friend bool operator==(const intake_reply&, const intake_reply&) = default;
};

BUREAU_INSPECT(intake_reply, x.outcome, x.session_key);

/// Names one part of one final answer.
struct delivery_key {
  office_address conversation;
  std::string message_id;
  std::string run;
  uint32_t part = 0;
  outbound_op op = outbound_op::post;
  std::string ref;
  friend bool operator==(const delivery_key&, const delivery_key&) = default;
};

BUREAU_INSPECT(delivery_key, x.conversation, x.message_id, x.run, x.part, x.op,
               x.ref);

/// Asks for the end of a conversation's current turn (decision A5).
struct stop_request {
  office_address conversation;
  /// Session whose turn is meant; empty: any of the conversation, the one that
  /// began last.
  std::string session_key;
  /// Where "Stopping…" and "Stopped." go.
  json_text target;
  /// What was accepted for the session and has not begun ends as well (agent
  /// contracts, rule 66); it needs a session key.
  bool all = false;
  /// Who wants it and why.
  contracts::cancel_reason reason{};
  friend bool operator==(const stop_request&, const stop_request&) = default;
};

BUREAU_INSPECT(stop_request, x.conversation, x.session_key, x.target, x.all,
               x.reason);

/// What a stop found.
struct stop_report {
  /// There was a current turn; its end has begun.
  bool found = false;
  std::string session_key;
  std::string message_id;
  /// Messages that end by it, those that wait included.
  uint64_t ended = 0;
  friend bool operator==(const stop_report&, const stop_report&) = default;
};

BUREAU_INSPECT(stop_report, x.found, x.session_key, x.message_id, x.ended);

/// Names an accepted message.
struct entry_query {
  office_address conversation;
  std::string message_id;
  friend bool operator==(const entry_query&, const entry_query&) = default;
};

BUREAU_INSPECT(entry_query, x.conversation, x.message_id);

/// How the ledger entry of a message ended.
struct entry_end {
  /// As in closed_entry.
  std::string outcome;
  /// Run whose answer it is, or which covers the message; empty: none.
  std::string run;
  /// Of an answer that was delivered or kept silent.
  std::string text;
  std::vector<contracts::reply_part> parts;
  /// Platform id of the message that carries it.
  std::string ref;
  /// It was delivered and is not in the chat log: name of the error.
  std::string history_error;
  /// Why it was cancelled; absent: it was not.
  caf::optional<contracts::cancel_reason> cancelled{};
  friend bool operator==(const entry_end&, const entry_end&) = default;
};

BUREAU_INSPECT(entry_end, x.outcome, x.run, x.text, x.parts, x.ref,
               x.history_error, x.cancelled);

/// Names a session.
struct session_query {
  office_address conversation;
  std::string session_key;
  friend bool operator==(const session_query&, const session_query&) = default;
};

BUREAU_INSPECT(session_query, x.conversation, x.session_key);

/// State of the whole runtime for inspection and metrics.
struct runtime_snapshot {
  uint64_t offices_known = 0;
  uint64_t offices_active = 0;
  std::vector<session_snapshot> sessions;
  uint64_t open_entries = 0;
  friend bool operator==(const runtime_snapshot&,
                         const runtime_snapshot&) = default;
};

BUREAU_INSPECT(runtime_snapshot, x.offices_known, x.offices_active, x.sessions,
               x.open_entries);

/// Result of a drain phase.
struct drain_report {
  uint64_t running = 0;
  uint64_t open_entries = 0;
  /// Entries whose delivery was started and not confirmed.
  uint64_t sending = 0;
  /// Entries with an answer that is not confirmed yet: produced, sending and
  /// ambiguous ones.
  uint64_t undelivered = 0;
  /// Those of them that may still arrive before the shutdown's deadline; it
  /// waits for these.
  uint64_t delivering = 0;
  friend bool operator==(const drain_report&, const drain_report&) = default;
};

BUREAU_INSPECT(drain_report, x.running, x.open_entries, x.sending,
               x.undelivered, x.delivering);

/// The DELIVERY GATE actor interface, seen by outboxes.
using delivery_gate_actor = caf::typed_actor<
  // Records `sending` before a final is posted. Errors: aborted (the run was
  // stopped; do not send), disk, shutting_down.
  caf::replies_to<atom::may_send, delivery_key>::with<caf::ok_atom>>;

/// The OFFICES actor interface: owner of the runtime (decision A6). Nobody else
/// holds the handle of an office.
using offices_actor = caf::typed_actor<
  // The intake pipeline. An error means "not taken": do not acknowledge, try
  // again. Errors: disk, bad_identity (never try again), not_ready, queue_full
  // (a scheduled turn: enough of them wait in its conversation),
  // shutting_down.
  caf::replies_to<atom::intake, intake_request>::with<intake_reply>,
  caf::replies_to<atom::may_send, delivery_key>::with<caf::ok_atom>,
  // Ends the current turn of a conversation, as its magic word does.
  caf::replies_to<atom::stop, stop_request>::with<stop_report>,
  // The environment of one conversation, or of all, has changed: runners are
  // made anew. Answers the number of sessions that were told.
  caf::replies_to<atom::renew, office_address>::with<uint64_t>,
  caf::replies_to<atom::renew>::with<uint64_t>,
  // An adapter's outbox is ready: unfinished entries of its platform resume.
  caf::replies_to<atom::attach, platform_id,
                  transport_actor>::with<caf::ok_atom>,
  caf::replies_to<atom::describe>::with<runtime_snapshot>,
  // Answered when the phase holds everywhere.
  caf::replies_to<atom::drain, drain_phase>::with<drain_report>,
  caf::replies_to<atom::status>::with<status_line>>;

/// The OFFICES as the turn service and the node see them.
using turn_desk_actor = offices_actor::extend<
  // Answered when the ledger entry of a message is closed. Errors: not_found
  // (it is not open, and did not end just now), not_ready, shutting_down.
  caf::replies_to<atom::settled, entry_query>::with<entry_end>,
  // How a session is; one that there is none of is absent.
  caf::replies_to<atom::locate, session_query>::with<session_snapshot>,
  // Whether an adapter's outbox is attached.
  caf::replies_to<atom::exists, platform_id>::with<bool>,
  // An adapter's outbox is gone for good, or until it attaches anew.
  caf::reacts_to<atom::detach, platform_id>>;

/// Something that an office has done once and is not to do again.
struct office_mark {
  office_address conversation;
  /// `memory:<run id>`.
  std::string id;
  friend bool operator==(const office_mark&, const office_mark&) = default;
};

BUREAU_INSPECT(office_mark, x.conversation, x.id);

/// Everything that the OFFICES do for others.
using office_services_actor = turn_desk_actor::extend<
  // The environment of a conversation is in use outside of its turns: until it
  // is released as often as it was held, the office does not sleep. Answered
  // when that is so. Errors: shutting_down.
  caf::replies_to<atom::hold, office_address>::with<caf::ok_atom>,
  caf::reacts_to<atom::release, office_address>,
  // Whether the ledger has a mark. Errors: bad_identity, disk, not_ready,
  // shutting_down.
  caf::replies_to<atom::exists, office_mark>::with<bool>,
  // Writes a mark to the ledger; answered when it is on the disk. The same
  // errors.
  caf::replies_to<atom::mark, office_mark>::with<caf::ok_atom>>;

/// The OFFICE actor interface, seen by `offices` only.
using office_actor = caf::typed_actor<
  caf::replies_to<atom::intake, intake_request>::with<intake_reply>,
  caf::replies_to<atom::may_send, delivery_key>::with<caf::ok_atom>,
  caf::replies_to<atom::stop, stop_request>::with<stop_report>,
  caf::replies_to<atom::renew>::with<uint64_t>,
  caf::reacts_to<atom::attach, transport_actor>,
  caf::replies_to<atom::describe>::with<runtime_snapshot>,
  caf::replies_to<atom::drain, drain_phase>::with<drain_report>,
  // -- from its sessions (turn_owner_actor)
  // -------------------------------------
  caf::replies_to<atom::run, turn_started>::with<caf::ok_atom>,
  caf::replies_to<atom::produced, turn_produced>::with<caf::ok_atom>,
  caf::replies_to<atom::failed, turn_dead>::with<caf::ok_atom>,
  caf::reacts_to<atom::notice, posted_notice>,
  caf::reacts_to<atom::settled, session_snapshot>>;

/// A conversation in the registry.
struct office_record {
  office_address address;
  /// ISO-8601 UTC with milliseconds.
  std::string recorded_at;
  friend bool operator==(const office_record&, const office_record&) = default;
};

BUREAU_INSPECT(office_record, x.address, x.recorded_at);

/// The inventory as it stands.
struct office_inventory {
  std::vector<platform_id> enabled_platforms;
  std::vector<office_record> offices;
  friend bool operator==(const office_inventory&,
                         const office_inventory&) = default;
};

BUREAU_INSPECT(office_inventory, x.enabled_platforms, x.offices);

/// The REGISTRY actor interface: single writer of office-registry.json.
using registry_actor = caf::typed_actor<
  // Records the office, then makes sure that its directory is a real one.
  // Answers the paths. Errors: bad_identity, denied, disk, corrupt.
  caf::replies_to<atom::ensure, office_address>::with<office>,
  caf::replies_to<atom::list>::with<office_inventory>,
  // Says whose a directory of older versions is: the address names the platform
  // and, as its id, the directory. It is moved at the next start. Errors:
  // bad_identity, denied (one sentence why not), disk.
  caf::replies_to<atom::claim, office_address>::with<caf::ok_atom>,
  caf::replies_to<atom::status>::with<status_line>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_office, bureau::type_ids::office)
CAF_ADD_TYPE_ID(bureau_office, (bureau::intake_request))
CAF_ADD_TYPE_ID(bureau_office, (bureau::intake_reply))
CAF_ADD_TYPE_ID(bureau_office, (bureau::delivery_key))
CAF_ADD_TYPE_ID(bureau_office, (bureau::stop_request))
CAF_ADD_TYPE_ID(bureau_office, (bureau::stop_report))
CAF_ADD_TYPE_ID(bureau_office, (bureau::runtime_snapshot))
CAF_ADD_TYPE_ID(bureau_office, (bureau::drain_report))
CAF_ADD_TYPE_ID(bureau_office, (bureau::delivery_gate_actor))
CAF_ADD_TYPE_ID(bureau_office, (bureau::offices_actor))
CAF_ADD_TYPE_ID(bureau_office, (bureau::office_actor))
CAF_ADD_TYPE_ID(bureau_office, (bureau::office))
CAF_ADD_TYPE_ID(bureau_office, (bureau::office_inventory))
CAF_ADD_TYPE_ID(bureau_office, (bureau::registry_actor))
CAF_ADD_TYPE_ID(bureau_office, (bureau::entry_query))
CAF_ADD_TYPE_ID(bureau_office, (bureau::entry_end))
CAF_ADD_TYPE_ID(bureau_office, (bureau::session_query))
CAF_ADD_TYPE_ID(bureau_office, (bureau::turn_desk_actor))
CAF_ADD_TYPE_ID(bureau_office, (bureau::office_mark))
CAF_ADD_TYPE_ID(bureau_office, (bureau::office_services_actor))
CAF_END_TYPE_ID_BLOCK(bureau_office)
