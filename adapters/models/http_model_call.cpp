#include "adapters/models/http_model_call.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "adapters/models/http_call_core.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace bureau::models {

namespace {

using http_call_actor = model_call_actor::extend_with<http_sink_actor>;

/// Handlers:
///   (cancel)        ⇒ cancel
///   (h_head, head)  ⇒ head
///   (h_chunk, chunk) ⇒ chunk
///   (h_done, done)  ⇒ done
class http_model_call_state {
public:
  using pointer = http_call_actor::stateful_pointer<http_model_call_state>;

  static inline const char* name = "model_call";

  explicit http_model_call_state(pointer self) : self_(self) {}

  void init(std::shared_ptr<http_call_args> shared) {
    args_ = std::move(shared);
    // The transfer knows us weakly; only we decide when the call is over.
    alive_ = http_call_actor{self_};
    core_ = std::make_unique<http_call_core>(args_->stream);
    args_->report.begin(self_);
    self_->monitor(args_->sink);
    self_->set_down_handler([this](caf::down_msg&) { leave(); });
    self_->set_exit_handler([this](caf::exit_msg& exit) {
      cancel();
      self_->quit(std::move(exit.reason));
    });
    total_.arm(self_, limits::model_call_timeout, [this] {
      expire(call_deadline::total, limits::model_call_timeout);
    });
    await_bytes(call_deadline::first_byte);
    await_event();
    start();
  }

  http_call_actor::behavior_type make_behavior() {
    return {
      [this](atom::cancel) { cancel(); },
      [this](atom::h_head, const http_head& head) { on_head(head); },
      [this](atom::h_chunk, const http_chunk& chunk) { on_chunk(chunk); },
      [this](atom::h_done, const http_done& done) { on_done(done); },
    };
  }

private:
  void start() {
    http_request request;
    request.id = transfer_id();
    request.method = "POST";
    request.url = std::move(args_->wire.url);
    request.headers = std::move(args_->wire.headers);
    request.body = std::move(args_->wire.body);
    request.max_bytes = limits::model_stream_bytes;
    request.reason = "model";
    kit::bounded_request(self_, args_->client, limits::mailbox_timeout,
                         atom::start_v, std::move(request),
                         http_sink_actor{self_})
      .then([](caf::ok_atom) {},
            [this](const caf::error& err) { on_refused(err); });
  }

  uint64_t transfer_id() const { return uint64_t{self_->id()} << 32 | 1u; }

  void on_refused(const caf::error& err) {
    auto code = code_of(err);
    // A late answer to the start says nothing about a transfer that runs.
    if (code == errc::timeout && answered_)
      return;
    auto error = code == errc::bad_request     ? model_error_class::bad_request
                 : code == errc::shutting_down ? model_error_class::cancelled
                                               : model_error_class::network;
    auto sentence =
      "The request to the model could not be sent: " + sentence_of(err);
    if (error == model_error_class::bad_request)
      sentence += "; correct the key of its provider, or its baseUrl and "
                  "headers in models.json.";
    stream_effects effects;
    core_->refused(error, sentence, effects);
    carry_out(effects);
    leave();
  }

  void on_head(const http_head& head) {
    if (head.id != transfer_id())
      return;
    answered_ = true;
    stream_effects effects;
    core_->head(head, args_->clock->now_ms(), effects);
    await_bytes(call_deadline::idle);
    carry_out(effects);
  }

  void on_chunk(const http_chunk& chunk) {
    if (chunk.id != transfer_id())
      return;
    stream_effects effects;
    auto before = core_->events_taken();
    core_->chunk(chunk, effects);
    await_bytes(call_deadline::idle);
    if (core_->events_taken() != before)
      await_event();
    unused_bytes_ += chunk.bytes.size();
    carry_out(effects);
  }

  void on_done(const http_done& done) {
    if (done.id != transfer_id())
      return;
    transfer_over_ = true;
    stream_effects effects;
    core_->done(done, effects);
    carry_out(effects);
    leave();
  }

  void cancel() {
    stream_effects effects;
    core_->cancelled(effects);
    carry_out(effects);
    leave();
  }

  void expire(call_deadline which, std::chrono::milliseconds waited) {
    stream_effects effects;
    core_->expired(which, waited.count(), effects);
    carry_out(effects);
    leave();
  }

  /// Moves the deadline for the next bytes on.
  void await_bytes(call_deadline which) {
    auto limit = args_->idle_timeout;
    if (limit.count() > 0 && !lingering_)
      bytes_.arm(self_, limit, [this, which, limit] { expire(which, limit); });
  }

  /// Moves the deadline for the next event on.
  void await_event() {
    auto limit = silence_factor * args_->idle_timeout;
    if (limit.count() > 0 && !lingering_)
      events_.arm(self_, limit,
                  [this, limit] { expire(call_deadline::silence, limit); });
  }

  void carry_out(stream_effects& effects) {
    for (auto& event : effects.events) {
      args_->report.saw(self_, event);
      untold_.add(std::move(event));
    }
    if (!effects.end) {
      tell();
      return;
    }
    for (auto& event : untold_.take())
      self_->send(args_->sink, atom::delta_v, std::move(event));
    args_->report.end(*effects.end);
    self_->send(args_->sink, atom::done_v, std::move(*effects.end));
    use_bytes();
    linger();
  }

  /// Tells the sink what is there, as soon as it has used what it was told
  /// before: the answer to the last event of a batch says so. Meanwhile pieces
  /// grow together, and bytes that nobody has used stay with the network.
  void tell() {
    if (is_telling_)
      return;
    auto events = untold_.take();
    if (events.empty()) {
      use_bytes();
      return;
    }
    is_telling_ = true;
    auto last = std::move(events.back());
    events.pop_back();
    for (auto& event : events)
      self_->send(args_->sink, atom::delta_v, std::move(event));
    auto used = std::exchange(unused_bytes_, 0);
    auto go_on = [this, used] {
      is_telling_ = false;
      acknowledge(used);
      tell();
    };
    // A sink that is slow to answer is told more all the same; a dead one is
    // news of its own.
    kit::bounded_request(self_, args_->sink, limits::mailbox_timeout,
                         atom::delta_v, std::move(last))
      .then(go_on, [go_on](const caf::error&) { go_on(); });
  }

  void use_bytes() { acknowledge(std::exchange(unused_bytes_, 0)); }

  void acknowledge(uint64_t bytes) {
    if (bytes > 0 && !transfer_over_)
      self_->send(args_->client, atom::ack_v, http_ack{transfer_id(), bytes});
  }

  /// The answer is told; a transfer that is about to end leaves its connection
  /// usable, so it gets a moment.
  void linger() {
    lingering_ = true;
    total_.cancel();
    events_.cancel();
    bytes_.arm(self_, limits::model_linger, [this] { leave(); });
  }

  /// Ends the actor, and the transfer when it still runs.
  void leave() {
    if (!std::exchange(transfer_over_, true))
      kit::urgent_send(self_, args_->client, atom::cancel_v,
                       http_cancel{transfer_id()});
    total_.cancel();
    bytes_.cancel();
    events_.cancel();
    alive_ = nullptr;
    self_->quit();
  }

  pointer self_;
  http_call_actor alive_;
  std::shared_ptr<http_call_args> args_;
  std::unique_ptr<http_call_core> core_;
  event_batch untold_;
  bool is_telling_ = false;
  /// Came, but what they say was not used yet.
  uint64_t unused_bytes_ = 0;
  kit::generation_timer bytes_;
  kit::generation_timer events_;
  kit::generation_timer total_;
  bool answered_ = false;
  bool lingering_ = false;
  bool transfer_over_ = false;
};

/// Handlers:
///   (cancel) ⇒ nothing: the end is on its way already
class refused_call_state {
public:
  using pointer = model_call_actor::stateful_pointer<refused_call_state>;

  static inline const char* name = "refused_model_call";

  explicit refused_call_state(pointer self) : self_(self) {}

  void init(const model_sink_actor& sink, const stream_end& end,
            call_report report) {
    report.end(end);
    self_->send(sink, atom::done_v, end);
    self_->quit();
  }

  model_call_actor::behavior_type make_behavior() {
    return {[](atom::cancel) {
    }};
  }

private:
  pointer self_;
};

} // namespace

model_call_actor spawn_http_model_call(caf::actor_system& system,
                                       http_call_args args) {
  return kit::spawn_stateful<http_call_actor, http_model_call_state>(
    system, std::make_shared<http_call_args>(std::move(args)));
}

model_call_actor spawn_refused_call(caf::actor_system& system,
                                    model_sink_actor sink, stream_end end,
                                    call_report report) {
  return kit::spawn_stateful<model_call_actor, refused_call_state>(
    system, std::move(sink), std::move(end), std::move(report));
}

} // namespace bureau::models
