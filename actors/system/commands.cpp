#include "actors/system/commands.hpp"

#include "actors/office/office_command.hpp"
#include "actors/system/control_commands.hpp"
#include "config/boot_config.hpp"
#include "config/instance_lock.hpp"
#include "config/os/machine.hpp"
#include "config/os/posix_file_system.hpp"
#include "config/os/system_clock.hpp"
#include "config/os/system_entropy.hpp"

#include <cstdio>

namespace bureau::system {

namespace {

/// Prints a sentence and answers the code of a failure.
int refuse(const std::string& sentence) {
  std::fprintf(stderr, "bureau: %s\n", sentence.c_str());
  return config::exit_failure;
}

} // namespace

int office_command(const config::cli_plan& plan,
                   const config::environment& env) {
  if (plan.office.action == config::office_action::show)
    return office_show_command(plan, env);
  os::posix_file_system disk;
  os::system_clock wall;
  os::system_entropy chance;
  auto machine = os::read_machine_facts(disk);
  std::string fault;
  auto state_dir = config::resolve_state_dir(plan, env, machine, fault);
  if (!fault.empty())
    return refuse(fault);
  auto claims = plan.office.action == config::office_action::claim;
  config::instance_lock lock;
  if (claims) {
    // A running node owns the registry; it cannot be changed beside it.
    lock = config::instance_lock::acquire(disk, state_dir, machine,
                                          wall.now_ms(), fault);
    if (!lock)
      return refuse(fault);
  }
  offices::office_command command;
  command.action = claims ? "claim" : "list";
  command.raw_id = plan.office.raw_id;
  command.platform = to_string(plan.office.platform);
  command.state_dir = state_dir;
  command.workspace = plan.workspace.value_or(std::string{});
  offices::registry_ports ports{disk, chance, wall};
  auto result = offices::run_office_command(ports, command, state_dir);
  std::fputs(result.out.c_str(), stdout);
  std::fputs(result.err.c_str(), stderr);
  return result.exit_code;
}

int env_command(const config::cli_plan& plan, const config::environment& env) {
  os::posix_file_system disk;
  auto machine = os::read_machine_facts(disk);
  std::string fault;
  auto state_dir = config::resolve_state_dir(plan, env, machine, fault);
  if (!fault.empty())
    return refuse(fault);
  auto settings = config::load_settings(disk, config::settings_path(state_dir),
                                        config::settings_file_kind::global);
  if (!settings)
    return refuse(settings.fault);
  std::fputs(config::env_report_of(env, settings.value).c_str(), stdout);
  return config::exit_ok;
}

} // namespace bureau::system
