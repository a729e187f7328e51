#pragma once

#include "actors/io/files.hpp"
#include "actors/io/process_host.hpp"
#include "actors/kit/system_config.hpp"
#include "config/os/posix_file_system.hpp"
#include "config/os/system_entropy.hpp"
#include "sandbox/executor_factory.hpp"
#include "tests/sandbox/helpers.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace bureau::test {

/// Nothing here waits longer; what does is broken.
inline constexpr auto deadline = std::chrono::seconds{120};

/// A pipe with a name in a directory that a sandbox shows: a command writes to
/// it to say that it has come so far.
class milestone {
public:
  explicit milestone(std::string path);
  milestone(const milestone&) = delete;
  milestone& operator=(const milestone&) = delete;
  ~milestone();
  /// Waits for the next line written to it, newline not included.
  std::string line();

private:
  int fd_ = -1;
  std::string pending_;
};

/// Pids of the living processes of this machine whose command line, one
/// argument of it, equals `argument`.
std::vector<int> processes_with_argument(const std::string& argument);

/// Waits until no such process is left. @return false at the deadline
bool all_gone(const std::string& argument);

/// The arguments and the environment of every process whose command line holds
/// `marker`, as one text each.
std::string shown_of_processes(const std::string& marker);

/// Number of threads of this process.
size_t thread_count();

/// A node's worth of real services around one workspace: threads, the process
/// loop, the file pool, and bubblewrap as this host has it.
class real_world {
public:
  real_world();
  ~real_world();
  real_world(const real_world&) = delete;
  real_world& operator=(const real_world&) = delete;

  /// An executor for a conversation of this workspace; see `args_for`.
  executor_actor make(const executor_args& args);
  executor_actor make(const std::string& conversation = "local");

  executor_args args_for(const std::string& conversation,
                         const std::string& door_policy = "isolated",
                         const std::string& layout = "conversation") const;

  answer<exec_result> run(const executor_actor& executor, std::string command,
                          int64_t timeout_ms = 0, std::string cwd = {});

  /// Runs a command that must succeed and answers its output.
  std::string out_of(const executor_actor& executor, std::string command);

  /// Starts a command; `await` has its end.
  auto start(const executor_actor& executor, uint64_t id, std::string command,
             int64_t timeout_ms = 0) {
    exec_request request;
    request.id = id;
    request.command = std::move(command);
    request.timeout_ms = timeout_ms;
    return self->request(executor, deadline, atom::exec_v, std::move(request));
  }

  template <class T, class Pending>
  answer<T> await(Pending& pending) {
    answer<T> result;
    pending.receive([&](const T& value) { result.value = value; },
                    [&](const caf::error& fault) {
                      result.code = code_of(fault);
                      result.sentence = sentence_of(fault);
                    });
    return result;
  }

  template <class T, class Handle, class... Args>
  answer<T> call(const Handle& receiver, Args&&... xs) {
    auto pending = self->request(receiver, deadline, std::forward<Args>(xs)...);
    return await<T>(pending);
  }

  void abort(const executor_actor& executor, uint64_t id);

  uint64_t fresh_id() { return ++last_id_; }

  own_directory directory;
  workspace ws;
  kit::system_config config{4};
  caf::actor_system system;
  caf::scoped_actor self;
  io::process_service processes;
  sandbox::executor_deps deps;
  sandbox::sandbox_config sandbox;

private:
  std::vector<executor_actor> made_;
  uint64_t last_id_ = 1'000'000;
};

} // namespace bureau::test
