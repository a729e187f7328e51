#pragma once

#include "messages/identity/workspace.hpp"
#include "messages/interfaces/files.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bureau::sandbox {

/// What part of the workspace stands behind a door.
enum class layout : uint8_t { conversation, shared_support, full };

/// The door after all rules: a layout counts only behind a trusted door.
struct door {
  bool trusted = false;
  layout shape = layout::conversation;
  friend bool operator==(const door&, const door&) = default;
};

/// A host file or directory and the name it has inside. The source is named
/// below a directory that agents cannot replace, so that it can be opened
/// without following a link.
struct projected_mount {
  /// Absolute host directory.
  std::string root;
  /// Relative to root; empty = root itself.
  std::string path;
  /// Absolute runtime path.
  std::string target;
  bool directory = true;
  bool read_only = false;
  friend bool operator==(const projected_mount&,
                         const projected_mount&) = default;
};

/// The one decision about what an office sees (note of the workspace
/// projection, S1 "Doors"): mounts, prompt sources and what must exist first
/// all come from here.
struct projection {
  door policy;
  /// In mount order.
  std::vector<projected_mount> mounts;
  /// The office's own sessions, attachments and log.jsonl, read-only over the
  /// mounts (decision B16).
  std::vector<projected_mount> overlays;
  /// Jobs that make every mount source exist, in order; all are idempotent.
  std::vector<file_job> preparation;
  /// Host paths that the prompt may use; empty = none.
  std::string global_memory_path;
  std::string global_skills_dir;
};

/// Runtime name of the workspace root.
inline constexpr std::string_view runtime_root = "/workspace";

/// Applies the table of effective policies to the words of the settings.
door effective_door(std::string_view door_policy, std::string_view layout_word);

/// Projects a workspace for one office.
projection project(const workspace& ws, const office& place, door policy);

} // namespace bureau::sandbox
