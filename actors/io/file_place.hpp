#pragma once

#include "config/os/durable.hpp"

#include <string>
#include <string_view>

namespace bureau::io {

/// A name under which path functions reach an open directory itself.
std::string proc_path(int fd);

/// Where a job acts: an open directory and one name in it. From here on no
/// path is resolved again, so nothing can be swapped between check and use.
struct file_place {
  /// Opened with O_PATH: good for resolving, not for fsync.
  os::descriptor parent;
  /// One component; "." is the directory itself.
  std::string leaf;
};

/// Finds the place of a path.
/// @param root absolute directory, or empty when `path` is absolute; links to
/// it
///        are followed, as an operator may have made some: what an agent can
///        replace, its office directory too, belongs into `path`
/// @param rule how `path` is resolved below `root`
/// @return EINVAL for a malformed path, EXDEV for one that leaves the root,
///         ELOOP for a forbidden link, or what the system says
io_result<file_place> locate(file_system& fs, const std::string& root,
                             resolve_rule rule, std::string_view path);

/// Like locate, but creates missing directories on the way with `mode`.
io_result<file_place> locate_making(file_system& fs, const std::string& root,
                                    resolve_rule rule, std::string_view path,
                                    mode_t mode);

/// mkdir -p; the last component must end up a directory and be no link. What is
/// made has a durable name: each parent is synced, and a directory whose parent
/// cannot be is removed again. What exists already is not synced.
/// @return ENOTDIR or EEXIST when something else has a name on the way
io_status make_directories(file_system& fs, const std::string& root,
                           resolve_rule rule, std::string_view path,
                           mode_t mode);

/// Opens the leaf, never following it and never waiting for a peer.
io_result<os::descriptor> open_leaf(file_system& fs, const file_place& place,
                                    int flags, mode_t mode = 0);

/// open_leaf, and the file must be a regular one: EISDIR, ENXIO otherwise.
io_result<os::descriptor> open_regular(file_system& fs, const file_place& place,
                                       int flags, mode_t mode = 0);

/// Facts about the leaf itself, links not followed.
io_result<struct stat> stat_leaf(file_system& fs, const file_place& place);

/// fsync of the directory of a place.
io_status sync_parent(file_system& fs, const file_place& place);

/// fsync of every directory from that of a path up to the root itself, for a
/// file whose way somebody else may have made.
/// @param path relative
io_status sync_parents(file_system& fs, const std::string& root,
                       resolve_rule rule, std::string_view path);

/// Writes everything from an offset on.
io_status write_all_at(file_system& fs, int fd, std::string_view bytes,
                       uint64_t offset);

/// Reads from an offset until `size` bytes or the end of the file.
io_result<std::string> read_up_to(file_system& fs, int fd, uint64_t size,
                                  uint64_t offset);

} // namespace bureau::io
