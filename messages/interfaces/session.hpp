#pragma once

#include "messages/identity/workspace.hpp"
#include "messages/interfaces/settings.hpp"
#include "messages/interfaces/transport.hpp"

namespace bureau {

/// Who caused a turn.
enum class turn_origin : uint8_t { user, event, action };

std::string to_string(turn_origin origin);

/// A file that came with a message. In the ledger and in events `local_path` is
/// workspace-relative; before the download `ref` names it for the adapter.
struct attachment {
  std::string name;
  std::string local_path;
  std::string ref;
  /// Why it could not be saved; empty: it was, or nobody has tried yet.
  std::string fault;
  friend bool operator==(const attachment&, const attachment&) = default;
};

BUREAU_INSPECT(attachment, x.name, x.local_path, x.ref, x.fault);

/// The platform-neutral trigger of a turn (core interface seed, section 2).
struct conversation_event {
  office_address address;
  std::string session_key;
  conversation_kind kind = conversation_kind::direct;
  turn_origin origin = turn_origin::user;
  /// Platform message id, or event:<name>@<occurrence>.
  std::string message_id;
  /// Empty: not in a thread.
  std::string thread_ts;
  std::string user;
  std::string user_name;
  std::string text;
  std::vector<attachment> attachments;
  /// Opaque reply target made by the adapter.
  json_text target;
  /// Platform time of the message, Unix milliseconds.
  int64_t sent_ms = 0;
  /// Another bot wrote it; its ids and the platform's message subtype.
  bool from_bot = false;
  std::string bot_id;
  std::string app_id;
  std::string subtype;
  friend bool operator==(const conversation_event&,
                         const conversation_event&) = default;
};

BUREAU_INSPECT(conversation_event, x.address, x.session_key, x.kind, x.origin,
               x.message_id, x.thread_ts, x.user, x.user_name, x.text,
               x.attachments, x.target, x.sent_ms, x.from_bot, x.bot_id,
               x.app_id, x.subtype);

/// An accepted message on its way to its session.
struct turn_ticket {
  conversation_event event;
  /// 1, or 2 when a run was cut by a restart before it wrote anything.
  uint32_t attempt = 1;
  /// Visible status message left by the first attempt.
  std::string provisional;
  /// Later messages that this turn answers as well (queue mode collect), in
  /// their order; the answer replies to the last of them.
  std::vector<conversation_event> collected;
  /// Offered to the turn that runs, whatever the queue mode.
  bool offer = false;
  friend bool operator==(const turn_ticket&, const turn_ticket&) = default;
};

BUREAU_INSPECT(turn_ticket, x.event, x.attempt, x.provisional, x.collected,
               x.offer);

/// Asks for the end of one turn (decision A5).
struct stop_turn {
  std::string session_key;
  /// Turn to end when it has not started yet; empty: the running one.
  std::string message_id;
  /// Where "Stopping…" and "Stopped." go.
  json_text target;
  /// Who wants it and why; without a message: its user, on its platform.
  contracts::cancel_reason reason{};
  friend bool operator==(const stop_turn&, const stop_turn&) = default;
};

BUREAU_INSPECT(stop_turn, x.session_key, x.message_id, x.target, x.reason);

/// A run begins: written to the ledger as `running`.
struct turn_started {
  std::string session_key;
  std::string message_id;
  std::string run;
  uint32_t attempt = 1;
  friend bool operator==(const turn_started&, const turn_started&) = default;
};

BUREAU_INSPECT(turn_started, x.session_key, x.message_id, x.run, x.attempt);

/// A run's answer is complete: written to the ledger as `produced` before the
/// run counts as settled; the office then sees to its delivery.
struct turn_produced {
  std::string session_key;
  std::string message_id;
  std::string run;
  std::string text;
  /// Collected or steered messages that this answer covers as well.
  std::vector<std::string> covers;
  /// Visible interim message that the final replaces by an edit.
  std::string provisional;
  /// Nothing is to be sent (text began with [SILENT], or an event had nothing).
  bool silent = false;
  /// What goes with the text: files and failures.
  std::vector<contracts::reply_part> parts;
  friend bool operator==(const turn_produced&, const turn_produced&) = default;
};

BUREAU_INSPECT(turn_produced, x.session_key, x.message_id, x.run, x.text,
               x.covers, x.provisional, x.silent, x.parts);

/// A turn ended without an answer.
struct turn_dead {
  std::string session_key;
  std::string message_id;
  /// stopped, superseded, interrupted, undeliverable, refused, attachment.
  std::string why;
  /// The user was told.
  bool told = false;
  /// Why it was cancelled; absent: it was not.
  caf::optional<contracts::cancel_reason> cancelled{};
  friend bool operator==(const turn_dead&, const turn_dead&) = default;
};

BUREAU_INSPECT(turn_dead, x.session_key, x.message_id, x.why, x.told,
               x.cancelled);

/// A notice of ours that the platform shows: a line of the chat log.
struct posted_notice {
  std::string session_key;
  /// Message that it belongs to.
  std::string message_id;
  /// Platform id of the notice itself.
  std::string ref;
  std::string text;
  friend bool operator==(const posted_notice&, const posted_notice&) = default;
};

BUREAU_INSPECT(posted_notice, x.session_key, x.message_id, x.ref, x.text);

/// State of a session for inspection and for the owner's table.
struct session_snapshot {
  std::string session_key;
  /// absent, materialising, idle, running, stopping, dreaming, disposing.
  std::string state;
  uint32_t waiting = 0;
  std::string run;
  std::string message_id;
  int64_t last_access_ms = 0;
  friend bool operator==(const session_snapshot&,
                         const session_snapshot&) = default;
};

BUREAU_INSPECT(session_snapshot, x.session_key, x.state, x.waiting, x.run,
               x.message_id, x.last_access_ms);

/// The TURN OWNER actor interface: the side of an office that its sessions and
/// responders see; it writes the ledger.
using turn_owner_actor = caf::typed_actor<
  // Records `running`.
  caf::replies_to<atom::run, turn_started>::with<caf::ok_atom>,
  // Records `produced`, synced; delivery follows. Error: disk.
  caf::replies_to<atom::produced, turn_produced>::with<caf::ok_atom>,
  // Records `dead`.
  caf::replies_to<atom::failed, turn_dead>::with<caf::ok_atom>,
  // Something was said besides the answers.
  caf::reacts_to<atom::notice, posted_notice>,
  // A session changed state.
  caf::reacts_to<atom::settled, session_snapshot>>;

/// How far an orderly shutdown has come (decision A14).
enum class drain_phase : uint8_t {
  /// Start no new turn; queued entries stay accepted.
  hold,
  /// Abort what runs; settle within limits::abort_settle_timeout.
  abort,
  /// Dispose runners, close stores.
  close,
};

std::string to_string(drain_phase phase);

/// The SESSION actor interface: the queue and state machine of one key.
using session_actor = caf::typed_actor<
  // Queues an accepted turn, in order.
  caf::reacts_to<atom::turn, turn_ticket>,
  // Ends the running turn, or a waiting one in place. Send it urgently.
  caf::reacts_to<atom::stop, stop_turn>,
  // Ends the running turn, lets its runner go and begins a fresh session;
  // answers when that is done. What waits runs in the fresh one. Send it
  // urgently. Errors: those of the store's reset.
  caf::replies_to<atom::reset>::with<caf::ok_atom>,
  // Lets the runner go, at once or at the end of the running turn: the next
  // turn finds sandbox, settings and files anew.
  caf::reacts_to<atom::renew>,
  caf::replies_to<atom::describe>::with<session_snapshot>,
  // Answered when the phase holds for this session.
  caf::replies_to<atom::drain, drain_phase>::with<caf::ok_atom>>;

/// One turn for a runner.
struct run_request {
  std::string run;
  turn_ticket ticket;
  friend bool operator==(const run_request&, const run_request&) = default;
};

BUREAU_INSPECT(run_request, x.run, x.ticket);

/// How a run ended, as its session needs to know it.
struct run_result {
  stop_reason stop = stop_reason::stop;
  /// The answer is in the ledger (produced); otherwise the session closes it.
  bool produced = false;
  std::string error_class;
  run_stats stats;
  std::string provider;
  std::string model;
  friend bool operator==(const run_result&, const run_result&) = default;
};

BUREAU_INSPECT(run_result, x.stop, x.produced, x.error_class, x.stats,
               x.provider, x.model);

/// The RUNNER actor interface: environment, prompt, tools and output of the
/// runs of one session; cached between runs.
using runner_actor = caf::typed_actor<
  // One turn, answered at settlement: the ledger holds the answer. A failed
  // model call is a result (the user got one sentence), not an error. Errors:
  // busy, disk, shutting_down.
  caf::replies_to<atom::run, run_request>::with<run_result>,
  // Offers a waiting message to the run of this id; answered at once. What was
  // taken is settled later, before the run is. A message that was applied is
  // covered by the answer.
  caf::replies_to<atom::offer, std::string, turn_ticket,
                  live_input_sink_actor>::with<contracts::live_input_offer>,
  // Ends the active run. Idempotent: the first reason counts. Send it urgently.
  caf::reacts_to<atom::abort, contracts::cancel_reason>,
  // Ends the run, harness, executor; answers when they are gone.
  caf::replies_to<atom::dispose>::with<caf::ok_atom>>;

// -- session store
// --------------------------------------------------------------

/// What an entry appended to a session file is.
enum class entry_kind : uint8_t {
  message,
  custom,
  custom_message,
  model_change,
  thinking_level_change,
  active_tools_change,
  compaction,
  branch_summary,
  label,
  session_info,
};

/// One entry to append; which members mean something depends on `kind`.
struct session_entry {
  entry_kind kind = entry_kind::message;
  /// message, custom_message.
  transcript_message message;
  /// custom, custom_message.
  std::string custom_type;
  /// All other fields as a JSON object: data of custom, the members of
  /// compaction, branch_summary, model_change and so on.
  json_text fields;
  friend bool operator==(const session_entry&, const session_entry&) = default;
};

BUREAU_INSPECT(session_entry, x.kind, x.message, x.custom_type, x.fields);

/// Entries written as one unit: all or none.
struct session_append {
  std::vector<session_entry> entries;
  friend bool operator==(const session_append&,
                         const session_append&) = default;
};

BUREAU_INSPECT(session_append, x.entries);

/// Opens the file of the key and brings the chat log's news into it.
struct session_open {
  /// Triggering message; history stops before it. Empty: none.
  std::string current_message_id;
  history_window history;
  friend bool operator==(const session_open&, const session_open&) = default;
};

BUREAU_INSPECT(session_open, x.current_message_id, x.history);

/// What the model is to see of a session, rebuilt from the current leaf.
struct session_context {
  std::string session_id;
  std::string path;
  std::string leaf;
  std::vector<transcript_message> messages;
  /// Entry that each message comes from, one for one: what a compaction names
  /// as the first it keeps.
  std::vector<std::string> entry_ids;
  std::string provider;
  std::string model;
  std::string thinking_level = "off";
  std::vector<std::string> active_tools;
  /// Ids of messages whose run cause is recorded and followed by a user
  /// message, newest last, at most 64.
  std::vector<std::string> handled_messages;
  /// Text that began the thread, when the log knows it.
  std::string thread_root;
  friend bool operator==(const session_context&,
                         const session_context&) = default;
};

BUREAU_INSPECT(session_context, x.session_id, x.path, x.leaf, x.messages,
               x.entry_ids, x.provider, x.model, x.thinking_level,
               x.active_tools, x.handled_messages, x.thread_root);

/// Moves the place of the next entry (session note, 10.9).
struct session_branch {
  /// Entry that the next one hangs under; empty: a new root.
  std::string target;
  /// Members of a branch_summary entry that is appended there (summary,
  /// details); empty: none.
  json_text summary;
  friend bool operator==(const session_branch&,
                         const session_branch&) = default;
};

BUREAU_INSPECT(session_branch, x.target, x.summary);

/// Facts about one message in a session, for the boot rules of the ledger.
struct cause_report {
  /// A run cause for the message is recorded.
  bool recorded = false;
  /// A user message follows it.
  bool admitted = false;
  /// An assistant or tool entry follows it.
  bool worked = false;
  friend bool operator==(const cause_report&, const cause_report&) = default;
};

BUREAU_INSPECT(cause_report, x.recorded, x.admitted, x.worked);

/// The SESSION STORE actor interface: the one live writer of a session file.
using session_store_actor = caf::typed_actor<
  // Resolves or creates the file, synchronises history, answers the context.
  // Errors: corrupt (file untouched, sentence names file and line), denied,
  // disk, shutting_down.
  caf::replies_to<atom::open, session_open>::with<session_context>,
  // Appends under the current leaf; answers the ids. On an error the leaf is
  // unchanged. Errors: not_ready (not open), disk, shutting_down.
  caf::replies_to<atom::append, session_append>::with<std::vector<std::string>>,
  // The context again, from the current leaf.
  caf::replies_to<atom::load>::with<session_context>,
  // Moves the leaf and answers the context from there. Errors: not_ready,
  // not_found (no such entry), disk, shutting_down.
  caf::replies_to<atom::branch, session_branch>::with<session_context>,
  // Whether the key has a session on the disk.
  caf::replies_to<atom::exists>::with<bool>,
  // Makes sure that a thread has its file, without history; answers its path,
  // or nothing for a top-level key. Errors: corrupt, denied, disk.
  caf::replies_to<atom::ensure>::with<std::string>,
  // What the file says about a message; opens read-only if need be.
  caf::replies_to<atom::locate, std::string>::with<cause_report>,
  // Starts a fresh session for the key; the old file is kept (top level) or
  // archived (thread). Answers the new, empty context.
  caf::replies_to<atom::reset, session_open>::with<session_context>,
  // Drains appends and lets go of the file. Idempotent.
  caf::replies_to<atom::close>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_session, bureau::type_ids::session)
CAF_ADD_TYPE_ID(bureau_session, (bureau::conversation_event))
CAF_ADD_TYPE_ID(bureau_session, (bureau::turn_ticket))
CAF_ADD_TYPE_ID(bureau_session, (bureau::stop_turn))
CAF_ADD_TYPE_ID(bureau_session, (bureau::turn_started))
CAF_ADD_TYPE_ID(bureau_session, (bureau::turn_produced))
CAF_ADD_TYPE_ID(bureau_session, (bureau::turn_dead))
CAF_ADD_TYPE_ID(bureau_session, (bureau::posted_notice))
CAF_ADD_TYPE_ID(bureau_session, (bureau::session_snapshot))
CAF_ADD_TYPE_ID(bureau_session, (bureau::turn_owner_actor))
CAF_ADD_TYPE_ID(bureau_session, (bureau::drain_phase))
CAF_ADD_TYPE_ID(bureau_session, (bureau::session_actor))
CAF_ADD_TYPE_ID(bureau_session, (bureau::run_request))
CAF_ADD_TYPE_ID(bureau_session, (bureau::run_result))
CAF_ADD_TYPE_ID(bureau_session, (bureau::runner_actor))
CAF_ADD_TYPE_ID(bureau_session, (bureau::session_append))
CAF_ADD_TYPE_ID(bureau_session, (bureau::session_open))
CAF_ADD_TYPE_ID(bureau_session, (bureau::session_context))
CAF_ADD_TYPE_ID(bureau_session, (bureau::session_branch))
CAF_ADD_TYPE_ID(bureau_session, (bureau::cause_report))
CAF_ADD_TYPE_ID(bureau_session, (bureau::session_store_actor))
CAF_ADD_TYPE_ID(bureau_session, (std::vector<std::string>))
CAF_END_TYPE_ID_BLOCK(bureau_session)
