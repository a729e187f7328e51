#pragma once

#include "messages/interfaces/executor.hpp"
#include "messages/ports/file_system.hpp"
#include "sandbox/projection_core.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bureau::sandbox {

/// What a caller wants with a file.
enum class file_access : uint8_t { read, write };

/// How a file request is carried out.
enum class route_kind : uint8_t {
  /// Empty or malformed path.
  bad,
  /// The path names a mounted directory itself.
  directory,
  /// The sandbox sees it read-only.
  denied,
  /// A file job on the host, which follows no link.
  direct,
  /// Only a command inside sees what the path means there.
  inside,
};

/// The decision about one file request.
struct file_route {
  route_kind kind = route_kind::bad;
  /// Absolute runtime path, for sentences, commands and the order of writes.
  std::string path;
  /// Host directory and the path below it, when direct; an empty root goes with
  /// an absolute path.
  std::string root;
  std::string relative;
  friend bool operator==(const file_route&, const file_route&) = default;
};

/// What an environment shows, for routing.
struct path_view {
  /// Absolute runtime directory that relative paths start from.
  std::string cwd;
  std::vector<projected_mount> mounts;
  std::vector<projected_mount> overlays;
};

/// Routes a request in an environment of mounts. Everything that a link or a
/// ".." could make mean something else inside goes inside: the kernel of the
/// sandbox decides there, with the sandbox's mounts.
file_route route_mounted(const path_view& view, std::string_view path,
                         file_access access);

/// Routes a request where runtime and host are the same tree.
file_route route_host(std::string_view cwd, std::string_view path);

/// Absolute runtime path of a possibly relative one; nothing else is changed.
/// @return empty for an empty path or one with a NUL
std::string absolute_path(std::string_view cwd, std::string_view path);

/// Maps a runtime path to its host path, lexically: a contract about names, not
/// a security check. Whoever opens the result does its own containment check.
/// @return `path` unchanged when it is relative, leaves the runtime root, or
///         the environment has no reverse map
std::string runtime_to_host_path(const path_context& context,
                                 std::string_view path);

} // namespace bureau::sandbox
