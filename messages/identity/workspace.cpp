#include "messages/identity/workspace.hpp"

#include <vector>

namespace bureau {

namespace {

/// Folds a path lexically; ".." above the root of an absolute path is dropped.
std::string normalize(std::string_view path) {
  bool absolute = path.starts_with('/');
  std::vector<std::string_view> parts;
  for (size_t pos = 0; pos <= path.size();) {
    auto end = path.find('/', pos);
    if (end == std::string_view::npos)
      end = path.size();
    auto part = path.substr(pos, end - pos);
    pos = end + 1;
    if (part.empty() || part == ".")
      continue;
    if (part == "..") {
      if (!parts.empty() && parts.back() != "..")
        parts.pop_back();
      else if (!absolute)
        parts.push_back(part);
      continue;
    }
    parts.push_back(part);
  }
  std::string result;
  for (auto& part : parts) {
    if (absolute || !result.empty())
      result += '/';
    result += part;
  }
  if (result.empty())
    result = absolute ? "/" : ".";
  return result;
}

} // namespace

std::string join_path(std::string_view base, std::string_view relative) {
  std::string joined{base};
  if (!joined.empty() && !relative.empty())
    joined += '/';
  joined += relative;
  return normalize(joined);
}

bool is_path_inside(std::string_view child, std::string_view parent) {
  auto inner = normalize(child);
  auto outer = normalize(parent);
  if (outer == "/")
    return inner.starts_with('/');
  return inner == outer
         || (inner.size() > outer.size() && inner.starts_with(outer)
             && inner[outer.size()] == '/');
}

workspace make_workspace(std::string root, std::string state_dir) {
  workspace result;
  result.memory_path = join_path(root, "MEMORY.md");
  result.skills_dir = join_path(root, "skills");
  result.events_dir = join_path(root, "events");
  result.agents_dir = join_path(root, "agents");
  result.root = std::move(root);
  result.state_dir = std::move(state_dir);
  return result;
}

office make_office(const workspace& ws, const office_address& address) {
  office result;
  result.address = address;
  result.key = office_key(address);
  result.dir = join_path(ws.root, result.key);
  result.memory_path = join_path(result.dir, "MEMORY.md");
  result.skills_dir = join_path(result.dir, "skills");
  result.sessions_dir = join_path(result.dir, "sessions");
  result.attachments_dir = join_path(result.dir, "attachments");
  result.log_path = join_path(result.dir, "log.jsonl");
  result.state_dir = join_path(ws.state_dir, "conversations/" + result.key);
  return result;
}

} // namespace bureau
