#pragma once

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/runner/payload_core.hpp"
#include "actors/runner/prompt_core.hpp"
#include "actors/runner/run_output_core.hpp"
#include "actors/runner/runner.hpp"
#include "actors/runner/turn_request_core.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <optional>
#include <vector>

namespace bureau::runner {

/// What the runner is, seen from inside: it also listens to its harness, and
/// stands for the turn owner in front of its responders, because it alone knows
/// which messages an answer covers.
using full_runner_actor =
  runner_actor::extend_with<harness_listener_actor>::extend_with<
    turn_owner_actor>::extend_with<live_input_sink_actor>;

/// Handlers:
///   (run, run_request)      → run_result => on_run
///   (offer, run, turn_ticket, sink) → live_input_offer => on_offer
///   (settled, live_input_settled)   => on_input_settled
///   (abort, cancel_reason)  => on_abort
///   (dispose)               → ok => on_dispose
///   (event, harness_event)  => on_event
///   (produced, turn_produced) → ok => on_produced
///   (run, turn_started), (failed, turn_dead), (notice, posted_notice),
///   (settled, session_snapshot) go to the owner as they are
class runner_state {
public:
  using pointer = full_runner_actor::stateful_pointer<runner_state>;

  static inline const char* name = "runner";

  explicit runner_state(pointer self) : self_(self) {}
  ~runner_state();

  void init(runner_deps deps, runner_args args);
  full_runner_actor::behavior_type make_behavior();

private:
  using run_promise = caf::typed_response_promise<run_result>;
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;

  enum class stage : uint8_t {
    /// Settings, executor, files; nothing of the model yet.
    preparing,
    /// The harness works.
    prompting,
    /// The responder records the answer.
    finishing,
    /// The run was aborted; the responder takes back what is visible.
    dismissing,
  };

  /// A message that the run was offered before the harness worked.
  struct early_offer {
    live_input input;
    live_input_sink_actor sink;
  };

  /// The run under way.
  struct active_run {
    run_request request;
    uint64_t promise = 0;
    /// Tells late answers of earlier runs.
    uint64_t number = 0;
    stage at = stage::preparing;
    bool aborted = false;
    bool second_responder = false;
    caf::actor_clock::time_point began;
    run_settings settings;
    responder_actor responder;
    /// Made by the first event: only then the world of the run is known.
    std::optional<run_output_core> output;
    prompt_inputs prompt;
    /// What it was reminded of; told when its output begins.
    std::vector<contracts::stream_event> recalled;
    /// What is asked, with the files that the model is shown.
    contracts::turn_request turn;
    std::vector<std::string> listed;
    bool resume = false;
    final_answer answer;
    run_result result;
    /// Why it was aborted.
    contracts::cancel_reason cancel;
    /// Taken before the harness worked.
    std::vector<early_offer> early;
    /// Taken by the harness, with those who are to hear of their end.
    std::map<std::string, live_input_sink_actor> offered;
    /// The turn goes on where another has ended.
    caf::optional<contracts::continuation_turn> continuation;
    /// What the session gains once the answer is recorded.
    std::vector<transcript_message> deferred;
    /// Messages that the answer covers: collected, then those that were read.
    std::vector<std::string> covers;
  };

  // -- handlers (runner.cpp) --------------------------------------------------

  run_promise on_run(const run_request& request);
  void on_abort(const contracts::cancel_reason& reason);
  ok_promise on_dispose();
  void on_event(const harness_event& event);
  void on_down(const caf::down_msg& down);

  // -- preparation, one step after the other (runner_prepare.cpp) -------------

  void learn_transport();
  void resolve_settings();
  void ready_executor();
  void renew_executor(std::string world);
  void learn_executor();
  void ensure_scratch();
  void check_resume();
  void learn_continuation();
  void read_memory();
  void read_global_memory();
  void load_attachment(size_t index);
  void show_attachment(const std::string& path, const std::string& mime_type,
                       std::string_view bytes);
  void start_prompt();

  // -- messages that share a turn (runner_offer.cpp) --------------------------

  using offer_promise =
    caf::typed_response_promise<contracts::live_input_offer>;

  caf::result<contracts::live_input_offer>
  on_offer(const std::string& run, const turn_ticket& ticket,
           const live_input_sink_actor& sink);
  void on_input_settled(const live_input_settled& what);
  live_input input_of(const turn_ticket& ticket) const;
  /// A pipe is answered line by line (decision B5).
  bool is_steerable() const;
  void pass_on(early_offer offer);
  void pass_on_early();
  /// Settles the offers that no harness will.
  void settle_offers(const contracts::live_input_settlement& settlement);
  void tell_settled(const live_input_sink_actor& sink, const std::string& id,
                    const contracts::live_input_settlement& settlement);
  void record_collected();
  std::string prompt_text() const;
  payload_clock clock_of(const conversation_event& event) const;
  caf::result<caf::ok_atom> on_produced(turn_produced fact);

  // -- the end of a run (runner.cpp) ------------------------------------------

  void prompt_settled(const prompt_outcome& outcome);
  void prompt_failed(const caf::error& reason);
  /// Ends the run with one sentence for the user.
  void give_up(std::string sentence, errc why);
  void finish(final_answer answer);
  /// Stores what a continuation has held back.
  void commit_deferred();
  void ask_responder();
  void dismiss();
  void settle();
  void fail(caf::error reason);
  void leave_run();

  // -- children ---------------------------------------------------------------

  void ensure_responder();
  void drop_harness(caf::exit_reason reason);
  void drop_executor(caf::exit_reason reason);
  void teardown();
  void teardown_executor();
  void finish_dispose();

  // -- helpers ----------------------------------------------------------------

  bool is_at(uint64_t number, stage at) const {
    return active_ && active_->number == number && active_->at == at;
  }
  void count(metric id, std::vector<std::string> labels, int64_t value = 1);
  std::string platform() const;
  void begin_output();
  /// Reads the beginning of a file of the workspace for the prompt.
  file_job memory_job(const std::string& path) const;
  static std::string memory_text(std::string content, bool truncated);

  /// A request of the preparation; an answer after its end is ignored.
  template <class T, class Handle, class Good, class Bad, class... Args>
  void step(const Handle& receiver, Good good, Bad bad, Args&&... args) {
    auto number = active_->number;
    kit::bounded_request(self_, receiver, limits::run_step_timeout,
                         std::forward<Args>(args)...)
      .then(
        [this, number, good](const T& value) {
          if (is_at(number, stage::preparing))
            good(value);
        },
        [this, number, bad](const caf::error& reason) {
          if (is_at(number, stage::preparing))
            bad(reason);
        });
  }

  pointer self_;
  runner_deps deps_;
  runner_args args_;
  std::string label_;
  transport_info transport_;
  bool transport_known_ = false;
  // -- kept between runs ------------------------------------------------------
  executor_actor executor_;
  /// Network and door that the executor was made for.
  std::string executor_world_;
  bool executor_known_ = false;
  path_context paths_;
  executor_info executor_info_;
  std::vector<tool_binding> tools_;
  harness_actor harness_;
  // -- the run under way ------------------------------------------------------
  std::optional<active_run> active_;
  uint64_t runs_ = 0;
  kit::promise_guard<run_result> results_;
  kit::promise_guard<contracts::live_input_offer> offers_;
  bool disposing_ = false;
  kit::promise_guard<caf::ok_atom> disposals_;
  kit::generation_timer force_timer_;
};

} // namespace bureau::runner
