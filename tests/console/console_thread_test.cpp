#include "adapters/console/console_thread.hpp"

#include "messages/limits.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

using namespace bureau;

namespace {

constexpr int deadline_ms = 10'000;

/// A descriptor that closes itself.
class owned {
public:
  explicit owned(int fd = -1) : fd_(fd) {}
  owned(owned&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~owned() { reset(); }
  void reset() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }
  int get() const { return fd_; }

private:
  int fd_;
};

struct pipe_ends {
  owned read;
  owned write;
};

pipe_ends make_pipe() {
  std::array<int, 2> fds{};
  REQUIRE(pipe2(fds.data(), O_CLOEXEC) == 0);
  return {owned{fds[0]}, owned{fds[1]}};
}

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    auto done = ::write(fd, text.data(), text.size());
    REQUIRE(done > 0);
    text.remove_prefix(static_cast<size_t>(done));
  }
}

/// Reads until the text contains `part`, at the latest until the deadline.
std::string read_until(int fd, const std::string& part) {
  std::string result;
  pollfd waiting{fd, POLLIN, 0};
  while (result.find(part) == std::string::npos) {
    if (poll(&waiting, 1, deadline_ms) <= 0)
      break;
    std::array<char, 4096> chunk;
    auto got = ::read(fd, chunk.data(), chunk.size());
    if (got <= 0)
      break;
    result.append(chunk.data(), static_cast<size_t>(got));
  }
  return result;
}

/// A port whose events arrive in a pipe, one a line.
class port_world {
public:
  explicit port_world(console::console_streams streams)
    : events(make_pipe()), port(console::make_console_thread(streams)) {
    console::console_events on;
    auto tell = [fd = events.write.get()](const std::string& what) {
      put(fd, what + "\n");
    };
    on.line = [tell](std::string bytes, bool cut) {
      tell("line " + std::to_string(bytes.size()) + (cut ? " cut " : " ")
           + bytes.substr(0, 40));
    };
    on.end_of_input = [tell] {
      tell("eof");
    };
    on.interrupt = [tell] {
      tell("interrupt");
    };
    on.written = [tell](uint64_t token, bool fine) {
      tell("written " + std::to_string(token) + (fine ? " fine" : " lost"));
    };
    on.ended = [tell] {
      tell("ended");
    };
    fault = port->start(on);
  }

  std::string wait_for(const std::string& what) {
    seen += read_until(events.read.get(), what + "\n");
    auto at = seen.find(what + "\n");
    if (at == std::string::npos)
      return seen;
    auto result = seen.substr(0, at + what.size());
    seen.erase(0, at + what.size() + 1);
    return result;
  }

  pipe_ends events;
  std::string seen;
  std::shared_ptr<console::console_port> port;
  std::optional<std::string> fault;
};

struct pipes_world {
  pipe_ends in = make_pipe();
  pipe_ends out = make_pipe();
  pipe_ends err = make_pipe();
  port_world world{{false, in.read.get(), out.write.get(), err.write.get()}};

  pipes_world() {
    // As in the product: a closed output is an error, not a death.
    signal(SIGPIPE, SIG_IGN);
  }
};

} // namespace

TEST_CASE("lines come as far as they are allowed") {
  pipes_world at;
  put(at.in.write.get(), "one\ntwo\nthr");
  at.world.port->allow(1);
  CHECK(at.world.wait_for("line 3 one") == "line 3 one");
  // The second line is there but not allowed: the write overtakes it.
  at.world.port->write(7, "x\n", "");
  CHECK(at.world.wait_for("written 7 fine") == "written 7 fine");
  at.world.port->allow(5);
  CHECK(at.world.wait_for("line 3 two") == "line 3 two");
  at.in.write.reset();
  CHECK(at.world.wait_for("eof") == "line 3 thr\neof");
  CHECK(read_until(at.out.read.get(), "x\n") == "x\n");
}

TEST_CASE("the end of the input waits for its last lines") {
  pipes_world at;
  put(at.in.write.get(), "one\ntwo\n");
  at.in.write.reset();
  at.world.port->allow(1);
  CHECK(at.world.wait_for("line 3 one") == "line 3 one");
  at.world.port->write(1, "x\n", "");
  CHECK(at.world.wait_for("written 1 fine") == "written 1 fine");
  at.world.port->allow(1);
  CHECK(at.world.wait_for("eof") == "line 3 two\neof");
}

TEST_CASE("a line of any length is cut at the bound") {
  pipes_world at;
  at.world.port->allow(2);
  std::string megabyte(1u << 20, 'x');
  put(at.in.write.get(), megabyte + "\nshort\n");
  auto told = at.world.wait_for("line 5 short");
  CHECK(told.starts_with(
    "line " + std::to_string(limits::message_text_bytes + 1) + " cut "));
}

TEST_CASE("output larger than a pipe arrives whole") {
  pipes_world at;
  std::string megabyte(1u << 20, 'y');
  at.world.port->write(1, megabyte + "\n", "note\n");
  auto got = read_until(at.out.read.get(), "\n");
  CHECK(got == megabyte + "\n");
  CHECK(at.world.wait_for("written 1 fine") == "written 1 fine");
  CHECK(read_until(at.err.read.get(), "\n") == "note\n");
}

TEST_CASE("a closed output is told") {
  pipes_world at;
  at.out.read.reset();
  at.world.port->write(3, "x\n", "");
  CHECK(at.world.wait_for("written 3 lost") == "written 3 lost");
}

TEST_CASE("a closed error stream costs no answer") {
  pipes_world at;
  at.err.read.reset();
  at.world.port->write(3, "x\n", "note\n");
  CHECK(at.world.wait_for("written 3 fine") == "written 3 fine");
}

TEST_CASE("stopping writes what was handed over, then ends") {
  pipes_world at;
  for (int i = 0; i < 100; ++i)
    at.world.port->write(0, std::to_string(i) + "\n", "");
  at.world.port->stop();
  at.world.wait_for("ended");
  at.out.write.reset();
  auto got = read_until(at.out.read.get(), "99\n");
  CHECK(got.starts_with("0\n1\n2\n"));
  CHECK(got.ends_with("98\n99\n"));
}

TEST_CASE("stopping does not wait long for an output that nobody reads") {
  pipes_world at;
  at.world.port->write(9, std::string(1u << 20, 'z') + "\n", "");
  at.world.port->stop();
  CHECK(at.world.wait_for("ended") == "written 9 lost\nended");
}

TEST_CASE("a pipe is no terminal") {
  auto in = make_pipe();
  auto out = make_pipe();
  port_world world{{true, in.read.get(), out.write.get(), out.write.get()}};
  REQUIRE(world.fault);
  CHECK(world.fault->find("no terminal") != std::string::npos);
}

TEST_CASE("a terminal edits lines, prints above the prompt, and knows ^C and "
          "^D") {
  owned master{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  REQUIRE(master.get() >= 0);
  REQUIRE(grantpt(master.get()) == 0);
  REQUIRE(unlockpt(master.get()) == 0);
  std::array<char, 128> device{};
  REQUIRE(ptsname_r(master.get(), device.data(), device.size()) == 0);
  owned terminal{open(device.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
  REQUIRE(terminal.get() >= 0);
  termios before{};
  REQUIRE(tcgetattr(terminal.get(), &before) == 0);
  {
    port_world world{{true, terminal.get(), terminal.get(), terminal.get()}};
    REQUIRE_FALSE(world.fault);
    world.port->prompt("local> ");
    CHECK(read_until(master.get(), "local> ").find("local> ")
          != std::string::npos);
    put(master.get(), "helxo");
    put(master.get(), "\x7f\x7f"
                      "lo\r");
    CHECK(world.wait_for("line 5 hello") == "line 5 hello");
    put(master.get(), "half");
    read_until(master.get(), "half");
    world.port->write(4, "answer\n", "");
    CHECK(world.wait_for("written 4 fine") == "written 4 fine");
    auto screen = read_until(master.get(), "half");
    CHECK(screen.find("answer") < screen.rfind("half"));
    put(master.get(), "\x03");
    CHECK(world.wait_for("interrupt") == "interrupt");
    put(master.get(), "\x15\x04");
    CHECK(world.wait_for("eof") == "eof");
    world.port->write(5, "bye\n", "");
    CHECK(world.wait_for("written 5 fine") == "written 5 fine");
    world.port->stop();
    CHECK(world.wait_for("ended") == "ended");
  }
  termios after{};
  REQUIRE(tcgetattr(terminal.get(), &after) == 0);
  CHECK(after.c_lflag == before.c_lflag);
  CHECK(after.c_iflag == before.c_iflag);
}
