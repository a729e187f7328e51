#include "tests/sandbox/real_world.hpp"

#include <sys/stat.h>
#include <unistd.h>

using namespace bureau;
using bureau::test::answer;
using bureau::test::contains;
using bureau::test::real_world;

namespace {

std::string every_byte(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

struct file_world : real_world {
  answer<uint64_t> write(const executor_actor& executor, std::string path,
                         std::string bytes, int32_t mode = -1) {
    return call<uint64_t>(executor, atom::write_v,
                          exec_write{std::move(path), std::move(bytes), mode});
  }

  answer<exec_slice> read(const executor_actor& executor, std::string path,
                          uint64_t offset = 0,
                          uint64_t length = limits::exec_file_bytes) {
    return call<exec_slice>(executor, atom::read_v,
                            exec_read{std::move(path), offset, length});
  }

  std::string whole(const executor_actor& executor, const std::string& path) {
    std::string bytes;
    for (;;) {
      auto slice = read(executor, path, bytes.size());
      CAPTURE(slice.sentence);
      REQUIRE(slice.value);
      bytes += slice.value->bytes;
      if (slice.value->eof)
        return bytes;
      REQUIRE(!slice.value->bytes.empty());
    }
  }

  /// Writes above the size of one request.
  answer<uint64_t> write_parts(const executor_actor& executor,
                               const std::string& path,
                               const std::string& bytes) {
    constexpr size_t step = 3u << 20;
    answer<uint64_t> last;
    for (size_t pos = 0, seq = 0; pos < bytes.size(); pos += step, ++seq)
      last = call<uint64_t>(
        executor, atom::write_part_v,
        exec_write_part{42, path, static_cast<uint32_t>(seq),
                        bytes.substr(pos, step), pos + step >= bytes.size()});
    return last;
  }

  /// Every way that a file can take: on the host below a mount, inside below a
  /// mount (behind a link), inside elsewhere, and on a host without a sandbox.
  template <class Check>
  void each_way(Check check) {
    auto boxed = make("local");
    auto place = args_for("local").place;
    out_of(boxed, "mkdir -p real && ln -sfn real link");
    sandbox.backend = "host";
    auto plain = make(args_for("plain", "trusted"));
    struct way {
      const char* name;
      executor_actor executor;
      std::string directory;
    };
    const way ways[] = {
      {"mounted", boxed, "dir"},
      {"behind a link", boxed, "link"},
      {"tmp", boxed, "/tmp/dir"},
      {"home", boxed, "/root"},
      {"host", plain, "dir"},
      {"host, absolute", plain, directory.path + "/elsewhere"},
    };
    for (const auto& each : ways) {
      CAPTURE(std::string{each.name});
      check(each.executor, each.directory);
    }
  }
};

uint32_t mode_of(const std::string& path) {
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777u;
}

} // namespace

TEST_CASE_FIXTURE(file_world, "contents come back byte for byte") {
  const std::string contents[] = {
    "",
    "x",
    "it's",
    "\"$HOME\" `id` $(x)",
    "back\\slashes\\n",
    "a\n\tb\r\nc\n",
    "\xE6\xA9\x98 \xF0\x9F\x8D\x8A \xC3\xB1",
    "100% %s %%",
    "final newline\n",
    "no final newline",
    std::string("\0a\0", 3),
    every_byte(70'000),
    std::string(120'000, 'x') + "\n" + std::string(8'000, '\''),
  };
  each_way([&](const executor_actor& executor, const std::string& home) {
    auto path = home + "/file";
    for (const auto& bytes : contents) {
      CAPTURE(bytes.size());
      auto wrote = write(executor, path, bytes);
      CAPTURE(wrote.sentence);
      CHECK(wrote.value == bytes.size());
      CHECK((whole(executor, path) == bytes));
    }
  });
}

TEST_CASE_FIXTURE(file_world, "names may be anything") {
  const std::string names[] = {
    "it's.txt", "-rf",  "a b", "$(id)", "new\nline",           "\xE6\xA9\x98",
    "...",      "a\\b", "*",   "~",     std::string(200, 'n'), "a/b/c/f.txt",
    "-x/-y",
  };
  each_way([&](const executor_actor& executor, const std::string& home) {
    for (const auto& name : names) {
      CAPTURE(name);
      auto path = home + "/" + name;
      auto wrote = write(executor, path, name);
      CAPTURE(wrote.sentence);
      CHECK(wrote.value == name.size());
      CHECK(whole(executor, path) == name);
    }
    // Nothing but the targets is left.
    auto left =
      run(executor, "find " + home + " -name '*bureau-stage*' | wc -l");
    REQUIRE(left.value);
    CHECK(left.value->out == "0\n");
  });
}

TEST_CASE_FIXTURE(file_world, "relative names start in the office") {
  auto executor = make("local");
  CHECK(write(executor, "-rf", "x").value == 1u);
  CHECK(out_of(executor, "cat ./-rf") == "x");
  CHECK(whole(executor, "./-rf") == "x");
}

TEST_CASE_FIXTURE(file_world, "ten megabytes, both ways") {
  auto bytes = every_byte(10'240'000);
  each_way([&](const executor_actor& executor, const std::string& home) {
    auto path = home + "/big";
    auto wrote = write_parts(executor, path, bytes);
    CAPTURE(wrote.sentence);
    CHECK(wrote.value == bytes.size());
    CHECK((whole(executor, path) == bytes));
    auto slice = read(executor, path, 5'000'000, 1000);
    REQUIRE(slice.value);
    CHECK((slice.value->bytes == bytes.substr(5'000'000, 1000)));
    CHECK(!slice.value->eof);
  });
}

TEST_CASE_FIXTURE(file_world, "an existing file keeps its mode, a new one gets "
                              "its own") {
  each_way([&](const executor_actor& executor, const std::string& home) {
    auto path = home + "/run.sh";
    auto mode = [&] {
      auto got = run(executor, "stat -L -c %a " + path);
      return got.value ? got.value->out : got.sentence;
    };
    CHECK(write(executor, path, "old").value);
    CHECK(mode() == "644\n");
    REQUIRE(run(executor, "chmod 750 " + path).value);
    CHECK(write(executor, path, "new").value);
    CHECK(mode() == "750\n");
    CHECK(write(executor, path, "newer", 0700).value);
    CHECK(mode() == "700\n");
    CHECK(whole(executor, path) == "newer");
  });
}

TEST_CASE_FIXTURE(file_world, "faults are told apart") {
  each_way([&](const executor_actor& executor, const std::string& home) {
    REQUIRE(write(executor, home + "/file", "x").value);
    REQUIRE(
      run(executor, "mkdir -p " + home + "/sub && mkfifo " + home + "/pipe")
        .value);
    CHECK(read(executor, home + "/absent").code == errc::not_found);
    CHECK(read(executor, home + "/sub").code == errc::is_directory);
    CHECK(read(executor, home + "/pipe").code == errc::denied);
    CHECK(read(executor, home + "/file/x").code == errc::not_found);
    CHECK(write(executor, home + "/sub", "x").code == errc::is_directory);
    CHECK(!write(executor, home + "/pipe", "x").value);
    CHECK(!write(executor, home + "/file/x", "x").value);
    CHECK(read(executor, "").code == errc::bad_request);
    CHECK(write(executor, std::string("/a\0b", 4), "x").code
          == errc::bad_request);
    CHECK(whole(executor, home + "/file") == "x");
  });
}

TEST_CASE_FIXTURE(file_world, "links mean what they mean inside") {
  auto executor = make("local");
  auto place = args_for("local").place;
  out_of(executor, "ln -s /etc/passwd passwd; ln -s /etc/shadow shadow; "
                   "ln -s /tmp/t tmp; echo t > /tmp/t; ln -s nowhere dangling; "
                   "ln -s / root; ln -s sessions s");
  CHECK(whole(executor, "passwd") == "agent:x:1000:1000::/root:/bin/sh\n");
  CHECK(read(executor, "shadow").code == errc::not_found);
  CHECK(whole(executor, "tmp") == "t\n");
  CHECK(read(executor, "dangling").code == errc::not_found);
  CHECK(whole(executor, "root/tmp/t") == "t\n");
  CHECK(whole(executor, "root/etc/group") == "agent:x:1000:\n");
  CHECK(write(executor, "s/forged.jsonl", "x").code == errc::denied);
  CHECK(write(executor, "root/etc/new", "x").code == errc::denied);
  CHECK(!std::filesystem::exists(place.sessions_dir + "/forged.jsonl"));
  // A link as the target is replaced, its old target stays.
  CHECK(write(executor, "tmp", "mine").value == 4u);
  CHECK(out_of(executor, "test ! -L tmp && cat tmp /tmp/t") == "minet\n");
}

TEST_CASE_FIXTURE(file_world, "dots behind a link go where the kernel goes") {
  auto executor = make("local");
  out_of(executor, "mkdir -p /tmp/a/b && echo inside > /tmp/a/x && "
                   "ln -s /tmp/a/b link && echo office > x");
  CHECK(whole(executor, "link/../x") == "inside\n");
  CHECK(whole(executor, "sessions/../x") == "office\n");
}

TEST_CASE_FIXTURE(file_world, "files of the system") {
  auto executor = make("local");
  CHECK(contains(whole(executor, "/proc/self/status"), "NoNewPrivs:\t1"));
  CHECK(write(executor, "/etc/new", "x").code == errc::denied);
  CHECK(write(executor, "/usr/new", "x").code == errc::denied);
  CHECK(write(executor, "/workspace/new", "x").code == errc::denied);
  CHECK(write(executor, "/new/deep/file", "x").code == errc::denied);
  CHECK(read(executor, "/dev/zero", 0, 10).code == errc::denied);
}

TEST_CASE_FIXTURE(file_world, "own records are readable and nothing else") {
  auto executor = make("local");
  auto place = args_for("local").place;
  test::put_file(place.log_path, "history\n");
  CHECK(whole(executor, "log.jsonl") == "history\n");
  CHECK(write(executor, "log.jsonl", "x").code == errc::denied);
  CHECK(write(executor, "sessions/x", "x").code == errc::denied);
  CHECK(write(executor, "attachments/x", "x").code == errc::denied);
  CHECK(test::content_of(place.log_path) == "history\n");
}

TEST_CASE_FIXTURE(file_world, "a mounted single file is written in place") {
  auto executor = make(args_for("local", "trusted", "shared-support"));
  CHECK(write(executor, "/workspace/MEMORY.md", "one").value == 3u);
  CHECK(test::content_of(ws.memory_path) == "one");
  // The same file by a name that only the kernel inside can resolve.
  out_of(executor, "mkdir -p d");
  CHECK(write(executor, "d/../../MEMORY.md", "two!").value == 4u);
  CHECK(test::content_of(ws.memory_path) == "two!");
  CHECK(mode_of(ws.memory_path) == 0600);
  CHECK(whole(executor, "d/../../MEMORY.md") == "two!");
}

TEST_CASE_FIXTURE(file_world, "writes to one path come one after the other") {
  auto executor = make("local");
  using pending_write = decltype(self->request(executor, test::deadline,
                                               atom::write_v, exec_write{}));
  std::vector<pending_write> pending;
  for (int i = 0; i < 20; ++i)
    pending.push_back(self->request(
      executor, test::deadline, atom::write_v,
      exec_write{"/tmp/x", std::string(static_cast<size_t>(i) + 1, 'x'), -1}));
  for (auto& each : pending)
    CHECK(await<uint64_t>(each).value);
  CHECK(whole(executor, "/tmp/x") == std::string(20, 'x'));
  CHECK(out_of(executor, "ls -A /tmp") == "x\n");
}
