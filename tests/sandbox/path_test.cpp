#include "sandbox/path_core.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::sandbox;

namespace {

const workspace ws = make_workspace("/host/ws", "/host/state");
const office place = make_office(ws, {platform_id::slack, "C123"});

path_view view_of(const char* policy, const char* layout_word) {
  auto shown = project(ws, place, effective_door(policy, layout_word));
  return {"/workspace/" + place.key, shown.mounts, shown.overlays};
}

struct row {
  std::string name;
  /// KEY stands for the office key.
  std::string path;
  file_access access;
  route_kind kind;
  std::string runtime;
  std::string relative;
};

std::string with_key(std::string text) {
  for (auto pos = text.find("KEY"); pos != std::string::npos;
       pos = text.find("KEY"))
    text.replace(pos, 3, place.key);
  return text;
}

template <size_t N>
void check_rows(const path_view& view, const row (&rows)[N]) {
  for (const auto& each : rows) {
    CAPTURE(each.name);
    auto route = route_mounted(view, with_key(each.path), each.access);
    CHECK(route.kind == each.kind);
    CHECK(route.path == with_key(each.runtime));
    CHECK(route.relative == with_key(each.relative));
    CHECK(route.root == (each.kind == route_kind::direct ? "/host/ws" : ""));
  }
}

constexpr auto reading = file_access::read;
constexpr auto writing = file_access::write;

} // namespace

TEST_CASE("routes of an isolated office") {
  const row rows[] = {
    {"relative", "a/b.txt", reading, route_kind::direct,
     "/workspace/KEY/a/b.txt", "KEY/a/b.txt"},
    {"absolute", "/workspace/KEY/a", writing, route_kind::direct,
     "/workspace/KEY/a", "KEY/a"},
    {"double slashes and dots", "/workspace//KEY/./a//b/", reading,
     route_kind::direct, "/workspace/KEY/a/b", "KEY/a/b"},
    {"name like an option", "-rf", writing, route_kind::direct,
     "/workspace/KEY/-rf", "KEY/-rf"},
    {"the office itself", "/workspace/KEY", reading, route_kind::directory,
     "/workspace/KEY", ""},
    {"the office itself, relative", ".", writing, route_kind::directory,
     "/workspace/KEY", ""},
    {"a sibling with the same prefix", "/workspace/KEY2/x", reading,
     route_kind::inside, "/workspace/KEY2/x", ""},
    {"another office", "/workspace/v1-slack-other-0000000000000000/x", reading,
     route_kind::inside, "/workspace/v1-slack-other-0000000000000000/x", ""},
    {"tmp", "/tmp/x", writing, route_kind::inside, "/tmp/x", ""},
    {"home", "/root/.profile", reading, route_kind::inside, "/root/.profile",
     ""},
    {"system file", "/etc/passwd", reading, route_kind::inside, "/etc/passwd",
     ""},
    {"shared memory is not there", "../MEMORY.md", reading, route_kind::inside,
     "/workspace/MEMORY.md", ""},
    {"dots through directories of our own", "/workspace/KEY/../KEY/a", reading,
     route_kind::direct, "/workspace/KEY/a", "KEY/a"},
    {"dots through an overlay", "sessions/../a", reading, route_kind::direct,
     "/workspace/KEY/a", "KEY/a"},
    {"dots behind a name that may be a link", "link/../a", reading,
     route_kind::inside, "/workspace/KEY/link/../a", ""},
    {"dots above the root", "/../../etc/passwd", reading, route_kind::inside,
     "/etc/passwd", ""},
    {"empty", "", reading, route_kind::bad, "", ""},
    {"log read", "log.jsonl", reading, route_kind::direct,
     "/workspace/KEY/log.jsonl", "KEY/log.jsonl"},
    {"log write", "log.jsonl", writing, route_kind::denied,
     "/workspace/KEY/log.jsonl", ""},
    {"session read", "sessions/s.jsonl", reading, route_kind::direct,
     "/workspace/KEY/sessions/s.jsonl", "KEY/sessions/s.jsonl"},
    {"session write", "sessions/s.jsonl", writing, route_kind::denied,
     "/workspace/KEY/sessions/s.jsonl", ""},
    {"attachment write", "/workspace/KEY/attachments/a/b", writing,
     route_kind::denied, "/workspace/KEY/attachments/a/b", ""},
    {"a name that starts like an overlay", "sessions2/x", writing,
     route_kind::direct, "/workspace/KEY/sessions2/x", "KEY/sessions2/x"},
    {"a name that starts like the log", "log.jsonl.bak", writing,
     route_kind::direct, "/workspace/KEY/log.jsonl.bak", "KEY/log.jsonl.bak"},
  };
  check_rows(view_of("isolated", "conversation"), rows);
}

TEST_CASE("routes behind a shared door") {
  const row rows[] = {
    {"memory", "../MEMORY.md", writing, route_kind::direct,
     "/workspace/MEMORY.md", "MEMORY.md"},
    {"skill", "/workspace/skills/a/SKILL.md", reading, route_kind::direct,
     "/workspace/skills/a/SKILL.md", "skills/a/SKILL.md"},
    {"skills themselves", "/workspace/skills", reading, route_kind::directory,
     "/workspace/skills", ""},
    {"root", "/workspace/x", writing, route_kind::inside, "/workspace/x", ""},
    {"own log", "log.jsonl", writing, route_kind::denied,
     "/workspace/KEY/log.jsonl", ""},
  };
  check_rows(view_of("trusted", "shared-support"), rows);
}

TEST_CASE("routes behind a full door") {
  const row rows[] = {
    {"root", "/workspace/x", writing, route_kind::direct, "/workspace/x", "x"},
    {"root itself", "/workspace/", reading, route_kind::directory, "/workspace",
     ""},
    {"another office", "/workspace/other/a", writing, route_kind::direct,
     "/workspace/other/a", "other/a"},
    {"own session", "sessions/a", writing, route_kind::denied,
     "/workspace/KEY/sessions/a", ""},
    {"own file", "a", writing, route_kind::direct, "/workspace/KEY/a", "KEY/a"},
  };
  check_rows(view_of("trusted", "full"), rows);
}

TEST_CASE("a path with a NUL is bad on every backend") {
  std::string path{"a\0b", 3};
  CHECK(route_mounted(view_of("isolated", ""), path, reading).kind
        == route_kind::bad);
  CHECK(route_host("/w", path).kind == route_kind::bad);
  CHECK(route_host("/w", "").kind == route_kind::bad);
}

TEST_CASE("host paths stay what they are") {
  CHECK(route_host("/w/o", "a/../b")
        == file_route{route_kind::direct, "/w/o/a/../b", "", "/w/o/a/../b"});
  CHECK(route_host("/w/o", "/etc/x")
        == file_route{route_kind::direct, "/etc/x", "", "/etc/x"});
}

TEST_CASE("runtime paths map back to host paths lexically") {
  const path_context mounted{"/host/workspace", "/workspace", "/workspace/k",
                             true};
  const path_context host{"/w", "/w", "/w/k", true};
  const path_context remote{"/host/workspace", "/workspace", "/workspace/k",
                            false};
  struct mapping {
    std::string name;
    const path_context& context;
    const char* path;
    const char* want;
  };
  const mapping rows[] = {
    {"PATH-01", mounted, "/workspace", "/host/workspace"},
    {"PATH-01 slash", mounted, "/workspace/", "/host/workspace"},
    {"PATH-02", mounted, "/workspace/C1/../r.txt", "/host/workspace/r.txt"},
    {"PATH-03", mounted, "/workspace/../o", "/workspace/../o"},
    {"PATH-03 deep", mounted, "/workspace/C1/../../o", "/workspace/C1/../../o"},
    {"PATH-04", mounted, "/workspace-sibling/r", "/workspace-sibling/r"},
    {"PATH-05", mounted, "rel/x", "rel/x"},
    {"PATH-06", mounted, "/workspace/..x", "/host/workspace/..x"},
    {"PATH-07", mounted, "/workspace//a///b", "/host/workspace/a/b"},
    {"PATH-08", mounted, "/bureau/packages/x/skills",
     "/bureau/packages/x/skills"},
    {"PATH-09", host, "/w/a/../b", "/w/b"},
    {"PATH-09 outside", host, "/etc/x", "/etc/x"},
    {"PATH-10", remote, "/workspace/a", "/workspace/a"},
  };
  for (const auto& each : rows) {
    CAPTURE(each.name);
    CHECK(runtime_to_host_path(each.context, each.path) == each.want);
  }
}
