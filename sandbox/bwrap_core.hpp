#pragma once

#include "messages/interfaces/executor.hpp"
#include "sandbox/profile.hpp"
#include "sandbox/projection_core.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The bubblewrap backend as values (decision S1): one sandbox per command,
/// everything of it decided here.
namespace bureau::sandbox {

/// A name directly below / that programs need: a link into /usr on a merged
/// system, a real directory elsewhere.
struct root_entry {
  std::string name;
  /// Target of the link; empty = a directory to mount.
  std::string link;
  friend bool operator==(const root_entry&, const root_entry&) = default;
};

/// What the node knows about its host and its settings.
struct bwrap_config {
  std::string bwrap_path = "/usr/bin/bwrap";
  std::string prlimit_path = "/usr/bin/prlimit";
  /// The ones of bin sbin lib lib32 lib64 libx32 that exist, in this order.
  std::vector<root_entry> roots;
  /// Setting sandbox.bwrap.readOnly: absolute paths shown read-only as they
  /// are.
  std::vector<std::string> read_only;
  /// Compiled filter (seccomp_filter.hpp); without one nothing runs.
  std::string seccomp;
  /// Limits of every command; no higher than the node's own.
  uint64_t open_files = limits::exec_open_files;
  uint64_t written_file_bytes = limits::exec_written_file_bytes;
  uint64_t processes = limits::exec_processes;
  /// NPROC as a backstop shared by all sandboxes of the uid; none for root,
  /// whom the kernel does not count (decision B24).
  bool limit_processes = false;
  /// Variables beyond the fixed ones; their names are checked.
  std::vector<env_entry> extra_env;
};

/// Host directories of one office that live in the state directory.
struct office_places {
  /// Relative to the state directory.
  std::string home;
  std::string tmp;
};
office_places places_of(std::string_view office_key);

/// Why a read-only path of the settings is refused; nothing = fine.
std::optional<std::string> check_read_only(std::string_view path,
                                           const workspace& ws);

/// Why a variable may not enter the sandbox; nothing = fine. Names are
/// [A-Za-z_][A-Za-z0-9_]*; HOME, PWD, TMPDIR and BUREAU_* are the sandbox's.
std::optional<std::string> check_variable(const env_entry& variable);

/// The arguments of bubblewrap and the descriptors they name.
struct bwrap_plan {
  /// All but the last steps, which depend on the command.
  std::vector<std::string> head;
  std::vector<std::string> tail;
  /// Child descriptors from 6 on.
  std::vector<proc_fd> mounts;
  /// Not empty: why nothing can run with this configuration.
  std::string fault;
};

/// Lays out the sandbox of an office. The order of the arguments is that of S1.
bwrap_plan make_bwrap_plan(const bwrap_config& config,
                           const executor_args& args, const projection& shown);

/// The argument list for a command in `cwd`, without the NULs between.
std::vector<std::string> bwrap_arguments(const bwrap_plan& plan,
                                         std::string_view cwd);

/// The backend for one office.
std::shared_ptr<const profile> make_bwrap_profile(bwrap_config config,
                                                  executor_args args);

/// What limits a sandbox cannot give on this host, and which are lower than
/// usual, in one line for the boot log.
std::string limits_line(const bwrap_config& config);

/// Job that empties the /tmp of one office, for when it is passivated.
file_job empty_tmp_job(const workspace& ws, std::string_view office_key);

/// Jobs that empty all /tmp directories, in this order, for the boot.
std::vector<file_job> boot_tmp_jobs(const workspace& ws);

} // namespace bureau::sandbox
