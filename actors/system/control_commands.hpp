#pragma once

#include "config/cli.hpp"
#include "config/environment.hpp"

/// Commands that ask a running node on its control socket. They print and
/// answer the exit code.
namespace bureau::system {

/// `bureau status [--json]`: how the node is. 1 when none runs or answers.
int status_command(const config::cli_plan& plan,
                   const config::environment& env);

/// `bureau shutdown [--timeout SECONDS]`: asks the node to end and waits until
/// its lock is free. 1 when none runs, or it does not end in time.
int shutdown_command(const config::cli_plan& plan,
                     const config::environment& env);

/// `bureau office show PLATFORM ID`: what the files of a conversation say. A
/// running node is asked for its workspace's sake; without one the files are
/// read here.
int office_show_command(const config::cli_plan& plan,
                        const config::environment& env);

} // namespace bureau::system
