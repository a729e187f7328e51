#pragma once

#include "messages/identity/platform.hpp"
#include "messages/interfaces/office.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The office registry `<state-dir>/office-registry.json`: which conversations
/// have an office, and the journal of the move from older directory names
/// (office note, section 5). Everything here is pure.
namespace bureau {

/// How far the move of one legacy directory has come.
enum class migration_status : uint8_t {
  needs_owner,
  prepared,
  moving,
  committed,
  failed,
};

std::string to_string(migration_status status);
std::optional<migration_status> parse_migration_status(std::string_view name);

/// One legacy directory, named by a raw conversation id.
struct migration_record {
  std::string raw_id;
  /// Always join_path(workspace_root, raw_id).
  std::string source_dir;
  std::string workspace_root;
  /// Absent while the owner is unknown.
  std::optional<platform_id> owner;
  /// <workspace_root>/<office key>; empty without an owner.
  std::string target_dir;
  migration_status status = migration_status::needs_owner;
  /// Only of `failed`.
  std::string error;
  /// ISO-8601 UTC with milliseconds; changes only with the status.
  std::string updated_at;
  friend bool operator==(const migration_record&,
                         const migration_record&) = default;
};

/// The whole file.
struct registry_state {
  /// Ascending by name; the console is never listed.
  std::vector<platform_id> enabled_platforms;
  std::vector<office_record> offices;
  std::vector<migration_record> migrations;
  friend bool operator==(const registry_state&,
                         const registry_state&) = default;
};

/// A registry, or one sentence `<file>:<line>:<column>: <what>; <what to do>`.
struct registry_file {
  registry_state state;
  std::string fault;
  explicit operator bool() const { return fault.empty(); }
};

inline constexpr int registry_version = 1;
inline constexpr std::string_view registry_file_name = "office-registry.json";

/// Reads and checks the text of the file. Every violation is a fault: a
/// registry is never taken for empty because it cannot be understood.
registry_file parse_registry(std::string_view text, std::string_view file);

/// Text of the file: two-space indent, one newline at the end, members in the
/// order of the format.
std::string print_registry(const registry_state& state);

} // namespace bureau
