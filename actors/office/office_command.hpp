#pragma once

#include "actors/office/registry_store.hpp"

#include <string>

namespace bureau::offices {

/// What a command prints and how it ends: 0 done, 1 refused.
struct command_result {
  std::string out;
  std::string err;
  int exit_code = 0;
};

/// `bureau office list|claim`, as the command line was understood.
struct office_command {
  /// list or claim.
  std::string action;
  std::string raw_id;
  std::string platform;
  /// Empty: the default.
  std::string state_dir;
  std::string workspace;
};

/// What a person reads whose claim was recorded.
std::string claim_confirmation(const office_address& claimed);

/// Runs the command beside a stopped node, or under the node's instance lock.
/// @param default_state_dir used without --state-dir; the workspace defaults to
///   its directory `workspace`
command_result run_office_command(const registry_ports& ports,
                                  const office_command& command,
                                  const std::string& default_state_dir);

} // namespace bureau::offices
