#pragma once

#include "messages/interfaces/common.hpp"
#include "messages/ports/file_system.hpp"

namespace bureau {

/// What a file job does. Every operation refuses symbolic links at the last
/// component, and everywhere when `root` is given with resolve_rule::no_links.
enum class file_op : uint8_t {
  /// Whole file up to `length` bytes; too_large beyond it.
  read,
  /// `length` bytes from `offset`.
  read_range,
  /// Private atomic replacement: stage with mode, write, fsync, rename, fsync
  /// of the directory. Parents must exist.
  write_atomic,
  /// Replacement as a sandboxed user expects it: parents are created, the mode
  /// of an existing file is kept, a bind-mounted target is written in place.
  replace,
  /// mkdir -p with `mode`; an existing directory is fine, anything else denied.
  ensure_directory,
  /// Entry names of a directory.
  list,
  /// Facts about a name without following it; absence is not an error.
  stat,
  /// Removes a file; absence is not an error.
  remove,
  /// Renames `path` to `to` on one file system, then syncs the directories.
  /// A name that exists is never replaced: denied.
  rename,
  /// Removes everything inside a directory, following nothing.
  empty_directory,
  /// Creates an empty file with `mode` unless the name exists; an existing
  /// regular file is left as it is, anything else is denied.
  ensure_file,
};

/// One blocking job for the file pool.
struct file_job {
  /// Who wants it, for the per-reason counters: "session", "registry", …
  std::string reason;
  file_op op = file_op::read;
  /// Absolute directory that `path` is relative to; empty: `path` is absolute.
  std::string root;
  resolve_rule rule = resolve_rule::no_links;
  std::string path;
  std::string to;
  std::string bytes;
  uint64_t offset = 0;
  uint64_t length = 0;
  uint32_t mode = 0600;
  friend bool operator==(const file_job&, const file_job&) = default;
};

BUREAU_INSPECT(file_job, x.reason, x.op, x.root, x.rule, x.path, x.to, x.bytes,
               x.offset, x.length, x.mode);

/// Kind of a directory entry.
enum class file_kind : uint8_t { absent, regular, directory, symlink, other };

/// Result of a file job; members not named by the operation stay default.
struct file_outcome {
  std::string bytes;
  std::vector<std::string> names;
  file_kind kind = file_kind::absent;
  uint64_t size = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  uint32_t mode = 0;
  bool end_of_file = false;
  /// Hard links (stat): a session file with more than one is refused
  /// (decision B16).
  uint64_t links = 0;
  friend bool operator==(const file_outcome&, const file_outcome&) = default;
};

BUREAU_INSPECT(file_outcome, x.bytes, x.names, x.kind, x.size, x.device,
               x.inode, x.modified_ns, x.mode, x.end_of_file, x.links);

/// The FILES actor interface: a bounded pool of threads that may block.
using files_actor = caf::typed_actor<
  // Does one job. Errors: not_found, is_directory, denied, too_large, disk,
  // queue_full, shutting_down; the sentence names the path.
  caf::replies_to<atom::file, file_job>::with<file_outcome>,
  caf::replies_to<atom::status>::with<status_line>,
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_files, bureau::type_ids::files)
CAF_ADD_TYPE_ID(bureau_files, (bureau::file_job))
CAF_ADD_TYPE_ID(bureau_files, (bureau::file_outcome))
CAF_ADD_TYPE_ID(bureau_files, (bureau::files_actor))
CAF_END_TYPE_ID_BLOCK(bureau_files)
