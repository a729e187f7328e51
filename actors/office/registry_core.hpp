#pragma once

#include "messages/codec/registry_file.hpp"
#include "messages/interfaces/files.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What may happen to the office registry, decided without touching a disk
/// (office note, sections 5.5 and 6). Instants are ISO-8601 UTC texts.
namespace bureau::offices {

/// What is at a path, its last component not followed; or one sentence why that
/// cannot be told, which is no reason to judge a migration.
struct path_facts {
  file_kind kind = file_kind::absent;
  std::string fault;
};

using path_probe = std::function<path_facts(const std::string& path)>;

/// Result of an attempt to change the registry. Both members may be set: a
/// refused move is recorded as failed and refused.
struct registry_change {
  /// One sentence, empty when the attempt succeeded.
  std::string fault;
  /// The state was changed and must be written.
  bool changed = false;
};

/// Enables a platform; the list stays sorted by name. The console is never
/// listed (decision A10).
bool enable_platform(registry_state& state, platform_id platform);

/// Records an office unless it is recorded already.
bool record_office(registry_state& state, const office_address& address,
                   std::string_view now);

const office_record* find_office(const registry_state& state,
                                 const office_address& address);

const migration_record* find_migration(const registry_state& state,
                                       std::string_view raw_id);

/// A legacy directory to be claimed.
struct migration_request {
  std::string raw_id;
  std::string source_dir;
  std::string workspace_root;
  /// Absent: the one enabled platform whose id format fits.
  std::optional<platform_id> owner;
};

/// Journals a legacy directory as needs-owner, prepared or (target in the way)
/// failed. An existing record that has an owner stays as it is.
registry_change prepare_migration(registry_state& state,
                                  const migration_request& request,
                                  const path_probe& kind_of,
                                  std::string_view now);

/// What an operator says whose a legacy directory is: prepare_migration, and a
/// refusal when the directory has another owner, was moved, or cannot be moved.
/// @param claimed platform and, as its id, the name of the directory
registry_change claim_directory(registry_state& state,
                                const office_address& claimed,
                                const std::string& workspace_root,
                                const path_probe& kind_of,
                                std::string_view now);

/// The paths that claim_directory asks about.
std::vector<std::string> paths_of_claim(const office_address& claimed,
                                        const std::string& workspace_root);

/// prepared → moving. @pre the record exists, else a fault
registry_change mark_moving(registry_state& state, std::string_view raw_id,
                            const path_probe& kind_of, std::string_view now);

/// moving → committed, together with the office record: a directory that is
/// moved but not listed could not be found again.
registry_change mark_committed(registry_state& state, std::string_view raw_id,
                               const path_probe& kind_of, std::string_view now);

/// → failed; terminal, the first reason stays.
registry_change mark_failed(registry_state& state, std::string_view raw_id,
                            std::string_view reason, std::string_view now);

/// Offices of committed migrations that have no record, in order; linear, for
/// every boot asks.
std::vector<office_address> missing_offices(const registry_state& state);

/// Adds the office records that committed migrations lack.
bool complete_inventory(registry_state& state, std::string_view now);

/// An address found by a raw id, or why there is none. For operators only.
struct owner_lookup {
  office_address address;
  std::string fault;
};

/// The office that an operator means by a raw id (office note, section 7).
/// Value only, first consumer: the operator commands of later versions that
/// name a conversation without its platform (`sandbox`, `events`, `packages`).
owner_lookup resolve_owned_address(const registry_state& state,
                                   std::string_view raw_id);

} // namespace bureau::offices
