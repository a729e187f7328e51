#include "actors/system/boot.hpp"

#include "actors/io/journal_replay.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/log_file.hpp"
#include "actors/office/migration.hpp"
#include "actors/office/open_list.hpp"
#include "config/os/durable.hpp"
#include "config/os/posix_file_system.hpp"
#include "config/os/system_clock.hpp"
#include "config/os/system_entropy.hpp"

namespace bureau::system {

namespace {

namespace log = kit::log;

log::level level_of(const std::string& name) {
  if (name == "debug")
    return log::level::debug;
  if (name == "warning")
    return log::level::warning;
  if (name == "error")
    return log::level::error;
  return log::level::info;
}

void tell(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings)
    log::warning("config", warning);
}

std::string find_state_dir(const config::cli_plan& plan,
                           const config::environment& env, boot_result& result,
                           std::string& state_dir) {
  std::string fault;
  state_dir = config::resolve_state_dir(plan, env, result.machine, fault);
  if (!fault.empty())
    return fault;
  return os::check_state_dir(*result.ports.disk, state_dir,
                             result.machine.euid);
}

/// Only reads; nothing is made before everything is known to be right.
std::string read_configuration(const config::cli_plan& plan,
                               const config::environment& env,
                               const std::string& state_dir,
                               boot_result& result,
                               std::vector<std::string>& warnings) {
  auto& disk = *result.ports.disk;
  auto files = config::load_snapshot(disk, state_dir);
  if (!files)
    return files.fault;
  if (auto fault = config::check_conversations(disk, state_dir); !fault.empty())
    return fault;
  result.files = std::move(files.value);
  auto made = config::make_boot_config(plan, state_dir, env,
                                       *result.files.settings, result.machine);
  if (!made)
    return made.fault;
  result.config = std::move(made.value);
  warnings = std::move(files.warnings);
  warnings.insert(warnings.end(), made.warnings.begin(), made.warnings.end());
  return config::check_placement_on_disk(disk, state_dir,
                                         result.config->workspace_root);
}

std::string make_directories(const boot_result& result) {
  const auto& boot = *result.config;
  auto& disk = *result.ports.disk;
  if (auto fault =
        os::secure_state_dir(disk, boot.state_dir, result.machine.euid);
      !fault.empty())
    return fault;
  if (auto fault = config::prepare_workspace(disk, boot); !fault.empty())
    return fault;
  // Once more: now both are really there.
  return config::check_placement_on_disk(disk, boot.state_dir,
                                         boot.workspace_root);
}

std::string open_log(const config::boot_config& boot) {
  log::set_level(level_of(boot.log_level));
  if (!boot.log_file.empty() && !log::to_file(boot.log_file))
    return "cannot write the log file " + boot.log_file
           + "; choose another --log";
  return {};
}

std::string take_lock(boot_result& result) {
  std::string fault;
  result.lock = config::instance_lock::acquire(
    *result.ports.disk, result.config->state_dir, result.machine,
    result.ports.wall->now_ms(), fault);
  return fault;
}

std::string replay(boot_result& result) {
  const auto& boot = *result.config;
  auto& disk = *result.ports.disk;
  os::sweep_stale_temporaries(disk, boot.state_dir);
  // Before the frames go that say which offices were busy, the list does.
  auto keep = [&](const std::vector<io::journal_path>& targets) -> caf::error {
    std::vector<std::string> touched;
    for (const auto& target : targets)
      if (target.root == journal_root::state)
        touched.push_back(target.path);
    std::string fault;
    offices::extend_open_list(disk, *result.ports.chance, boot.state_dir,
                              touched, fault);
    return fault.empty() ? caf::error{} : make_failure(errc::disk, fault);
  };
  auto report =
    io::replay_journal(disk, boot.state_dir, boot.workspace_root, keep);
  if (report.failure)
    return sentence_of(report.failure);
  for (const auto& note : report.notes)
    log::warning("journal", note);
  if (report.frames > 0)
    log::info("journal", "the last end was not clean: "
                           + std::to_string(report.bytes_written)
                           + " bytes were brought up to date");
  auto open = offices::load_open_list(disk, boot.state_dir);
  if (!open.warning.empty())
    log::warning("offices", open.warning);
  result.resume_keys = std::move(open.keys);
  return {};
}

std::string migrate(boot_result& result) {
  const auto& boot = *result.config;
  std::vector<platform_id> enabled;
  // One that is switched off may have owned directories (decision A28).
  for (const auto& platform : boot.platforms)
    if (platform.enabled || platform.credentials)
      enabled.push_back(platform.id);
  offices::registry_ports ports{*result.ports.disk, *result.ports.chance,
                                *result.ports.wall};
  auto run =
    offices::migrate(ports, boot.workspace_root, boot.state_dir, enabled);
  if (!run.fault.empty())
    return run.fault;
  if (auto refusal = offices::boot_refusal(run.summary, boot.state_dir);
      !refusal.empty())
    return refusal;
  for (const auto& directory : run.ignored)
    log::info("migration", "left alone: " + directory);
  auto moved = run.summary.migrated.size() + run.summary.recovered.size();
  if (moved > 0)
    log::info("migration", "moved " + std::to_string(moved) + " offices");
  result.registry = std::move(run.registry);
  return {};
}

std::string detect(boot_result& result) {
  const auto& boot = *result.config;
  auto found = sandbox::detect_sandbox(*result.ports.disk, boot.place(),
                                       to_string(boot.sandbox.type),
                                       boot.sandbox_read_only);
  if (!found)
    return sentence_of(found.error());
  result.sandbox = std::move(*found);
  return {};
}

} // namespace

std::string prepare(const config::cli_plan& plan,
                    const config::environment& env, boot_result& result) {
  result.ports.disk = std::make_shared<os::posix_file_system>();
  result.ports.wall = std::make_shared<os::system_clock>();
  result.ports.chance = std::make_shared<os::system_entropy>();
  result.machine = os::read_machine_facts(*result.ports.disk);
  std::string state_dir;
  std::vector<std::string> warnings;
  if (auto fault = find_state_dir(plan, env, result, state_dir); !fault.empty())
    return fault;
  if (auto fault = read_configuration(plan, env, state_dir, result, warnings);
      !fault.empty())
    return fault;
  if (auto fault = make_directories(result); !fault.empty())
    return fault;
  if (auto fault = open_log(*result.config); !fault.empty())
    return fault;
  tell(warnings);
  if (auto fault = take_lock(result); !fault.empty())
    return fault;
  if (auto fault = replay(result); !fault.empty())
    return fault;
  if (auto fault = migrate(result); !fault.empty())
    return fault;
  return detect(result);
}

} // namespace bureau::system
