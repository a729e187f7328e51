#include "actors/office/turn_service.hpp"

#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/office/turn_service_core.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <utility>

namespace bureau::offices {

namespace {

/// Sender of a notification waits so long for its delivery.
constexpr auto notify_patience = std::chrono::seconds{20};

/// Handlers:
///   (config)                          → turn_capabilities
///   (turn, turn_request)              → turn_response          => respond
///   (offer, live_input_request)       → live_input_offer       => offer
///   (settled, live_input_query)       → live_input_settlement  => settlement
///   (cancel, turn_cancel)             → turn_cancelled         => cancel
///   (deliver, notify_request)         → notify_delivery_result => notify
///   (list)                            → notify_destinations    => list
///   (open, artifact_open_request)     → artifact_opened
///   (read, artifact_read)             → artifact_slice
///   (close, token)
///   (status)                          → status_line            => status
class turn_service_state {
public:
  using pointer = turn_service_actor::stateful_pointer<turn_service_state>;

  static inline const char* name = "turns";

  explicit turn_service_state(pointer self) : self_(self) {}

  void init(turn_service_args args) { args_ = std::move(args); }

  turn_service_actor::behavior_type make_behavior() {
    return {
      [this](atom::config) {
        return turn_capabilities{true, true, true,
                                 static_cast<bool>(args_.artifacts)};
      },
      [this](atom::turn, const contracts::turn_request& request) {
        return respond(request);
      },
      [this](atom::offer, const contracts::live_input_request& request) {
        return offer(request);
      },
      [this](atom::settled, const live_input_query& query) {
        return settlement(query);
      },
      [this](atom::cancel, const turn_cancel& request) {
        return cancel(request);
      },
      [this](atom::deliver, const contracts::notify_request& request) {
        return notify(request);
      },
      [this](atom::list) { return list(); },
      [this](atom::open, const contracts::artifact_open_request& request)
        -> caf::result<artifact_opened> {
        if (!args_.artifacts)
          return no_artifacts();
        return self_->delegate(args_.artifacts, atom::open_v, request);
      },
      [this](atom::read,
             const artifact_read& request) -> caf::result<artifact_slice> {
        if (!args_.artifacts)
          return no_artifacts();
        return self_->delegate(args_.artifacts, atom::read_v, request);
      },
      [this](atom::close, const std::string& token) {
        if (args_.artifacts)
          self_->send(args_.artifacts, atom::close_v, token);
      },
      [this](atom::status) { return status(); },
    };
  }

private:
  template <class T>
  using promise_of = caf::typed_response_promise<T>;

  static caf::error no_artifacts() {
    return make_failure(errc::not_ready, "This node keeps no files.");
  }

  int64_t now() const { return args_.wall->now_ms(); }
  std::string fresh_id() { return timed_uuid(*args_.chance, now()); }

  status_line status() const {
    auto open = turns_.size() + offers_.size() + settlements_.size()
                + cancels_.size() + notes_.size() + lists_.size();
    return {name, open == 0 ? "idle" : "ok",
            std::to_string(turns_.size()) + " turns, "
              + std::to_string(notes_.size()) + " notifications"};
  }

  /// Takes a message in, then waits for the end of its entry.
  void run(intake_request request, std::chrono::milliseconds patience,
           std::function<void(const entry_end&)> ended,
           std::function<void(const caf::error&)> failed) {
    entry_query query{request.event.address, request.event.message_id};
    kit::bounded_request(self_, args_.offices, limits::disk_timeout,
                         atom::intake_v, std::move(request))
      .then(
        [this, query, patience, ended, failed](const intake_reply&) {
          kit::bounded_request(self_, args_.offices, patience, atom::settled_v,
                               query)
            .then([ended](const entry_end& end) { ended(end); },
                  [failed](caf::error& reason) { failed(reason); });
        },
        [failed](caf::error& reason) { failed(reason); });
  }

  // -- turns ------------------------------------------------------------------

  promise_of<contracts::turn_response>
  respond(const contracts::turn_request& request) {
    auto answer =
      self_->make_response_promise<promise_of<contracts::turn_response>>();
    auto id = turns_.keep(answer);
    auto message = intake_of(request, fresh_id(), now());
    if (!message) {
      turns_.fail(id, message.error());
      return answer;
    }
    run(
      std::move(*message),
      std::chrono::duration_cast<std::chrono::milliseconds>(
        limits::delivery_timeout),
      [this, id](const entry_end& end) {
        auto response = response_of(end);
        if (response)
          turns_.deliver(id, std::move(*response));
        else
          turns_.fail(id, response.error());
      },
      [this, id](const caf::error& reason) { turns_.fail(id, reason); });
    return answer;
  }

  promise_of<turn_cancelled> cancel(const turn_cancel& request) {
    auto answer = self_->make_response_promise<promise_of<turn_cancelled>>();
    auto id = cancels_.keep(answer);
    auto place = contracts::parse_contract_id(request.conversation_id);
    if (!place) {
      cancels_.fail(id, place.error());
      return answer;
    }
    stop_request stop;
    stop.conversation = std::move(place->address);
    stop.session_key = std::move(place->session_key);
    stop.all = request.all;
    stop.reason = request.reason;
    // A user at a channel has seen it happen there.
    auto by = contracts::is_channel_user_cancel(request.reason)
                ? " by the user of " + *request.reason.channel
                : std::string{};
    kit::log::info(name, "turns of " + request.conversation_id
                           + " are cancelled" + by
                           + (request.reason.message.empty() ? "" : ": ")
                           + request.reason.message);
    kit::bounded_request(self_, args_.offices, limits::disk_timeout,
                         atom::stop_v, std::move(stop))
      .then(
        [this, id](const stop_report& report) {
          cancels_.deliver(id, turn_cancelled{report.ended, report.message_id});
        },
        [this, id](caf::error& reason) { cancels_.fail(id, reason); });
    return answer;
  }

  // -- follow-ups -------------------------------------------------------------

  promise_of<contracts::live_input_offer>
  offer(const contracts::live_input_request& request) {
    auto answer =
      self_->make_response_promise<promise_of<contracts::live_input_offer>>();
    auto id = offers_.keep(answer);
    auto message = intake_of(request, now());
    if (!message) {
      if (code_of(message.error()) == errc::bad_identity)
        offers_.fail(id, message.error());
      else
        refuse(id, contracts::live_input_refusal::invalid);
      return answer;
    }
    if (auto refusal = contracts::check_live_input(request, 0)) {
      refuse(id, *refusal);
      return answer;
    }
    session_query query{message->event.address, message->event.session_key};
    kit::bounded_request(self_, args_.offices, limits::mailbox_timeout,
                         atom::locate_v, query)
      .then(
        [this, id, request,
         message = std::move(*message)](const session_snapshot& seen) {
          judge_offer(id, request, message, seen);
        },
        [this, id](caf::error& reason) { offers_.fail(id, reason); });
    return answer;
  }

  void judge_offer(uint64_t id, const contracts::live_input_request& request,
                   const intake_request& message,
                   const session_snapshot& seen) {
    if (seen.state != "running"
        || (request.target_run_id && *request.target_run_id != seen.run)) {
      refuse(id, contracts::live_input_refusal::inactive);
      return;
    }
    if (seen.waiting >= contracts::live_input_max_messages) {
      refuse(id, contracts::live_input_refusal::full);
      return;
    }
    kit::bounded_request(self_, args_.offices, limits::disk_timeout,
                         atom::intake_v, message)
      .then(
        [this, id](const intake_reply&) {
          offers_.deliver(id, contracts::live_input_offer{});
        },
        [this, id](caf::error& reason) { offers_.fail(id, reason); });
  }

  void refuse(uint64_t id, contracts::live_input_refusal why) {
    contracts::live_input_offer result;
    result.unavailable = why;
    offers_.deliver(id, std::move(result));
  }

  promise_of<contracts::live_input_settlement>
  settlement(const live_input_query& query) {
    auto answer =
      self_
        ->make_response_promise<promise_of<contracts::live_input_settlement>>();
    auto id = settlements_.keep(answer);
    auto place = contracts::parse_contract_id(query.conversation_id);
    if (!place) {
      settlements_.fail(id, place.error());
      return answer;
    }
    entry_query entry{std::move(place->address), live_message_id(query.id)};
    kit::bounded_request(self_, args_.offices, limits::delivery_timeout,
                         atom::settled_v, std::move(entry))
      .then(
        [this, id](const entry_end& end) {
          settlements_.deliver(id, settlement_of(end));
        },
        [this, id](caf::error& reason) { settlements_.fail(id, reason); });
    return answer;
  }

  // -- notifications ----------------------------------------------------------

  promise_of<contracts::notify_delivery_result>
  notify(const contracts::notify_request& request) {
    auto answer = self_->make_response_promise<
      promise_of<contracts::notify_delivery_result>>();
    auto id = notes_.keep(answer);
    auto message = intake_of(request, fresh_id(), now());
    if (!message) {
      notes_.deliver(id, not_delivered("invalid_request",
                                       sentence_of(message.error()), false));
      return answer;
    }
    auto platform = message->event.address.platform;
    kit::bounded_request(self_, args_.offices, limits::mailbox_timeout,
                         atom::exists_v, platform)
      .then(
        [this, id, request,
         message = std::move(*message)](bool attached) mutable {
          if (attached)
            send_note(id, request, std::move(message));
          else
            notes_.deliver(id, contracts::job_channel_not_running());
        },
        [this, id](caf::error& reason) { note_failed(id, reason); });
    return answer;
  }

  void send_note(uint64_t id, const contracts::notify_request& request,
                 intake_request message) {
    auto channel = to_string(message.event.address.platform);
    auto message_id = message.event.message_id;
    run(
      std::move(message), notify_patience,
      [this, id, request, channel](const entry_end& end) {
        notes_.deliver(id, delivery_of(request, end, channel));
      },
      [this, id, message_id](const caf::error& reason) {
        if (code_of(reason) == errc::timeout)
          notes_.deliver(id, still_open(message_id));
        else
          note_failed(id, reason);
      });
  }

  void note_failed(uint64_t id, const caf::error& reason) {
    auto code = code_of(reason);
    if (code == errc::shutting_down) {
      notes_.fail(id, reason);
      return;
    }
    // A repetition of one that ended long ago: nobody knows how.
    auto settled = code == errc::not_found;
    auto result =
      not_delivered(settled ? "already_settled" : to_string(code),
                    settled ? "It was taken before." : sentence_of(reason),
                    !settled && code != errc::bad_identity);
    if (settled)
      result.ambiguous = true;
    notes_.deliver(id, std::move(result));
  }

  promise_of<notify_destinations> list() {
    auto answer =
      self_->make_response_promise<promise_of<notify_destinations>>();
    auto id = lists_.keep(answer);
    kit::bounded_request(self_, args_.registry, limits::mailbox_timeout,
                         atom::list_v)
      .then(
        [this, id](const office_inventory& inventory) {
          list_attached(id, inventory, platforms_of(inventory), {});
        },
        [this, id](caf::error& reason) { lists_.fail(id, reason); });
    return answer;
  }

  /// Asks about one platform after the other.
  void list_attached(uint64_t id, const office_inventory& inventory,
                     std::vector<platform_id> platforms,
                     std::vector<std::string> channels) {
    if (platforms.empty()) {
      lists_.deliver(id, destinations_of(inventory, channels));
      return;
    }
    auto platform = platforms.back();
    platforms.pop_back();
    kit::bounded_request(self_, args_.offices, limits::mailbox_timeout,
                         atom::exists_v, platform)
      .then(
        [this, id, inventory, platform, platforms,
         channels](bool attached) mutable {
          if (attached)
            channels.push_back(to_string(platform));
          list_attached(id, inventory, std::move(platforms),
                        std::move(channels));
        },
        [this, id](caf::error& reason) { lists_.fail(id, reason); });
  }

  pointer self_;
  turn_service_args args_;
  kit::promise_guard<contracts::turn_response> turns_;
  kit::promise_guard<contracts::live_input_offer> offers_;
  kit::promise_guard<contracts::live_input_settlement> settlements_;
  kit::promise_guard<turn_cancelled> cancels_;
  kit::promise_guard<contracts::notify_delivery_result> notes_;
  kit::promise_guard<notify_destinations> lists_;
};

} // namespace

turn_service_actor spawn_turn_service(caf::actor_system& system,
                                      turn_service_args args) {
  return kit::spawn_stateful<turn_service_actor, turn_service_state>(
    system, std::move(args));
}

} // namespace bureau::offices
