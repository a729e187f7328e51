#include "actors/harness/harness.hpp"

#include "actors/harness/continuation_core.hpp"
#include "actors/harness/live_input_core.hpp"
#include "actors/harness/sentence_core.hpp"
#include "actors/harness/tools/outcome_core.hpp"
#include "actors/harness/turn_loop_core.hpp"
#include "actors/kit/generation_timer.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/contracts/identity.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace bureau::harness {

namespace {

/// The harness as it sees itself: its users' protocol and the sink of its own
/// model calls in one mailbox, so that both keep their order.
using harness_desk_actor = harness_actor::extend_with<model_sink_actor>;

constexpr int64_t micros_per_milli = 1000;

/// Label of calls whose name no tool has: names come from the model.
constexpr const char* unknown_label = "unknown";

/// Handlers:
///   (prompt, prompt_request) → prompt_outcome ⇒ prompt
///   (offer, live_input, sink) → live_input_offer ⇒ offer
///   (abort, cancel_reason)                    ⇒ abort
///   (dispose)                → ok             ⇒ dispose
///   (delta, stream_event)                     ⇒ take_delta
///   (done, stream_end)                        ⇒ take_end
class harness_state {
public:
  static inline const char* name = "harness";

  using pointer = harness_desk_actor::stateful_pointer<harness_state>;

  explicit harness_state(pointer self) : self_(self) {}

  ~harness_state();

  void init(harness_services services, harness_args args) {
    services_ = std::move(services);
    args_ = std::move(args);
    self_->set_down_handler(
      [this](caf::down_msg& down) { handle_down(down.source); });
    self_->monitor(args_.store);
    if (args_.listener)
      self_->monitor(args_.listener);
  }

  harness_desk_actor::behavior_type make_behavior() {
    return {
      [this](atom::prompt, const prompt_request& request) {
        return prompt(request);
      },
      [this](atom::offer, const live_input& input,
             const live_input_sink_actor& sink) { return offer(input, sink); },
      [this](atom::abort, const contracts::cancel_reason& reason) {
        abort(reason);
      },
      [this](atom::dispose) { return dispose(); },
      [this](atom::delta, const stream_event& event) { take_delta(event); },
      [this](atom::done, const stream_end& end) { take_end(end); },
    };
  }

private:
  // -- handlers ---------------------------------------------------------------

  caf::result<prompt_outcome> prompt(const prompt_request& request);
  using offer_promise =
    caf::typed_response_promise<contracts::live_input_offer>;

  caf::result<contracts::live_input_offer>
  offer(const live_input& input, const live_input_sink_actor& sink);
  void abort(const contracts::cancel_reason& reason);
  caf::result<caf::ok_atom> dispose();
  void take_delta(const stream_event& event);
  void take_end(const stream_end& end);
  void handle_down(const caf::actor_addr& source);

  // -- effects ----------------------------------------------------------------

  void apply(loop_effects effects);
  void run(const effect::open_store&);
  void run(effect::append& what);
  void run(effect::emit& what);
  void run(const effect::call_model&);
  void run(const effect::cancel_model&);
  void run(const effect::drop_model&);
  void run(effect::run_tool& what);
  void run(const effect::abort_tool& what);
  void run(const effect::sleep& what);
  void run(const effect::wake&);
  void run(const effect::limit_duration& what);
  void run(const effect::grant_grace& what);
  void run(effect::refuse& what);
  void run(const effect::apply_inputs& what);
  void run(effect::settle& what);

  // -- parts ------------------------------------------------------------------

  /// What the storage request that is open waits for.
  enum class storage : uint8_t { idle, open, append };

  /// A tool call that has not answered.
  struct running_tool {
    /// Index of its binding.
    size_t binding = 0;
    std::string call_id;
    /// Slots are used again; the serial is not.
    uint64_t serial = 0;
  };

  moment now() const;
  bool is_call(const caf::strong_actor_ptr& sender) const;
  void forget_call();
  /// @param number of the storage request
  void end_tool(size_t slot, uint64_t serial, tool_outcome outcome);
  void abort_tool(const running_tool& call);
  void end_storage(caf::error reason);
  void settle_inputs(const std::vector<live_input_settled>& settled);
  /// Keeps what the run knew at its end, when something goes on after it.
  void keep_context(const prompt_outcome& outcome);
  void count_tool(const harness_event& event);
  void clear_run();
  std::string label() const;

  pointer self_;
  harness_services services_;
  harness_args args_;
  kit::promise_guard<prompt_outcome> prompts_;
  kit::promise_guard<caf::ok_atom> disposals_;
  bool disposing_ = false;
  /// Messages offered to the active run, or to the last one.
  live_input_box inputs_;
  /// Message id → those who wait for its settlement.
  std::multimap<std::string, live_input_sink_actor> offerers_;

  // -- the active run ---------------------------------------------------------

  std::optional<turn_loop> loop_;
  prompt_request request_;
  uint64_t prompt_id_ = 0;
  contracts::cancel_reason cancel_;
  /// Wakes among the offered messages, and the last one that was read.
  std::set<std::string> wakes_;
  std::string wake_;
  /// Something that a tool began outlives the run.
  bool continues_ = false;
  /// Of a continuation: what is stored when its answer has arrived.
  std::vector<transcript_message> deferred_;
  /// Answers to older storage requests are void.
  uint64_t storage_number_ = 0;
  storage waiting_ = storage::idle;
  std::deque<loop_effect> due_;
  bool applying_ = false;
  model_call_actor call_;
  caf::strong_actor_ptr call_pointer_;
  /// Running calls by slot.
  std::map<size_t, running_tool> tools_;
  uint64_t tool_serial_ = 0;
  std::set<caf::actor_addr> owners_;
  kit::generation_timer retry_timer_;
  kit::generation_timer duration_timer_;
  kit::generation_timer grace_timer_;
};

/// Whatever ends the harness in the middle of a run ends the run's work too.
harness_state::~harness_state() {
  if (call_)
    caf::anon_send<caf::message_priority::high>(call_, atom::cancel_v);
  for (const auto& [slot, call] : tools_)
    caf::anon_send(request_.tools[call.binding].owner, atom::abort_v,
                   call.call_id);
}

// -- handlers -----------------------------------------------------------------

caf::result<prompt_outcome>
harness_state::prompt(const prompt_request& request) {
  if (disposing_)
    return make_failure(errc::shutting_down, "This conversation is closing.");
  if (loop_)
    return make_failure(errc::busy, "Already processing a message.");
  if (request.choice.api_key.empty() && needs_credential(request.choice.model))
    return make_failure(errc::no_credential,
                        credential_sentence(request.choice.model));
  request_ = request;
  loop_setup setup;
  setup.run = request.run;
  setup.message_id = request.message_id;
  setup.text = request.text;
  setup.images = request.images;
  setup.resume = request.resume;
  setup.model = request.choice.model;
  setup.budget = request.budget;
  for (const auto& binding : request.tools) {
    setup.tools.push_back(binding.definition);
    if (binding.owner && owners_.insert(binding.owner.address()).second)
      self_->monitor(binding.owner);
  }
  if (request.continuation) {
    setup.tools.clear();
    request_.tools.clear();
    wake_ = request.continuation->continuation_id;
  }
  // What is offered is read behind the results of tools.
  inputs_ = live_input_box{request.run, !setup.tools.empty()};
  loop_.emplace(std::move(setup));
  auto answer = self_->make_response_promise<prompt_outcome>();
  prompt_id_ = prompts_.keep(answer);
  apply(loop_->begin(now()));
  return answer;
}

caf::result<contracts::live_input_offer> harness_state::offer(
  const live_input& input, const live_input_sink_actor& sink) {
  auto fresh = inputs_.is_new(input.id);
  auto result = inputs_.offer(input);
  auto answer = self_->make_response_promise<offer_promise>();
  answer.deliver(result);
  if (result.unavailable)
    return answer;
  if (auto settled = inputs_.settled(input.id))
    self_->send(sink, atom::settled_v, std::move(*settled));
  else
    offerers_.emplace(input.id, sink);
  if (!input.delivery_key.empty())
    wakes_.insert(input.id);
  if (fresh && loop_)
    loop_->offer(input);
  return answer;
}

void harness_state::abort(const contracts::cancel_reason& reason) {
  if (!loop_)
    return;
  if (cancel_.message.empty())
    cancel_ = reason;
  apply(loop_->abort(now()));
}

caf::result<caf::ok_atom> harness_state::dispose() {
  disposing_ = true;
  if (!loop_) {
    disposals_.deliver_all(caf::ok_atom_v);
    self_->quit();
    return caf::ok_atom_v;
  }
  auto answer = self_->make_response_promise<caf::ok_atom>();
  disposals_.keep(answer);
  abort({"This conversation is closing.", caf::none});
  return answer;
}

bool harness_state::is_call(const caf::strong_actor_ptr& sender) const {
  // A call that was dropped may still have something in our mailbox.
  return loop_ && call_pointer_ && (!sender || sender == call_pointer_);
}

void harness_state::take_delta(const stream_event& event) {
  if (is_call(self_->current_sender()))
    apply(loop_->model_delta(event, now()));
}

void harness_state::take_end(const stream_end& end) {
  if (!is_call(self_->current_sender()))
    return;
  forget_call();
  apply(loop_->model_done(end, now(), services_.chance->next()));
}

void harness_state::handle_down(const caf::actor_addr& source) {
  if (args_.listener && source == args_.listener.address()) {
    // Nobody is left to see the run, and a successor may open the store: this
    // one must not write any more.
    self_->quit();
    return;
  }
  if (!loop_)
    return;
  if (source == args_.store.address()) {
    end_storage(caf::make_error(caf::sec::request_receiver_down));
    return;
  }
  if (call_ && source == call_.address()) {
    forget_call();
    kit::log::warning(label(), "a model call ended without a result");
    apply(loop_->model_lost(now()));
    return;
  }
  if (owners_.erase(source) == 0)
    return;
  auto running = tools_;
  for (const auto& [slot, call] : running) {
    const auto& tool = request_.tools[call.binding];
    if (tool.owner.address() != source)
      continue;
    auto text = "The tool " + tool.definition.name
                + " ended unexpectedly; its effect is unknown.";
    end_tool(slot, call.serial, failed_outcome(std::move(text)));
    if (!loop_)
      return;
  }
}

// -- effects ------------------------------------------------------------------

/// Carries effects out one by one; what one of them causes at once lines up
/// behind the rest.
void harness_state::apply(loop_effects effects) {
  for (auto& what : effects)
    due_.push_back(std::move(what));
  if (applying_)
    return;
  applying_ = true;
  while (!due_.empty()) {
    auto what = std::move(due_.front());
    due_.pop_front();
    std::visit([this](auto& concrete) { run(concrete); }, what);
  }
  applying_ = false;
}

void harness_state::run(const effect::open_store&) {
  waiting_ = storage::open;
  auto number = ++storage_number_;
  kit::bounded_request(self_, args_.store, limits::disk_timeout, atom::open_v,
                       session_open{request_.message_id, request_.history})
    .then(
      [this, number](session_context& context) {
        if (number != storage_number_ || waiting_ != storage::open)
          return;
        waiting_ = storage::idle;
        if (request_.continuation && request_.continuation->pinned)
          pin(context, *request_.continuation->pinned);
        apply(loop_->opened(std::move(context), now()));
      },
      [this, number](caf::error& reason) {
        if (number == storage_number_)
          end_storage(std::move(reason));
      });
}

void harness_state::run(effect::append& what) {
  if (request_.continuation) {
    for (auto& entry : what.entries)
      if (entry.kind == entry_kind::message)
        deferred_.push_back(std::move(entry.message));
    apply(loop_->appended(now()));
    return;
  }
  waiting_ = storage::append;
  auto number = ++storage_number_;
  kit::bounded_request(self_, args_.store, limits::disk_timeout, atom::append_v,
                       session_append{std::move(what.entries)})
    .then(
      [this, number](const std::vector<std::string>&) {
        if (number != storage_number_ || waiting_ != storage::append)
          return;
        waiting_ = storage::idle;
        apply(loop_->appended(now()));
      },
      [this, number](caf::error& reason) {
        if (number == storage_number_)
          end_storage(std::move(reason));
      });
}

/// The store refused, ended, or did not answer in time.
void harness_state::end_storage(caf::error reason) {
  auto what = std::exchange(waiting_, storage::idle);
  if (!loop_ || what == storage::idle)
    return;
  auto code = code_of(reason);
  auto sentence = sentence_of(reason);
  // CAF's own errors (no answer, receiver down) say nothing to a person.
  if (reason.category() != caf::atom("bureau")) {
    code = errc::disk;
    sentence = "The session file does not answer. Check the disk, then send "
               "the message again.";
  }
  kit::log::warning(label(), "session store: " + sentence);
  // Paths and the words of the system are for the log.
  if (code == errc::disk && reason.category() == caf::atom("bureau"))
    sentence = unsaved_sentence();
  if (what == storage::open)
    apply(loop_->open_failed(code, std::move(sentence)));
  else
    apply(loop_->append_failed(code, std::move(sentence), now()));
}

void harness_state::run(effect::emit& what) {
  if (what.event.kind == harness_event_kind::tool_end)
    count_tool(what.event);
  if (args_.listener)
    self_->send(args_.listener, atom::event_v, std::move(what.event));
}

void harness_state::run(const effect::call_model&) {
  model_request request;
  request.choice = request_.choice;
  request.system_prompt = request_.system_prompt;
  // A long transcript is lent, not copied: nobody keeps the request.
  request.messages = loop_->lend_transcript();
  for (const auto& binding : request_.tools)
    request.tools.push_back(binding.definition);
  request.session_id = loop_->session_id();
  request.platform = request_.platform;
  call_ = services_.models(self_->system(), request, model_sink_actor{self_});
  loop_->return_transcript(std::move(request.messages));
  if (!call_) {
    kit::log::error(label(), "the model factory made no call for the api "
                               + request_.choice.model.api);
    apply(loop_->model_lost(now()));
    return;
  }
  call_pointer_ = caf::actor_cast<caf::strong_actor_ptr>(call_);
  self_->monitor(call_);
}

void harness_state::forget_call() {
  if (call_)
    self_->demonitor(call_.address());
  call_ = nullptr;
  call_pointer_ = nullptr;
}

void harness_state::run(const effect::cancel_model&) {
  if (call_)
    kit::urgent_send(self_, call_, atom::cancel_v);
}

void harness_state::run(const effect::drop_model&) {
  kit::log::warning(label(), "a model call ignored its cancel and is killed");
  auto call = call_;
  forget_call();
  if (call)
    self_->send_exit(call, caf::exit_reason::kill);
}

void harness_state::run(effect::run_tool& what) {
  auto slot = what.slot;
  auto serial = ++tool_serial_;
  tools_[slot] = {what.tool, what.invocation.call_id, serial};
  what.invocation.run = request_.run;
  what.invocation.message_id = request_.message_id;
  what.invocation.target = request_.target;
  what.invocation.wake = wake_;
  what.invocation.context = request_.context;
  what.invocation.environment = request_.environment;
  kit::bounded_request(self_, request_.tools[what.tool].owner,
                       limits::run_timeout, atom::call_v,
                       std::move(what.invocation))
    .then([this, slot, serial](
            const tool_outcome& outcome) { end_tool(slot, serial, outcome); },
          [this, slot, serial](const caf::error& reason) {
            end_tool(slot, serial, failed_outcome(sentence_of(reason)));
          });
}

void harness_state::end_tool(size_t slot, uint64_t serial,
                             tool_outcome outcome) {
  auto running = tools_.find(slot);
  if (!loop_ || running == tools_.end() || running->second.serial != serial)
    return;
  tools_.erase(running);
  continues_ = continues_ || outcome.continues;
  apply(loop_->tool_done(slot, std::move(outcome), now()));
}

void harness_state::run(const effect::abort_tool& what) {
  auto running = tools_.find(what.slot);
  if (running != tools_.end())
    abort_tool(running->second);
}

void harness_state::abort_tool(const running_tool& call) {
  const auto& owner = request_.tools[call.binding].owner;
  kit::urgent_send(self_, owner, atom::abort_v, call.call_id);
  // The urgent one may overtake the call itself; this one cannot.
  self_->send(owner, atom::abort_v, call.call_id);
}

void harness_state::run(const effect::sleep& what) {
  retry_timer_.arm(self_, std::chrono::milliseconds{what.delay_ms},
                   [this] { apply(loop_->retry_due(now())); });
}

void harness_state::run(const effect::wake&) {
  retry_timer_.cancel();
}

void harness_state::run(const effect::limit_duration& what) {
  duration_timer_.arm(self_, std::chrono::milliseconds{what.delay_ms},
                      [this] { apply(loop_->duration_over(now())); });
}

void harness_state::run(const effect::grant_grace& what) {
  grace_timer_.arm(self_, std::chrono::milliseconds{what.delay_ms},
                   [this] { apply(loop_->grace_over(now())); });
}

void harness_state::run(const effect::apply_inputs& what) {
  for (const auto& id : what.ids)
    if (wakes_.contains(id))
      wake_ = id;
  settle_inputs(inputs_.applied(what.ids));
}

void harness_state::run(effect::refuse& what) {
  auto prompt = prompt_id_;
  clear_run();
  settle_inputs(inputs_.end(live_input_end::failed));
  prompts_.fail(prompt, make_failure(what.code, std::move(what.sentence)));
  if (disposing_)
    dispose();
}

/// Messages are settled before their run is: its owner has to know what the
/// answer covers.
void harness_state::run(effect::settle& what) {
  auto prompt = prompt_id_;
  if (!cancel_.message.empty() && what.outcome.stop == stop_reason::aborted)
    what.outcome.cancelled = cancel_;
  if (request_.continuation)
    what.outcome.deferred = question_and_answer(deferred_);
  keep_context(what.outcome);
  clear_run();
  settle_inputs(inputs_.end(what.inputs));
  prompts_.deliver(prompt, std::move(what.outcome));
  if (disposing_)
    dispose();
}

// -- parts --------------------------------------------------------------------

moment harness_state::now() const {
  moment result;
  result.wall_ms = services_.clock->now_ms();
  result.clock_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      self_->clock().now().time_since_epoch())
                      .count();
  return result;
}

void harness_state::settle_inputs(
  const std::vector<live_input_settled>& settled) {
  for (const auto& item : settled) {
    auto [first, last] = offerers_.equal_range(item.id);
    for (auto waiting = first; waiting != last; ++waiting)
      self_->send(waiting->second, atom::settled_v, item);
    offerers_.erase(first, last);
  }
}

void harness_state::keep_context(const prompt_outcome& outcome) {
  if (!continues_ || !services_.continuations || outcome.final_text.empty())
    return;
  auto context = continuation_of(
    contracts::contract_id(args_.place.address, args_.session_key),
    request_.run, request_.text, loop_->transcript(),
    services_.clock->now_ms());
  if (context)
    self_->send(services_.continuations, atom::settled_v, std::move(*context));
}

void harness_state::count_tool(const harness_event& event) {
  if (!services_.metrics)
    return;
  auto tool = unknown_label;
  for (const auto& binding : request_.tools)
    if (binding.definition.name == event.tool_name)
      tool = binding.definition.name.c_str();
  metric_sample calls;
  calls.id = metric::tool_calls;
  calls.labels = {tool, event.outcome.is_error ? "true" : "false"};
  self_->send(services_.metrics, atom::add_v, std::move(calls));
  metric_sample duration;
  duration.id = metric::tool_duration;
  duration.labels = {tool};
  duration.value = event.duration_ms * micros_per_milli;
  self_->send(services_.metrics, atom::observe_v, std::move(duration));
}

void harness_state::clear_run() {
  retry_timer_.cancel();
  duration_timer_.cancel();
  grace_timer_.cancel();
  forget_call();
  for (const auto& owner : owners_)
    self_->demonitor(owner);
  owners_.clear();
  tools_.clear();
  waiting_ = storage::idle;
  due_.clear();
  loop_.reset();
  request_ = {};
  cancel_ = {};
  wakes_.clear();
  wake_.clear();
  continues_ = false;
  deferred_.clear();
}

std::string harness_state::label() const {
  return "harness/" + args_.place.key + "#" + args_.session_key;
}

} // namespace

harness_actor harness(caf::actor_system& system,
                      const harness_services& services,
                      const harness_args& args) {
  return kit::spawn_stateful<harness_desk_actor, harness_state>(system,
                                                                services, args);
}

harness_factory make_harness_factory(harness_services services) {
  return
    [services = std::move(services)](
      caf::actor_system& system, const harness_args& args) -> harness_actor {
      return harness(system, services, args);
    };
}

} // namespace bureau::harness
