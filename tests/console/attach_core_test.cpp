#include "adapters/console/attach_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::console;

TEST_CASE("paths are those that the user of the node means") {
  struct row {
    const char* path;
    const char* want;
  };
  const row rows[] = {
    {"notes.txt", "/work/notes.txt"},
    {"./a//b.txt", "/work/a/b.txt"},
    {"../b.txt", "/b.txt"},
    {"~/b.txt", "/home/ann/b.txt"},
    {"~", "/home/ann"},
    {"~bob/x", "/work/~bob/x"},
    {"/tmp/../etc/x", "/etc/x"},
    {"/", "/"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    CHECK(resolve_path(row.path, "/home/ann", "/work") == row.want);
  }
  CHECK(resolve_path("~/x", "", "/work").empty());
  CHECK(resolve_path("x", "/home/ann", "").empty());
  CHECK(resolve_path("/x", "", "") == "/x");
  CHECK(file_name_of("/a/b c.txt") == "b c.txt");
  CHECK(file_name_of("/a/\xFF.txt") == "\xEF\xBF\xBD.txt");
}

TEST_CASE("what cannot be sent is said") {
  file_outcome found;
  CHECK(refusal_of("/x", found) == "There is no file /x.");
  found.kind = file_kind::directory;
  CHECK(refusal_of("/x", found)
        == "/x is a directory; /attach takes one file.");
  found.kind = file_kind::symlink;
  CHECK(refusal_of("/x", found)
        == "/x is a symbolic link; name the file that it points to.");
  found.kind = file_kind::other;
  CHECK(refusal_of("/x", found) == "/x is no regular file.");
  found.kind = file_kind::regular;
  found.size = limits::attachment_bytes;
  CHECK(refusal_of("/x", found).empty());
  ++found.size;
  CHECK(refusal_of("/x", found)
        == "/x is larger than 20 MB, more than a message may carry.");
}

TEST_CASE("what belongs to the node itself is not sent") {
  auto ws = make_workspace("/state/workspace", "/state");
  for (auto path : {"/state/auth.json", "/state", "/proc/self/environ"}) {
    CAPTURE(path);
    CHECK_FALSE(private_place(path, ws).empty());
  }
  for (auto path : {"/state/workspace/k/a.txt", "/statement", "/home/auth.json",
                    "/processes"}) {
    CAPTURE(path);
    CHECK(private_place(path, ws).empty());
  }
}

TEST_CASE("a reference is the console's own or none") {
  for (auto path : {"/a", "/home/ann/my notes.txt", "/a:b", "/a\xFF\xE9.b"}) {
    CAPTURE(path);
    CHECK(path_of_ref(make_file_ref(path)) == path);
  }
  for (std::string_view ref :
       {"", "/a", "file:", "file:a", "file:../a", "file:/a/../b", "file://a",
        "file:/a/", "File:/a", "https://x/y", "file-bytes:", "file-bytes:f",
        "file-bytes:2f61", "file-bytes:61ff", "file-bytes:2FFF",
        "file-bytes:2fff2f2e2e2f62"}) {
    CAPTURE(ref);
    CHECK_FALSE(path_of_ref(ref));
  }
  CHECK_FALSE(path_of_ref(std::string_view{"file:/a\0b", 9}));
}
