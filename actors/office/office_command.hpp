#pragma once

#include "actors/office/registry_store.hpp"

#include <string>
#include <vector>

namespace bureau::offices {

/// What a command prints and how it ends: 0 done, 1 refused, 2 usage.
struct command_result {
  std::string out;
  std::string err;
  int exit_code = 0;
};

/// `bureau office list|claim` taken apart.
struct office_command {
  /// list, claim; empty for a usage error.
  std::string action;
  std::string raw_id;
  std::string platform;
  /// Empty: the default.
  std::string state_dir;
  std::string workspace;
};

/// Reads the words after `office`. `--` ends the flags and `-<digits>` is an
/// operand, because Telegram group ids are negative.
office_command parse_office_command(const std::vector<std::string>& words);

/// Runs the command beside a stopped node, or under the node's instance lock.
/// @param default_state_dir used without --state-dir; the workspace defaults to
///   its directory `workspace`
command_result run_office_command(const registry_ports& ports,
                                  const office_command& command,
                                  const std::string& default_state_dir);

} // namespace bureau::offices
