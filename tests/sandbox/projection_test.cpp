#include "sandbox/capability_core.hpp"
#include "sandbox/projection_core.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace bureau;
using namespace bureau::sandbox;

namespace {

const workspace ws = make_workspace("/host/ws", "/host/state");
const office place = make_office(ws, {platform_id::slack, "C123"});

std::vector<std::string> lines_of(const std::vector<projected_mount>& mounts) {
  std::vector<std::string> lines;
  for (const auto& mount : mounts)
    lines.push_back(mount.root + "|" + mount.path + " -> " + mount.target
                    + (mount.directory ? "/" : "")
                    + (mount.read_only ? " ro" : ""));
  return lines;
}

std::vector<std::string> lines_of(const std::vector<file_job>& jobs) {
  std::vector<std::string> lines;
  for (const auto& job : jobs) {
    CHECK(job.root == "/host/ws");
    CHECK(job.rule == resolve_rule::no_links);
    auto directory = job.op == file_op::ensure_directory;
    CHECK(job.mode == (directory ? 0700u : 0600u));
    CHECK((directory || job.op == file_op::ensure_file));
    lines.push_back(job.path + (directory ? "/" : ""));
  }
  return lines;
}

using words = std::vector<std::string>;

} // namespace

TEST_CASE("effective doors") {
  struct row {
    std::string name;
    const char* policy;
    const char* layout;
    door want;
  };
  const door isolated{false, layout::conversation};
  const door shared{true, layout::shared_support};
  const door full{true, layout::full};
  const row rows[] = {
    {"nothing", "", "", isolated},
    {"isolated", "isolated", "conversation", isolated},
    {"isolated ignores full", "isolated", "full", isolated},
    {"isolated ignores shared", "isolated", "shared-support", isolated},
    {"trusted alone", "trusted", "", shared},
    {"trusted conversation", "trusted", "conversation", shared},
    {"trusted shared", "trusted", "shared-support", shared},
    {"trusted full", "trusted", "full", full},
    {"an unknown layout is not full", "trusted", "FULL", shared},
    {"an unknown policy is not trusted", "Trusted", "full", isolated},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    CHECK(effective_door(each.policy, each.layout) == each.want);
  }
}

TEST_CASE("an isolated office sees itself and nothing else") {
  auto shown = project(ws, place, effective_door("isolated", "full"));
  CHECK(place.key == "v1-slack-c123-f1bbf4ab194ff2ea");
  CHECK(
    lines_of(shown.mounts)
    == words{"/host/ws|" + place.key + " -> /workspace/" + place.key + "/"});
  CHECK(shown.global_memory_path.empty());
  CHECK(shown.global_skills_dir.empty());
  CHECK(lines_of(shown.preparation)
        == words{place.key + "/", place.key + "/sessions/",
                 place.key + "/attachments/", place.key + "/log.jsonl"});
}

TEST_CASE("a shared door adds memory, skills and events in this order") {
  auto shown = project(ws, place, effective_door("trusted", "shared-support"));
  CHECK(
    lines_of(shown.mounts)
    == words{"/host/ws|MEMORY.md -> /workspace/MEMORY.md",
             "/host/ws|skills -> /workspace/skills/",
             "/host/ws|events -> /workspace/events/",
             "/host/ws|" + place.key + " -> /workspace/" + place.key + "/"});
  CHECK(shown.global_memory_path == "/host/ws/MEMORY.md");
  CHECK(shown.global_skills_dir == "/host/ws/skills");
  CHECK(lines_of(shown.preparation)
        == words{place.key + "/", place.key + "/sessions/",
                 place.key + "/attachments/", place.key + "/log.jsonl",
                 "MEMORY.md", "skills/", "events/"});
}

TEST_CASE("a full door shows the root and creates nothing shared") {
  auto shown = project(ws, place, effective_door("trusted", "full"));
  CHECK(lines_of(shown.mounts) == words{"/host/ws| -> /workspace/"});
  CHECK(shown.global_memory_path == "/host/ws/MEMORY.md");
  CHECK(lines_of(shown.preparation)
        == words{place.key + "/", place.key + "/sessions/",
                 place.key + "/attachments/", place.key + "/log.jsonl"});
}

TEST_CASE("every door keeps the office's own records read-only") {
  for (const auto* layout_word : {"conversation", "shared-support", "full"}) {
    for (const auto* policy : {"isolated", "trusted"}) {
      CAPTURE(std::string{layout_word});
      CAPTURE(std::string{policy});
      auto shown = project(ws, place, effective_door(policy, layout_word));
      auto at = "/host/ws|" + place.key + "/";
      auto to = " -> /workspace/" + place.key + "/";
      CHECK(lines_of(shown.overlays)
            == words{at + "sessions" + to + "sessions/ ro",
                     at + "attachments" + to + "attachments/ ro",
                     at + "log.jsonl" + to + "log.jsonl ro"});
    }
  }
}

TEST_CASE("only backends that enforce the projection keep an isolated door") {
  struct row {
    const char* backend;
    bool enforces;
  };
  const row rows[] = {
    {"bwrap", true},       {"image", true},      {"gondolin", true},
    {"host", false},       {"container", false}, {"firecracker", false},
    {"cloudflare", false}, {"", false},          {"BWRAP", false},
    {"something", false},
  };
  for (const auto& each : rows) {
    CAPTURE(std::string{each.backend});
    CHECK(enforces_projection(each.backend) == each.enforces);
    CHECK(!refuse_reason(each.backend, "trusted"));
    for (const auto* policy : {"isolated", "", "Trusted"}) {
      auto why = refuse_reason(each.backend, policy);
      CHECK(why.has_value() != each.enforces);
      if (!why)
        continue;
      CHECK(why->find("cannot provide an isolated conversation office")
            != std::string::npos);
      CHECK(why->find("'" + std::string{each.backend} + "'")
            != std::string::npos);
      CHECK(why->find("--sandbox=bwrap") != std::string::npos);
      CHECK(why->find("sandbox.workspace.doorPolicy") != std::string::npos);
    }
  }
}
