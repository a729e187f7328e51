#include "actors/io/control_loop.hpp"

#include "actors/io/control_line_core.hpp"
#include "actors/io/event_loop.hpp"
#include "actors/kit/log.hpp"
#include "messages/limits.hpp"

#include <caf/send.hpp>

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <unordered_map>
#include <utility>

namespace bureau::io {

namespace {

/// Codes of JSON-RPC.
constexpr int invalid_request = -32600;
constexpr int server_error = -32000;
/// Without a descriptor for one more connection the next try is after this.
constexpr auto accept_pause = std::chrono::seconds{1};
/// A turn reads this much of one connection.
constexpr size_t read_bytes = 4096;

/// The user at the other end.
bool peer_user(int fd, uid_t& user) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0
      || size != sizeof peer)
    return false;
  user = peer.uid;
  return true;
}

} // namespace

/// Everything the thread owns: the commands, the listener, the connections.
class control_loop::body {
public:
  body(std::shared_ptr<control_queue> queue, control_socket socket, uid_t own,
       control_bounds bounds)
    : queue_(std::move(queue)), socket_(std::move(socket)), own_(own),
      bounds_(bounds) {}

  void run() {
    events_.watch(queue_->wake_fd(), EPOLLIN,
                  [this](uint32_t) { take_commands(); });
    while (!stopping_ || !open_.empty())
      events_.turn();
    queue_->close();
    if (owner_)
      caf::anon_send(owner_, atom::drain_v);
    owner_ = nullptr;
  }

private:
  /// What a connection waits for; each has its time.
  enum class stage : uint8_t { fresh, reading, asking, writing };

  struct connection {
    explicit connection(owned_fd socket)
      : fd(std::move(socket)), input(limits::json_text_bytes) {}
    owned_fd fd;
    line_splitter input;
    std::string output;
    size_t written = 0;
    stage now = stage::fresh;
    /// A call is with the host.
    bool asking = false;
    /// The peer sends nothing any more.
    bool ended = false;
    /// To be closed once the output is written.
    bool last = false;
    event_loop::timer_id timer = 0;
  };
  using entry = std::unordered_map<uint64_t, connection>::iterator;

  // -- commands ---------------------------------------------------------------

  void take_commands() {
    for (auto& command : queue_->take())
      std::visit([this](auto& value) { handle(value); }, command);
  }

  void handle(control_attach& command) {
    owner_ = std::move(command.owner);
    listen();
  }

  void handle(control_answer& answer) {
    auto found = open_.find(answer.connection);
    if (found == open_.end() || !found->second.asking)
      return;
    found->second.asking = false;
    if (stopping_)
      found->second.last = true;
    if (!answer.line.empty())
      say(found->second, std::move(answer.line));
    proceed(found);
  }

  void handle(control_stop&) {
    if (std::exchange(stopping_, true))
      return;
    events_.forget(socket_.fd());
    events_.cancel(accept_timer_);
    socket_.remove();
    // Calls that are still open get no answer: their host has given up.
    for (auto at = open_.begin(); at != open_.end();) {
      auto next = std::next(at);
      at->second.last = true;
      at->second.asking = false;
      proceed(at);
      at = next;
    }
    events_.after(bounds_.farewell, [this] {
      while (!open_.empty())
        close(open_.begin());
    });
  }

  // -- connections ------------------------------------------------------------

  void listen() {
    events_.watch(socket_.fd(), EPOLLIN, [this](uint32_t) { accept(); });
  }

  void accept() {
    owned_fd peer{
      ::accept4(socket_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!peer) {
      if (errno != EMFILE && errno != ENFILE && errno != ENOMEM
          && errno != ENOBUFS)
        return;
      // The listener would be readable for ever.
      events_.forget(socket_.fd());
      accept_timer_ = events_.after(accept_pause, [this] { listen(); });
      return;
    }
    uid_t user = 0;
    if (!peer_user(peer.get(), user) || !may_control(user, own_)) {
      kit::log::warning("control",
                        "refused a connection of user " + std::to_string(user));
      return;
    }
    auto added =
      open_.try_emplace(++last_id_, connection{std::move(peer)}).first;
    auto& fresh = added->second;
    auto id = added->first;
    if (!events_.watch(fresh.fd.get(), EPOLLIN, [this, id](uint32_t events) {
          if (auto found = open_.find(id); found != open_.end())
            happened(found, events);
        })) {
      open_.erase(added);
      return;
    }
    if (open_.size() > bounds_.connections) {
      fresh.last = true;
      say(fresh, socket_error_line(server_error, "queue_full",
                                   "Too many connections are open; close one "
                                   "or try later."));
    }
    proceed(added);
  }

  void close(entry at) {
    events_.cancel(at->second.timer);
    events_.forget(at->second.fd.get());
    open_.erase(at);
  }

  void happened(entry at, uint32_t events) {
    auto& peer = at->second;
    if ((events & EPOLLIN) != 0 && !peer.asking && peer.output.empty()) {
      read(peer);
    } else if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
      // Nobody is there to take an answer.
      close(at);
      return;
    }
    proceed(at);
  }

  void read(connection& peer) {
    std::array<char, read_bytes> bytes;
    auto got = ::recv(peer.fd.get(), bytes.data(), bytes.size(), 0);
    if (got > 0)
      peer.input.feed({bytes.data(), static_cast<size_t>(got)});
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
      peer.ended = true;
  }

  /// Appends a line to what is to be written.
  static void say(connection& peer, std::string line) {
    peer.output += line;
    peer.output += '\n';
  }

  /// Goes on with whatever is due: answers first, then the next line.
  void proceed(entry at) {
    auto& peer = at->second;
    if (!write(peer)) {
      close(at);
      return;
    }
    if (peer.output.empty() && !peer.asking && !peer.last)
      ask(at->first, peer);
    if (!write(peer)
        || (peer.output.empty() && !peer.asking && (peer.last || peer.ended))) {
      close(at);
      return;
    }
    await(at->first, peer);
  }

  /// Hands the next line to the host, if there is one.
  void ask(uint64_t id, connection& peer) {
    auto line = peer.input.take();
    if (line) {
      peer.asking = true;
      caf::anon_send(owner_, atom::call_v, id, std::move(*line));
    } else if (peer.input.too_long()) {
      peer.last = true;
      say(peer, socket_error_line(invalid_request, "too_large",
                                  "A call is longer than one line may be."));
    }
  }

  /// Writes what the peer takes. @return false when the peer has gone
  static bool write(connection& peer) {
    while (peer.written < peer.output.size()) {
      auto put = ::send(peer.fd.get(), peer.output.data() + peer.written,
                        peer.output.size() - peer.written, MSG_NOSIGNAL);
      if (put < 0)
        return errno == EAGAIN || errno == EINTR;
      peer.written += static_cast<size_t>(put);
    }
    if (!peer.output.empty()) {
      peer.output = {};
      peer.written = 0;
    }
    return true;
  }

  /// Waits for the peer: to take its answer, to ask, or, while its call is
  /// open, to go away.
  void await(uint64_t id, connection& peer) {
    auto next = !peer.output.empty() ? stage::writing
                : peer.asking        ? stage::asking
                                     : stage::reading;
    // A stage has one deadline, however the bytes trickle.
    if (std::exchange(peer.now, next) == next)
      return;
    events_.cancel(std::exchange(peer.timer, 0));
    switch (next) {
    case stage::writing:
      events_.change(peer.fd.get(), EPOLLOUT);
      peer.timer = close_after(bounds_.write, id);
      break;
    case stage::reading:
      events_.change(peer.fd.get(), EPOLLIN);
      peer.timer = close_after(bounds_.idle, id);
      break;
    default:
      // A call ends by its own bounds.
      events_.change(peer.fd.get(), 0);
    }
  }

  event_loop::timer_id close_after(std::chrono::milliseconds delay,
                                   uint64_t id) {
    return events_.after(delay, [this, id] {
      if (auto found = open_.find(id); found != open_.end())
        close(found);
    });
  }

  std::shared_ptr<control_queue> queue_;
  control_socket socket_;
  uid_t own_;
  control_bounds bounds_;
  event_loop events_;
  control_loop_owner_actor owner_;
  std::unordered_map<uint64_t, connection> open_;
  uint64_t last_id_ = 0;
  event_loop::timer_id accept_timer_ = 0;
  bool stopping_ = false;
};

control_loop::control_loop(control_socket socket, uid_t own,
                           control_bounds bounds)
  : queue_(std::make_shared<control_queue>()) {
  auto owned = std::make_shared<body>(queue_, std::move(socket), own, bounds);
  thread_ =
    start_loop_thread("control", [owned = std::move(owned)] { owned->run(); });
}

control_loop::~control_loop() {
  queue_->push(control_stop{});
  if (thread_.joinable())
    thread_.join();
}

} // namespace bureau::io
