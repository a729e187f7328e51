#include "actors/io/process_reaper.hpp"

#include "actors/io/pidfd.hpp"
#include "actors/io/process_host.hpp"
#include "actors/io/process_spawn.hpp"
#include "actors/kit/log.hpp"
#include "tests/io/real_system.hpp"
#include "tests/support/scratch_directory.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <set>
#include <vector>

using namespace bureau;

namespace {

constexpr int patience_ms =
  static_cast<int>(std::chrono::milliseconds{test::patience}.count());

bool is_readable(int fd, int wait_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, wait_ms) == 1;
}

/// A pipe with a name. Everybody whom a test asks about holds its writing end:
/// its end says that nobody of them is left.
class lifeline {
public:
  lifeline() {
    auto path = scratch_ / "line";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    reading_ =
      io::owned_fd{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    REQUIRE(reading_);
  }

  /// A child that holds it, says one byte and stays.
  proc_spec holder(const std::string& before = {}) const {
    proc_spec spec;
    spec.id = 1;
    spec.argv = {"/bin/sh", "-c", before + "echo x >&3; exec sleep 1000"};
    spec.env = {{"PATH", "/usr/bin:/bin", false}};
    spec.fds = {
      {3, fd_kind::open_beneath, {}, scratch_.path(), "line", O_WRONLY}};
    return spec;
  }

  /// Waits until that many holders have spoken.
  void wait_for(size_t count) const {
    char word[2];
    for (size_t heard = 0; heard < count; ++heard) {
      REQUIRE(is_readable(reading_.get(), patience_ms));
      REQUIRE(::read(reading_.get(), word, sizeof word) == sizeof word);
    }
  }

  bool held() const {
    pollfd entry{reading_.get(), POLLIN, 0};
    ::poll(&entry, 1, 0);
    return (entry.revents & POLLHUP) == 0;
  }

  /// Waits until nobody holds it, bounded. @return whether that came
  bool ends() const {
    std::string rest(4096, '\0');
    while (is_readable(reading_.get(), patience_ms))
      if (::read(reading_.get(), rest.data(), rest.size()) == 0)
        return true;
    return false;
  }

private:
  test::scratch_directory scratch_;
  io::owned_fd reading_;
};

/// A process with a reaper that starts children as a node does, until it is
/// killed.
class doomed_node {
public:
  using life = std::function<void(io::process_reaper&)>;

  explicit doomed_node(const life& live) {
    int news[2];
    REQUIRE(::pipe2(news, O_CLOEXEC) == 0);
    io::owned_fd reading{news[0]};
    io::owned_fd writing{news[1]};
    pid_ = ::fork();
    if (pid_ == 0) {
      auto reaper = io::process_reaper::start();
      auto number = reaper ? reaper->pid() : 0;
      if (::write(writing.get(), &number, sizeof number) == sizeof number)
        live(*reaper);
      for (;;)
        ::pause();
    }
    REQUIRE(pid_ > 0);
    pid_t reaper = 0;
    REQUIRE(::read(reading.get(), &reaper, sizeof reaper) == sizeof reaper);
    REQUIRE(reaper > 0);
    reaper_ = io::owned_fd{io::open_pidfd(reaper)};
    REQUIRE(reaper_);
  }
  doomed_node(const doomed_node&) = delete;
  doomed_node& operator=(const doomed_node&) = delete;
  ~doomed_node() { kill(); }

  void kill() {
    if (pid_ == 0)
      return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

  /// Waits until the reaper has done its work, bounded.
  bool is_reaped() const { return is_readable(reaper_.get(), patience_ms); }

private:
  pid_t pid_ = 0;
  io::owned_fd reaper_;
};

/// Warnings of the log, counted instead of shown.
class counted_warnings {
public:
  counted_warnings() {
    kit::log::set_level(kit::log::level::warning);
    kit::log::to_sink([this](kit::log::level severity, std::string_view) {
      if (severity == kit::log::level::warning)
        ++count_;
    });
  }
  counted_warnings(const counted_warnings&) = delete;
  counted_warnings& operator=(const counted_warnings&) = delete;
  ~counted_warnings() {
    kit::log::to_stderr();
    kit::log::set_level(kit::log::level::off);
  }
  size_t count() const { return count_; }

private:
  std::atomic<size_t> count_ = 0;
};

std::string field_of(const std::string& status, const std::string& name) {
  auto begin = status.find(name + ":\t");
  if (begin == std::string::npos)
    return {};
  begin += name.size() + 2;
  return status.substr(begin, status.find('\n', begin) - begin);
}

} // namespace

TEST_CASE("a killed node takes its groups along") {
  lifeline line;
  doomed_node node{[&](io::process_reaper& reaper) {
    io::spawn_child(line.holder("sleep 1000 & "), &reaper);
    ::pause();
  }};
  line.wait_for(1);
  node.kill();
  CHECK(line.ends());
  CHECK(node.is_reaped());
}

TEST_CASE("a killed node takes tagged escapees along") {
  lifeline line;
  doomed_node node{[&](io::process_reaper& reaper) {
    auto spec = line.holder("setsid sleep 1000 & ");
    spec.exec_tag = "reaped-" + std::to_string(::getpid());
    spec.env.push_back({"BUREAU_EXEC_ID", spec.exec_tag, false});
    io::spawn_child(spec, &reaper);
    ::pause();
  }};
  line.wait_for(1);
  node.kill();
  CHECK(line.ends());
}

TEST_CASE("a node killed while it starts children leaves none") {
  // Wherever it is just then: a child says itself that it was born.
  for (size_t round = 0; round < 40; ++round) {
    CAPTURE(round);
    lifeline line;
    doomed_node node{[&](io::process_reaper& reaper) {
      std::vector<io::spawned_child> kept;
      while (kept.size() < 100)
        kept.push_back(io::spawn_child(line.holder(), &reaper));
      ::pause();
    }};
    line.wait_for(1 + round % 5);
    node.kill();
    REQUIRE(line.ends());
  }
}

TEST_CASE("what is left of an ended group outlives a killed node") {
  lifeline line;
  int numbers[2];
  REQUIRE(::pipe2(numbers, O_CLOEXEC) == 0);
  doomed_node node{[&](io::process_reaper& reaper) {
    auto child = io::spawn_child(line.holder(), &reaper);
    reaper.ended(child.pid);
    [[maybe_unused]] auto told =
      ::write(numbers[1], &child.pid, sizeof child.pid);
    ::pause();
  }};
  line.wait_for(1);
  pid_t group = 0;
  REQUIRE(::read(numbers[0], &group, sizeof group) == sizeof group);
  node.kill();
  CHECK(node.is_reaped());
  CHECK(line.held());
  ::kill(-group, SIGKILL);
  CHECK(line.ends());
  ::close(numbers[0]);
  ::close(numbers[1]);
}

TEST_CASE("a reaper holds nothing of its node and hears no signal") {
  // Not close-on-exec, as whoever starts a node may leave one.
  int inherited[2];
  REQUIRE(::pipe(inherited) == 0);
  auto reaper = io::process_reaper::start();
  REQUIRE(reaper);
  ::close(inherited[1]);
  // Its last step: nobody else holds this pipe now.
  REQUIRE(is_readable(inherited[0], patience_ms));
  ::close(inherited[0]);
  auto place = "/proc/" + std::to_string(reaper->pid());
  std::set<std::string> open;
  for (const auto& entry : std::filesystem::directory_iterator{place + "/fd"})
    open.insert(entry.path().filename());
  CHECK(open == std::set<std::string>{"0", "1", "2", "3"});
  for (auto standard : {"/fd/0", "/fd/1", "/fd/2"})
    CHECK(std::filesystem::read_symlink(place + standard) == "/dev/null");
  CHECK(std::filesystem::read_symlink(place + "/cwd") == "/");
  CHECK(::getsid(reaper->pid()) == reaper->pid());
  auto status = test::get_file(place + "/status");
  CHECK(field_of(status, "Name") == "bureau-reaper");
  // All but SIGKILL, SIGSTOP and the two of the C library.
  CHECK(field_of(status, "SigBlk") == "fffffffe7ffbfeff");
}

TEST_CASE("a reaper ends with its owner, and nobody is left to wait for") {
  auto reaper = io::process_reaper::start();
  REQUIRE(reaper);
  auto pid = reaper->pid();
  reaper.reset();
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("a node whose reaper is gone goes on with one warning") {
  counted_warnings warnings;
  auto reaper = io::process_reaper::start();
  REQUIRE(reaper);
  {
    test::real_system world;
    auto service = io::start_processes(world.system, {}, reaper.get());
    proc_spec spec;
    spec.argv = {"/bin/ls", "-1", "/proc/self/fd"};
    auto run = [&] {
      ++spec.id;
      auto result =
        world.result_of<proc_result>(service.host, atom::run_v, spec);
      return result ? result->out : sentence_of(result.error());
    };
    // A child knows nothing of the reaper.
    CHECK(run() == "0\n1\n2\n3\n");
    CHECK(warnings.count() == 0);
    io::owned_fd handle{io::open_pidfd(reaper->pid())};
    ::kill(reaper->pid(), SIGKILL);
    REQUIRE(is_readable(handle.get(), patience_ms));
    for (auto i = 0; i < 3; ++i)
      CHECK(run() == "0\n1\n2\n3\n");
    CHECK(warnings.count() == 1);
    world.result_of<caf::ok_atom>(service.host, atom::stop_v);
    service.loop->join();
  }
  reaper.reset();
  CHECK(warnings.count() == 1);
}

TEST_CASE("a reaper that does not listen holds nobody up") {
  counted_warnings warnings;
  // Above every number that the kernel gives.
  constexpr pid_t nobody = 1 << 30;
  auto reaper = io::process_reaper::start();
  REQUIRE(reaper);
  io::owned_fd handle{io::open_pidfd(reaper->pid())};
  ::kill(reaper->pid(), SIGSTOP);
  size_t notices = 0;
  while (reaper->notice_fd() >= 0 && ++notices < 100'000)
    reaper->begun(nobody, "");
  // The pipe is full; order is kept for those that come now.
  CHECK(notices < 100'000);
  SUBCASE("and hears the rest when it wakes up") {
    reaper->ended(nobody);
    CHECK(warnings.count() == 0);
    ::kill(reaper->pid(), SIGCONT);
  }
  SUBCASE("and is given up in the end") {
    for (size_t i = 0; i < 10'000; ++i)
      reaper->ended(nobody);
    CHECK(warnings.count() == 1);
    CHECK(is_readable(handle.get(), patience_ms));
  }
  SUBCASE("and does not act on half of it") {
    reaper->ended(nobody);
  }
  reaper.reset();
  CHECK(is_readable(handle.get(), patience_ms));
}
