#include "adapters/console/console_thread.hpp"

#include "adapters/console/row_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace bureau;
using namespace std::chrono_literals;

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
/// @param result what was read before
std::string read_until(int fd, const std::string& part,
                       std::string result = {}) {
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
  port_world world{
    {false, in.read.get(), out.write.get(), err.write.get(), 300ms}};

  pipes_world() {
    // As in the product: a closed output is an error, not a death.
    signal(SIGPIPE, SIG_IGN);
  }
};

size_t cost_of(std::string_view line) {
  return line.size() + limits::console_line_cost;
}

} // namespace

TEST_CASE("lines come as far as they are allowed") {
  pipes_world at;
  put(at.in.write.get(), "one\ntwo\nthr");
  at.world.port->allow(cost_of("one"));
  CHECK(at.world.wait_for("line 3 one") == "line 3 one");
  // The second line is there but not allowed: the write overtakes it.
  at.world.port->write(7, "x\n", "");
  CHECK(at.world.wait_for("written 7 fine") == "written 7 fine");
  at.world.port->allow(1000);
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
  // The first one counted more than it was allowed.
  at.world.port->allow(cost_of("one"));
  CHECK(at.world.wait_for("eof") == "line 3 two\neof");
}

TEST_CASE("a line of any length is cut at the bound") {
  pipes_world at;
  at.world.port->allow(1u << 20);
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

TEST_CASE("near the end an output that nobody reads is given up, for good") {
  pipes_world at;
  at.world.port->write(9, std::string(1u << 20, 'z') + "\n", "");
  at.world.port->write(10, "x\n", "");
  at.world.port->hurry();
  CHECK(at.world.wait_for("written 9 lost") == "written 9 lost");
  // Half a line is out; nothing may follow it.
  CHECK(at.world.wait_for("written 10 lost") == "written 10 lost");
  at.out.write.reset();
  at.world.port->stop();
  CHECK(at.world.wait_for("ended") == "ended");
}

TEST_CASE("near the end a slow reader still gets everything") {
  pipes_world at;
  std::string text(1u << 20, 'z');
  at.world.port->write(9, text + "\n", "");
  at.world.port->hurry();
  CHECK(read_until(at.out.read.get(), "\n") == text + "\n");
  CHECK(at.world.wait_for("written 9 fine") == "written 9 fine");
}

TEST_CASE("a pipe is read while nobody reads what is written") {
  pipes_world at;
  at.world.port->allow(1000);
  at.world.port->write(9, std::string(1u << 20, 'z') + "\n", "");
  put(at.in.write.get(), "stop\n");
  CHECK(at.world.wait_for("line 4 stop") == "line 4 stop");
  at.in.write.reset();
  CHECK(at.world.wait_for("eof") == "eof");
  at.out.read.reset();
}

TEST_CASE("a line that came before a write is told before its end") {
  pipes_world at;
  put(at.in.write.get(), "stop\nnext\n");
  at.world.port->allow(1);
  CHECK(at.world.wait_for("line 4 stop") == "line 4 stop");
  at.world.port->write(9, std::string(1u << 20, 'z') + "\n", "");
  at.world.port->allow(1000);
  CHECK(at.world.wait_for("line 4 next") == "line 4 next");
  at.in.write.reset();
  CHECK(at.world.wait_for("eof") == "eof");
  at.out.read.reset();
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

namespace {

/// What a terminal of some width shows of the bytes it was sent.
class small_screen {
public:
  explicit small_screen(size_t columns) : columns_(columns) {}

  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      if (bytes.starts_with("\x1b[")) {
        auto end = bytes.find_first_not_of("0123456789;?", 2);
        if (end == std::string_view::npos)
          return;
        steer(bytes[end], bytes.substr(2, end - 2));
        bytes.remove_prefix(end + 1);
        continue;
      }
      put(bytes.front());
      bytes.remove_prefix(1);
    }
  }

  /// The rows without trailing blanks, and without empty rows at the end.
  std::vector<std::string> rows() const {
    auto result = rows_;
    for (auto& row : result)
      row.erase(row.find_last_not_of(' ') + 1);
    while (!result.empty() && result.back().empty())
      result.pop_back();
    return result;
  }

private:
  std::string& row() {
    if (rows_.size() <= at_)
      rows_.resize(at_ + 1);
    rows_[at_].resize(columns_, ' ');
    return rows_[at_];
  }

  void put(char c) {
    switch (c) {
    case '\r':
      column_ = 0;
      return;
    case '\n':
      ++at_;
      return;
    case '\b':
      column_ -= column_ > 0 ? 1 : 0;
      return;
    case '\a':
      return;
    default:
      // The next row begins with the next character.
      if (column_ == columns_) {
        ++at_;
        column_ = 0;
      }
      row()[column_++] = c;
    }
  }

  void steer(char what, std::string_view argument) {
    auto number =
      argument.empty() ? size_t{1} : std::stoul(std::string{argument});
    if (what == 'A')
      at_ -= std::min(at_, number);
    else if (what == 'G')
      column_ = number - 1;
    else if (what == 'C')
      column_ += number;
    else if (what == 'K' || what == 'J')
      row().replace(column_, std::string::npos, columns_ - column_, ' ');
    if (what == 'J')
      rows_.resize(at_ + 1);
  }

  size_t columns_;
  std::vector<std::string> rows_;
  size_t at_ = 0;
  size_t column_ = 0;
};

/// A terminal of 20 columns with the port on it.
struct terminal_world {
  owned master{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  owned terminal;
  termios before{};
  std::optional<port_world> world;
  small_screen screen{20};
  /// Read, and not yet asked for.
  std::string ahead;

  terminal_world() {
    setenv("TERM", "xterm", 1);
    REQUIRE(master.get() >= 0);
    REQUIRE(grantpt(master.get()) == 0);
    REQUIRE(unlockpt(master.get()) == 0);
    std::array<char, 128> device{};
    REQUIRE(ptsname_r(master.get(), device.data(), device.size()) == 0);
    terminal = owned{open(device.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
    REQUIRE(terminal.get() >= 0);
    REQUIRE(tcgetattr(terminal.get(), &before) == 0);
    winsize size{24, 20, 0, 0};
    REQUIRE(ioctl(master.get(), TIOCSWINSZ, &size) == 0);
    auto fd = terminal.get();
    world.emplace(console::console_streams{true, fd, fd, fd});
    REQUIRE_FALSE(world->fault);
    world->port->prompt("local> ");
    see("local> ");
  }

  void type(std::string_view keys) { put(master.get(), keys); }

  /// Reads what the terminal is sent until this appears.
  std::string see(const std::string& part) {
    ahead = read_until(master.get(), part, std::move(ahead));
    auto at = ahead.find(part);
    CHECK(at != std::string::npos);
    auto bytes =
      ahead.substr(0, at == std::string::npos ? at : at + part.size());
    ahead.erase(0, bytes.size());
    screen.feed(bytes);
    return bytes;
  }
};

using rows = std::vector<std::string>;

} // namespace

TEST_CASE("a terminal edits lines, prints above the prompt, and knows ^C and "
          "^D") {
  terminal_world at;
  auto& world = *at.world;
  at.type("helxo");
  at.type("\x7f\x7f"
          "lo\r");
  CHECK(world.wait_for("line 5 hello") == "line 5 hello");
  at.type("half");
  at.see("half");
  world.port->write(4, "answer\n", "");
  CHECK(world.wait_for("written 4 fine") == "written 4 fine");
  auto screen = at.see("half");
  CHECK(screen.find("answer") < screen.rfind("half"));
  at.type("\x03");
  CHECK(world.wait_for("interrupt") == "interrupt");
  at.type("\x15\x04");
  CHECK(world.wait_for("eof") == "eof");
  world.port->write(5, "bye\n", "");
  CHECK(world.wait_for("written 5 fine") == "written 5 fine");
  world.port->stop();
  CHECK(world.wait_for("ended") == "ended");
  at.world.reset();
  termios after{};
  REQUIRE(tcgetattr(at.terminal.get(), &after) == 0);
  CHECK(after.c_lflag == at.before.c_lflag);
  CHECK(after.c_iflag == at.before.c_iflag);
}

TEST_CASE("^D deletes forward within a line and does nothing at its end") {
  terminal_world at;
  // To the beginning, two to the right, delete, to the end, and once more.
  at.type("hexllo\x01\x06\x06\x04\x05\x04\r");
  CHECK(at.world->wait_for("line 5 hello") == "line 5 hello");
  at.type("x\x01\x04\x04");
  CHECK(at.world->wait_for("eof") == "eof");
}

TEST_CASE("a line that was sent can be fetched back") {
  terminal_world at;
  at.type("one\rtwo\r");
  CHECK(at.world->wait_for("line 3 two") == "line 3 one\nline 3 two");
  at.type("\x10\x10!\r");
  CHECK(at.world->wait_for("line 4 one!") == "line 4 one!");
}

TEST_CASE("a terminal that is gone is the end of the input") {
  terminal_world at;
  at.type("half");
  at.see("half");
  at.master.reset();
  CHECK(at.world->wait_for("eof") == "eof");
}

TEST_CASE("what is printed takes the place of a line of several rows") {
  terminal_world at;
  auto& world = *at.world;
  at.type("aaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbcccccx");
  at.see("x");
  rows typed = {"local> aaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb", "cccccx"};
  CHECK(at.screen.rows() == typed);
  auto print = [&](const std::string& seen_last) {
    world.port->write(1, "answer\n", "");
    at.see("answer");
    at.see(seen_last);
  };
  SUBCASE("the cursor at its end") {
    print("x");
    typed.insert(typed.begin(), "answer");
    CHECK(at.screen.rows() == typed);
  }
  SUBCASE("the cursor in its first row") {
    at.type("\x01Z");
    at.see("Z");
    print("x");
    CHECK(at.screen.rows()
          == rows{"answer", "local> Zaaaaaaaaaaaa", "abbbbbbbbbbbbbbbbbbb",
                  "bcccccx"});
  }
  SUBCASE("the line emptied") {
    at.type("\x15Z");
    at.see("Z");
    print("Z");
    CHECK(at.screen.rows() == rows{"answer", "local> Z"});
  }
  SUBCASE("the line thrown away") {
    at.type("\x03");
    CHECK(world.wait_for("interrupt") == "interrupt");
    print("local> ");
    CHECK(at.screen.rows() == rows{"answer", "local>"});
  }
}

TEST_CASE("a row that is just full has its cursor in the next one") {
  terminal_world at;
  at.type("aaaaaaaaaaaaz");
  at.see("z");
  at.world->port->write(1, "answer\n", "");
  at.see("answer");
  at.see("z");
  CHECK(at.screen.rows() == rows{"answer", "local> aaaaaaaaaaaaz"});
}

TEST_CASE("the row of the cursor") {
  setlocale(LC_CTYPE, "C.UTF-8");
  struct row {
    const wchar_t* shown;
    size_t expected;
  };
  const row table[] = {
    {L"", 0},
    {L"123456789", 0},
    {L"1234567890", 1},
    {L"12345678901", 1},
    {L"12345678901234567890", 2},
    // Wide characters are not split.
    {L"12345678\u4E2D", 1},
    {L"123456789\u4E2D", 1},
    {L"123456789\u4E2D4567890", 1},
    {L"123456789\u4E2D45678901", 2},
    // é as one character, and as two.
    {L"12345678\u00E9", 0},
    {L"12345678e\u0301", 0},
    // ^A takes two columns, a tab goes on to the next stop.
    {L"12345678\x01", 1},
    {L"1\t", 0},
    {L"12345678\t", 1},
  };
  for (const auto& row : table) {
    CAPTURE(std::wstring_view{row.shown}.size());
    CHECK(console::cursor_row(row.shown, 10) == row.expected);
  }
  CHECK(console::cursor_row(L"x", 0) == 0);
}
