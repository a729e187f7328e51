#include "tests/support/fake_http.hpp"

#include "actors/io/http_core.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <deque>
#include <optional>

namespace bureau::test {

// (start, http_request, http_sink) → ok   ⇒ start
// (ack, http_ack)                         ⇒ acknowledge
// (cancel, http_cancel)                   ⇒ cancel
// (fetch, http_request) → http_response   ⇒ fetch
// (status) → status_line                  ⇒ line
// (stop) → ok                             ⇒ stop
struct fake_http_state {
  using pointer = http_client_actor::stateful_pointer<fake_http_state>;
  static inline const char* name = "fake_http";

  struct stream {
    /// Weak, as a strong handle would keep the sink alive past its owner.
    caf::actor_addr sink;
    std::deque<std::string> chunks;
    uint64_t seq = 0;
    uint64_t unacked = 0;
    uint64_t bytes_in = 0;
    std::optional<http_done> end;
  };

  pointer self;
  std::weak_ptr<http_probe> probe;
  std::map<uint64_t, stream> streams;
  bool closed = false;

  explicit fake_http_state(pointer me) : self(me) {}

  ~fake_http_state() {
    if (auto control = probe.lock()) {
      control->push_ = nullptr;
      control->finish_ = nullptr;
      control->quit_ = nullptr;
    }
  }

  void init(std::shared_ptr<http_probe> control) {
    probe = control;
    control->push_ = [this](uint64_t id, std::string bytes) {
      push(id, std::move(bytes));
    };
    control->finish_ = [this](uint64_t id, http_error error,
                              std::string detail) {
      finish(id, error, std::move(detail));
    };
    control->quit_ = [address = self->address()] {
      if (auto me = caf::actor_cast<caf::actor>(address))
        caf::anon_send_exit(me, caf::exit_reason::user_shutdown);
    };
    self->set_down_handler(
      [this](const caf::down_msg& down) { forget(down.source); });
  }

  caf::result<caf::ok_atom> start(const http_request& request,
                                  const http_sink_actor& sink) {
    auto script = accept(request);
    if (script.refuse)
      return script.refuse;
    if (streams.count(request.id) > 0)
      return make_failure(errc::bad_request, "the stream id is in use");
    auto answer = self->make_response_promise<caf::ok_atom>();
    answer.deliver(caf::ok_atom_v);
    self->monitor(sink);
    auto& entry = streams[request.id];
    entry.sink = sink.address();
    if (!script.no_head)
      caf::anon_send(
        sink, atom::h_head_v,
        http_head{request.id, script.status, script.headers, "1.1"});
    for (auto& chunk : script.chunks)
      entry.chunks.push_back(std::move(chunk));
    if (!script.hold || script.no_head)
      entry.end = http_done{request.id, script.error, script.detail};
    pump(request.id);
    note_open();
    return answer;
  }

  caf::result<http_response> fetch(const http_request& request) {
    auto script = accept(request);
    if (script.refuse)
      return script.refuse;
    if (script.hold)
      return self->make_response_promise<http_response>();
    if (script.error != http_error::none)
      return io::fetch_failure(script.error, script.detail);
    http_response result{script.status, script.headers, {}};
    for (const auto& chunk : script.chunks)
      result.body += chunk;
    auto limit =
      request.max_bytes == 0 ? limits::http_fetch_bytes : request.max_bytes;
    if (result.body.size() > limit)
      return make_failure(errc::too_large, "the response is larger than "
                                             + std::to_string(limit)
                                             + " bytes");
    return result;
  }

  void acknowledge(const http_ack& ack) {
    if (auto control = probe.lock())
      control->acked[ack.id] += ack.bytes;
    auto entry = streams.find(ack.id);
    if (entry == streams.end())
      return;
    entry->second.unacked -= std::min(entry->second.unacked, ack.bytes);
    pump(ack.id);
  }

  void cancel(uint64_t id) {
    if (auto control = probe.lock())
      control->cancels.push_back(id);
    end_now(id, http_error::cancelled, "cancelled");
  }

  caf::ok_atom stop() {
    closed = true;
    while (!streams.empty())
      end_now(streams.begin()->first, http_error::shutting_down,
              "the node is stopping");
    return caf::ok_atom_v;
  }

  http_client_actor::behavior_type make_behavior() {
    return {
      [this](atom::start, const http_request& request,
             const http_sink_actor& sink) { return start(request, sink); },
      [this](atom::ack, const http_ack& ack) { acknowledge(ack); },
      [this](atom::cancel, const http_cancel& request) { cancel(request.id); },
      [this](atom::fetch, const http_request& request) {
        return fetch(request);
      },
      [this](atom::status) {
        return status_line{"http", closed ? "stopping" : "ok",
                           std::to_string(streams.size()) + " open"};
      },
      [this](atom::stop) { return stop(); },
    };
  }

  // -- helpers ----------------------------------------------------------------

  http_script accept(const http_request& request) {
    http_script script;
    auto control = probe.lock();
    if (closed || !control) {
      script.refuse = make_failure(errc::shutting_down, "http is ending");
      return script;
    }
    control->requests.push_back(request);
    if (auto fault = io::request_fault(request); !fault.empty()) {
      script.refuse = make_failure(errc::bad_request, fault);
      return script;
    }
    return control->take(request);
  }

  void pump(uint64_t id) {
    auto entry = streams.find(id);
    if (entry == streams.end())
      return;
    auto& live = entry->second;
    auto sink = caf::actor_cast<http_sink_actor>(live.sink);
    while (!live.chunks.empty() && live.unacked < limits::stream_window_bytes) {
      auto bytes = std::move(live.chunks.front());
      live.chunks.pop_front();
      if (bytes.size() > limits::stream_chunk_bytes) {
        live.chunks.push_front(bytes.substr(limits::stream_chunk_bytes));
        bytes.resize(limits::stream_chunk_bytes);
      }
      if (bytes.empty())
        continue;
      live.unacked += bytes.size();
      live.bytes_in += bytes.size();
      if (sink)
        caf::anon_send(sink, atom::h_chunk_v,
                       http_chunk{id, live.seq++, std::move(bytes)});
    }
    if (!live.chunks.empty() || !live.end)
      return;
    auto end = *live.end;
    end_now(id, end.error, end.detail);
  }

  void end_now(uint64_t id, http_error error, std::string detail) {
    auto entry = streams.extract(id);
    if (entry.empty())
      return;
    self->demonitor(entry.mapped().sink);
    if (auto sink = caf::actor_cast<http_sink_actor>(entry.mapped().sink))
      caf::anon_send(
        sink, atom::h_done_v,
        http_done{id, error, std::move(detail), entry.mapped().bytes_in});
    note_open();
  }

  void push(uint64_t id, std::string bytes) {
    auto entry = streams.find(id);
    if (entry == streams.end())
      return;
    entry->second.chunks.push_back(std::move(bytes));
    pump(id);
  }

  void finish(uint64_t id, http_error error, std::string detail) {
    auto entry = streams.find(id);
    if (entry == streams.end())
      return;
    entry->second.end = http_done{id, error, std::move(detail)};
    pump(id);
  }

  void forget(const caf::actor_addr& sink) {
    for (auto entry = streams.begin(); entry != streams.end();) {
      if (entry->second.sink != sink) {
        ++entry;
        continue;
      }
      if (auto control = probe.lock())
        control->abandoned.push_back(entry->first);
      entry = streams.erase(entry);
    }
    note_open();
  }

  void note_open() {
    auto control = probe.lock();
    if (!control)
      return;
    control->open.clear();
    for (const auto& entry : streams)
      control->open.push_back(entry.first);
  }
};

http_probe::~http_probe() {
  if (quit_)
    quit_();
}

void http_probe::script(http_script answer, std::string url_prefix) {
  plans_.push_back({std::move(url_prefix), std::move(answer), false});
}

void http_probe::always(http_script answer, std::string url_prefix) {
  plans_.push_back({std::move(url_prefix), std::move(answer), true});
}

void http_probe::push(uint64_t id, std::string bytes) {
  if (push_)
    push_(id, std::move(bytes));
}

void http_probe::finish(uint64_t id, http_error error, std::string detail) {
  if (finish_)
    finish_(id, error, std::move(detail));
}

http_script http_probe::take(const http_request& request) {
  for (auto repeat : {false, true})
    for (auto entry = plans_.begin(); entry != plans_.end(); ++entry) {
      if (entry->repeat != repeat
          || !request.url.starts_with(entry->url_prefix))
        continue;
      auto answer = entry->answer;
      if (!repeat)
        plans_.erase(entry);
      return answer;
    }
  unscripted.push_back(request.url);
  http_script failing;
  failing.no_head = true;
  failing.error = http_error::connect;
  failing.detail = "no script for this request";
  return failing;
}

http_client_actor spawn_fake_http(caf::actor_system& system,
                                  std::shared_ptr<http_probe> probe) {
  return kit::spawn_stateful<http_client_actor, fake_http_state>(
    system, std::move(probe));
}

} // namespace bureau::test
