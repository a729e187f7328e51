#pragma once

#include "messages/errc.hpp"
#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/factories.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bureau::test {

/// One prepared end of a command.
struct exec_reply {
  exec_result result;
  /// Instead of the result: an error with this code and sentence.
  std::optional<errc> failure;
  std::string sentence;
  /// Virtual time the command runs.
  std::chrono::milliseconds delay{0};
  /// Runs until it is aborted or its timeout passes.
  bool hangs = false;
  /// Ignores abort and timeout, like a process the kernel cannot kill.
  bool deaf = false;
  /// The executor itself ends when the command comes.
  bool dies = false;
};

/// Builders of replies.
exec_reply prints(std::string out, int32_t code = 0);
exec_reply hangs(std::string out_so_far = {});
exec_reply refuses(errc code, std::string sentence);

/// An execution environment in memory: a map of files and prepared commands.
/// Copies share one script. For the deterministic coordinator only.
class scripted_executor {
public:
  scripted_executor();

  /// Puts a file at a runtime path.
  scripted_executor& put(const std::string& path, std::string bytes);
  /// Answers commands that contain `part`; the rule added first wins.
  scripted_executor& on(std::string part, exec_reply reply);
  /// Answers commands without a rule; otherwise they succeed and print nothing.
  scripted_executor& otherwise(exec_reply reply);
  /// Reads and writes of a path fail with this code.
  scripted_executor& break_path(const std::string& path, errc code);
  /// Reads and writes of a path are never answered.
  scripted_executor& stall_path(const std::string& path);
  /// The executor ends when this path is touched.
  scripted_executor& die_at_path(const std::string& path);

  executor_actor spawn(caf::actor_system& system) const;
  executor_factory factory() const;

  /// Where commands start, /workspace/office unless changed.
  static path_context paths();

  bool has_file(const std::string& path) const;
  /// Content of a file; empty when there is none.
  std::string file(const std::string& path) const;
  const std::map<std::string, std::string>& files() const;
  /// Every command so far.
  const std::vector<exec_request>& commands() const;
  /// Ids of aborts, unknown ones included.
  const std::vector<uint64_t>& aborts() const;
  /// Number of parts of multi-part writes.
  size_t parts() const;
  /// Commands that have not ended.
  size_t running() const;
  /// Environments made by the factory, in order.
  const std::vector<executor_args>& made() const;
  /// Executors that were asked to stop.
  size_t stopped() const;

  struct script;

private:
  std::shared_ptr<script> script_;
};

} // namespace bureau::test
