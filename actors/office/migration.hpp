#pragma once

#include "actors/office/registry_store.hpp"

#include <string>
#include <vector>

namespace bureau::offices {

/// What a boot run of the migration did: raw conversation ids.
struct migration_summary {
  std::vector<std::string> migrated;
  std::vector<std::string> recovered;
  std::vector<std::string> unowned;
  std::vector<std::string> failed;
  std::vector<std::string> vault_keys_migrated;
  std::vector<std::string> vault_conflicts;
  std::vector<std::string> state_dirs_migrated;
  std::vector<std::string> state_dir_conflicts;
  friend bool operator==(const migration_summary&,
                         const migration_summary&) = default;
};

/// Result of a boot run; a fault means that the node must not start.
struct migration_run {
  migration_summary summary;
  std::string fault;
  /// Directories that look like nothing of ours and were left alone.
  std::vector<std::string> ignored;
  /// The registry as it stands, for the registry actor.
  registry_state registry;
};

/// Moves directories named by raw conversation ids to their office keys, before
/// any event is accepted (office note, section 6). Every step is journalled in
/// the registry first, so that a run that was cut goes on where it stopped.
/// @param enabled configured platforms; the console is left out
migration_run migrate(const registry_ports& ports,
                      const std::string& workspace_root,
                      const std::string& state_dir,
                      const std::vector<platform_id>& enabled);

/// Message for the operator when the summary forbids to start, else empty.
std::string boot_refusal(const migration_summary& summary,
                         const std::string& state_dir);

/// Rewrites a container bind `source:target[:ro]` from raw ids to office keys;
/// what is already migrated stays as it is. Value only, first consumer: the
/// sandbox in a long-lived container (`--sandbox container:NAME`).
std::string translate_bind(const std::string& bind,
                           const std::vector<office_record>& offices,
                           const std::string& workspace_root,
                           const std::string& state_dir);

} // namespace bureau::offices
