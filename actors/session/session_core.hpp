#pragma once

#include "messages/errc.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/interfaces/session.hpp"
#include "messages/limits.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The queue and state machine of one session key (note on the runtime, 3.6 to
/// 3.8; decisions A5, A8, A14, A37).
namespace bureau::session {

/// What the settings say about messages that come while a turn runs.
struct queue_rules {
  uint32_t cap = limits::session_queue_cap;
  queue_mode mode = queue_mode::follow_up;
  queue_overflow overflow = queue_overflow::refuse;
};

/// Messages that one turn takes together, the first included: their ids must
/// stay among limits::handled_messages.
inline constexpr size_t collected_messages = limits::handled_messages / 2;
/// Text of them; one message alone may be longer.
inline constexpr size_t collected_bytes = 256u << 10;

/// What the shell has to carry out, in order.
namespace effect {

/// Make a run id and answer with run_named.
struct name_run {};
/// Have the owner write `running`; answer with start_recorded or start_refused.
struct record_start {
  turn_started fact;
};
/// Have the owner write that a message is part of the turn that runs: from then
/// on it ends with that turn, however that ends.
struct record_covered {
  turn_started fact;
};
/// Call retry_due after limits::ledger_retry_delay.
struct retry_start {};
/// Make the store and the runner if there are none.
struct open_runner {};
/// Start the turn; answer with settled, run_failed or runner_down.
struct start_run {
  run_request request;
};
struct abort_run {
  contracts::cancel_reason reason;
};
/// End the runner at once, close the store; answer with released.
struct kill_runner {};
/// End the runner in order, close the store; answer with released.
struct dispose_runner {};
/// The runner is gone: close the store; answer with released.
struct close_store {};
/// Runner and store are gone: begin a fresh session file; answer with
/// store_reset.
struct reset_store {};
/// Have the owner write `dead`.
struct record_dead {
  turn_dead fact;
};
/// Drop what the transport still holds of a run.
struct drop_output {
  std::string run;
};
/// Hand an operation to the transport; a token above 0 wants the outcome as
/// notice_delivered.
struct notice {
  uint64_t token = 0;
  outbound operation;
};
/// Call settle_timeout after limits::abort_settle_timeout.
struct arm_settle {};
struct cancel_settle {};
/// Call idle_timeout after limits::runner_idle_timeout.
struct arm_idle {};
struct cancel_idle {};
/// Ask the settings for the rules of the queue; answer with rules_known or
/// rules_unknown.
struct read_rules {};
/// Offer a waiting message to the running turn; answer with input_answered and,
/// when it was taken, later with input_settled.
struct offer_input {
  std::string run;
  turn_ticket ticket;
};
/// Count and log that a runner had to be killed or died.
struct count_loss {
  std::string why;
};

} // namespace effect

using session_effect =
  std::variant<effect::name_run, effect::record_start, effect::record_covered,
               effect::retry_start, effect::open_runner, effect::start_run,
               effect::abort_run, effect::kill_runner, effect::dispose_runner,
               effect::close_store, effect::reset_store, effect::record_dead,
               effect::drop_output, effect::notice, effect::arm_settle,
               effect::cancel_settle, effect::arm_idle, effect::cancel_idle,
               effect::read_rules, effect::offer_input, effect::count_loss>;

using session_effects = std::vector<session_effect>;

/// States of the machine; `dreaming` of the note is not built.
enum class session_phase : uint8_t {
  absent,
  materialising,
  idle,
  running,
  stopping,
  disposing,
};

std::string to_string(session_phase phase);

/// Sentences that people see.
namespace wording {

inline constexpr const char* stopping = "_Stopping…_";
inline constexpr const char* stopped = "_Stopped._";
inline constexpr const char* nothing_running = "_Nothing running._";
inline constexpr const char* refused =
  "_Too many messages are waiting here; this one was not taken. Send it again "
  "when I have answered._";
inline constexpr const char* busy =
  "_I am working on another message; this one was not taken. Send it again "
  "when I have answered._";
inline constexpr const char* unrecorded =
  "I could not keep my answer because the disk takes nothing at the moment; "
  "your "
  "message is not lost: free disk space, then send it again.";
inline constexpr const char* interrupted =
  "I was interrupted by an internal error before I finished this. Send it "
  "again to retry.";

} // namespace wording

/// Decides for one session key; knows no clock, no actor and no chance. Every
/// member answers the effects of one event. Owned by the session actor.
class session_core {
public:
  session_core(office_address place, std::string session_key);

  // -- work -------------------------------------------------------------------

  /// An accepted message: queued, started, or refused when the queue is full.
  /// What it does to a running turn is decided when the rules are known.
  session_effects ticket(turn_ticket accepted, int64_t now_ms);
  session_effects run_named(std::string run);
  session_effects start_recorded(const std::string& run);
  /// The owner did not write `running`: a disk fault is retried, a closed entry
  /// is passed over.
  session_effects start_refused(const std::string& run, errc why);
  session_effects retry_due();

  // -- stop -------------------------------------------------------------------

  session_effects stop(const stop_turn& request);
  session_effects settle_timeout(int64_t now_ms);

  /// Ends what runs, lets the runner go and begins a fresh session file
  /// (decision A23); what waits runs afterwards.
  session_effects reset();
  /// The file is a fresh one, or it could not be made.
  session_effects store_reset();

  // -- ends -------------------------------------------------------------------

  session_effects settled(const std::string& run, const run_result& result,
                          int64_t now_ms);
  /// The runner answered an error; one that did not answer in time is killed.
  session_effects run_failed(const std::string& run, errc why,
                             const std::string& sentence, int64_t now_ms);
  session_effects runner_down(const std::string& why, int64_t now_ms);
  session_effects store_down();
  /// Runner and store are made anew: at once, or at the end of the turn.
  session_effects renew();
  session_effects idle_timeout();
  /// Runner and store are gone for good.
  session_effects released();

  // -- other ------------------------------------------------------------------

  /// @param ref platform id of the notice; empty when it failed
  session_effects notice_delivered(uint64_t token, const std::string& ref);
  session_effects rules_known(const queue_rules& rules, int64_t now_ms);
  /// The settings did not say: the last rules hold.
  session_effects rules_unknown(int64_t now_ms);
  /// Whether a run has taken a message that it was offered.
  session_effects input_answered(const std::string& run,
                                 const std::string& message_id,
                                 const contracts::live_input_offer& offer);
  /// What became of a message that it had taken.
  session_effects input_settled(const live_input_settled& what);
  session_effects drain(drain_phase phase);
  /// Whether a shutdown phase is reached.
  bool holds(drain_phase phase) const;

  session_snapshot snapshot() const;
  session_phase phase() const { return phase_; }

private:
  /// Why a run is being ended.
  enum class stop_cause : uint8_t {
    none,
    user,
    /// A newer message takes its place (queue mode interrupt).
    superseded,
    shutdown,
  };

  /// The turn at the head of the lane.
  struct active_turn {
    turn_ticket ticket;
    std::string run;
    /// The owner has written `running`.
    bool recorded = false;
    stop_cause cause = stop_cause::none;
    contracts::cancel_reason reason;
    /// The "Stopping…" of this turn.
    uint64_t notice = 0;
  };

  /// A "Stopping…" on its way or visible, to become "Stopped.".
  struct stop_notice {
    outbound operation;
    bool answered = false;
    bool ended = false;
    std::string ref;
  };

  /// A message that waits, in its place.
  struct slot {
    enum class step : uint8_t {
      /// The rules have not been asked about it.
      fresh,
      /// It waits for a turn.
      waiting,
      /// The running turn was offered it.
      offered,
      /// The running turn has read it: its answer covers it.
      applied,
    };

    turn_ticket ticket;
    step at = step::waiting;
    /// It came after the ledger had the running turn: only then it counts as
    /// steered there.
    bool late = false;
    /// There is room for it.
    bool judged = false;
  };

  static void remember(std::deque<std::string>& list, const std::string& id);
  /// Whether a message that finds the queue full may wait for a collected turn.
  bool joins_full_queue(const turn_ticket& accepted, size_t waiting) const;
  /// Whether there is no room for a message behind so many.
  bool overflows(const turn_ticket& accepted, size_t waiting);
  void start_next(session_effects& out);
  /// Takes what waits into the turn that begins, as the rules say.
  void collect();
  void decide(session_effects& out, int64_t now_ms);
  static bool waits_for_turn(const slot& place);
  void supersede(session_effects& out);
  /// Whether the running turn is being ended for good, by its user.
  bool is_stopped_by_user() const;
  /// Ends what the running turn was offered.
  void settle_slots(session_effects& out);
  /// Has the owner write that a message is part of the running turn.
  void cover(session_effects& out, const std::string& message_id) const;
  /// Closes messages that the current turn has collected …
  void close_collected(session_effects& out, const char* why, bool told,
                       const contracts::cancel_reason& reason);
  /// … or has them wait again.
  void requeue_collected();
  void launch(session_effects& out);
  /// What follows when no turn is at the head of the lane.
  void rest(session_effects& out);
  void dispose(session_effects& out);
  void renew_file(session_effects& out);
  void kill(session_effects& out);
  void begin_stop(session_effects& out, stop_cause cause,
                  contracts::cancel_reason reason, const json_text& target);
  /// Why a user ended a turn here.
  contracts::cancel_reason user_reason() const;
  /// Closes the books of the current turn as its end requires.
  void conclude(session_effects& out, bool produced,
                const std::string& sentence);
  void end_turn(session_effects& out, int64_t now_ms);
  void close_in_place(session_effects& out, const conversation_event& event,
                      const json_text& target,
                      const contracts::cancel_reason& reason);
  void refuse(session_effects& out, const conversation_event& event,
              bool quietly, const char* sentence, int64_t now_ms);
  void say_stopped(session_effects& out);
  void say(session_effects& out, outbound operation, uint64_t token = 0);
  bool is_current(const std::string& run) const;
  bool is_active() const;
  size_t waiting_events() const;
  /// Messages that need a turn of their own, as far as is known.
  size_t waiting_count() const;
  turn_dead
  dead(const conversation_event& event, const char* why, bool told,
       caf::optional<contracts::cancel_reason> cancelled = caf::none) const;
  outbound notice_post(const conversation_event& event, const std::string& run,
                       const json_text& target, std::string text) const;

  office_address place_;
  std::string session_key_;
  session_phase phase_ = session_phase::absent;
  std::optional<drain_phase> drain_;
  std::deque<slot> waiting_;
  std::optional<active_turn> current_;
  bool has_runner_ = false;
  /// Runner or store are on their way out; `released` ends it.
  bool closing_ = false;
  /// Runner and store are to be made anew after the turn.
  bool renew_ = false;
  /// A fresh file is wanted as soon as runner and store are gone.
  bool reset_wanted_ = false;
  queue_rules rules_;
  /// The settings have said what holds.
  bool rules_seen_ = false;
  /// The queue ran over: the next turn takes what it can.
  bool overflowed_ = false;
  std::optional<int64_t> last_refusal_ms_;
  std::deque<std::string> ended_;
  std::deque<std::string> early_stops_;
  std::map<uint64_t, stop_notice> notices_;
  uint64_t last_token_ = 0;
  int64_t last_access_ms_ = 0;
};

} // namespace bureau::session
