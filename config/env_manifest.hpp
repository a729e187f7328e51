#pragma once

#include "messages/identity/platform.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Every environment variable that the program reads (decision B10). Reading
/// one that is not declared here is a defect.
namespace bureau::config {

enum class env_group : uint8_t {
  slack,
  telegram,
  discord,
  github,
  llm,
  link,
  sandbox,
  observability,
  network,
  runtime,
};

/// What a platform needs of a variable.
enum class env_need : uint8_t {
  optional,
  required,
  /// At least one of the group's `any_of` variables.
  any_of,
};

/// One variable.
struct env_variable {
  std::string_view name;
  env_group group;
  env_need need;
  /// Shown as set or unset only.
  bool secret;
  /// Setting with the same meaning (decision B11); "" where a file cannot have
  /// one.
  std::string_view setting;
  std::string_view doc;
};

std::span<const env_variable> env_manifest();

/// The row of a variable, null when it is not declared.
const env_variable* find_env(std::string_view name);

/// All declared names.
std::vector<std::string_view> env_names();

/// The group of a platform's credentials; none for the console.
std::optional<env_group> group_of(platform_id platform);

/// Whether a variable has a value, in the environment or in the settings.
using env_presence = std::function<bool(std::string_view name)>;

/// What a platform still lacks: required names, and the any-of names joined by
/// " | ". Empty: its credentials are complete.
std::vector<std::string> missing_credentials(platform_id platform,
                                             const env_presence& is_set);

/// Whether at least one of a platform's credentials is set.
bool has_any_credential(platform_id platform, const env_presence& is_set);

/// The report of `bureau env` (note 05, E6): names and set/unset, no values.
std::string env_report(const env_presence& is_set);

/// Which variables would enable a platform, one line each.
std::string platform_recipe();

/// Whether this version has an adapter for a chat platform.
bool is_spoken(platform_id platform);

/// Title of a platform in texts: "Slack".
std::string platform_title(platform_id platform);

} // namespace bureau::config
