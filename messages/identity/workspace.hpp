#pragma once

#include "messages/identity/office_address.hpp"

#include <array>
#include <string>
#include <string_view>

namespace bureau {

/// Names at the workspace root that are not offices.
inline constexpr std::array<std::string_view, 4> reserved_workspace_names = {
  "MEMORY.md", "skills", "events", "agents"};

/// Paths of one conversation, computed once; an immutable value. Constructing
/// it touches no disk (core interface seed, section 10).
struct office {
  office_address address;
  std::string key;
  std::string dir;
  std::string memory_path;
  std::string skills_dir;
  std::string sessions_dir;
  std::string attachments_dir;
  std::string log_path;
  /// Host-only: <state-dir>/conversations/<key>.
  std::string state_dir;
  friend bool operator==(const office&, const office&) = default;
};

BUREAU_INSPECT(office, x.address, x.key, x.dir, x.memory_path, x.skills_dir,
               x.sessions_dir, x.attachments_dir, x.log_path, x.state_dir);

/// The agent-visible tree and the host-only state directory of one process.
struct workspace {
  std::string root;
  std::string state_dir;
  std::string memory_path;
  std::string skills_dir;
  std::string events_dir;
  std::string agents_dir;
};

BUREAU_INSPECT(workspace, x.root, x.state_dir, x.memory_path, x.skills_dir,
               x.events_dir, x.agents_dir);

/// Builds the paths of a workspace. Both directories are joined lexically and
/// neither has to exist.
workspace make_workspace(std::string root, std::string state_dir);

/// Builds the paths of one office.
/// @pre check_conversation_id(address.conversation_id) == none
office make_office(const workspace& ws, const office_address& address);

/// Lexical path join: collapses "//", folds "." and "..", drops a trailing "/".
std::string join_path(std::string_view base, std::string_view relative);

/// Whether `child` equals `parent` or lies below it, lexically and boundary
/// aware (/work-state is not inside /work). Both must be absolute.
bool is_path_inside(std::string_view child, std::string_view parent);

} // namespace bureau
