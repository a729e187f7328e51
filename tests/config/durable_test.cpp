#include "config/os/durable.hpp"
#include "config/os/posix_file_system.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

using namespace bureau;
using namespace bureau::test;

namespace {

struct disk {
  scratch_directory dir;
  std::shared_ptr<os::posix_file_system> real =
    std::make_shared<os::posix_file_system>();
  faulty_file_system fs{real};
  seeded_entropy chance;

  std::vector<std::string> names() { return real->list(dir.path()).value; }

  mode_t mode_of(const std::string& name) {
    return real->stat_name(dir / name).value.st_mode & 07777u;
  }
};

const std::string big(200'000, 'n');

} // namespace

TEST_CASE_FIXTURE(disk, "a replaced file is whole, private and alone") {
  put_file(dir / "f", "old");
  ::chmod((dir / "f").c_str(), 0644);
  CHECK_FALSE(os::write_private_atomically(fs, chance, dir / "f", "new"));
  CHECK(get_file(dir / "f") == "new");
  CHECK(mode_of("f") == 0600);
  CHECK(names() == std::vector<std::string>{"f"});
}

TEST_CASE_FIXTURE(disk, "short writes are continued to the end") {
  fs.shorten_writes(7);
  auto bytes = big.substr(0, 100);
  CHECK_FALSE(os::write_private_atomically(fs, chance, dir / "f", bytes));
  CHECK(get_file(dir / "f") == bytes);
}

TEST_CASE_FIXTURE(disk,
                  "the bytes are synced before the name, the name after") {
  CHECK_FALSE(os::write_private_atomically(fs, chance, dir / "f", "x"));
  CHECK(fs.operations()
        == std::vector<std::string>{"open", "write", "sync", "close", "rename",
                                    "open", "sync", "close"});
}

TEST_CASE_FIXTURE(disk, "one failing operation leaves the old file or the new "
                        "one and no other") {
  fs.shorten_writes(64 * 1024);
  auto failed = 0;
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    put_file(dir / "f", "old");
    fs.fail_at(n, EIO);
    auto fault = os::write_private_atomically(fs, chance, dir / "f", big);
    auto reached = fs.operations().size() >= n;
    auto now = get_file(dir / "f");
    CHECK((now == "old" || now == big));
    CHECK(names() == std::vector<std::string>{"f"});
    if (!reached) {
      CHECK_FALSE(fault);
      CHECK(now == big);
      break;
    }
    // Only closing the directory after its sync can fail without harm.
    CHECK((fault || fs.operations().back() == "close"));
    // A failure says which content the file has.
    CHECK((fault.replaced || !fault) == (now == big));
    failed += fault ? 1 : 0;
    if (fault)
      CHECK(fault.error == EIO);
  }
  CHECK(failed >= 9);
}

TEST_CASE_FIXTURE(disk, "it does not matter which fault it is, or how short "
                        "the writes are") {
  auto bytes = big.substr(0, 9);
  for (auto error : {EIO, ENOSPC, EINTR})
    for (auto most : {size_t{1}, size_t{7}, size_t{1000}})
      for (size_t n = 1;; ++n) {
        CAPTURE(error);
        CAPTURE(most);
        CAPTURE(n);
        put_file(dir / "f", "old");
        fs.shorten_writes(most);
        fs.fail_at(n, error);
        auto fault = os::write_private_atomically(fs, chance, dir / "f", bytes);
        auto reached = fs.operations().size() >= n;
        auto now = get_file(dir / "f");
        CHECK(now == (!fault || fault.replaced ? bytes : "old"));
        CHECK((!fault || fault.error == error));
        CHECK(names() == std::vector<std::string>{"f"});
        fs.heal();
        if (!reached)
          break;
      }
}

TEST_CASE_FIXTURE(disk, "directories and whole reads meet any fault") {
  put_file(dir / "f", "12345");
  auto opened = real->open(dir.path(), O_RDONLY | O_DIRECTORY, 0);
  REQUIRE(opened);
  os::descriptor held{*real, opened.value};
  for (auto error : {EIO, ENOSPC, EINTR})
    for (auto below : {false, true})
      for (size_t n = 1;; ++n) {
        CAPTURE(error);
        CAPTURE(below);
        CAPTURE(n);
        fs.fail_at(n, error);
        auto fault = below
                       ? os::ensure_directory_below(fs, held.get(), "a/b", 0700)
                       : os::ensure_directory(fs, dir / "a/b", 0700);
        auto reached = fs.operations().size() >= n;
        CHECK((!fault || fault.error == error));
        CHECK((fault || mode_of("a/b") == 0700));
        fs.fail_at(n, error);
        auto read = os::read_whole(fs, dir / "f", 10);
        CHECK((read ? read.value == "12345" : read.fault.error == error));
        fs.heal();
        CHECK_FALSE(os::ensure_directory(fs, dir / "a/b", 0700));
        ::rmdir((dir / "a/b").c_str());
        ::rmdir((dir / "a").c_str());
        if (!reached)
          break;
      }
}

TEST_CASE_FIXTURE(disk, "a process that dies at any point leaves the old file "
                        "or the new one") {
  fs.shorten_writes(64 * 1024);
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    put_file(dir / "f", "old");
    fs.fail_from(n, EIO);
    os::write_private_atomically(fs, chance, dir / "f", big);
    auto reached = fs.operations().size() >= n;
    auto now = get_file(dir / "f");
    CHECK((now == "old" || now == big));
    // What it could not remove is swept later.
    fs.heal();
    fs.shorten_writes(64 * 1024);
    os::sweep_stale_temporaries(fs, dir.path());
    CHECK(names() == std::vector<std::string>{"f"});
    if (!reached)
      break;
  }
}

TEST_CASE_FIXTURE(disk, "the first fault is the one that is told") {
  fs.fail_from(3, ENOSPC);
  auto fault = os::write_private_atomically(fs, chance, dir / "f", "new");
  CHECK(fault.error == ENOSPC);
  CHECK(os::describe(fault)
        == "cannot sync " + (dir / "f") + ": No space left on device");
  CHECK(code_of(os::to_failure(fault)) == errc::disk);
}

TEST_CASE_FIXTURE(disk, "a leftover with the chosen name is passed by") {
  seeded_entropy same;
  auto taken =
    "/.f." + std::to_string(::getpid()) + '.' + random_hex(same, 16) + ".tmp";
  put_file(dir.path() + taken, "left");
  CHECK_FALSE(os::write_private_atomically(fs, chance, dir / "f", "new"));
  CHECK(get_file(dir / "f") == "new");
  CHECK(get_file(dir.path() + taken) == "left");
}

TEST_CASE_FIXTURE(disk, "a whole read knows kinds and bounds") {
  put_file(dir / "f", "12345");
  CHECK(os::read_whole(fs, dir / "f", 5).value == "12345");
  CHECK(os::read_whole(fs, dir / "f", 4).fault.error == EFBIG);
  CHECK(os::read_whole(fs, dir / "none", 5).fault.error == ENOENT);
  CHECK(os::read_whole(fs, dir.path(), 5).fault.error == EISDIR);
  REQUIRE(::symlink("f", (dir / "link").c_str()) == 0);
  CHECK(os::read_whole(fs, dir / "link", 5).fault.error == ELOOP);
  REQUIRE(::mkfifo((dir / "fifo").c_str(), 0600) == 0);
  CHECK(os::read_whole(fs, dir / "fifo", 5).fault.error == EACCES);
  put_file(dir / "big", big);
  CHECK(os::read_whole(fs, dir / "big", big.size()).value == big);
  CHECK(os::read_whole(fs, dir / "big", big.size() - 1).fault.error == EFBIG);
}

TEST_CASE_FIXTURE(disk, "directories are made with their mode and synced") {
  auto deep = dir / "a/b/c";
  CHECK_FALSE(os::ensure_directory(fs, deep, 0700));
  CHECK(mode_of("a") == 0700);
  CHECK(mode_of("a/b/c") == 0700);
  auto syncs =
    std::count(fs.operations().begin(), fs.operations().end(), "sync");
  CHECK(syncs == 3);
  CHECK_FALSE(os::ensure_directory(fs, deep + "/", 0700));
}

TEST_CASE_FIXTURE(disk, "a directory whose name cannot be synced is not made") {
  auto opened = real->open(dir.path(), O_RDONLY | O_DIRECTORY, 0);
  REQUIRE(opened);
  os::descriptor held{*real, opened.value};
  fs.fail_named("sync", EIO);
  CHECK(os::ensure_directory(fs, dir / "a", 0700).error == EIO);
  CHECK(os::ensure_directory_below(fs, held.get(), "b", 0700).error == EIO);
  CHECK(names().empty());
  fs.heal();
  CHECK_FALSE(os::ensure_directory(fs, dir / "a", 0700));
  CHECK_FALSE(os::ensure_directory_below(fs, held.get(), "b", 0700));
}

TEST_CASE_FIXTURE(disk, "a directory that is something else is refused") {
  put_file(dir / "file", "");
  REQUIRE(::mkdir((dir / "real").c_str(), 0700) == 0);
  REQUIRE(::symlink("real", (dir / "link").c_str()) == 0);
  REQUIRE(::symlink("gone", (dir / "broken").c_str()) == 0);
  CHECK(os::ensure_directory(fs, dir / "file", 0700).error == ENOTDIR);
  CHECK(os::ensure_directory(fs, dir / "file/x", 0700).error == ENOTDIR);
  CHECK(os::ensure_directory(fs, dir / "link", 0700).error == ELOOP);
  CHECK(os::ensure_directory(fs, dir / "broken", 0700).error == ELOOP);
  CHECK(os::ensure_directory(fs, dir / "broken/x", 0700).error == ENOENT);
  // The operator may reach a parent by a link.
  CHECK_FALSE(os::ensure_directory(fs, dir / "link/x", 0700));
  CHECK(mode_of("real/x") == 0700);
}

TEST_CASE_FIXTURE(disk, "directories below a descriptor follow no link") {
  auto opened = fs.open(dir.path(), O_RDONLY | O_DIRECTORY, 0);
  REQUIRE(opened);
  os::descriptor held{fs, opened.value};
  REQUIRE(::mkdir((dir / "real").c_str(), 0700) == 0);
  REQUIRE(::symlink("real", (dir / "link").c_str()) == 0);
  CHECK_FALSE(os::ensure_directory_below(fs, held.get(), "real/a/b", 0750));
  CHECK(mode_of("real/a/b") == 0750);
  CHECK_FALSE(os::ensure_directory_below(fs, held.get(), "", 0700));
  CHECK(os::ensure_directory_below(fs, held.get(), "link/a", 0700));
  CHECK(os::ensure_directory_below(fs, held.get(), "../up", 0700));
  CHECK(fs.stat_name(dir / "../up").error == ENOENT);
}

TEST_CASE_FIXTURE(disk, "only temporaries of dead writers are swept") {
  for (auto name : {".f.12.0123456789abcdef.tmp", ".g.1.0123456789abcdef.tmp",
                    ".f.x.0123456789abcdef.tmp", ".f.12.0123456789ABCDEF.tmp",
                    ".f.12.abc.tmp", "f", ".tmp"})
    put_file(dir / name, "");
  CHECK(os::sweep_stale_temporaries(fs, dir.path(), "f") == 1);
  CHECK(os::sweep_stale_temporaries(fs, dir.path()) == 1);
  CHECK(names().size() == 5);
  CHECK(os::sweep_stale_temporaries(fs, dir / "none") == 0);
}

TEST_CASE_FIXTURE(disk, "the state directory must be ours alone") {
  auto me = ::geteuid();
  CHECK(os::check_state_dir(fs, dir / "s/t", me) == "");
  CHECK_FALSE(fs.stat_name(dir / "s"));
  CHECK(os::secure_state_dir(fs, dir / "s/t", me) == "");
  CHECK(mode_of("s") == 0700);
  CHECK(mode_of("s/t") == 0700);
  CHECK(os::secure_state_dir(fs, dir / "s/t", me) == "");
  ::chmod((dir / "s/t").c_str(), 0777);
  auto open = os::secure_state_dir(fs, dir / "s/t", me);
  CHECK(open.find("mode 0777") != std::string::npos);
  CHECK(open.find("chmod 700 " + (dir / "s/t")) != std::string::npos);
  ::chmod((dir / "s/t").c_str(), 0770);
  CHECK(os::secure_state_dir(fs, dir / "s/t", me) == "");
  CHECK(os::secure_state_dir(fs, dir / "s/t", me + 1).find("belongs to user")
        != std::string::npos);
  put_file(dir / "file", "");
  CHECK(os::secure_state_dir(fs, dir / "file", me).find("is not a directory")
        != std::string::npos);
  REQUIRE(::symlink("s/t", (dir / "link").c_str()) == 0);
  CHECK(os::secure_state_dir(fs, dir / "link", me).find("symbolic link")
        != std::string::npos);
}

TEST_CASE("errnos map to the closed vocabulary") {
  struct row {
    int error;
    errc code;
  };
  for (auto [error, code] :
       {row{ENOENT, errc::not_found}, row{EISDIR, errc::is_directory},
        row{EACCES, errc::denied}, row{ELOOP, errc::denied},
        row{ENOTDIR, errc::denied}, row{EFBIG, errc::too_large},
        row{EEXIST, errc::conflict}, row{EAGAIN, errc::busy},
        row{ENOSPC, errc::disk}, row{EIO, errc::disk},
        row{EINVAL, errc::bad_request}, row{12345, errc::disk}}) {
    CAPTURE(error);
    CHECK(os::errc_of_errno(error) == code);
  }
  CHECK(os::errno_text(12345) == "error 12345");
}
