#include "adapters/console/frame_responder.hpp"

#include "actors/kit/spawn_stateful.hpp"

#include <caf/all.hpp>

#include <utility>

namespace bureau::console {

namespace {

/// Handlers:
///   (paths, root, home)       => inner
///   (status, text)            => sink, inner
///   (append, text)            => sink, inner
///   (replace, text)           => sink, inner
///   (event, stream_event)     => sink, inner
///   (finish, final_answer)    → ok => inner
///   (dismiss)                 → ok => inner
///
/// Stands before the responder of one run and ends with it.
class frame_responder_state {
public:
  using pointer = responder_actor::stateful_pointer<frame_responder_state>;

  static inline const char* name = "frame_responder";

  explicit frame_responder_state(pointer self) : self_(self) {}

  ~frame_responder_state() {
    if (inner_)
      caf::anon_send_exit(inner_, caf::exit_reason::kill);
  }

  void init(responder_args args, responder_factory make) {
    what_.rank = outbound_class::interim;
    what_.conversation = args.event.address;
    what_.message_id = args.event.message_id;
    what_.run = args.run;
    // The transport of the platform that is asked about: the console itself.
    sink_ = caf::actor_cast<frame_sink_actor>(
      caf::actor_cast<caf::actor>(args.transport));
    inner_ = make(self_->system(), args);
    self_->set_down_handler([this](caf::down_msg&) {
      inner_ = nullptr;
      self_->quit();
    });
    self_->monitor(inner_);
  }

  responder_actor::behavior_type make_behavior() {
    return {
      [this](atom::paths, const std::string& root, const std::string& home) {
        self_->send(inner_, atom::paths_v, root, home);
      },
      [this](atom::status, const std::string& text) {
        tell(atom::status_v, text);
      },
      [this](atom::append, const std::string& text) {
        tell(atom::append_v, text);
      },
      [this](atom::replace, const std::string& text) {
        tell(atom::replace_v, text);
      },
      [this](atom::event, const contracts::stream_event& event) {
        self_->send(sink_, atom::event_v, what_, event);
        self_->send(inner_, atom::event_v, event);
      },
      [this](atom::finish, const final_answer& answer) {
        return self_->delegate(inner_, atom::finish_v, answer);
      },
      [this](atom::dismiss) {
        return self_->delegate(inner_, atom::dismiss_v);
      },
    };
  }

private:
  template <class Verb>
  void tell(Verb verb, const std::string& text) {
    auto what = what_;
    what.text = text;
    self_->send(sink_, verb, std::move(what));
    self_->send(inner_, verb, text);
  }

  pointer self_;
  responder_actor inner_;
  frame_sink_actor sink_;
  outbound what_;
};

} // namespace

responder_factory make_frame_responders(responder_factory inner) {
  return [inner = std::move(inner)](caf::actor_system& system,
                                    const responder_args& args) {
    if (args.info.platform != platform_id::console)
      return inner(system, args);
    return kit::spawn_stateful<responder_actor, frame_responder_state>(
      system, args, inner);
  };
}

} // namespace bureau::console
