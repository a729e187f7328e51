#pragma once

#include <optional>
#include <string>
#include <string_view>

/// What the boot probe of bubblewrap may find, and what to tell the operator.
namespace bureau::sandbox {

/// Where the probe stood when it failed.
enum class probe_step : uint8_t {
  /// Directories below the state directory.
  preparation,
  /// `bwrap --version` and `--help`.
  version,
  /// `true` in the full profile.
  profile,
};

/// Facts of the kernel that explain a refusal; empty = not readable.
struct kernel_facts {
  /// kernel.unprivileged_userns_clone
  std::string userns_clone;
  /// user.max_user_namespaces
  std::string max_userns;
  /// kernel.apparmor_restrict_unprivileged_userns
  std::string apparmor_userns;
};

/// A version of bubblewrap; 0.8.0 is the oldest that does.
struct bwrap_version {
  int major_number = 0;
  int minor_number = 0;
  std::string text;
};

/// Reads "bubblewrap 0.8.0".
std::optional<bwrap_version> parse_version(std::string_view output);

bool is_new_enough(const bwrap_version& version);

/// Options that the profile needs and that some builds lack; empty = all there.
std::string missing_options(std::string_view help);

/// One sentence with the cause as far as it can be told, and the ways out.
/// @param detail standard error of the step, or the error that stopped it
std::string probe_failure(probe_step step, std::string_view detail,
                          const kernel_facts& facts);

/// The sentence for a bubblewrap that is too old or lacks options.
std::string probe_outdated(std::string_view version,
                           std::string_view missing_options);

} // namespace bureau::sandbox
