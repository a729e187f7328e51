#pragma once

/// Names of the product. Every other file takes them from here.
namespace bureau::product {

/// Executable, default state directory (~/.bureau) and log tag.
inline constexpr const char* name = "bureau";

/// Version shown by `bureau version` and in the metrics.
inline constexpr const char* version = "0.1.0";

/// Prefix of the environment variables (BUREAU_STATE_DIR).
inline constexpr const char* env_prefix = "BUREAU_";

/// Prefix of a predecessor whose variables are still read, with a warning.
inline constexpr const char* legacy_env_prefix = "MIKAN_";

/// Last path segment of the default state directory below the home directory.
inline constexpr const char* state_dir_name = ".bureau";

} // namespace bureau::product
