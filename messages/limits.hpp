#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Every bound and every timeout of the product, once.
namespace bureau::limits {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// -- requests between actors --------------------------------------------------

/// A request that only needs a mailbox turn.
inline constexpr auto mailbox_timeout = seconds{5};
/// A request that ends in a disk write.
inline constexpr auto disk_timeout = seconds{30};
/// Starting a process, the sandbox included.
inline constexpr auto spawn_timeout = seconds{30};
/// A run from admission to settlement; the budget breaker is far below it.
inline constexpr auto run_timeout = std::chrono::hours{24};
/// A final delivery, retries included (outbox backoff, at most a day).
inline constexpr auto delivery_timeout = std::chrono::hours{24};
/// Answer of the web portal to one HTTP request.
inline constexpr auto web_call_timeout = seconds{30};

// -- stop and shutdown --------------------------------------------------------

/// Default deadline of an orderly shutdown (setting shutdown.timeoutMs).
inline constexpr auto shutdown_timeout = milliseconds{30'000};
/// Part of the deadline kept for aborting what did not finish.
inline constexpr auto shutdown_abort_reserve = milliseconds{8'000};
/// An aborted run settles within this or its runner is killed.
inline constexpr auto abort_settle_timeout = seconds{5};
/// Of it: what a tool or model call gets to answer an abort …
inline constexpr auto abort_peer_grace = milliseconds{4000};
/// … and what the session file gets afterwards to take the end of the run.
inline constexpr auto abort_store_grace = milliseconds{500};
/// Kill confirmation of a process.
inline constexpr auto kill_confirm_timeout = seconds{1};

// -- queues -------------------------------------------------------------------

/// Waiting turns per session key (setting queue.cap).
inline constexpr size_t session_queue_cap = 20;
/// Waiting scheduled events per session key, besides the running one.
inline constexpr size_t event_queue_cap = 5;
/// Jobs waiting in the blocking file pool.
inline constexpr size_t file_jobs_waiting = 256;
/// Workers of the blocking file pool.
inline constexpr size_t file_workers = 4;
/// Content that one job of the file pool may carry.
inline constexpr size_t file_job_bytes = 64u << 20;
/// Processes alive and waiting to be spawned.
inline constexpr size_t processes_running = 256;
inline constexpr size_t processes_waiting = 1024;
/// HTTP transfers alive and waiting.
inline constexpr size_t http_active = 2048;
inline constexpr size_t http_waiting = 4096;
/// Idle connections that are kept for reuse.
inline constexpr size_t http_idle_connections = 64;
/// A transfer or a child that nobody ended is ended by its loop.
inline constexpr auto http_backstop = std::chrono::hours{1};
inline constexpr auto process_backstop = std::chrono::hours{24};
/// Children that the process loop starts before it looks at its pipes again.
inline constexpr size_t process_spawns_per_turn = 8;
/// After a child's end its pipes are read on for at most this.
inline constexpr auto process_drain = milliseconds{250};
/// Targets that the journal keeps open.
inline constexpr size_t journal_open_targets = 128;

// -- sizes --------------------------------------------------------------------

/// Longest accepted text of one message (setting intake.maxTextBytes).
inline constexpr size_t message_text_bytes = 262'144;
/// Records that the journal puts into one frame; a longer record has a frame
/// of its own.
inline constexpr size_t journal_frame_bytes = 1u << 20;
/// The longest record of the journal: a session entry with its pictures.
inline constexpr size_t journal_record_bytes = 128u << 20;
/// The journal starts a new segment and checkpoints the old one.
inline constexpr size_t journal_segment_bytes = 16u << 20;
inline constexpr auto journal_checkpoint_interval = seconds{10};
/// JSON that crosses a mailbox as text.
inline constexpr size_t json_text_bytes = 1u << 20;
/// Reply target that an adapter stores in the ledger.
inline constexpr size_t reply_target_bytes = 4096;
/// A chunk of HTTP or process output in one message.
inline constexpr size_t stream_chunk_bytes = 64u << 10;
/// Bytes sent to a sink and not yet acknowledged before a stream is paused.
inline constexpr size_t stream_window_bytes = 256u << 10;
/// The stream continues when no more than this is unacknowledged.
inline constexpr size_t stream_resume_bytes = 128u << 10;
/// Captured output of a command, for each of the two streams.
inline constexpr size_t exec_output_bytes = 10u << 20;
/// One read or write of the executor file transport.
inline constexpr size_t exec_file_bytes = 8u << 20;
/// A file sent to an executor in parts, and such files open at one time.
inline constexpr size_t exec_part_bytes = 64u << 20;
inline constexpr size_t exec_part_files = 4;
/// A part must follow the one before within this time.
inline constexpr auto exec_part_timeout = seconds{60};
/// Writes waiting for another write to the same file, per executor.
inline constexpr size_t exec_writes_waiting = 64;
/// Aborts that arrived before their command, remembered per executor.
inline constexpr size_t exec_early_aborts = 64;
/// Longest command text; the kernel takes no longer single argument.
inline constexpr size_t exec_command_bytes = 131'071;
/// Limits that every sandboxed command runs under.
inline constexpr size_t exec_open_files = 4096;
inline constexpr size_t exec_written_file_bytes = 2u << 30;
inline constexpr size_t exec_processes = 8192;
inline constexpr size_t exec_shared_memory_bytes = 64u << 20;
/// The sandbox answers its probe at boot within this time.
inline constexpr auto sandbox_probe_timeout = seconds{2};
/// Removing the remains of an interrupted file transfer.
inline constexpr auto exec_cleanup_timeout = seconds{10};
/// Standard input waiting for a child, and one pipe_out descriptor.
inline constexpr size_t process_input_bytes = 16u << 20;
inline constexpr size_t process_extra_bytes = 1u << 20;
/// Soft limit of open files that a child starts with.
inline constexpr size_t process_open_files = 1024;
/// All headers of one HTTP response.
inline constexpr size_t http_header_bytes = 256u << 10;
/// Settings, credentials, catalogues: larger files are refused.
inline constexpr size_t config_file_bytes = 4u << 20;
/// Warnings that one configuration file may cause.
inline constexpr size_t config_warnings = 20;
/// A configuration file is looked at no more often than this.
inline constexpr auto config_look_interval = seconds{1};
/// Conversations whose settings are kept checked in memory.
inline constexpr size_t config_conversations = 1024;
/// Runs that wait for their settings at one time.
inline constexpr size_t config_waiting = 4096;
/// A whole HTTP response body kept in memory (fetch).
inline constexpr size_t http_fetch_bytes = 1u << 20;
/// One server-sent event of a model stream.
inline constexpr size_t sse_event_bytes = 32u << 20;
/// All bytes of one model stream, and the answer that grows out of them.
inline constexpr size_t model_stream_bytes = 256u << 20;
inline constexpr size_t model_answer_bytes = 16u << 20;
inline constexpr size_t model_answer_blocks = 1024;
/// Body of a refused model request that is read.
inline constexpr size_t model_error_body_bytes = 64u << 10;
/// Text of a provider error that is kept.
inline constexpr size_t provider_error_chars = 4000;

// -- tools --------------------------------------------------------------------

/// Tool output shown to the model.
inline constexpr size_t tool_output_lines = 2000;
inline constexpr size_t tool_output_bytes = 51'200;
/// Text of one tool result, whoever made it.
inline constexpr size_t tool_result_bytes = 1u << 20;
/// The read tool counts the lines of a file up to here.
inline constexpr size_t tool_scan_bytes = 256u << 20;
/// An image that the read tool hands to the model.
inline constexpr size_t tool_image_bytes = 5u << 20;
/// Pairs of lines that the diff of an edit compares before it gives up.
inline constexpr size_t tool_diff_cells = 1'000'000;
/// Steps of one check of tool arguments against a schema.
inline constexpr size_t schema_steps = 100'000;

// -- models -------------------------------------------------------------------

inline constexpr int64_t default_context_window = 128'000;
inline constexpr int64_t default_max_output_tokens = 16'384;
/// Tokens kept free between prompt and window when max_tokens is clamped.
inline constexpr int64_t context_safety_tokens = 4096;
/// First byte and pauses of a model stream (HTTP_IDLE_TIMEOUT).
inline constexpr auto http_idle_timeout = milliseconds{300'000};
/// A model call from its start to its terminal event.
inline constexpr auto model_call_timeout = minutes{60};
/// A finished call waits this long for the end of its transfer, so that the
/// connection can be used again.
inline constexpr auto model_linger = milliseconds{1000};
/// Retries of one model turn: attempts, first delay, cap of Retry-After.
inline constexpr int model_retries = 3;
inline constexpr auto model_retry_delay = milliseconds{2000};
inline constexpr auto model_retry_cap = seconds{60};

/// Rounds of a run in a row with the very same tool calls and results; then the
/// run ends, because the model is going in circles.
inline constexpr size_t repeated_rounds = 50;

// -- sessions and history -----------------------------------------------------

/// A session file that is opened; a larger one is refused.
inline constexpr size_t session_file_bytes = 256u << 20;
/// Part of a session file that one job of the file pool reads.
inline constexpr size_t session_read_bytes = 16u << 20;
/// First line of a session file that is read alone, and its first attempt.
inline constexpr size_t session_header_bytes = 1u << 20;
inline constexpr size_t session_header_chunk_bytes = 4096;
/// The pointer to the current session.
inline constexpr size_t session_pointer_bytes = 4096;
/// Requests waiting in one session store.
inline constexpr size_t session_store_waiting = 256;
/// Trailing part of log.jsonl in which the triggering message is looked for
/// when an open session is brought up to date; also one read at its cursor.
inline constexpr size_t history_sync_bytes = 4u << 20;
/// The same for a session that starts from the log.
inline constexpr size_t history_bootstrap_bytes = 32u << 20;
/// Messages of the log that enter a session: age and number.
inline constexpr int64_t history_recent_days = 14;
inline constexpr size_t history_messages = 200;
/// Top-level messages that seed a new thread's session.
inline constexpr size_t history_thread_seed = 10;
/// Ids of handled messages that a session context carries.
inline constexpr size_t handled_messages = 64;
/// Warnings kept about one damaged file.
inline constexpr size_t log_warnings = 20;
/// One file that comes with a message, how many of them are taken, and how
/// long one may take to arrive.
inline constexpr uint64_t attachment_bytes = 20u << 20;
inline constexpr size_t attachments_per_message = 20;
inline constexpr auto attachment_timeout = seconds{120};
/// Files of one office that are fetched at one time.
inline constexpr size_t attachments_in_flight = 4;
/// Sanitised name of an attachment, without its time prefix.
inline constexpr size_t attachment_name_bytes = 180;

// -- turns and their output ---------------------------------------------------

/// A runner that did nothing for this long is disposed (decision A37).
inline constexpr auto runner_idle_timeout = minutes{60};
/// Disposing a runner: its harness, tools and executor; then it is killed.
inline constexpr auto runner_dispose_timeout = seconds{15};
/// A session ends its run, lets its runner go and begins a fresh file.
inline constexpr auto reset_timeout = seconds{90};
/// A ledger line that the disk refused is tried again after this time.
inline constexpr auto ledger_retry_delay = seconds{1};
/// Closed turns whose ledger line is still to be written, per session.
inline constexpr size_t unrecorded_turns = 256;
/// One notice about a full queue per session in this time.
inline constexpr auto refusal_notice_interval = minutes{1};
/// Ids of turns that a session remembers: ended ones, and stops that overtook
/// their message.
inline constexpr size_t remembered_turns = 32;
/// Settings, sandbox and files of a run are ready within this, each.
inline constexpr auto run_step_timeout = seconds{30};
/// Text of a final answer; the rest is cut and said to be.
inline constexpr size_t final_answer_bytes = 4u << 20;
/// A responder records a final answer within this, all waits included.
inline constexpr auto finish_timeout = seconds{60};
/// A final answer waits this long for the outcome of an interim operation.
inline constexpr auto interim_settle_timeout = seconds{10};
/// A responder without work left waits this long for the last outcomes.
inline constexpr auto responder_linger_timeout = minutes{1};
/// Memory text of one file that enters the system prompt.
inline constexpr size_t memory_prompt_bytes = 65'536;
/// Images of one message that the model is shown, and the size of each.
inline constexpr size_t prompt_images = 10;
inline constexpr size_t prompt_image_bytes = 5u << 20;
/// Caps of a run that nobody watches (event: origin).
inline constexpr auto event_run_duration = minutes{10};
inline constexpr int64_t event_run_calls = 50;
inline constexpr int64_t event_run_cost_micro = 10'000'000;

// -- scheduled events ---------------------------------------------------------

/// Scheduled turns of a conversation that run or wait: one and five.
inline constexpr size_t event_open_turns = 1 + event_queue_cap;
/// Event files that are looked at, and the length of each.
inline constexpr size_t event_files = 1000;
inline constexpr size_t event_file_bytes = 65'536;
/// A file that changes is read when it has been quiet for this long.
inline constexpr auto event_debounce = milliseconds{100};
/// A file that cannot be read is tried again, at twice the distance each time.
inline constexpr int event_load_attempts = 3;
inline constexpr auto event_load_wait = milliseconds{100};
/// A file that is gone is looked for after this, and twice more at twice the
/// distance, before it counts as removed.
inline constexpr int event_vanish_looks = 3;
inline constexpr auto event_vanish_wait = milliseconds{100};
/// No timer of a schedule sleeps longer: the wall clock may be changed.
inline constexpr auto event_timer_step = seconds{60};
/// The directory is looked through this often, watched or not; and this often
/// where it cannot be watched.
inline constexpr auto event_scan_interval = seconds{60};
inline constexpr auto event_poll_interval = seconds{1};
/// A turn that was refused is tried again after this, doubled up to the cap.
inline constexpr auto event_retry_delay = seconds{60};
inline constexpr auto event_retry_cap = std::chrono::hours{1};
/// The record of what fired is rewritten when it is longer than this; it keeps
/// so many runs of a schedule, for so long.
inline constexpr size_t event_log_bytes = 1u << 20;
inline constexpr auto event_runs_age = std::chrono::hours{30 * 24};
inline constexpr size_t event_runs_kept = 200;
/// Answer of a scheduled run that its record keeps.
inline constexpr size_t event_answer_bytes = 2048;
/// Runs that are missed are counted up to this.
inline constexpr size_t event_missed_counted = 10'000;
/// Directories that are watched at one time, and names in one message.
inline constexpr size_t watched_directories = 64;
inline constexpr size_t watch_names = 256;

// -- what goes with an answer -------------------------------------------------

/// Messages offered to one run, and the length of each in UTF-16 units.
inline constexpr size_t live_inputs = 100;
inline constexpr size_t live_input_chars = 8000;
/// One artifact, how long it is kept, and how often old ones are looked for.
inline constexpr uint64_t artifact_bytes = 20u << 20;
inline constexpr auto artifact_lifetime = std::chrono::hours{7 * 24};
inline constexpr auto artifact_sweep_interval = std::chrono::hours{1};
/// Artifacts of the node, and one read of an open one.
inline constexpr size_t artifacts_kept = 10'000;
inline constexpr size_t artifact_read_bytes = 256u << 10;
inline constexpr size_t artifacts_open = 64;
/// Process jobs running, waiting and remembered.
inline constexpr size_t jobs_running = 32;
inline constexpr size_t jobs_queued = 64;
inline constexpr size_t jobs_remembered = 10'000;
/// A question to the user is answered within this or expires.
inline constexpr auto ask_timeout = minutes{10};
/// Memory text that a run is shown, and one entry of it.
inline constexpr size_t memory_load_bytes = 65'536;
inline constexpr size_t memory_entry_bytes = 16'384;

// -- console ------------------------------------------------------------------

/// Messages that a pipe may have open; further ones wait in the console.
inline constexpr size_t console_open_messages = 20;
/// What waits there before reading stops, and what a line counts besides its
/// bytes.
inline constexpr size_t console_waiting_bytes = 4u << 20;
inline constexpr size_t console_line_cost = 256;
/// Trailing part of log.jsonl that is read to resume message ids.
inline constexpr size_t console_log_tail_bytes = 2u << 20;
/// Visible messages whose printed text is remembered, and dropped runs.
inline constexpr size_t console_visible_messages = 64;
/// First and longest wait before an untaken message is offered again.
inline constexpr auto console_retry_delay = seconds{1};
inline constexpr auto console_retry_cap = seconds{30};
/// Lines kept for the arrow keys.
inline constexpr int console_history_lines = 500;

// -- offices ------------------------------------------------------------------

/// The office registry; a larger file is refused.
inline constexpr size_t registry_file_bytes = 64u << 20;
/// The ledger of one office; a larger file is refused. Open answers are the
/// longest thing in it.
inline constexpr size_t ledger_file_bytes = 256u << 20;
/// A ledger above this is rewritten when more than half of it is closed.
inline constexpr size_t ledger_compact_bytes = 1u << 20;
/// Trailing part of log.jsonl whose message ids count as seen.
inline constexpr size_t log_tail_bytes = 256u << 10;
/// Closed ids that an office remembers: by age, at least, at most.
inline constexpr auto dedupe_window = std::chrono::hours{7 * 24};
inline constexpr size_t dedupe_ids_min = 1000;
inline constexpr size_t dedupe_ids_max = 250'000;
/// Longest platform message id.
inline constexpr size_t message_id_bytes = 512;
/// Older messages are logged and not answered (setting intake.maxAgeHours).
inline constexpr auto intake_max_age = std::chrono::hours{24};
/// Requests held while an office starts, sleeps or rewrites its ledger.
inline constexpr size_t office_waiting = 1024;
/// Final answers of one office that its transport holds at one time.
inline constexpr size_t deliveries_outstanding = 16;
/// Attempts to deliver a piece of an answer in one go, and the waits between
/// them (agent contracts, 3.5).
inline constexpr int64_t delivery_attempts = 4;
inline constexpr auto delivery_retry_delay = seconds{1};
inline constexpr auto delivery_attempt_cap = minutes{1};
/// Waits between such rounds, from the first one on, and how long they go on.
inline constexpr auto delivery_round_delay = seconds{15};
inline constexpr auto delivery_retry_cap = minutes{5};
inline constexpr auto delivery_give_up = std::chrono::hours{24};
/// An office or a session without work is put to sleep after this.
inline constexpr auto office_idle_timeout = minutes{10};
inline constexpr auto office_sweep_interval = seconds{60};
/// Restarts of an office with unfinished work, within a minute.
inline constexpr size_t office_restarts = 3;
/// Deaths of a session without progress before its next turn is given up.
inline constexpr size_t session_deaths = 3;

} // namespace bureau::limits
