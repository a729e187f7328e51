#pragma once

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/office/arrival_core.hpp"
#include "actors/office/delivery_core.hpp"
#include "actors/office/intake_core.hpp"
#include "actors/office/journal_file.hpp"
#include "actors/office/ledger_core.hpp"
#include "actors/office/office.hpp"
#include "actors/office/queue_command_core.hpp"
#include "messages/codec/log_record.hpp"

#include <caf/all.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace bureau::offices {

/// The line of a message in the chat log.
log_record log_line_of(const conversation_event& event,
                       const std::string& display_name, int64_t now_ms);

/// Handlers:
///   (intake, intake_request)    → intake_reply     => on_intake
///   (may_send, delivery_key)    → ok               => on_may_send
///   (stop, stop_request)        → stop_report      => on_stop
///   (renew)                     → sessions told    => on_renew
///   (attach, transport_actor)                      => on_attach
///   (describe)                  → runtime_snapshot => on_describe
///   (drain, drain_phase)        → drain_report     => on_drain
///   (run, turn_started)         → ok               => on_run
///   (produced, turn_produced)   → ok               => on_produced
///   (failed, turn_dead)         → ok               => on_failed
///   (notice, posted_notice)                        => append_notice
///   (settled, session_snapshot)                    => on_settled
///   (dispose)                   → bool             => on_dispose
///   (dispose, session_key)                         => let_session_go
///   (settled, entry_query)      → entry_end        => on_await
///   (locate, session_query)     → session_snapshot => on_locate
///
/// Its members live in office.cpp (life, files), office_intake.cpp,
/// office_attachments.cpp, office_turns.cpp (sessions), office_service.cpp
/// (what the turn service asks) and office_delivery.cpp.
class office_state {
public:
  using pointer = office_child_actor::stateful_pointer<office_state>;

  static inline const char* name = "office";

  explicit office_state(pointer self);
  ~office_state();
  office_state(const office_state&) = delete;
  office_state& operator=(const office_state&) = delete;

  void init(office_deps deps, office place, transport_actor transport,
            offices_parent_actor parent);
  office_child_actor::behavior_type make_behavior();

private:
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;
  using reply_promise = caf::typed_response_promise<intake_reply>;
  using report_promise = caf::typed_response_promise<drain_report>;
  using snapshot_promise = caf::typed_response_promise<runtime_snapshot>;
  using stop_promise = caf::typed_response_promise<stop_report>;
  using bool_promise = caf::typed_response_promise<bool>;
  using end_promise = caf::typed_response_promise<entry_end>;

  /// An update whose lines are on their way to the disk.
  struct pending_intake {
    intake_action action = intake_action::accept;
    conversation_event event;
    intake_reply reply;
    /// The first asker, then those who sent the same message again.
    std::vector<uint64_t> promises;
    /// A stop word named it before it was accepted.
    bool stop = false;
    json_text stop_target;
    contracts::cancel_reason stop_reason;
    /// Its line in the chat log waits for files.
    bool late = false;
    std::string display_name;
    /// For the turn that runs.
    bool offer = false;
  };

  struct session_row {
    session_actor handle;
    session_snapshot seen;
    int64_t active_ms = 0;
    /// Asked to end; its turns wait for the next one.
    bool closing = false;
  };

  /// Delivery of an entry: of its answer, or of the notice that it was lost.
  struct shipment {
    delivery_memory memory;
    answer_plan plan;
    /// The round of attempts under way.
    std::optional<delivery::final_delivery> attempts;
    /// What the transport was given last.
    outbound operation;
    /// Text of the notice; empty: the answer is delivered.
    std::string notice;
    bool outstanding = false;
    /// Not before this instant of the actor's clock.
    int64_t due_ms = 0;
  };

  // -- life (office.cpp) ------------------------------------------------------

  void load();
  void read_ledger_file();
  /// Goes on with the ledger behind what was read.
  void read_ledger_part(std::shared_ptr<std::string> text);
  void ledger_read(const std::string& text);
  void read_log_tail_of(uint64_t size);
  void loaded(const std::string& tail, bool whole);
  void recover_answers(const std::vector<ledger_answer>& answers,
                       const std::string& tail, bool whole);
  void give_up_loading(const caf::error& reason);
  /// Removes what killed processes left in a directory; nobody waits for it.
  void sweep_leftovers(const std::string& root, const std::string& path);
  void remove_leftover(const std::string& root, const std::string& path);
  /// Somebody deleted a directory of the office.
  void restore_directories(std::function<void()> then);
  /// Runs now, or when the files are read.
  void when_loaded(std::function<void()> action);
  void on_attach(const transport_actor& transport);
  void greet_transport();
  snapshot_promise on_describe();
  report_promise on_drain(drain_phase phase);
  drain_report drain_state() const;
  bool_promise on_dispose();
  void sleep_if_empty();
  void report_open();
  /// Tells the journal whether a restart has to open this office.
  void mark_unfinished(bool unfinished);
  /// Milliseconds of the wall clock, and of the actor's own clock.
  int64_t wall_ms() const;
  int64_t clock_ms() const;

  // -- ledger (office.cpp) ----------------------------------------------------

  /// Applies a record at once and appends it lazily. A line that the disk
  /// refuses is kept, and written before the next one or after a while.
  void note(ledger_record record);
  /// Appends a record, applies it when that worked, then tells.
  void record(ledger_record record, durability level,
              std::function<void(const caf::error&)> then);
  /// @param reason of one that was cancelled
  /// Appends to the ledger, behind the lines that it lacks.
  void append_ledger(std::string text, durability level,
                     std::function<void(const caf::error&)> then);
  void keep_line(std::string line);
  void write_kept_lines();
  /// Whether a turn runs on that a stop may end: its answer is not there yet,
  /// and nobody is writing down how it ended.
  bool can_stop(const ledger_entry& entry) const;
  /// What a run has read ends as the message that the run is about.
  void close_read(const ledger_entry& head, const std::string& why, bool told);
  void close_dead(const std::string& id, const std::string& why, bool told,
                  caf::optional<contracts::cancel_reason> reason = caf::none);
  /// @param end what else there is to say about it
  void tell_closed(const conversation_event& event, const std::string& outcome,
                   entry_end end = {});
  void after_close();
  ledger_record make_record(const std::string& id, ledger_state state) const;

  // -- intake (office_intake.cpp) ---------------------------------------------

  reply_promise on_intake(const intake_request& request);
  void take(const intake_request& request, uint64_t promise);
  /// Whether no more scheduled turns may wait in this conversation.
  bool has_enough_events(const conversation_event& event) const;
  void write_down(const intake_request& request, intake_verdict verdict,
                  uint64_t promise);
  void settle_intake(const std::string& id, caf::error fault);
  void accepted(const pending_intake& pending);
  void stop_turn_of(const intake_request& request,
                    const std::string& session_key);
  stop_promise on_stop(const stop_request& request);
  stop_report stop_any(const stop_request& request);
  /// Session keys with a current turn, the one that was accepted last first.
  std::vector<std::string> keys_with_turns() const;
  /// Ends the current turn of a session; names its message.
  std::string stop_current(const std::string& key, const json_text& target,
                           const contracts::cancel_reason& reason = {});
  std::string stop_pending(const std::string& key, const json_text& target,
                           const contracts::cancel_reason& reason);
  bool seen(const std::string& id) const;
  void count(const std::string& outcome);

  // -- files of messages (office_attachments.cpp) -----------------------------

  /// Puts what the ledger knows without its files back in line.
  void line_up(const std::string& tail, bool whole);
  /// Whether a message of this key has to wait for files of an earlier one.
  bool waits_for_files(const std::string& session_key) const;
  /// Begins with the files of a message that stands in line.
  void gather(const std::string& id);
  void list_attachments(const std::string& id);
  void no_directory(const std::string& id, const caf::error& reason);
  void pump_files();
  void fetch(const file_order& order);
  void fetched(const file_order& order, uint64_t size);
  void keep_file(const file_order& order);
  /// A file did not come: removes what there is of it, then tells its message.
  void not_fetched(const file_order& order, const caf::error& reason);
  void discard(const file_order& order, const std::string& leaf,
               std::function<void()> then);
  void file_ended(const file_order& order, const std::string& fault);
  /// Lets the messages of a key go on whose files are there.
  void go_on(const std::string& session_key);
  void write_late(const arrival& message);
  void late_written(const ledger_record& line, const std::string& session_key,
                    bool closed, const caf::error& reason);
  /// Closes a message that stands in line; its line is written in its turn.
  void close_late(const ledger_record& line);
  file_job attachment_job(file_op op, const std::string& leaf) const;

  // -- turns (office_turns.cpp) -----------------------------------------------

  void boot();
  void ask_next_cause();
  void cause_known(const std::string& id, const cause_report& report);
  void booted();
  void dispatch_all();
  void dispatch(const ledger_entry& entry);
  /// Whether another scheduled turn of the conversation is at work: they come
  /// one after the other.
  bool waits_for_event(const ledger_entry& entry);
  /// Whether a thread's first message has to wait for the turn of its
  /// conversation that came before it (office note, section 13).
  bool waits_for_parent(const ledger_entry& entry);
  bool is_parent_busy(const ledger_entry& entry) const;
  void look_for_thread(const ledger_entry& entry);
  void thread_found(const std::string& session_key);
  void release_parked();
  /// Carries a command out in the place of a turn.
  void reset_session(const ledger_entry& entry);
  void tell_queue(const ledger_entry& entry, const queue_command& command);
  void close_command(const std::string& id, const std::string& reply);
  void command_recorded(const std::string& id, const std::string& reply,
                        const caf::error& reason);
  session_row& session_for(const std::string& key);
  void close_session(session_row& row);
  void let_session_go(const std::string& key);
  uint64_t on_renew();
  void arm_sweep();
  void sweep();
  bool has_turns(const std::string& key) const;
  bool is_waiting(const ledger_entry& entry) const;
  bool is_being_given_up(const std::string& id) const;
  void on_down(const caf::down_msg& down);
  void session_lost(const std::string& key, const caf::error& reason);
  ok_promise on_run(const turn_started& fact);
  ok_promise on_produced(const turn_produced& fact);
  void produced_recorded(const std::string& id, uint64_t promise,
                         const caf::error& reason);
  void close_silent(const ledger_record& produced, const ledger_record& done);
  ok_promise on_failed(const turn_dead& fact);
  void on_settled(const session_snapshot& fact);

  // -- for the turn service (office_service.cpp) ------------------------------

  end_promise on_await(const entry_query& query);
  bool_promise on_exists(std::string id);
  ok_promise on_mark(std::string id);
  session_snapshot on_locate(const session_query& query) const;
  /// Tells those who wait for the end of an entry.
  void settle_waiters(const conversation_event& event, const entry_end& end);
  /// Ends every turn of a session that was accepted so far.
  stop_report stop_all(const stop_request& request);
  /// Says a text as it stands, behind the turns that came before it.
  void post_verbatim(const ledger_entry& entry);
  void verbatim_recorded(const ledger_record& produced,
                         const caf::error& reason);

  // -- delivery (office_delivery.cpp) -----------------------------------------

  ok_promise on_may_send(const delivery_key& key);
  void interrupt(const std::string& id, const std::string& text);
  void pump();
  void start_delivery(const ledger_entry& entry);
  void follow(const std::string& id, delivery::delivery_step next);
  /// Records an edit, then ships; what is posted is recorded by the gate.
  void begin_sending(const std::string& id);
  void ship(const std::string& id);
  void outcome(const std::string& id, const delivered& result);
  void notice_outcome(const ledger_entry& entry, const delivered& result);
  void round_failed(const std::string& id,
                    const delivery::delivery_error& fault);
  void part_sent(const std::string& id, std::string ref);
  void finish_unsent(const std::string& id, const std::string& why, bool told);
  void back_to_produced(const std::string& id);
  void close_covered(const ledger_entry& answer, const std::string& dead_why);
  void retry(const std::string& id, int64_t delay_ms);
  /// @param session_key session whose log line it becomes; empty: of none
  void post_notice(outbound notice, const std::string& session_key);
  /// Writes a notice that is visible into the chat log.
  void note_posted(posted_notice fact, const delivered& result);
  /// @param then called with what came of it; may be empty
  void append_answer(const ledger_answer& answer,
                     std::function<void(const caf::error&)> then = {});
  void append_notice(const posted_notice& notice);
  void append_own(log_record line,
                  std::function<void(const caf::error&)> then = {});

  pointer self_;
  office_deps deps_;
  office place_;
  std::string label_;
  transport_actor transport_;
  /// The transport said what it can do.
  bool transport_ready_ = false;
  transport_info info_;
  offices_parent_actor parent_;
  std::optional<ledger_core> core_;
  /// Ids in the chat log that the ledger does not know.
  id_window logged_;
  journal_file ledger_;
  journal_file log_;
  bool loaded_ = false;
  bool booting_ = false;
  bool booted_ = false;
  /// No new turns; no deliveries either.
  bool holding_ = false;
  bool closed_ = false;
  std::deque<std::function<void()>> held_;
  std::map<std::string, pending_intake> pending_;
  /// Ids in the order of acceptance that are still on their way to the disk.
  std::vector<std::string> pending_order_;
  std::map<std::string, session_row> sessions_;
  /// Accepted ids that their session has.
  std::unordered_set<std::string> ticketed_;
  /// Accepted ids whose thread waits for its parent.
  std::set<std::string> parked_;
  /// Accepted messages that wait for files.
  std::optional<arrival_core> arrivals_;
  /// Keys with a late line of the chat log on its way to the disk.
  std::set<std::string> late_keys_;
  /// Ids with a synced transition under way.
  std::set<std::string> busy_;
  /// Ids whose running turn was told to stop: an answer comes too late.
  std::set<std::string> stopped_;
  /// Keys of threads whose session is being looked for.
  std::set<std::string> sought_;
  /// Lines of the ledger that the disk refused.
  std::vector<std::string> kept_lines_;
  /// What commands said that the ledger did not take.
  std::map<std::string, std::string> command_replies_;
  /// Accepted ids that are offered to the turn that runs.
  std::set<std::string> offered_;
  /// Who waits for the end of an entry, and ends that somebody may still ask
  /// about.
  std::multimap<std::string, uint64_t> awaited_;
  std::deque<std::pair<std::string, entry_end>> recent_ends_;
  std::map<std::string, shipment> deliveries_;
  std::deque<std::string> causes_;
  std::map<std::string, size_t> deaths_;
  bool reported_open_ = false;
  /// What the journal knows; nothing: what the last run left there.
  std::optional<bool> marked_;
  std::optional<uint64_t> sleeping_;
  kit::generation_timer sweep_timer_;
  kit::generation_timer delivery_timer_;
  kit::generation_timer late_timer_;
  kit::generation_timer kept_timer_;
  kit::generation_timer command_timer_;
  kit::generation_timer verbatim_timer_;
  kit::promise_guard<caf::ok_atom> oks_;
  kit::promise_guard<intake_reply> replies_;
  kit::promise_guard<drain_report> reports_;
  kit::promise_guard<runtime_snapshot> snapshots_;
  kit::promise_guard<stop_report> stops_;
  kit::promise_guard<bool> sleeps_;
  kit::promise_guard<bool> bools_;
  kit::promise_guard<entry_end> ends_;
};

} // namespace bureau::offices
