#pragma once

#include "config/cli.hpp"
#include "config/environment.hpp"

namespace bureau::system {

/// `bureau office list|show|claim`; a claim is made here, or by the node that
/// runs. Prints and answers the exit code.
int office_command(const config::cli_plan& plan,
                   const config::environment& env);

/// `bureau env`: which variables are set, never their values.
int env_command(const config::cli_plan& plan, const config::environment& env);

/// `bureau config [--json]`: every setting, its value and where it comes from;
/// of secrets only whether they are set.
int config_command(const config::cli_plan& plan,
                   const config::environment& env);

/// `bureau frames`: reads frames from standard input and prints what they say.
/// 1 when a turn failed.
int frames_command();

} // namespace bureau::system
