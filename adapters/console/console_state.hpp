#pragma once

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "adapters/console/console.hpp"
#include "adapters/console/console_core.hpp"
#include "adapters/console/frame_core.hpp"
#include "adapters/console/frame_responder.hpp"
#include "adapters/console/save_core.hpp"
#include "adapters/console/screen_core.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace bureau::console {

/// Adapter, transport, and what the streams tell.
using console_actor = adapter_service_actor::extend_with<transport_actor>::
  extend_with<frame_sink_actor>::extend_with<interaction_sink_actor>::extend<
    caf::reacts_to<atom::read, std::string, bool>, caf::reacts_to<atom::close>,
    caf::reacts_to<atom::cancel>, caf::reacts_to<atom::write, uint64_t, bool>,
    caf::reacts_to<atom::done>>;

/// Handlers:
///   (start)               → ok => on_start
///   (drain)               → ok => on_drain
///   (stop)                → ok => on_stop
///   (status)              → status_line => status
///   (deliver, outbound)   → delivered => on_deliver
///   (drop, run)           => on_drop
///   (fetch, attachment_fetch) → size => on_fetch
///   (closed, entry)       => on_closed
///   (config)              → transport_info => config
///   (status | append | replace, outbound)  => tell  (what runs do)
///   (event, outbound, stream_event)        => tell
///   (present, ask_presentation) → ok => on_present
///   (replace, ask_presentation)      => ask_changed
///   (notice, status_post)            => on_posted
///   (read, bytes, cut)    => on_line      (internal: the streams)
///   (close)               => on_end_of_input
///   (cancel)              => on_interrupt
///   (write, token, fine)  => on_written
///   (done)                => on_port_ended
///
/// The shell of console_core and screen_core. Child of the node.
class console_state {
public:
  using pointer = console_actor::stateful_pointer<console_state>;

  static inline const char* name = "console";

  explicit console_state(pointer self) : self_(self) {}
  ~console_state();
  void init(console_deps deps, console_options options);
  console_actor::behavior_type make_behavior();

private:
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;
  using delivery_promise = caf::typed_response_promise<delivered>;
  using size_promise = caf::typed_response_promise<uint64_t>;

  // -- life cycle ------------------------------------------------------------

  ok_promise on_start();

  /// In a pipe nobody is there to answer.
  void become_sink();
  caf::ok_atom on_drain();
  ok_promise on_stop();
  void on_port_ended();
  status_line status() const;
  transport_info config() const;
  void greet();
  console_events events();
  void take_log();

  /// Gives the log back: to its file, or to the terminal.
  void release_log();

  // -- as a channel, and the end ---------------------------------------------

  /// How often the end of the input looks whether everything is answered.
  static constexpr auto settle_interval = std::chrono::milliseconds{50};

  void tell_host(channel_event what, std::string reason,
                 json_text summary = {});
  void tell_summary();
  void apply(effect::shutdown& item);
  void end_node(const std::string& reason);

  /// Work that an earlier run left over is answered here as well: the node ends
  /// when nothing accepted is open any more, and no job is left that could wake
  /// anybody.
  void end_when_settled(const std::string& reason);

  /// A turn that ended meanwhile may have left a job.
  void end_unless_busier(const std::string& reason, const job_outlook& before);
  void look_again(const std::string& reason);

  template <class Then>
  void with_outlook(Then then) {
    if (!deps_.jobs) {
      then(job_outlook{});
      return;
    }
    kit::bounded_request(self_, deps_.jobs, limits::mailbox_timeout,
                         atom::describe_v, platform_id::console)
      .then(then, [then](caf::error&) { then(job_outlook{}); });
  }

  // -- what comes in (console_intake) ----------------------------------------

  void carry_out(console_effects effects);
  void apply(effect::read_log& item);
  void read_tail(const std::string& conversation, file_job job, uint64_t size);
  void log_unread(const std::string& conversation, const caf::error& reason);
  void apply(effect::submit& item);
  void apply(effect::settled& item);
  void apply(effect::stop_any& item);
  void ask_to_stop(std::vector<std::string> names);
  void apply(effect::retry& item);
  void apply(effect::say& item);
  void apply(effect::allow& item);
  void apply(effect::prompt& item);
  void say(const std::string& text);

  // -- questions and posts (console_asks) ------------------------------------

  caf::result<caf::ok_atom> on_present(const ask_presentation& what);

  /// What was printed stays: each post is a line of its own.
  void on_posted(const status_post& what);
  void apply(effect::cancel_ask& item);
  void apply(effect::answer& item);

  /// Nobody said what became of an answer: the hub knows whether the question
  /// is open still.
  void look_at_question(const std::string& asked);

  // -- files of the user and of answers (console_files) ----------------------

  void apply(effect::look& item);
  void try_reading(uint64_t number, const std::string& path);

  // The ledger keeps the reference over a restart, so that nothing else tells
  // whether the console made it.
  size_promise on_fetch(const attachment_fetch& what);

  static file_job file_of_user(file_op op, const std::string& path,
                               uint64_t length) {
    file_job job;
    job.reason = "console";
    job.op = op;
    job.path = path;
    job.length = length;
    return job;
  }

  template <class Found, class Failed>
  void ask_files(file_job job, Found found, Failed fault) {
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(std::move(found),
            [fault = std::move(fault)](caf::error& reason) { fault(reason); });
  }

  /// A file on its way from the artifacts to its place.
  struct saving {
    std::string token;
    std::string path;
    std::string bytes;
  };

  void apply(effect::save& item);
  void open_artifact(const std::string& path,
                     const contracts::artifact_open_request& request);
  void read_artifact(const std::shared_ptr<saving>& file);
  void write_artifact(const std::shared_ptr<saving>& file);
  void close_artifact(const saving& file);
  void not_saved(const caf::error& reason);

  // -- what goes out (console_outbox) ----------------------------------------

  /// A write under way.
  struct open_write {
    uint64_t promise = 0;
    std::string ref;
  };

  delivery_promise on_deliver(const outbound& operation);

  /// Answers an operation, and counts what became of it.
  void conclude(uint64_t id, delivered outcome);
  void pending(int64_t change);
  void count(metric id, std::vector<std::string> labels, int64_t value);
  void ask_gate(uint64_t id, const outbound& operation);
  void show(uint64_t id, const outbound& operation);

  /// A file is a line that tells how to keep it.
  void tell_file(uint64_t id, const outbound& operation);

  /// What runs tell comes through their responders.
  printed frames_of(const outbound& operation, const std::string& ref,
                    const std::string& preface);
  void tell(const outbound& what,
            std::string (frame_core::*verb)(const outbound&));
  void write_frames(uint64_t token, std::string lines);

  /// Frames as they may go to a terminal, if that is where they go.
  std::string safe_frames(std::string lines) const;
  void print(uint64_t token, printed lines);
  void on_written(uint64_t token, bool fine);
  void on_drop(const std::string& run);
  bool is_dropped(const outbound& operation) const;

  static delivered dropped() {
    delivered result;
    result.fault = delivery_fault::dropped;
    return result;
  }

  /// Nothing was printed; the answer keeps until the console is open again.
  static delivered failed(std::string why) {
    delivered result;
    result.fault = delivery_fault::retryable;
    result.detail = std::move(why);
    return result;
  }

  /// Nobody will read it before the program is started again.
  static delivered lost() {
    auto result = failed("Standard output is closed.");
    result.retry_after_ms =
      std::chrono::milliseconds{limits::delivery_give_up}.count();
    return result;
  }

  // -- helpers ---------------------------------------------------------------

  console_actor handle() const { return console_actor{self_}; }
  int64_t now() const { return deps_.wall->now_ms(); }

  pointer self_;
  console_deps deps_;
  console_options options_;
  std::optional<console_core> core_;
  std::optional<screen_core> screen_;
  /// Of a console that prints frames.
  std::optional<frame_core> frames_;
  bool started_ = false;
  bool port_ended_ = false;
  bool output_lost_ = false;
  bool log_taken_ = false;
  kit::promise_guard<caf::ok_atom> starts_;
  kit::promise_guard<caf::ok_atom> stops_;
  kit::promise_guard<delivered> deliveries_;
  kit::promise_guard<uint64_t> fetches_;
  /// Finals that wait for their gate, with their runs.
  std::map<uint64_t, std::string> at_gate_;
  std::map<uint64_t, open_write> writes_;
  uint64_t last_token_ = 0;
  /// Files of answers that the user was told of.
  offered_files offered_;
  std::deque<std::string> dropped_runs_;
  std::map<std::string, kit::generation_timer> retries_;
  kit::generation_timer stop_timer_;
  kit::generation_timer settle_timer_;
};

} // namespace bureau::console
