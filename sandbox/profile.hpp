#pragma once

#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/process.hpp"
#include "sandbox/path_core.hpp"
#include "sandbox/result_core.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bureau::sandbox {

/// One shell program to run.
struct command_text {
  std::string command;
  /// Runtime directory; empty = the backend's default.
  std::string cwd;
  bool has_stdin = false;
  std::string stdin_bytes;
  uint64_t cap_out = limits::exec_output_bytes;
  uint64_t cap_err = limits::exec_output_bytes;
  /// Unique text; backends whose processes can leave their group mark them.
  std::string tag;
  /// Variables of this command alone.
  contracts::tool_environment environment{};
};

/// A process to start, or why there is none.
struct checked_spec {
  proc_spec spec;
  errc fault = errc::none;
  std::string sentence;
};

/// What distinguishes one backend from another: a pure description that the
/// executor actor carries out. Implementations are immutable and shared.
class profile {
public:
  virtual ~profile() = default;

  /// Backend, network, and whether runs must be refused.
  virtual const executor_info& info() const = 0;

  virtual const path_context& paths() const = 0;

  /// Instance label `executor/<office key>`.
  virtual const std::string& label() const = 0;

  /// File jobs that must succeed, in this order, before the first command.
  virtual std::vector<file_job> preparation() const = 0;

  /// Everything of the process but its id.
  virtual checked_spec command(const command_text& text) const = 0;

  virtual command_end interpret(kill_cause cause, int64_t timeout_ms,
                                std::string_view cwd,
                                const proc_result& result) const = 0;

  virtual file_route route(std::string_view path, file_access access) const = 0;
};

/// Rules that every backend has for a command: not too long for one argument,
/// no NUL in it or in its directory.
checked_spec check_command(const command_text& text);

} // namespace bureau::sandbox
