#include "actors/system/commands.hpp"
#include "actors/system/control_commands.hpp"
#include "actors/system/run_node.hpp"
#include "config/cli.hpp"
#include "config/environment.hpp"
#include "config/os/process_figures.hpp"

#include <clocale>
#include <cstdio>
#include <string>
#include <vector>

#include <unistd.h>

int main(int argc, char** argv) {
  using namespace bureau;
  os::occupy_standard_streams();
  // Characters, not bytes, are edited in the console; texts stay C.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  auto parsed = config::parse_command_line(arguments);
  if (!parsed) {
    std::fprintf(stderr, "%s\n", parsed.usage_error.c_str());
    return config::exit_usage;
  }
  auto environment = config::environment::capture(environ);
  switch (parsed.plan.what) {
  case config::command::run:
    return system::run_node(parsed.plan, environment);
  case config::command::office:
    return system::office_command(parsed.plan, environment);
  case config::command::status:
    return system::status_command(parsed.plan, environment);
  case config::command::shutdown:
    return system::shutdown_command(parsed.plan, environment);
  case config::command::notify:
    return system::notify_command(parsed.plan, environment);
  case config::command::cancel:
    return system::cancel_command(parsed.plan, environment);
  case config::command::jobs:
    return system::jobs_command(parsed.plan, environment);
  case config::command::events:
    return system::events_command(parsed.plan, environment);
  case config::command::config:
    return system::config_command(parsed.plan, environment);
  case config::command::env:
    return system::env_command(parsed.plan, environment);
  case config::command::frames:
    return system::frames_command();
  case config::command::version:
    std::printf("%s", config::version_text().c_str());
    return config::exit_ok;
  case config::command::help:
    std::printf("%s", config::help_text().c_str());
    return config::exit_ok;
  }
  return config::exit_failure;
}
