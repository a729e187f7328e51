#include "actors/interaction/interaction.hpp"

#include "actors/interaction/interaction_core.hpp"
#include "actors/kit/generation_timer.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <caf/all.hpp>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bureau::interaction {

namespace {

using contracts::ask_snapshot;
using contracts::ask_status;

/// Handlers:
///   (attach, platform, sink)    => attach
///   (ask, ask_request)          → ask_snapshot => ask
///   (read, conversation)        → pending_ask => read
///   (submit, ask_submission)    → ask_submission_result => submit
///   (cancel, conversation)      => settle
///   (notice, status_post)       → ok => post
///   (status)                    → status_line => status
///
/// The shell of interaction_core. Child of the node.
class interaction_state {
public:
  using pointer = interaction_actor::stateful_pointer<interaction_state>;

  static inline const char* name = "interaction";

  explicit interaction_state(pointer self) : self_(self) {}

  void init(interaction_args args) {
    args_ = std::move(args);
    self_->set_down_handler([this](caf::down_msg& down) { on_down(down); });
  }

  interaction_actor::behavior_type make_behavior() {
    return {
      [this](atom::attach, platform_id platform,
             const interaction_sink_actor& sink) { attach(platform, sink); },
      [this](atom::ask, const ask_request& request) { return ask(request); },
      [this](atom::read, const std::string& conversation) {
        return read(conversation);
      },
      [this](atom::submit, const contracts::ask_submission& submission) {
        return submit(submission);
      },
      [this](atom::cancel, const std::string& conversation) {
        settle(conversation, ask_status::cancelled);
      },
      [this](atom::notice, const status_post& what) { return post(what); },
      [this](atom::status) {
        return status_line{name, "ok",
                           std::to_string(core_.size()) + " asks open"};
      },
    };
  }

private:
  using ask_promise = caf::typed_response_promise<ask_snapshot>;

  /// Who waits for the end of an open ask.
  struct waiting {
    platform_id platform = platform_id::console;
    std::string id;
    uint64_t promise = 0;
    caf::actor_addr owner;
    kit::generation_timer expiry;
  };

  void attach(platform_id platform, const interaction_sink_actor& sink) {
    sinks_[platform] = sink;
    self_->monitor(sink);
  }

  caf::result<ask_snapshot> ask(const ask_request& request) {
    auto owner = caf::actor_cast<caf::actor_addr>(self_->current_sender());
    auto place = contracts::parse_contract_id(request.conversation_id);
    if (!place)
      return place.error();
    auto platform = place->address.platform;
    auto sink = sinks_.find(platform);
    if (sink == sinks_.end())
      return make_failure(errc::not_ready, "Nobody can be asked on "
                                             + to_string(platform)
                                             + " just now.");
    auto checked = contracts::parse_ask(contracts::to_json(request.ask));
    if (!checked)
      return checked.error();
    auto longest = std::chrono::milliseconds{limits::ask_timeout}.count();
    auto timeout = request.timeout_ms > 0 && request.timeout_ms < longest
                     ? request.timeout_ms
                     : longest;
    auto now = args_.wall->now_ms();
    checked->interaction_id = random_uuid(*args_.chance);
    checked->created_at = text::iso_utc(now);
    checked->expires_at = text::iso_utc(now + timeout);
    if (auto fault = core_.open(request.conversation_id, *checked))
      return fault;
    auto promise = self_->make_response_promise<ask_promise>();
    auto& entry = waiting_[request.conversation_id];
    entry.platform = platform;
    entry.id = checked->interaction_id;
    entry.promise = promises_.keep(promise);
    entry.owner = owner;
    watch(owner);
    present(sink->second, {request.conversation_id, *checked}, timeout);
    return promise;
  }

  /// Nobody waits until it can be seen.
  caf::result<caf::ok_atom> post(const status_post& what) {
    auto place = contracts::parse_contract_id(what.conversation_id);
    if (!place)
      return place.error();
    auto sink = sinks_.find(place->address.platform);
    if (sink == sinks_.end())
      return make_failure(
        errc::not_ready,
        "Nobody looks at " + to_string(place->address.platform) + " just now.");
    self_->send(sink->second, atom::notice_v, what);
    return caf::ok_atom_v;
  }

  void watch(const caf::actor_addr& owner) {
    if (owner && owners_.insert(owner).second)
      self_->monitor(owner);
  }

  /// The time of an ask begins when it can be seen.
  void present(const interaction_sink_actor& sink, ask_presentation what,
               int64_t timeout_ms) {
    auto conversation = what.conversation_id;
    auto id = what.ask.interaction_id;
    kit::bounded_request(self_, sink, limits::mailbox_timeout, atom::present_v,
                         std::move(what))
      .then(
        [this, conversation, id, timeout_ms](caf::ok_atom) {
          auto entry = find(conversation, id);
          if (entry == nullptr)
            return;
          entry->expiry.arm(self_, std::chrono::milliseconds{timeout_ms},
                            [this, conversation] {
                              settle(conversation, ask_status::expired);
                            });
        },
        [this, conversation, id](const caf::error& reason) {
          auto entry = find(conversation, id);
          if (entry == nullptr)
            return;
          kit::log::warning(name,
                            "a question was not shown: " + sentence_of(reason));
          promises_.fail(
            entry->promise,
            make_failure(errc::transport, "The question could not be shown."));
          settle(conversation, ask_status::cancelled);
        });
  }

  pending_ask read(const std::string& conversation) const {
    pending_ask result;
    if (auto ask = core_.pending(conversation))
      result.ask = *ask;
    return result;
  }

  contracts::ask_submission_result
  submit(const contracts::ask_submission& submission) {
    auto result = core_.submit(submission);
    if (result.refusal)
      return result;
    const auto& conversation = submission.conversation_id;
    auto& ask = *result.snapshot;
    auto entry = waiting_.find(conversation);
    if (entry == waiting_.end())
      return result;
    tell_sink(entry->second.platform, conversation, ask);
    if (ask.status != ask_status::pending) {
      promises_.deliver(entry->second.promise, ask);
      waiting_.erase(entry);
    }
    return result;
  }

  void settle(const std::string& conversation, ask_status status) {
    auto ask = core_.settle(conversation, status);
    if (!ask)
      return;
    auto entry = waiting_.find(conversation);
    tell_sink(entry->second.platform, conversation, *ask);
    promises_.deliver(entry->second.promise, *ask);
    waiting_.erase(entry);
  }

  void tell_sink(platform_id platform, const std::string& conversation,
                 const ask_snapshot& ask) {
    auto sink = sinks_.find(platform);
    if (sink != sinks_.end())
      self_->send(sink->second, atom::replace_v,
                  ask_presentation{conversation, ask});
  }

  void on_down(const caf::down_msg& down) {
    std::vector<std::string> gone;
    std::erase_if(sinks_, [&](const auto& sink) {
      if (sink.second.address() != down.source)
        return false;
      for (const auto& [conversation, entry] : waiting_)
        if (entry.platform == sink.first)
          gone.push_back(conversation);
      return true;
    });
    if (owners_.erase(down.source) > 0)
      for (const auto& [conversation, entry] : waiting_)
        if (entry.owner == down.source)
          gone.push_back(conversation);
    for (const auto& conversation : gone)
      settle(conversation, ask_status::cancelled);
  }

  waiting* find(const std::string& conversation, const std::string& id) {
    auto entry = waiting_.find(conversation);
    return entry != waiting_.end() && entry->second.id == id ? &entry->second
                                                             : nullptr;
  }

  pointer self_;
  interaction_args args_;
  interaction_core core_;
  std::map<platform_id, interaction_sink_actor> sinks_;
  /// By conversation; as many as the core has.
  std::map<std::string, waiting> waiting_;
  /// Senders of asks that are watched.
  std::set<caf::actor_addr> owners_;
  kit::promise_guard<ask_snapshot> promises_;
};

} // namespace

interaction_actor spawn_interaction(caf::actor_system& system,
                                    interaction_args args) {
  return kit::spawn_stateful<interaction_actor, interaction_state>(
    system, std::move(args));
}

} // namespace bureau::interaction
