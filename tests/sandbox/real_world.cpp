#include "tests/sandbox/real_world.hpp"

#include "actors/io/pidfd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace bureau::test {

namespace {

using steady = std::chrono::steady_clock;

/// Waits for a descriptor. @return false at the deadline
bool wait_for(int fd, short events, steady::time_point until) {
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - steady::now());
    if (left.count() <= 0)
      return false;
    struct pollfd wanted {
      fd, events, 0
    };
    auto ready = ::poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

/// Blocks SIGCHLD before any thread of the node exists.
caf::actor_system_config& quiet(kit::system_config& config) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return config;
}

template <class Visit>
void for_each_process(Visit visit) {
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc", ignored)) {
    auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos)
      visit(std::stoi(name), content_of(entry.path().string() + "/cmdline"));
  }
}

} // namespace

milestone::milestone(std::string path) {
  std::filesystem::create_directories(
    std::filesystem::path{path}.parent_path());
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  // Writing too, so that the end of one writer is not the end of the pipe.
  fd_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(fd_ >= 0);
}

milestone::~milestone() {
  ::close(fd_);
}

std::string milestone::line() {
  auto until = steady::now() + deadline;
  for (;;) {
    if (auto end = pending_.find('\n'); end != std::string::npos) {
      auto result = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return result;
    }
    REQUIRE(wait_for(fd_, POLLIN, until));
    char buffer[256];
    auto got = ::read(fd_, buffer, sizeof(buffer));
    if (got > 0)
      pending_.append(buffer, static_cast<size_t>(got));
  }
}

std::vector<int> processes_with_argument(const std::string& argument) {
  std::vector<int> found;
  for_each_process([&](int pid, const std::string& line) {
    auto framed = '\0' + line;
    if (framed.find('\0' + argument + '\0') != std::string::npos)
      found.push_back(pid);
  });
  return found;
}

bool all_gone(const std::string& argument) {
  auto until = steady::now() + deadline;
  for (;;) {
    auto left = processes_with_argument(argument);
    if (left.empty())
      return true;
    for (auto pid : left) {
      auto fd = io::open_pidfd(pid);
      if (fd < 0)
        continue;
      auto ended = wait_for(fd, POLLIN, until);
      ::close(fd);
      if (!ended)
        return false;
    }
  }
}

std::string shown_of_processes(const std::string& marker) {
  std::string shown;
  for_each_process([&](int pid, const std::string& line) {
    if (pid != ::getpid() && contains(line, marker))
      shown += line + "\n"
               + content_of("/proc/" + std::to_string(pid) + "/environ") + "\n";
  });
  return shown;
}

size_t thread_count() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

real_world::real_world()
  : ws(make_workspace(directory.path + "/ws", directory.path + "/state")),
    system(quiet(config)), self(system, true) {
  std::filesystem::create_directories(ws.root);
  std::filesystem::create_directories(ws.state_dir);
  auto fs = std::make_shared<os::posix_file_system>();
  deps.chance = std::make_shared<os::system_entropy>();
  processes = io::start_processes(system, {});
  deps.processes = processes.host;
  deps.files = io::spawn_files(system, fs, deps.chance, {});
  auto detected = sandbox::detect_sandbox(*fs, ws, "bwrap");
  REQUIRE(detected);
  sandbox = std::move(*detected);
}

real_world::~real_world() {
  auto stop = [&](const auto& actor) {
    self->request(actor, deadline, atom::stop_v)
      .receive([](caf::ok_atom) {}, [](const caf::error&) {});
  };
  for (const auto& executor : made_)
    stop(executor);
  made_.clear();
  stop(deps.files);
  stop(deps.processes);
  processes.loop->join();
  processes = {};
  deps = {};
}

executor_args real_world::args_for(const std::string& conversation,
                                   const std::string& door_policy,
                                   const std::string& layout) const {
  executor_args args;
  args.ws = ws;
  args.place = make_office(ws, {platform_id::console, conversation});
  args.door_policy = door_policy;
  args.layout = layout;
  return args;
}

executor_actor real_world::make(const executor_args& args) {
  made_.push_back(sandbox::make_executor_factory(sandbox, deps)(system, args));
  return made_.back();
}

executor_actor real_world::make(const std::string& conversation) {
  return make(args_for(conversation));
}

answer<exec_result> real_world::run(const executor_actor& executor,
                                    std::string command, int64_t timeout_ms,
                                    std::string cwd) {
  exec_request request;
  request.id = fresh_id();
  request.command = std::move(command);
  request.timeout_ms = timeout_ms;
  request.cwd = std::move(cwd);
  return call<exec_result>(executor, atom::exec_v, std::move(request));
}

std::string real_world::out_of(const executor_actor& executor,
                               std::string command) {
  CAPTURE(command);
  auto got = run(executor, std::move(command));
  CAPTURE(got.sentence);
  REQUIRE(got.value);
  CAPTURE(got.value->err);
  CHECK(got.value->code == 0);
  return got.value->out;
}

void real_world::abort(const executor_actor& executor, uint64_t id) {
  self->send<caf::message_priority::high>(executor, atom::abort_v, id);
}

} // namespace bureau::test
