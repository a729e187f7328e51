#include "sandbox/projection_core.hpp"

#include <initializer_list>

namespace bureau::sandbox {

namespace {

constexpr uint32_t private_directory = 0700;
constexpr uint32_t private_file = 0600;

std::string runtime_path(std::initializer_list<std::string_view> parts) {
  std::string result{runtime_root};
  for (auto part : parts) {
    result += '/';
    result += part;
  }
  return result;
}

file_job ensure(file_op op, const std::string& root, std::string path) {
  file_job job;
  job.reason = "sandbox";
  job.op = op;
  job.root = root;
  job.rule = resolve_rule::no_links;
  job.path = std::move(path);
  job.mode = op == file_op::ensure_file ? private_file : private_directory;
  return job;
}

} // namespace

door effective_door(std::string_view door_policy,
                    std::string_view layout_word) {
  if (door_policy != "trusted")
    return {false, layout::conversation};
  return {true, layout_word == "full" ? layout::full : layout::shared_support};
}

projection project(const workspace& ws, const office& place, door policy) {
  projection result;
  result.policy = policy;
  const auto& key = place.key;
  auto mount = [&](std::string path, std::string target, bool directory) {
    return projected_mount{ws.root, std::move(path), std::move(target),
                           directory, false};
  };
  auto need = [&](file_op op, std::string path) {
    result.preparation.push_back(ensure(op, ws.root, std::move(path)));
  };
  need(file_op::ensure_directory, key);
  need(file_op::ensure_directory, key + "/sessions");
  need(file_op::ensure_directory, key + "/attachments");
  need(file_op::ensure_file, key + "/log.jsonl");
  switch (policy.shape) {
  case layout::conversation:
    result.mounts.push_back(mount(key, runtime_path({key}), true));
    break;
  case layout::shared_support:
    need(file_op::ensure_file, "MEMORY.md");
    need(file_op::ensure_directory, "skills");
    need(file_op::ensure_directory, "events");
    result.mounts.push_back(
      mount("MEMORY.md", runtime_path({"MEMORY.md"}), false));
    result.mounts.push_back(mount("skills", runtime_path({"skills"}), true));
    result.mounts.push_back(mount("events", runtime_path({"events"}), true));
    result.mounts.push_back(mount(key, runtime_path({key}), true));
    break;
  case layout::full:
    result.mounts.push_back(mount("", std::string{runtime_root}, true));
    break;
  }
  if (policy.shape != layout::conversation) {
    result.global_memory_path = ws.memory_path;
    result.global_skills_dir = ws.skills_dir;
  }
  for (std::string_view name : {"sessions", "attachments", "log.jsonl"}) {
    auto overlay = mount(key + "/" + std::string{name},
                         runtime_path({key, name}), name != "log.jsonl");
    overlay.read_only = true;
    result.overlays.push_back(std::move(overlay));
  }
  return result;
}

} // namespace bureau::sandbox
