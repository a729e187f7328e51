#pragma once

#include "messages/contracts/turn.hpp"
#include "messages/interfaces/process.hpp"

#include <string_view>
#include <vector>

/// Variables that one run brings for its processes. Pure.
namespace bureau::sandbox {

/// Bounds of them; what is beyond is left out.
inline constexpr size_t run_variables = 64;
inline constexpr size_t run_variable_bytes = 32u << 10;

/// What of a run's variables enters an environment: names that are no names, or
/// that the environment owns, and values with a NUL are left out. `PATH` is
/// there when directories come before the usual ones.
/// @param search_path the usual ones
std::vector<env_entry> run_environment(
  const contracts::tool_environment& environment, std::string_view search_path);

} // namespace bureau::sandbox
