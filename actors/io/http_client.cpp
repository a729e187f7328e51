#include "actors/io/http_client.hpp"

#include "actors/io/http_core.hpp"
#include "actors/io/recent_ids.hpp"
#include "actors/io/watch_list.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <map>

namespace bureau::io {

namespace {

using client_interface = http_client_actor::extend_with<http_loop_owner_actor>;

// (start, http_request, http_sink) → ok      ⇒ start
// (ack, http_ack)                            ⇒ to the loop
// (cancel, http_cancel)                      ⇒ cancel
// (fetch, http_request) → http_response      ⇒ fetch
// (status) → status_line                     ⇒ status
// (stop) → ok                                ⇒ stop
// (closed, http_done)                        ⇒ release
// (deliver, http_done, http_response)        ⇒ deliver
// (drain)                                    ⇒ drained
class http_client_state {
public:
  using pointer = client_interface::stateful_pointer<http_client_state>;
  static inline const char* name = "http";

  explicit http_client_state(pointer self) : self_(self) {}

  void init(std::shared_ptr<http_queue> queue, metrics_actor metrics) {
    queue_ = std::move(queue);
    metrics_ = std::move(metrics);
    queue_->push(http_attach{http_loop_owner_actor{self_}});
    self_->set_down_handler(
      [this](const caf::down_msg& down) { abandon(down.source); });
  }

  client_interface::behavior_type make_behavior() {
    return {
      [this](atom::start, const http_request& request,
             const http_sink_actor& sink) { return start(request, sink); },
      [this](atom::ack, const http_ack& ack) { queue_->push(ack); },
      [this](atom::cancel, const http_cancel& request) { cancel(request); },
      [this](atom::fetch, const http_request& request) {
        return fetch(request);
      },
      [this](atom::status) { return status(); },
      [this](atom::stop) { return stop(); },
      [this](atom::closed, const http_done& end) { release(end.id); },
      [this](atom::deliver, const http_done& end, const http_response& body) {
        deliver(end, body);
      },
      [this](atom::drain) { drained(); },
    };
  }

private:
  struct transfer {
    caf::actor_addr owner;
    std::string reason;
    /// Key of the fetch's promise, 0 for a stream.
    uint64_t promise = 0;
  };

  /// Empty when the request may be admitted.
  caf::error refusal(const http_request& request) const {
    if (closing_)
      return make_failure(errc::shutting_down, "the http client is ending");
    if (auto fault = request_fault(request); !fault.empty())
      return make_failure(errc::bad_request, "bad http request: " + fault);
    if (transfers_.count(request.id) > 0)
      return make_failure(errc::bad_request,
                          "bad http request: its id is in use");
    if (cancelled_early_.contains(request.id))
      return make_failure(errc::aborted,
                          "the http request was cancelled before it started");
    if (transfers_.size() >= limits::http_active + limits::http_waiting)
      return make_failure(errc::queue_full,
                          "too many http transfers are waiting; try later");
    return {};
  }

  caf::result<caf::ok_atom> start(const http_request& request,
                                  const http_sink_actor& sink) {
    if (!sink)
      return make_failure(errc::bad_request, "bad http request: no sink");
    if (auto refused = refusal(request))
      return refused;
    if (!queue_->push(http_begin{request, sink}))
      return make_failure(errc::shutting_down, "the http loop has ended");
    watched_.add(self_, sink.address());
    transfers_[request.id] = {sink.address(), request.reason, 0};
    report_active();
    return caf::ok_atom_v;
  }

  caf::result<http_response> fetch(const http_request& request) {
    if (auto refused = refusal(request))
      return refused;
    auto owner = caf::actor_cast<caf::actor_addr>(self_->current_sender());
    if (!queue_->push(http_begin{request, {}}))
      return make_failure(errc::shutting_down, "the http loop has ended");
    auto answer = self_->make_response_promise<http_response>();
    watched_.add(self_, owner);
    transfers_[request.id] = {owner, request.reason, fetches_.keep(answer)};
    report_active();
    return answer;
  }

  void cancel(const http_cancel& request) {
    if (transfers_.count(request.id) == 0)
      cancelled_early_.add(request.id);
    else
      queue_->push(request);
  }

  void deliver(const http_done& end, const http_response& body) {
    auto found = transfers_.find(end.id);
    if (found == transfers_.end())
      return;
    if (end.error == http_error::none)
      fetches_.deliver(found->second.promise, body);
    else
      fetches_.fail(found->second.promise,
                    fetch_failure(end.error, end.detail));
    release(end.id);
  }

  void release(uint64_t id) {
    auto entry = transfers_.extract(id);
    if (entry.empty())
      return;
    watched_.remove(self_, entry.mapped().owner);
    report_active();
  }

  void abandon(const caf::actor_addr& owner) {
    watched_.forget(owner);
    for (const auto& entry : transfers_)
      if (entry.second.owner == owner)
        queue_->push(http_abandon{entry.first});
  }

  status_line status() const {
    std::map<std::string, size_t> reasons;
    for (const auto& entry : transfers_)
      ++reasons[entry.second.reason.empty() ? "other" : entry.second.reason];
    status_line line{"http", closing_ ? "stopping" : "ok", {}};
    if (!closing_ && transfers_.empty())
      line.state = "idle";
    line.detail = std::to_string(transfers_.size()) + " transfers";
    for (const auto& entry : reasons)
      line.detail += ", " + entry.first + " " + std::to_string(entry.second);
    return line;
  }

  caf::result<caf::ok_atom> stop() {
    auto answer = self_->make_response_promise<caf::ok_atom>();
    stops_.keep(answer);
    if (!queue_->push(http_stop{}))
      drained();
    closing_ = true;
    return answer;
  }

  void drained() {
    closing_ = true;
    // The loop has reported every transfer before it says this.
    fetches_.fail_all(
      make_failure(errc::shutting_down, "the http client has ended"));
    transfers_.clear();
    stops_.deliver_all(caf::ok_atom_v);
  }

  void report_active() {
    if (metrics_)
      self_->send(metrics_, atom::gauge_v,
                  metric_sample{metric::http_active,
                                {},
                                static_cast<int64_t>(transfers_.size())});
  }

  pointer self_;
  std::shared_ptr<http_queue> queue_;
  metrics_actor metrics_;
  std::map<uint64_t, transfer> transfers_;
  recent_ids cancelled_early_;
  watch_list watched_;
  kit::promise_guard<http_response> fetches_;
  kit::promise_guard<caf::ok_atom> stops_;
  bool closing_ = false;
};

} // namespace

http_service start_http(caf::actor_system& system, http_options options,
                        metrics_actor metrics) {
  http_service result;
  result.loop = std::make_unique<http_loop>(std::move(options));
  result.client = kit::spawn_stateful<client_interface, http_client_state>(
    system, result.loop->queue(), std::move(metrics));
  return result;
}

} // namespace bureau::io
