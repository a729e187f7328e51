#include "sandbox/path_core.hpp"

#include <algorithm>

namespace bureau::sandbox {

namespace {

bool is_at_or_below(std::string_view path, std::string_view top) {
  return path == top
         || (path.size() > top.size() && path.starts_with(top)
             && (top.ends_with('/') || path[top.size()] == '/'));
}

/// Whether `path` is a mount point or a directory on the way to one. Such a
/// name cannot be a link inside: the sandbox itself made it.
bool is_fixed(const path_view& view, std::string_view path) {
  auto leads_there = [&](const projected_mount& mount) {
    return is_at_or_below(mount.target, path);
  };
  return path.empty() || std::ranges::any_of(view.mounts, leads_there)
         || std::ranges::any_of(view.overlays, leads_there);
}

struct folded_path {
  std::string path;
  /// A ".." stood behind a name that may be a link.
  bool uncertain = false;
};

folded_path fold(const path_view& view, std::string_view path) {
  folded_path result;
  while (!path.empty()) {
    auto end = std::min(path.find('/'), path.size());
    auto part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".")
      continue;
    if (part != "..") {
      result.path += '/';
      result.path += part;
      continue;
    }
    if (!is_fixed(view, result.path))
      result.uncertain = true;
    result.path.erase(std::min(result.path.rfind('/'), result.path.size()));
  }
  if (result.path.empty())
    result.path = "/";
  return result;
}

const projected_mount* deepest(const std::vector<projected_mount>& mounts,
                               std::string_view path) {
  const projected_mount* best = nullptr;
  for (const auto& mount : mounts)
    if (is_at_or_below(path, mount.target)
        && (best == nullptr || best->target.size() <= mount.target.size()))
      best = &mount;
  return best;
}

} // namespace

std::string absolute_path(std::string_view cwd, std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return {};
  if (path.starts_with('/'))
    return std::string{path};
  return std::string{cwd} + "/" + std::string{path};
}

file_route route_mounted(const path_view& view, std::string_view path,
                         file_access access) {
  file_route route;
  auto absolute = absolute_path(view.cwd, path);
  if (absolute.empty())
    return route;
  auto folded = fold(view, absolute);
  if (folded.uncertain) {
    route.kind = route_kind::inside;
    route.path = std::move(absolute);
    return route;
  }
  route.path = std::move(folded.path);
  const auto* mount = deepest(view.mounts, route.path);
  if (mount == nullptr) {
    route.kind = route_kind::inside;
    return route;
  }
  if (mount->directory && route.path == mount->target) {
    route.kind = route_kind::directory;
    return route;
  }
  if (access == file_access::write
      && (mount->read_only || deepest(view.overlays, route.path) != nullptr)) {
    route.kind = route_kind::denied;
    return route;
  }
  route.kind = route_kind::direct;
  route.root = mount->root;
  // Resolved from the root that agents cannot replace, not from the mounted
  // directory: another office behind a full door could have swapped that one.
  route.relative = mount->path;
  if (route.path.size() > mount->target.size()) {
    if (!route.relative.empty())
      route.relative += '/';
    route.relative += route.path.substr(mount->target.size() + 1);
  }
  return route;
}

file_route route_host(std::string_view cwd, std::string_view path) {
  file_route route;
  route.path = absolute_path(cwd, path);
  if (route.path.empty())
    return route;
  route.kind = route_kind::direct;
  route.relative = route.path;
  return route;
}

std::string runtime_to_host_path(const path_context& context,
                                 std::string_view path) {
  std::string original{path};
  if (!context.reverse_map || !path.starts_with('/'))
    return original;
  auto normal = join_path(path, "");
  auto root = join_path(context.runtime_root, "");
  if (!is_path_inside(normal, root))
    return original;
  if (normal == root)
    return join_path(context.host_root, "");
  auto below = normal.substr(root == "/" ? 1 : root.size() + 1);
  return join_path(context.host_root, below);
}

} // namespace bureau::sandbox
