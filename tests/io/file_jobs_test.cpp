#include "actors/io/file_jobs.hpp"
#include "actors/io/files_core.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/limits.hpp"
#include "tests/io/power_cut.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

using namespace bureau;
using test::get_file;
using test::put_file;

namespace {

/// A root with a neighbour that must never be reached.
struct job_world {
  job_world()
    : disk(std::make_shared<os::posix_file_system>()),
      fs(std::make_shared<test::faulty_file_system>(disk)) {
    std::filesystem::create_directory(root());
    std::filesystem::create_directory(scratch / "outside");
    put_file(scratch / "outside/secret", "secret");
  }

  std::string root() const { return scratch / "root"; }
  std::string inside(const std::string& name) const {
    return root() + "/" + name;
  }

  file_job job(file_op op, std::string path) const {
    file_job result;
    result.reason = "test";
    result.op = op;
    result.root = root();
    result.path = std::move(path);
    return result;
  }

  caf::expected<file_outcome> run(const file_job& what) {
    return io::run_file_job(*fs, chance, what);
  }

  errc code(const file_job& what) {
    auto result = run(what);
    return result ? errc::none : code_of(result.error());
  }

  size_t entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::recursive_directory_iterator{root()})
      ++count;
    return count;
  }

  test::scratch_directory scratch;
  std::shared_ptr<os::posix_file_system> disk;
  std::shared_ptr<test::faulty_file_system> fs;
  test::seeded_entropy chance;
};

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777u : 0u;
}

} // namespace

TEST_CASE("read returns the whole file or says it is too large") {
  job_world world;
  std::string bytes(1'000'000, 'x');
  put_file(world.inside("f"), bytes);
  auto job = world.job(file_op::read, "f");
  CHECK(world.run(job)->bytes == bytes);
  job.length = bytes.size();
  CHECK(world.run(job)->bytes == bytes);
  job.length = bytes.size() - 1;
  CHECK(world.code(job) == errc::too_large);
  job.length = 0;
  put_file(world.inside("f"), "");
  CHECK(world.run(job)->bytes.empty());
  job.root.clear();
  job.path = world.inside("f");
  CHECK(world.run(job));
}

TEST_CASE("directories on the way to one are private") {
  job_world world;
  auto job = world.job(file_op::ensure_directory, "office/inner/scratch");
  job.mode = 0755;
  CHECK(world.code(job) == errc::none);
  CHECK(mode_of(world.inside("office")) == 0700);
  CHECK(mode_of(world.inside("office/inner")) == 0700);
  CHECK((mode_of(world.inside("office/inner/scratch")) & 0700u) == 0700);
  CHECK(world.code(job) == errc::none);
}

TEST_CASE("read_range returns a piece and whether the file ends there") {
  job_world world;
  put_file(world.inside("f"), "0123456789");
  auto job = world.job(file_op::read_range, "f");
  struct row {
    const char* name;
    uint64_t offset;
    uint64_t length;
    const char* bytes;
    bool end;
  };
  const row rows[] = {
    {"start", 0, 4, "0123", false},        {"middle", 4, 4, "4567", false},
    {"up to the end", 6, 4, "6789", true}, {"across the end", 8, 9, "89", true},
    {"behind the end", 11, 5, "", true},   {"nothing", 3, 0, "", false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    job.offset = row.offset;
    job.length = row.length;
    auto result = world.run(job);
    REQUIRE(result);
    CHECK(result->bytes == row.bytes);
    CHECK(result->end_of_file == row.end);
    CHECK(result->size == 10);
  }
  job.length = limits::file_job_bytes + 1;
  CHECK(world.code(job) == errc::too_large);
}

TEST_CASE("no operation follows a link at its end or leaves its root") {
  job_world world;
  std::filesystem::create_symlink(world.scratch / "outside/secret",
                                  world.inside("file_link"));
  std::filesystem::create_symlink(world.scratch / "outside",
                                  world.inside("way_out"));
  std::filesystem::create_directory(world.inside("real"));
  put_file(world.inside("real/f"), "fine");
  std::filesystem::create_symlink("real", world.inside("way_in"));
  ::mkfifo(world.inside("fifo").c_str(), 0600);
  struct row {
    const char* path;
    errc strict;
    errc lenient;
  };
  const row rows[] = {
    {"file_link", errc::denied, errc::denied},
    {"way_out/secret", errc::denied, errc::denied},
    {"way_in/f", errc::denied, errc::none},
    {"real/f", errc::none, errc::none},
    {"real/../real/f", errc::none, errc::none},
    {"./real//f", errc::none, errc::none},
    {"../outside/secret", errc::denied, errc::denied},
    {"real/../../outside/secret", errc::denied, errc::denied},
    {"..", errc::denied, errc::denied},
    {"/etc/passwd", errc::denied, errc::denied},
    {"real", errc::is_directory, errc::is_directory},
    {"fifo", errc::denied, errc::denied},
    {"absent", errc::not_found, errc::not_found},
    {"absent/f", errc::not_found, errc::not_found},
  };
  for (const auto& row : rows)
    for (auto rule : {resolve_rule::no_links, resolve_rule::beneath}) {
      CAPTURE(row.path);
      auto strict = rule == resolve_rule::no_links;
      CAPTURE(strict);
      auto job = world.job(file_op::read, row.path);
      job.rule = rule;
      auto expected = strict ? row.strict : row.lenient;
      auto result = world.run(job);
      CHECK((result ? errc::none : code_of(result.error())) == expected);
      if (!result)
        CHECK(sentence_of(result.error()).find(row.path) != std::string::npos);
      // Writing has the same ways.
      if (expected != errc::denied)
        continue;
      job.op = file_op::replace;
      job.bytes = "x";
      CHECK(world.code(job) == errc::denied);
      job.op = file_op::write_atomic;
      CHECK(world.code(job) == errc::denied);
    }
  CHECK(get_file(world.scratch / "outside/secret") == "secret");
}

TEST_CASE("a root may be reached by a link, nothing below it") {
  job_world world;
  std::filesystem::create_directory(world.inside("office"));
  put_file(world.inside("office/f"), "x");
  std::filesystem::create_directory_symlink(world.root(),
                                            world.scratch / "way");
  auto job = world.job(file_op::read, "office/f");
  job.root = world.scratch / "way";
  CHECK(world.run(job));
  std::filesystem::rename(world.inside("office"), world.inside("moved"));
  std::filesystem::create_directory_symlink("moved", world.inside("office"));
  CHECK(world.code(job) == errc::denied);
}

TEST_CASE("write_atomic replaces a file privately and completely") {
  job_world world;
  put_file(world.inside("f"), "old");
  std::filesystem::permissions(world.inside("f"), std::filesystem::perms::all);
  auto job = world.job(file_op::write_atomic, "f");
  job.bytes = "new";
  CHECK(world.run(job));
  CHECK(get_file(world.inside("f")) == "new");
  CHECK(mode_of(world.inside("f")) == 0600);
  CHECK(world.entries() == 1);
  job.path = "absent/f";
  CHECK(world.code(job) == errc::not_found);
  std::filesystem::create_directory(world.inside("dir"));
  job.path = "dir";
  CHECK(world.code(job) == errc::is_directory);
  job.path = std::string(255, 'n');
  CHECK(world.run(job));
  job.path = std::string(256, 'n');
  CHECK(world.code(job) != errc::none);
}

TEST_CASE("a failed write leaves the old file and no rest") {
  for (auto op : {file_op::write_atomic, file_op::replace})
    for (size_t n = 1;; ++n) {
      CAPTURE(n);
      job_world world;
      put_file(world.inside("f"), "old");
      auto job = world.job(op, "f");
      job.bytes = "new content";
      world.fs->heal();
      world.fs->shorten_writes(4);
      world.fs->fail_at(n, ENOSPC);
      auto result = world.run(job);
      auto content = get_file(world.inside("f"));
      if (world.fs->operations().size() < n) {
        CHECK(result);
        break;
      }
      CHECK((content == "old" || content == "new content"));
      if (result) {
        CHECK(content == "new content");
      } else {
        CHECK(code_of(result.error()) == errc::disk);
        auto in_place =
          sentence_of(result.error()).find("cannot make durable") == 0;
        CHECK(in_place == (content == "new content"));
      }
      CHECK(world.entries() == 1);
    }
}

namespace {

/// A tree for every operation, and what must hold of it after a fault.
struct swept_world : job_world {
  swept_world() {
    std::filesystem::create_directories(inside("dir/deep"));
    put_file(inside("f"), "old");
    put_file(inside("dir/deep/g"), "g");
    // Nobody cuts the power here; its syncs only cost nothing.
    fs = std::make_shared<test::faulty_file_system>(
      std::make_shared<test::power_cut_file_system>());
  }

  file_job swept_job(file_op op) const {
    auto path = "f";
    if (op == file_op::list || op == file_op::empty_directory)
      path = "dir";
    else if (op == file_op::ensure_directory)
      path = "made/by/us";
    else if (op == file_op::ensure_file)
      path = "dir/fresh";
    auto result = job(op, path);
    result.to = "dir/to";
    result.length = 100;
    result.bytes = "new content";
    result.mode = op == file_op::ensure_directory ? 0700 : 0600;
    return result;
  }

  bool exists(const std::string& name) const {
    return std::filesystem::exists(inside(name));
  }

  /// What one look at the tree can tell: each file is as before or as after.
  void check_content(file_op op, bool done) const {
    auto content = get_file(inside("f"));
    switch (op) {
    case file_op::write_atomic:
    case file_op::replace:
      CHECK((content == "new content" || (!done && content == "old")));
      break;
    case file_op::remove:
      CHECK((exists("f") ? content == "old" && !done : true));
      break;
    case file_op::rename:
      CHECK(exists("f") != exists("dir/to"));
      CHECK((exists("f") ? content : get_file(inside("dir/to"))) == "old");
      CHECK((!done || exists("dir/to")));
      break;
    case file_op::ensure_file:
      CHECK((!done || mode_of(inside("dir/fresh")) == 0600));
      CHECK((done || !exists("dir/fresh")));
      break;
    case file_op::ensure_directory:
      CHECK((!done || mode_of(inside("made/by/us")) == 0700));
      break;
    case file_op::empty_directory:
      CHECK((!done || std::filesystem::is_empty(inside("dir"))));
      break;
    default:
      CHECK(content == "old");
    }
  }
};

constexpr file_op all_operations[] = {
  file_op::read,        file_op::read_range,       file_op::write_atomic,
  file_op::replace,     file_op::ensure_directory, file_op::list,
  file_op::stat,        file_op::remove,           file_op::rename,
  file_op::ensure_file, file_op::empty_directory};

} // namespace

TEST_CASE("a fault anywhere in a job leaves before or after, and no rest") {
  for (auto op : all_operations)
    for (auto error : {EIO, ENOSPC, EINTR})
      for (auto most : {size_t{1}, size_t{4}, size_t{1000}})
        for (size_t n = 1;; ++n) {
          CAPTURE(io::verb_of(op));
          CAPTURE(error);
          CAPTURE(most);
          CAPTURE(n);
          swept_world world;
          world.fs->shorten_writes(most);
          world.fs->fail_at(n, error);
          auto job = world.swept_job(op);
          auto result = world.run(job);
          auto reached = world.fs->operations().size() >= n;
          // Closing what was only read may fail without harm.
          CHECK((result || reached));
          if (!result)
            CHECK(code_of(result.error()) == errc::disk);
          world.check_content(op, static_cast<bool>(result));
          for (const auto& entry :
               std::filesystem::directory_iterator{world.root()})
            CHECK_FALSE(entry.path().filename().string().starts_with("."));
          world.fs->heal();
          if (op != file_op::rename || world.exists("f"))
            CHECK(world.run(job));
          if (!reached)
            break;
        }
}

TEST_CASE("a job whose process dies anywhere leaves before or after") {
  for (auto op : all_operations)
    for (size_t n = 1;; ++n) {
      CAPTURE(io::verb_of(op));
      CAPTURE(n);
      swept_world world;
      world.fs->shorten_writes(4);
      world.fs->fail_from(n, EIO);
      auto job = world.swept_job(op);
      auto result = world.run(job);
      auto reached = world.fs->operations().size() >= n;
      if (op != file_op::ensure_file)
        world.check_content(op, static_cast<bool>(result));
      world.fs->heal();
      if (op != file_op::rename || world.exists("f"))
        CHECK(world.run(job));
      world.check_content(op, true);
      if (!reached)
        break;
    }
}

TEST_CASE("replace keeps the mode and makes the parents") {
  job_world world;
  put_file(world.inside("tool.sh"), "old");
  std::filesystem::permissions(world.inside("tool.sh"),
                               std::filesystem::perms::owner_all
                                 | std::filesystem::perms::group_exec);
  auto job = world.job(file_op::replace, "tool.sh");
  job.rule = resolve_rule::beneath;
  job.mode = 0644;
  job.bytes = "new";
  CHECK(world.run(job));
  CHECK(mode_of(world.inside("tool.sh")) == 0710);
  CHECK(get_file(world.inside("tool.sh")) == "new");
  job.path = "a/b/c.txt";
  CHECK(world.run(job));
  CHECK(mode_of(world.inside("a/b/c.txt")) == 0644);
  CHECK(get_file(world.inside("a/b/c.txt")) == "new");
  std::filesystem::create_symlink("a", world.inside("link"));
  job.path = "link/deeper/d.txt";
  CHECK(world.run(job));
  CHECK(get_file(world.inside("a/deeper/d.txt")) == "new");
  job.path = "tool.sh/x";
  CHECK(world.code(job) == errc::denied);
}

TEST_CASE("replace writes a mounted file in place") {
  job_world world;
  put_file(world.inside("f"), "a longer old content");
  // What a rename over a mount point says.
  world.fs->fail_named("rename_below", EBUSY);
  auto job = world.job(file_op::replace, "f");
  job.bytes = "new";
  struct stat before {};
  ::stat(world.inside("f").c_str(), &before);
  CHECK(world.run(job));
  struct stat after {};
  ::stat(world.inside("f").c_str(), &after);
  CHECK(before.st_ino == after.st_ino);
  CHECK(get_file(world.inside("f")) == "new");
  CHECK(world.entries() == 1);
}

TEST_CASE("ensure_directory makes what is missing and nothing else") {
  job_world world;
  auto job = world.job(file_op::ensure_directory, "a/b/c");
  job.mode = 0700;
  CHECK(world.run(job));
  CHECK(world.run(job));
  CHECK(mode_of(world.inside("a/b/c")) == 0700);
  put_file(world.inside("f"), "x");
  job.path = "f";
  CHECK(world.code(job) == errc::denied);
  job.path = "f/below";
  CHECK(world.code(job) == errc::denied);
  std::filesystem::create_symlink(world.scratch / "outside",
                                  world.inside("link"));
  job.path = "link";
  CHECK(world.code(job) == errc::denied);
  job.path = "link/made";
  CHECK(world.code(job) == errc::denied);
  CHECK_FALSE(std::filesystem::exists(world.scratch / "outside/made"));
  job.path = "";
  CHECK(world.run(job));
  job.root.clear();
  job.path = world.inside("x/y");
  CHECK(world.run(job));
  CHECK(std::filesystem::is_directory(world.inside("x/y")));
  job.root = world.inside("no/root");
  job.path = "";
  CHECK(world.code(job) == errc::not_found);
}

TEST_CASE("every directory that a job makes has a durable name") {
  for (auto op : {file_op::ensure_directory, file_op::replace}) {
    test::scratch_directory scratch;
    test::power_cut_file_system power;
    test::seeded_entropy chance;
    file_job job;
    job.op = op;
    job.root = scratch.path();
    job.path = op == file_op::replace ? "a/b/c/f" : "a/b/c";
    CHECK(io::run_file_job(power, chance, job));
    power.cut();
    CHECK(std::filesystem::is_directory(scratch / "a/b/c"));
  }
}

TEST_CASE("a directory whose name cannot be synced is not made") {
  job_world world;
  auto job = world.job(file_op::ensure_directory, "a/b");
  world.fs->fail_named("sync", EIO);
  CHECK(world.code(job) == errc::disk);
  CHECK(world.entries() == 0);
  world.fs->heal();
  CHECK(world.run(job));
}

TEST_CASE("ensure_file creates once and keeps what is there") {
  job_world world;
  auto job = world.job(file_op::ensure_file, "log.jsonl");
  CHECK(world.run(job));
  CHECK(mode_of(world.inside("log.jsonl")) == 0600);
  put_file(world.inside("log.jsonl"), "line\n");
  CHECK(world.run(job));
  CHECK(get_file(world.inside("log.jsonl")) == "line\n");
  std::filesystem::create_symlink(world.scratch / "outside/new",
                                  world.inside("link"));
  job.path = "link";
  CHECK(world.code(job) == errc::denied);
  CHECK_FALSE(std::filesystem::exists(world.scratch / "outside/new"));
}

TEST_CASE("list and stat tell what is there without following it") {
  job_world world;
  put_file(world.inside("b"), "12345");
  std::filesystem::create_directory(world.inside("a"));
  std::filesystem::create_symlink("b", world.inside("c"));
  auto list = world.run(world.job(file_op::list, ""));
  REQUIRE(list);
  CHECK(list->names == std::vector<std::string>{"a", "b", "c"});
  CHECK(world.code(world.job(file_op::list, "b")) == errc::denied);
  CHECK(world.code(world.job(file_op::list, "absent")) == errc::not_found);
  auto kind = [&](std::string path) {
    auto result = world.run(world.job(file_op::stat, std::move(path)));
    return result ? result->kind : file_kind::other;
  };
  CHECK(kind("a") == file_kind::directory);
  CHECK(kind("b") == file_kind::regular);
  CHECK(kind("c") == file_kind::symlink);
  CHECK(kind("") == file_kind::directory);
  CHECK(kind("absent") == file_kind::absent);
  CHECK(kind("absent/too") == file_kind::absent);
  CHECK(kind("b/below") == file_kind::absent);
  auto facts = world.run(world.job(file_op::stat, "b"));
  CHECK(facts->size == 5);
  CHECK(facts->links == 1);
  CHECK(facts->inode != 0);
  CHECK(facts->modified_ns > 0);
}

TEST_CASE("remove takes files and links, absence is fine") {
  job_world world;
  put_file(world.inside("f"), "x");
  std::filesystem::create_symlink(world.scratch / "outside/secret",
                                  world.inside("link"));
  std::filesystem::create_directory(world.inside("dir"));
  CHECK(world.run(world.job(file_op::remove, "f")));
  CHECK(world.run(world.job(file_op::remove, "f")));
  CHECK(world.run(world.job(file_op::remove, "absent/f")));
  CHECK(world.run(world.job(file_op::remove, "link")));
  CHECK(get_file(world.scratch / "outside/secret") == "secret");
  CHECK(world.code(world.job(file_op::remove, "dir")) == errc::is_directory);
}

TEST_CASE("rename moves within a root and refuses links and other disks") {
  job_world world;
  put_file(world.inside("f"), "x");
  std::filesystem::create_directory(world.inside("dir"));
  auto job = world.job(file_op::rename, "f");
  job.to = "dir/g";
  CHECK(world.run(job));
  CHECK(get_file(world.inside("dir/g")) == "x");
  CHECK(world.code(job) == errc::not_found);
  job.path = "dir/g";
  job.to = "../outside/g";
  CHECK(world.code(job) == errc::denied);
  std::filesystem::create_symlink("dir/g", world.inside("link"));
  job.to = "link";
  CHECK(world.code(job) == errc::denied);
  world.fs->fail_named("rename_new", EXDEV);
  job.to = "elsewhere";
  auto result = world.run(job);
  CHECK(code_of(result.error()) == errc::denied);
  CHECK(sentence_of(result.error()).find("file system") != std::string::npos);
}

TEST_CASE("rename never replaces what is there") {
  job_world world;
  put_file(world.inside("f"), "x");
  put_file(world.inside("g"), "y");
  std::filesystem::create_directory(world.inside("dir"));
  auto job = world.job(file_op::rename, "f");
  job.to = "g";
  CHECK(world.code(job) == errc::denied);
  job.to = "dir";
  CHECK(world.code(job) == errc::denied);
  CHECK(get_file(world.inside("f")) == "x");
  CHECK(get_file(world.inside("g")) == "y");
}

TEST_CASE("a renamed file is on the disk before its name is") {
  job_world world;
  put_file(world.inside("f"), "x");
  auto job = world.job(file_op::rename, "f");
  job.to = "g";
  CHECK(world.run(job));
  auto done = world.fs->operations();
  auto synced = std::find(done.begin(), done.end(), "sync");
  auto renamed = std::find(done.begin(), done.end(), "rename_new");
  CHECK(synced < renamed);
  CHECK(std::count(renamed, done.end(), "sync") >= 1);
  world.fs->fail_named("sync", EIO);
  job.path = "g";
  job.to = "h";
  CHECK(world.code(job) == errc::disk);
  CHECK(std::filesystem::exists(world.inside("g")));
}

TEST_CASE("empty_directory removes any tree and follows nothing") {
  job_world world;
  std::filesystem::create_symlink(world.scratch / "outside",
                                  world.inside("link"));
  std::string deep;
  for (auto i = 0; i < 300; ++i) {
    deep += deep.empty() ? "d" : "/d";
    std::filesystem::create_directory(world.inside(deep));
    put_file(world.inside(deep) + "/f", "x");
  }
  std::filesystem::create_directory_symlink(world.scratch / "outside",
                                            world.inside("d/d/link"));
  ::mkfifo(world.inside("d/fifo").c_str(), 0600);
  CHECK(world.run(world.job(file_op::empty_directory, "")));
  CHECK(world.entries() == 0);
  CHECK(get_file(world.scratch / "outside/secret") == "secret");
  put_file(world.inside("f"), "x");
  CHECK(world.code(world.job(file_op::empty_directory, "f")) == errc::denied);
  CHECK(world.code(world.job(file_op::empty_directory, "absent"))
        == errc::not_found);
}

TEST_CASE("reasons are counted, those beyond the bound together") {
  io::reason_table table;
  table["session"].busy = 2;
  table["session"].waiting = 1;
  table["registry"].done = 5;
  CHECK(table.text() == "registry 5 done, session 2 busy 1 waiting 0 done");
  CHECK(table.busy() == 2);
  CHECK(table.waiting() == 1);
  for (auto i = 0; i < 100; ++i)
    ++table["reason" + std::to_string(i)].done;
  CHECK(table.name_of("reason99") == "other");
  CHECK(table.name_of("session") == "session");
  CHECK(table.name_of("") == "other");
  CHECK(table["other"].done == 70);
}

namespace {

using time_point = io::job_queue::time_point;

file_job job_on(file_op op, std::string path, std::string to = {}) {
  file_job result;
  result.op = op;
  result.root = "/w";
  result.path = std::move(path);
  result.to = std::move(to);
  return result;
}

/// What may run now, as a text of ids.
std::string started(io::job_queue& queue) {
  std::string result;
  while (auto next = queue.next())
    result += std::to_string(next->id);
  return result;
}

} // namespace

TEST_CASE("a job names its paths in one spelling") {
  auto uses = [](const file_job& job) {
    return io::uses_of(job);
  };
  using list = std::vector<io::path_use>;
  CHECK(uses(job_on(file_op::read, "a/./b//c")) == list{{"/w/a/b/c", false}});
  CHECK(uses(job_on(file_op::list, "")) == list{{"/w", false}});
  CHECK(uses(job_on(file_op::stat, "a/../b")) == list{{"/w/b", false}});
  CHECK(uses(job_on(file_op::rename, "a", "b"))
        == list{{"/w/a", true}, {"/w/b", true}});
  auto absolute = job_on(file_op::remove, "/w/a");
  absolute.root.clear();
  CHECK(uses(absolute) == list{{"/w/a", true}});
  for (auto op : {file_op::write_atomic, file_op::replace, file_op::remove,
                  file_op::ensure_directory, file_op::empty_directory,
                  file_op::ensure_file})
    CHECK(uses(job_on(op, "a")) == list{{"/w/a", true}});
}

TEST_CASE("jobs on one path run in order, readers of it together") {
  io::job_queue queue;
  auto later = time_point::max();
  queue.add(1, job_on(file_op::read, "f"), later);
  queue.add(2, job_on(file_op::read, "f"), later);
  queue.add(3, job_on(file_op::write_atomic, "f"), later);
  queue.add(4, job_on(file_op::stat, "f"), later);
  queue.add(5, job_on(file_op::stat, "g"), later);
  queue.add(6, job_on(file_op::rename, "g", "f"), later);
  queue.add(7, job_on(file_op::read, "g"), later);
  queue.add(8, job_on(file_op::read, "h"), later);
  CHECK(started(queue) == "1258");
  CHECK(queue.waiting() == 4);
  queue.done(1);
  CHECK(started(queue).empty());
  queue.done(2);
  CHECK(started(queue) == "3");
  queue.done(5);
  queue.done(8);
  CHECK(started(queue).empty());
  queue.done(3);
  CHECK(started(queue) == "4");
  queue.done(4);
  CHECK(started(queue) == "6");
  queue.done(6);
  CHECK(started(queue) == "7");
  CHECK(queue.empty());
}

TEST_CASE("a job that nobody waits for any more is not started") {
  io::job_queue queue;
  time_point begin;
  auto at = [&](int64_t seconds) {
    return begin + std::chrono::seconds{seconds};
  };
  queue.add(1, job_on(file_op::write_atomic, "f"), at(30));
  queue.add(2, job_on(file_op::rename, "f", "g"), at(31));
  queue.add(3, job_on(file_op::stat, "f"), at(40));
  CHECK(started(queue) == "1");
  CHECK(queue.take_expired(at(30)).empty());
  auto late = queue.take_expired(at(31));
  REQUIRE(late.size() == 1);
  CHECK(late[0].id == 2);
  auto failure = io::expired_failure(late[0].job);
  CHECK(code_of(failure) == errc::timeout);
  CHECK(sentence_of(failure).find("cannot rename '/w/f'") == 0);
  // The one that runs still has the path.
  CHECK(started(queue).empty());
  queue.done(1);
  CHECK(started(queue) == "3");
}
