#include "actors/io/control_client.hpp"
#include "actors/io/control_host.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"
#include "tests/io/real_system.hpp"
#include "tests/support/scratch_directory.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

/// `control` as the tests need it: it says a line back; `hold` waits for a
/// `release`, `large` is answered with much, `quiet` with nothing.
struct echo_control_state {
  using pointer = control_actor::stateful_pointer<echo_control_state>;
  static inline const char* name = "echo_control";
  pointer self;
  caf::typed_response_promise<std::string> held;

  explicit echo_control_state(pointer me) : self(me) {}

  control_actor::behavior_type make_behavior() {
    return {
      [this](atom::call, const std::string& line) -> caf::result<std::string> {
        if (line == "hold")
          return held = self->make_response_promise<std::string>();
        if (line == "release")
          held.deliver(std::string{"released"});
        if (line == "large")
          return std::string(large, 'x');
        if (line == "quiet")
          return std::string{};
        return "<" + line + ">";
      },
      [](atom::status) {
        return status_line{"control", "ok", ""};
      }};
  }

  static constexpr size_t large = 900'000;
};

/// One end of a connection, in the hand of the test.
class caller {
public:
  explicit caller(const std::string& state) : fd(io::connect_control(state)) {}

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto put = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put < 0 && errno == EAGAIN) {
        if (!ready(POLLOUT))
          return;
        continue;
      }
      if (put < 0)
        return;
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }

  /// The next line; "(end)" when the node has closed, "(late)" without one.
  std::string line() {
    for (;;) {
      if (auto end = text.find('\n'); end != std::string::npos) {
        auto result = text.substr(0, end);
        text.erase(0, end + 1);
        return result;
      }
      if (!ready(POLLIN))
        return "(late)";
      if (!read())
        return "(end)";
    }
  }

  /// Waits until the node has let go, then answers what it had sent.
  size_t rest() {
    ready(0);
    while (read())
      ;
    return text.size();
  }

  void end_writing() { ::shutdown(fd.get(), SHUT_WR); }

  io::owned_fd fd;

private:
  bool ready(short events) {
    pollfd wanted{fd.get(), events, 0};
    auto limit = std::chrono::milliseconds{test::patience};
    return ::poll(&wanted, 1, static_cast<int>(limit.count())) == 1;
  }

  bool read() {
    char bytes[65536];
    auto got = ::recv(fd.get(), bytes, sizeof bytes, 0);
    if (got > 0)
      text.append(bytes, static_cast<size_t>(got));
    return got > 0 || (got < 0 && errno == EAGAIN);
  }

  std::string text;
};

struct control_world : test::real_system {
  explicit control_world(io::control_bounds limits = {},
                         uid_t own = ::geteuid())
    : bounds(limits), user(own) {
    std::filesystem::create_directories(state);
    open();
    REQUIRE(fault.empty());
  }

  ~control_world() { close(); }

  void open() {
    control = kit::spawn_stateful<control_actor, echo_control_state>(system);
    service = io::start_control(system, control, state, user, fault, bounds);
  }

  void close() {
    if (!service)
      return;
    result_of<caf::ok_atom>(service.host, atom::stop_v);
    service.loop.reset();
    self->send_exit(service.host, caf::exit_reason::user_shutdown);
    service.host = nullptr;
    // It may keep a promise of its own.
    self->send_exit(control, caf::exit_reason::user_shutdown);
  }

  std::string name() const { return state + "/control.sock"; }

  test::scratch_directory scratch;
  /// Deeper than the path of a socket may be.
  std::string state = scratch / std::string(200, 'd') + "/state";
  io::control_bounds bounds;
  uid_t user;
  std::string fault;
  control_actor control;
  io::control_service service;
};

/// A state directory in which something has the name already.
struct taken_name {
  test::scratch_directory scratch;
  std::string name = scratch / "control.sock";

  std::string fault() const {
    std::string result;
    auto socket = io::control_socket::open(scratch.path(), result);
    CHECK_FALSE(socket);
    return result;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a call is answered, in order, line by line") {
  control_world world;
  caller peer{world.state};
  peer.send("one\n");
  CHECK(peer.line() == "<one>");
  peer.send("t");
  peer.send("wo\r\nthree\nquiet\nfour\n");
  CHECK(peer.line() == "<two>");
  CHECK(peer.line() == "<three>");
  CHECK(peer.line() == "<four>");
  peer.send("large\n");
  CHECK(peer.line().size() == echo_control_state::large);
}

TEST_CASE("the socket is its user's alone and goes with the service") {
  control_world world;
  struct stat facts {};
  REQUIRE(::lstat(world.name().c_str(), &facts) == 0);
  CHECK(S_ISSOCK(facts.st_mode));
  CHECK((facts.st_mode & 07777u) == 0600u);
  world.close();
  CHECK(::lstat(world.name().c_str(), &facts) != 0);
  CHECK_FALSE(caller{world.state}.fd);
}

TEST_CASE("a socket that was left behind is replaced") {
  control_world world;
  // What a killed node leaves: a name on which nobody listens.
  world.close();
  {
    std::string fault;
    auto left = io::control_socket::open(world.state, fault);
    REQUIRE(left);
  }
  CHECK_FALSE(caller{world.state}.fd);
  world.open();
  REQUIRE(world.fault.empty());
  caller peer{world.state};
  peer.send("again\n");
  CHECK(peer.line() == "<again>");
}

TEST_CASE("what is no socket keeps its name and refuses the service") {
  taken_name place;
  SUBCASE("a file") {
    test::put_file(place.name, "precious");
    CHECK(contains(place.fault(), "no socket has its name"));
    CHECK(test::get_file(place.name) == "precious");
  }
  SUBCASE("a link to a socket of somebody else") {
    test::scratch_directory other;
    std::string fault;
    auto theirs = io::control_socket::open(other.path(), fault);
    REQUIRE(theirs);
    std::filesystem::create_symlink(other / "control.sock", place.name);
    CHECK(contains(place.fault(), "no socket has its name"));
    CHECK(std::filesystem::is_symlink(place.name));
    CHECK(std::filesystem::is_socket(other / "control.sock"));
  }
  SUBCASE("a link to nowhere") {
    std::filesystem::create_symlink(place.scratch / "nowhere", place.name);
    CHECK(contains(place.fault(), "no socket has its name"));
    CHECK_FALSE(std::filesystem::exists(place.scratch / "nowhere"));
  }
  SUBCASE("a directory") {
    std::filesystem::create_directory(place.name);
    CHECK(contains(place.fault(), "no socket has its name"));
  }
  SUBCASE("no state directory") {
    std::string fault;
    CHECK_FALSE(io::control_socket::open(place.scratch / "none", fault));
    CHECK(contains(fault, "No such file"));
  }
}

TEST_CASE("a name that changed hands is not removed") {
  test::scratch_directory scratch;
  std::string fault;
  auto socket = io::control_socket::open(scratch.path(), fault);
  REQUIRE(socket);
  std::filesystem::remove(scratch / "control.sock");
  test::put_file(scratch / "control.sock", "another");
  socket.remove();
  CHECK(test::get_file(scratch / "control.sock") == "another");
}

TEST_CASE("half a line and a close change nothing") {
  control_world world;
  {
    caller peer{world.state};
    peer.send("shut");
  }
  caller other{world.state};
  other.send("alive\n");
  CHECK(other.line() == "<alive>");
}

TEST_CASE("a peer that has said everything still gets its answers") {
  control_world world;
  caller peer{world.state};
  peer.send("one\ntwo\nand a hal");
  peer.end_writing();
  CHECK(peer.line() == "<one>");
  CHECK(peer.line() == "<two>");
  CHECK(peer.line() == "(end)");
}

TEST_CASE("the longest line is taken, a longer one ends the connection") {
  control_world world;
  caller peer{world.state};
  std::string longest(limits::json_text_bytes, 'a');
  peer.send(longest + "\n");
  CHECK(peer.line().size() == longest.size() + 2);
  peer.send(longest + "a");
  auto refusal = peer.line();
  CHECK(contains(refusal, "-32600"));
  CHECK(contains(refusal, "too_large"));
  CHECK(peer.line() == "(end)");
}

TEST_CASE("connections are bounded, and one that goes makes room") {
  control_world world;
  std::vector<std::unique_ptr<caller>> peers;
  for (size_t i = 0; i < world.bounds.connections; ++i) {
    peers.push_back(std::make_unique<caller>(world.state));
    peers.back()->send("here\n");
    CHECK(peers.back()->line() == "<here>");
  }
  caller surplus{world.state};
  auto refusal = surplus.line();
  CHECK(contains(refusal, "queue_full"));
  CHECK(surplus.line() == "(end)");
  // The others did not notice.
  peers.back()->send("still here\n");
  CHECK(peers.back()->line() == "<still here>");
  // The node closes this one, so that it is surely gone.
  peers.front()->end_writing();
  CHECK(peers.front()->line() == "(end)");
  caller next{world.state};
  next.send("me\n");
  CHECK(next.line() == "<me>");
}

TEST_CASE("a connection that asks nothing is closed") {
  io::control_bounds bounds;
  bounds.idle = 50ms;
  control_world world{bounds};
  caller peer{world.state};
  peer.send("one\nand a half");
  // A slow machine may be over the time before the line is even sent.
  auto line = peer.line();
  if (line == "<one>")
    line = peer.line();
  CHECK(line == "(end)");
}

TEST_CASE("a peer that does not take its answer is closed") {
  io::control_bounds bounds;
  bounds.write = 50ms;
  control_world world{bounds};
  caller peer{world.state};
  peer.send("large\n");
  auto got = peer.rest();
  CHECK(got > 0);
  CHECK(got < echo_control_state::large);
}

TEST_CASE("a peer that goes while its call is open is forgotten") {
  io::control_bounds bounds;
  bounds.connections = 1;
  control_world world{bounds};
  {
    caller peer{world.state};
    peer.send("hold\n");
  }
  // The only place is free again, whenever the loop has noticed.
  std::string answer;
  for (int i = 0; i < 1000 && answer != "<me>"; ++i) {
    caller next{world.state};
    next.send("me\n");
    answer = next.line();
  }
  CHECK(answer == "<me>");
}

TEST_CASE("without its actor a call is refused") {
  control_world world;
  world.self->send_exit(world.control, caf::exit_reason::kill);
  caller peer{world.state};
  peer.send("one\n");
  CHECK(contains(peer.line(), "shutting_down"));
}

TEST_CASE("a stop lets open calls be answered and written") {
  control_world world;
  caller first{world.state};
  caller second{world.state};
  second.send("hello\n");
  CHECK(second.line() == "<hello>");
  first.send("hold\n");
  second.send("status, to be sure that the other one is held\n");
  second.line();
  while (true) {
    auto line =
      world.result_of<status_line>(world.service.host, atom::status_v);
    REQUIRE(line);
    if (contains(line->detail, "1 calls open"))
      break;
  }
  world.self->send(caf::actor_cast<caf::actor>(world.service.host),
                   atom::stop_v);
  second.send("release\n");
  CHECK(first.line() == "released");
  CHECK(first.line() == "(end)");
  CHECK(second.line() == "<release>");
  CHECK(second.line() == "(end)");
}

TEST_CASE("another user is refused, whatever the file says") {
  if (::geteuid() != 0)
    return;
  control_world world;
  // As if the directory had been opened to all by mistake.
  for (auto path = std::filesystem::path{world.state};
       path != std::filesystem::temp_directory_path()
       && path.has_relative_path();
       path = path.parent_path())
    ::chmod(path.c_str(), 0755);
  ::chmod(world.name().c_str(), 0666);
  auto directory = ::open(world.state.c_str(), O_PATH | O_DIRECTORY);
  auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Only system calls: the other threads are not in this process.
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    constexpr char relative[] = "control.sock";
    std::copy(std::begin(relative), std::end(relative), address.sun_path);
    char byte = 0;
    if (::fchdir(directory) != 0
        || ::syscall(SYS_setresuid, 65534, 65534, 65534) != 0)
      ::_exit(2);
    auto fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address)
        != 0)
      ::_exit(3);
    [[maybe_unused]] auto put = ::send(fd, "one\n", 4, MSG_NOSIGNAL);
    ::_exit(::recv(fd, &byte, 1, 0) > 0 ? 4 : 0);
  }
  ::close(directory);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("root may connect to anybody's node") {
  if (::geteuid() != 0)
    return;
  control_world world{{}, 12345};
  caller peer{world.state};
  peer.send("one\n");
  CHECK(peer.line() == "<one>");
}

TEST_CASE("the client asks, and gives up in time") {
  control_world world;
  io::control_client client{world.state};
  REQUIRE(client);
  CHECK(client.call("one", test::patience) == "<one>");
  CHECK(client.call("two", test::patience) == "<two>");
  CHECK_FALSE(client.call("hold", 50ms));
  CHECK_FALSE(client.call("three", 50ms));
  CHECK_FALSE(io::control_client{world.scratch.path()});
}

TEST_CASE("the client notices the end of the node") {
  control_world world;
  io::control_client client{world.state};
  CHECK(client.call("one", test::patience) == "<one>");
  CHECK_FALSE(client.wait_for_end(50ms));
  io::control_client second{world.state};
  CHECK(second.call("one", test::patience) == "<one>");
  world.close();
  CHECK(second.wait_for_end(test::patience));
}
