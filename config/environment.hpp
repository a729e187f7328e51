#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bureau::config {

/// A variable that was found, and under which spelling.
struct env_value {
  std::string text;
  std::string spelling;
};

/// The environment of the process as an immutable value (decision B10): read
/// once at boot, never written.
class environment {
public:
  environment() = default;
  explicit environment(std::map<std::string, std::string> raw)
    : raw_(std::move(raw)) {}

  /// Copies a null-terminated array of `NAME=value` entries.
  static environment capture(const char* const* entries);

  /// Trimmed, non-blank `NAME`, else BUREAU_NAME, else MIKAN_NAME; the proxy
  /// variables last in lower case, as other programs spell them.
  std::optional<env_value> find(std::string_view name) const;

  /// find() without the spelling; "" when unset.
  std::string text(std::string_view name) const;

  /// One warning for each of these names that is set only in the spelling of
  /// the predecessor; it names the new one.
  std::vector<std::string>
  legacy_warnings(const std::vector<std::string_view>& names) const;

private:
  std::map<std::string, std::string> raw_;
};

} // namespace bureau::config
