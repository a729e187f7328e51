#include "actors/io/http_loop.hpp"

#include "actors/io/curl_library.hpp"
#include "messages/limits.hpp"

#include <caf/send.hpp>

#include <sys/epoll.h>

#include <stdexcept>

namespace bureau::io {

/// Everything the thread owns.
class http_loop::body {
public:
  body(http_options options, std::shared_ptr<http_queue> queue)
    : options_(std::move(options)), queue_(std::move(queue)) {}

  body(const body&) = delete;
  body& operator=(const body&) = delete;

  ~body() {
    transfers_.clear();
    if (multi_ != nullptr) {
      curl().multi_cleanup(multi_);
      curl().global_cleanup();
    }
  }

  void run() {
    events_.watch(queue_->wake_fd(), EPOLLIN,
                  [this](uint32_t) { take_commands(); });
    while (!ending_) {
      events_.turn();
      settle();
    }
    queue_->close();
    if (owner_)
      caf::anon_send(owner_, atom::drain_v);
    owner_ = nullptr;
  }

private:
  using transfer_ptr = std::unique_ptr<http_transfer>;

  // -- curl -------------------------------------------------------------------

  /// Starts libcurl with the first transfer.
  bool start_curl() {
    if (multi_ != nullptr)
      return true;
    if (!curl().fault.empty()
        || curl().global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
      return false;
    multi_ = curl().multi_init();
    if (multi_ == nullptr)
      return false;
    curl().multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &body::socket_entry);
    curl().multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl().multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &body::timer_entry);
    curl().multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl().multi_setopt(multi_, CURLMOPT_PIPELINING,
                        static_cast<long>(CURLPIPE_NOTHING));
    curl().multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                        static_cast<long>(limits::http_active));
    curl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS,
                        static_cast<long>(limits::http_idle_connections));
    return true;
  }

  // -- commands ---------------------------------------------------------------

  void take_commands() {
    for (auto& command : queue_->take())
      std::visit([this](auto& value) { handle(value); }, command);
  }

  void handle(http_attach& command) { owner_ = std::move(command.owner); }

  void handle(http_begin& command) {
    auto id = command.request.id;
    auto added = std::make_unique<http_transfer>(
      std::move(command.request), std::move(command.sink), options_, dirty_);
    if (ending_ || transfers_.count(id) + waiting_ids_.count(id) > 0) {
      conclude(*added,
               added->done(http_error::shutting_down, "the node is stopping"));
      return;
    }
    waiting_ids_.emplace(id, std::move(added));
    waiting_.push_back(id);
  }

  void handle(http_ack& command) {
    auto found = transfers_.find(command.id);
    if (found == transfers_.end())
      return;
    if (found->second->acknowledge(command.bytes))
      curl().easy_pause(found->second->handle(), CURLPAUSE_CONT);
  }

  void handle(http_cancel& command) {
    if (auto taken = take(command.id)) {
      taken->flush();
      conclude(*taken, taken->done(http_error::cancelled, "cancelled"));
    }
  }

  void handle(http_abandon& command) {
    if (auto taken = take(command.id))
      report(*taken, taken->done(http_error::cancelled, "nobody listens"));
  }

  void handle(http_stop&) {
    ending_ = true;
    std::vector<uint64_t> ids;
    for (const auto& entry : transfers_)
      ids.push_back(entry.first);
    for (const auto& entry : waiting_ids_)
      ids.push_back(entry.first);
    for (auto id : ids)
      if (auto taken = take(id)) {
        taken->flush();
        conclude(*taken, taken->done(http_error::shutting_down,
                                     "the node is stopping"));
      }
  }

  // -- life of a transfer -----------------------------------------------------

  void admit_waiting() {
    while (!waiting_.empty() && transfers_.size() < limits::http_active) {
      auto id = waiting_.front();
      waiting_.pop_front();
      auto entry = waiting_ids_.extract(id);
      auto& added = entry.mapped();
      if (!start_curl() || !added->prepare()
          || curl().multi_add_handle(multi_, added->handle()) != CURLM_OK) {
        conclude(*added, added->done(http_error::local,
                                     curl().fault.empty()
                                       ? "the transfer cannot be set up"
                                       : curl().fault));
        continue;
      }
      transfers_[id] = std::move(added);
    }
  }

  /// Takes a transfer out of everything; curl closes its connection.
  transfer_ptr take(uint64_t id) {
    if (auto entry = waiting_ids_.extract(id); !entry.empty()) {
      std::erase(waiting_, id);
      return std::move(entry.mapped());
    }
    auto entry = transfers_.extract(id);
    if (entry.empty())
      return nullptr;
    curl().multi_remove_handle(multi_, entry.mapped()->handle());
    return std::move(entry.mapped());
  }

  /// Last event to the sink, then to the client actor.
  void conclude(http_transfer& ended, const http_done& end) {
    ended.send_done(end);
    report(ended, end);
  }

  void report(http_transfer& ended, const http_done& end) {
    std::erase(dirty_, &ended);
    if (!owner_)
      return;
    if (ended.is_fetch())
      caf::anon_send(owner_, atom::deliver_v, end, ended.take_response());
    else
      caf::anon_send(owner_, atom::closed_v, end);
  }

  /// What follows every turn: ends, one chunk for each transfer that got bytes,
  /// new starts.
  void settle() {
    take_ends();
    for (auto* transfer : dirty_)
      transfer->flush();
    dirty_.clear();
    admit_waiting();
  }

  void take_ends() {
    // Nothing is asked of a library that nobody needed yet.
    if (multi_ == nullptr)
      return;
    int left = 0;
    while (auto message = curl().multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE)
        continue;
      auto code = message->data.result;
      http_transfer* ended = nullptr;
      curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &ended);
      auto taken = take(ended->id());
      taken->flush();
      auto end = taken->done(code);
      conclude(*taken, end);
    }
  }

  // -- curl's events ----------------------------------------------------------

  static int socket_entry(CURL*, curl_socket_t fd, int what, void* self,
                          void*) {
    return static_cast<body*>(self)->watch_socket(fd, what);
  }

  static int timer_entry(CURLM*, long delay_ms, void* self) {
    static_cast<body*>(self)->set_timer(delay_ms);
    return 0;
  }

  int watch_socket(curl_socket_t fd, int what) {
    if (what == CURL_POLL_REMOVE) {
      events_.forget(fd);
      return 0;
    }
    uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
      events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
      events |= EPOLLOUT;
    if (events_.watches(fd)) {
      events_.change(fd, events);
      return 0;
    }
    auto watched = events_.watch(
      fd, events, [this, fd](uint32_t fired) { socket_fired(fd, fired); });
    return watched ? 0 : -1;
  }

  void socket_fired(curl_socket_t fd, uint32_t fired) {
    int flags = 0;
    if ((fired & EPOLLIN) != 0)
      flags |= CURL_CSELECT_IN;
    if ((fired & EPOLLOUT) != 0)
      flags |= CURL_CSELECT_OUT;
    if ((fired & (EPOLLERR | EPOLLHUP)) != 0)
      flags |= CURL_CSELECT_ERR;
    int running = 0;
    curl().multi_socket_action(multi_, fd, flags, &running);
  }

  void set_timer(long delay_ms) {
    events_.cancel(timer_);
    timer_ = 0;
    if (delay_ms < 0)
      return;
    timer_ = events_.after(std::chrono::milliseconds{delay_ms}, [this] {
      timer_ = 0;
      int running = 0;
      curl().multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    });
  }

  http_options options_;
  std::shared_ptr<http_queue> queue_;
  event_loop events_;
  CURLM* multi_ = nullptr;
  event_loop::timer_id timer_ = 0;
  http_loop_owner_actor owner_;
  std::unordered_map<uint64_t, transfer_ptr> transfers_;
  std::unordered_map<uint64_t, transfer_ptr> waiting_ids_;
  std::deque<uint64_t> waiting_;
  std::vector<http_transfer*> dirty_;
  bool ending_ = false;
};

http_loop::http_loop(http_options options)
  : queue_(std::make_shared<http_queue>()) {
  auto owned = std::make_shared<body>(std::move(options), queue_);
  thread_ = start_loop_thread("http-loop",
                              [owned = std::move(owned)] { owned->run(); });
}

http_loop::~http_loop() {
  queue_->push(http_stop{});
  join();
}

void http_loop::join() {
  if (thread_.joinable())
    thread_.join();
}

} // namespace bureau::io
