#include "config/os/posix_file_system.hpp"
#include "tests/support/scratch_directory.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

using namespace bureau;
using namespace bureau::test;

namespace {

/// A directory held open, with `file`, `sub/file`, links inside, out and up.
struct tree {
  explicit tree(bool openat2) : fs(openat2) {
    put_file(dir / "file", "top");
    REQUIRE(fs.make_directory(dir / "sub", 0700));
    put_file(dir / "sub/file", "below");
    REQUIRE(::symlink("sub/file", (dir / "inside").c_str()) == 0);
    REQUIRE(::symlink("/etc/passwd", (dir / "outside").c_str()) == 0);
    REQUIRE(::symlink("sub", (dir / "linked").c_str()) == 0);
    auto opened = fs.open(dir.path(), O_RDONLY | O_DIRECTORY, 0);
    REQUIRE(opened);
    fd = opened.value;
  }

  ~tree() { fs.close(fd); }

  /// errno of opening a path below, 0 when it works.
  int open(const char* path, resolve_rule rule, int flags = O_RDONLY) {
    auto opened = fs.open_below(fd, path, flags, 0600, rule);
    if (opened)
      fs.close(opened.value);
    return opened.error;
  }

  scratch_directory dir;
  os::posix_file_system fs;
  int fd = -1;
};

} // namespace

TEST_CASE("opening below a directory follows no link and never leaves it") {
  for (auto openat2 : {true, false}) {
    CAPTURE(openat2);
    tree place{openat2};
    constexpr auto strict = resolve_rule::no_links;
    CHECK(place.open("file", strict) == 0);
    CHECK(place.open("sub/file", strict) == 0);
    CHECK(place.open("./sub//file", strict) == 0);
    CHECK(place.open("new", strict, O_WRONLY | O_CREAT | O_EXCL) == 0);
    CHECK(place.open("inside", strict) == ELOOP);
    CHECK(place.open("outside", strict) == ELOOP);
    CHECK(place.open("linked/file", strict) == ELOOP);
    CHECK(place.open("inside", strict, O_PATH) == ELOOP);
    CHECK(place.open("../etc/passwd", strict) == EXDEV);
    CHECK(place.open("/etc/passwd", strict) == EXDEV);
    CHECK(place.open("none", strict) == ENOENT);
    CHECK(place.open("", strict) == ENOENT);
    CHECK(place.open("file/x", strict) == ENOTDIR);
  }
}

TEST_CASE("links that stay below are followed where the kernel can check it") {
  tree place{true};
  constexpr auto rule = resolve_rule::beneath;
  CHECK(place.open("inside", rule) == 0);
  CHECK(place.open("linked/file", rule) == 0);
  CHECK(place.open("outside", rule) == EXDEV);
}

TEST_CASE("without openat2 every link is refused, also under beneath") {
  tree place{false};
  constexpr auto rule = resolve_rule::beneath;
  CHECK(place.open("sub/file", rule) == 0);
  CHECK(place.open("inside", rule) == ELOOP);
  CHECK(place.open("linked/file", rule) == ELOOP);
}

TEST_CASE("every descriptor closes itself in children") {
  tree place{true};
  auto plain = place.fs.open(place.dir / "file", O_RDONLY, 0);
  auto below = place.fs.open_below(place.fd, "sub/file", O_RDONLY, 0,
                                   resolve_rule::no_links);
  REQUIRE(plain);
  REQUIRE(below);
  for (auto fd : {plain.value, below.value, place.fd}) {
    CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  }
  place.fs.close(plain.value);
  place.fs.close(below.value);
}

TEST_CASE("a lock is exclusive between descriptors and ends with its own") {
  scratch_directory dir;
  os::posix_file_system fs;
  auto first = fs.open(dir / "lock", O_RDWR | O_CREAT, 0600);
  auto second = fs.open(dir / "lock", O_RDWR, 0);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(fs.lock(first.value));
  CHECK(fs.lock(second.value).error == EWOULDBLOCK);
  CHECK(fs.close(first.value));
  CHECK(fs.lock(second.value));
  CHECK(fs.close(second.value));
}

TEST_CASE("reading and writing at offsets leave the position alone") {
  scratch_directory dir;
  os::posix_file_system fs;
  auto opened = fs.open(dir / "f", O_RDWR | O_CREAT, 0640);
  REQUIRE(opened);
  auto fd = opened.value;
  CHECK(fs.write(fd, "0123456789", 10).value == 10);
  CHECK(fs.write_at(fd, "ab", 2, 4).value == 2);
  char buffer[16] = {};
  CHECK(fs.read_at(fd, buffer, 4, 3).value == 4);
  CHECK(std::string{buffer} == "3ab6");
  CHECK(fs.read(fd, buffer, sizeof buffer).value == 0);
  CHECK(fs.truncate(fd, 3));
  CHECK(fs.sync_data(fd));
  CHECK(fs.stat(fd).value.st_size == 3);
  CHECK(fs.change_mode(fd, 0600));
  CHECK((fs.stat(fd).value.st_mode & 0777) == 0600);
  CHECK(fs.close(fd));
  CHECK(fs.close(fd).error == EBADF);
}

TEST_CASE("names are listed, renamed and removed below a directory") {
  tree place{true};
  auto names = place.fs.list(place.dir.path());
  REQUIRE(names);
  std::sort(names.value.begin(), names.value.end());
  CHECK(
    names.value
    == std::vector<std::string>{"file", "inside", "linked", "outside", "sub"});
  CHECK(place.fs.list("/proc/self/fd/" + std::to_string(place.fd)).value.size()
        == 5);
  CHECK(place.fs.rename_below(place.fd, "file", "moved"));
  CHECK(get_file(place.dir / "moved") == "top");
  CHECK(place.fs.make_directory_below(place.fd, "made", 0700));
  CHECK(place.fs.unlink_below(place.fd, "moved"));
  CHECK(place.fs.stat_name(place.dir / "moved").error == ENOENT);
  CHECK(place.fs.remove_directory(place.dir / "made"));
  CHECK(place.fs.remove_directory(place.dir / "sub").error == ENOTEMPTY);
  CHECK(S_ISLNK(place.fs.stat_name(place.dir / "inside").value.st_mode));
  CHECK(place.fs.canonical(place.dir / "inside").value
        == place.dir / "sub/file");
  CHECK(place.fs.list(place.dir / "none").error == ENOENT);
}

TEST_CASE("a call that a signal interrupts is repeated") {
  static std::atomic<int> signals;
  signals = 0;
  struct sigaction action {};
  action.sa_handler = [](int) {
    ++signals;
  };
  struct sigaction before {};
  REQUIRE(::sigaction(SIGUSR1, &action, &before) == 0);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  os::posix_file_system fs;
  io_result<size_t> got;
  char byte = 0;
  std::thread reader{[&] {
    got = fs.read(ends[0], &byte, 1);
  }};
  // Most of these find it waiting; each makes a plain read(2) fail.
  constexpr auto enough = 2000;
  while (signals < enough) {
    ::pthread_kill(reader.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  CHECK(fs.write(ends[1], "x", 1).value == 1);
  reader.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  CHECK(got.error == 0);
  CHECK(got.value == 1);
  CHECK(byte == 'x');
  ::close(ends[0]);
  ::close(ends[1]);
}
