#pragma once

#include "config/cli.hpp"
#include "config/environment.hpp"

namespace bureau::system {

/// `bureau office list|show|claim`; a claim is made beside a stopped node: a
/// running one is asked for by its lock. Prints and answers the exit code.
int office_command(const config::cli_plan& plan,
                   const config::environment& env);

/// `bureau env`: which variables are set, never their values.
int env_command(const config::cli_plan& plan, const config::environment& env);

} // namespace bureau::system
