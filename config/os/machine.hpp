#pragma once

#include "messages/ports/file_system.hpp"

#include <cstdint>
#include <string>

namespace bureau::os {

/// What the process is and where it runs, read once at boot.
struct machine_facts {
  std::string working_dir;
  /// Home directory of the user database; HOME is the environment's affair.
  std::string home;
  std::string login;
  std::string host;
  int64_t pid = 0;
  uid_t euid = 0;
  /// Start time of this process in clock ticks since boot: with the boot id it
  /// names the process for all time.
  int64_t start_ticks = 0;
  std::string boot_id;
  bool stdin_is_terminal = false;
};

/// Reads the facts; what cannot be found stays empty.
machine_facts read_machine_facts(file_system& fs);

/// Field 22 of /proc/<pid>/stat; the command name in it may hold anything. 0
/// when the text is malformed.
int64_t start_ticks_of(const std::string& stat_text);

} // namespace bureau::os
