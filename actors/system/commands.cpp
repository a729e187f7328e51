#include "actors/system/commands.hpp"

#include "actors/office/office_command.hpp"
#include "actors/system/control_commands.hpp"
#include "adapters/console/frame_reader_core.hpp"
#include "config/boot_config.hpp"
#include "config/config_view.hpp"
#include "config/instance_lock.hpp"
#include "config/os/machine.hpp"
#include "config/os/posix_file_system.hpp"
#include "config/os/system_clock.hpp"
#include "config/os/system_entropy.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
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
    // A running node owns the registry: it is asked (decision B12).
    if (config::find_lock_holder(disk, state_dir).held)
      return office_claim_command(plan, env);
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

namespace {

/// Prints what `report` makes of the environment and the global settings.
template <class Report>
int report_settings(const config::cli_plan& plan,
                    const config::environment& env, Report report) {
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
  std::fputs(report(settings.value).c_str(), stdout);
  return config::exit_ok;
}

} // namespace

int env_command(const config::cli_plan& plan, const config::environment& env) {
  return report_settings(plan, env, [&](const auto& settings) {
    return config::env_report_of(env, settings);
  });
}

int config_command(const config::cli_plan& plan,
                   const config::environment& env) {
  return report_settings(plan, env, [&](const auto& settings) {
    auto view = config::config_view(env, settings);
    return plan.status.json ? config::config_json(view)
                            : config::config_text(view);
  });
}

int frames_command() {
  console::frame_reader reader;
  std::array<char, 64u << 10> buffer;
  for (;;) {
    auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    auto text = reader.feed({buffer.data(), static_cast<size_t>(count)});
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  std::fputs(reader.finish().c_str(), stdout);
  return reader.failed() ? config::exit_failure : config::exit_ok;
}

} // namespace bureau::system
