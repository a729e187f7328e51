#pragma once

#include "config/cli.hpp"
#include "config/environment.hpp"

namespace bureau::system {

/// `bureau run`: boots a node, serves until it is told to stop, and takes it
/// down in order. Blocks the main thread; must be called before any other
/// thread exists.
/// @return exit code: 0 clean, 1 configuration, refusal or a cut shutdown
int run_node(const config::cli_plan& plan, const config::environment& env);

} // namespace bureau::system
