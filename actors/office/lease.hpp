#pragma once

#include "messages/ports/entropy.hpp"
#include "messages/ports/file_system.hpp"
#include "messages/ports/wall_clock.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace bureau::offices {

/// What the lease needs of the machine besides files.
struct lease_ports {
  /// Whether a process exists; a process of somebody else counts.
  std::function<bool(int64_t pid)> process_alive;
  /// Waits; only boot and the command line may.
  std::function<void(std::chrono::milliseconds)> pause;
  int64_t pid = 0;
  std::chrono::milliseconds timeout{5000};
};

/// The ports of this process.
lease_ports system_lease_ports();

/// The cross-process lease of the office registry (office note, section 5.4):
/// the directory `<state-dir>/.office-registry.lock` with a file that names its
/// owner. It serves the command line beside a foreign writer; the registry
/// actor of a running node never waits for it (decision A29).
///
/// The directory comes and goes with the file in it, so that a kill at any
/// point leaves a lease that says whose it was; what else it leaves is removed
/// by sweep_lease_remains.
class registry_lease {
public:
  /// Acquires the lease or waits for it up to the timeout. A lease is taken
  /// over when its owner is gone, when it names our own process, which holds
  /// one lease at a time (a former life had our number), or when it has had no
  /// owner for a minute.
  registry_lease(file_system& fs, entropy& chance, const wall_clock& wall,
                 const lease_ports& ports, const std::string& state_dir);
  registry_lease(const registry_lease&) = delete;
  registry_lease& operator=(const registry_lease&) = delete;
  /// Removes the lease if it is still ours.
  ~registry_lease();

  /// Empty when the lease is held, else one sentence.
  const std::string& fault() const { return fault_; }

private:
  bool try_acquire();
  std::string prepare(const std::string& dir);
  bool is_stale(const std::string& owner) const;
  bool take_over(const std::string& owner);
  std::string read_owner(const std::string& dir) const;
  /// A name beside the lease that nobody else has.
  std::string unique_name() const;
  void remove(const std::string& dir);

  file_system& fs_;
  entropy& chance_;
  const wall_clock& wall_;
  const lease_ports& ports_;
  std::string dir_;
  std::string token_;
  std::string fault_;
  bool held_ = false;
};

/// Removes what a kill left of a lease. For boot, under the instance lock.
/// Answers a sentence when a living process holds the lease, else empty.
std::string sweep_lease_remains(file_system& fs, entropy& chance,
                                const wall_clock& wall,
                                const lease_ports& ports,
                                const std::string& state_dir);

} // namespace bureau::offices
