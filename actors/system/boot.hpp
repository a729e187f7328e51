#pragma once

#include "actors/io/process_reaper.hpp"
#include "actors/kit/log.hpp"
#include "config/boot_config.hpp"
#include "config/instance_lock.hpp"
#include "messages/codec/registry_file.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/file_system.hpp"
#include "messages/ports/wall_clock.hpp"
#include "sandbox/executor_factory.hpp"

#include <memory>
#include <string>
#include <vector>

/// The part of a boot that happens before there are actors: one thread that may
/// block, in a fixed order, each step needing the ones above it.
namespace bureau::system {

/// The operating system behind the ports.
struct boot_ports {
  std::shared_ptr<file_system> disk;
  std::shared_ptr<wall_clock> wall;
  std::shared_ptr<entropy> chance;
};

/// What the steps have found.
struct boot_result {
  /// Started before everything else; null when that failed.
  std::unique_ptr<io::process_reaper> reaper;
  boot_ports ports;
  std::shared_ptr<const config::boot_config> config;
  config::config_snapshot files;
  os::machine_facts machine;
  config::instance_lock lock;
  /// The registry as the migration left it.
  registry_state registry;
  /// Offices with unfinished work.
  std::vector<std::string> resume_keys;
  sandbox::sandbox_config sandbox;
  /// Where log lines go besides the console's own warnings; empty = nowhere.
  kit::log::line_sink log_tee;
};

/// Runs the steps: configuration files, placement, directories, log, lock,
/// journal replay, migration, sandbox detection. Nothing is made on the disk
/// before the configuration is known to be right.
/// @return empty, or the sentence that ends the boot with exit code 1
std::string prepare(const config::cli_plan& plan,
                    const config::environment& env, boot_result& result);

} // namespace bureau::system
