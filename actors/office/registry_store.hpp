#pragma once

#include "actors/office/lease.hpp"
#include "actors/office/registry_core.hpp"

#include <string>

namespace bureau::offices {

/// What the blocking side of the registry stands on.
struct registry_ports {
  file_system& fs;
  entropy& chance;
  const wall_clock& wall;
  lease_ports lease = system_lease_ports();
};

/// The registry file for threads that may block: boot, before actors exist, and
/// the command line. Every mutation takes the lease, reads the file afresh,
/// changes it and writes it atomically; memory changes only with the file. A
/// write that is in place and may not last is a failure, and the next operation
/// writes again.
/// Operations answer one sentence, empty for success.
class registry_store {
public:
  registry_store(registry_ports ports, std::string state_dir);

  /// Makes sure of the state directory and reads the file; writes nothing.
  std::string open();

  /// Reads the file again: another process may have written it.
  std::string reload();

  const registry_state& state() const { return state_; }

  std::string enable(platform_id platform);
  std::string record(const office_address& address);
  std::string prepare(const migration_request& request);
  /// prepare for an operator, who says the owner (claim_directory).
  std::string claim(const office_address& claimed,
                    const std::string& workspace_root);
  std::string move(std::string_view raw_id);
  std::string commit(std::string_view raw_id);
  std::string fail(std::string_view raw_id, std::string_view reason);
  std::string complete();

  /// What is at a path.
  path_facts kind_of(const std::string& path) const;

private:
  using step =
    std::function<registry_change(registry_state&, std::string_view)>;
  std::string mutate(const step& change);
  std::string load(registry_state& into) const;

  registry_ports ports_;
  std::string state_dir_;
  std::string path_;
  registry_state state_;
  /// The file is as the state says, but a power cut may bring back an older
  /// one.
  bool unsettled_ = false;
};

} // namespace bureau::offices
