#include "adapters/models/offline_model_call.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "adapters/models/error_core.hpp"
#include "adapters/models/offline_core.hpp"
#include "adapters/models/stream_core.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>
#include <vector>

namespace bureau::models {

namespace {

using offline_call_actor = model_call_actor::extend<caf::reacts_to<atom::tick>>;

/// Handlers:
///   (cancel) ⇒ cancel
///   (tick)   ⇒ next    (internal: the next event)
class offline_call_state {
public:
  using pointer = offline_call_actor::stateful_pointer<offline_call_state>;

  static inline const char* name = "offline_model_call";

  explicit offline_call_state(pointer self) : self_(self) {}

  void init(model_sink_actor sink, transcript_message answer,
            call_report report) {
    sink_ = std::move(sink);
    answer_ = std::move(answer);
    report_ = std::make_unique<call_report>(std::move(report));
    told_ = answer_;
    told_.content.clear();
    report_->begin(self_);
    self_->monitor(sink_);
    self_->set_down_handler([this](caf::down_msg&) { self_->quit(); });
    self_->set_exit_handler([this](caf::exit_msg& exit) {
      cancel();
      self_->quit(std::move(exit.reason));
    });
    plan();
    self_->send(self_, atom::tick_v);
  }

  offline_call_actor::behavior_type make_behavior() {
    return {
      [this](atom::cancel) { cancel(); },
      [this](atom::tick) { next(); },
    };
  }

private:
  /// All events, and after each the message as far as it was told.
  void plan() {
    steps_.emplace_back();
    for (size_t i = 0; i < answer_.content.size(); ++i) {
      const auto& block = answer_.content[i];
      auto call = block.kind == block_kind::tool_call;
      auto index = static_cast<uint32_t>(i);
      auto opened = call ? block : content_block{};
      opened.arguments = json_text{};
      steps_.push_back(
        {call ? stream_kind::tool_call_start : stream_kind::text_start, index,
         "", std::move(opened)});
      std::string_view rest = call ? block.arguments->text : block.text;
      for (auto length : delta_lengths(rest)) {
        steps_.push_back(
          {call ? stream_kind::tool_call_delta : stream_kind::text_delta,
           index,
           std::string{rest.substr(0, length)},
           {}});
        rest.remove_prefix(length);
      }
      steps_.push_back(
        {call ? stream_kind::tool_call_end : stream_kind::text_end, index, "",
         block});
    }
  }

  void next() {
    if (ended_)
      return;
    if (at_ == steps_.size()) {
      end({answer_, {}});
      return;
    }
    auto& event = steps_[at_++];
    keep(event);
    report_->saw(self_, event);
    self_->send(sink_, atom::delta_v, std::move(event));
    self_->send(self_, atom::tick_v);
  }

  void keep(const stream_event& event) {
    switch (event.kind) {
    case stream_kind::text_start:
      told_.content.emplace_back();
      break;
    case stream_kind::text_delta:
      told_.content.back().text += event.delta;
      break;
    case stream_kind::tool_call_start:
      told_.content.push_back(event.block);
      told_.content.back().arguments = json_text{"{}"};
      break;
    case stream_kind::tool_call_end:
      told_.content.back() = event.block;
      break;
    default:
      break;
    }
  }

  void cancel() {
    if (ended_)
      return;
    auto failure = aborted_failure();
    told_.stop = stop_reason::aborted;
    told_.error_message = failure.message;
    told_.error_class = to_string(failure.error.error);
    end({told_, failure.error});
  }

  void end(stream_end end) {
    ended_ = true;
    report_->end(end);
    self_->send(sink_, atom::done_v, std::move(end));
    self_->quit();
  }

  pointer self_;
  model_sink_actor sink_;
  transcript_message answer_;
  transcript_message told_;
  std::unique_ptr<call_report> report_;
  std::vector<stream_event> steps_;
  size_t at_ = 0;
  bool ended_ = false;
};

} // namespace

model_call_actor spawn_offline_call(caf::actor_system& system,
                                    model_sink_actor sink,
                                    transcript_message answer,
                                    call_report report) {
  return kit::spawn_stateful<offline_call_actor, offline_call_state>(
    system, std::move(sink), std::move(answer), std::move(report));
}

} // namespace bureau::models
