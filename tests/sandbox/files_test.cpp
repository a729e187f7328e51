#include "tests/sandbox/sandbox_story.hpp"

using namespace bureau;
using namespace std::chrono_literals;
using bureau::test::contains;
using bureau::test::process_script;
using bureau::test::sandbox_story;

namespace {

constexpr auto forever = caf::infinite;

exec_read whole(std::string path) {
  return {std::move(path), 0, 1000};
}

exec_write text(std::string path, std::string bytes) {
  return {std::move(path), std::move(bytes), -1};
}

/// The shell program of a sandboxed child.
const std::string& program_of(const proc_spec& spec) {
  return spec.argv.back();
}

} // namespace

// -- reading ------------------------------------------------------------------

TEST_CASE_FIXTURE(sandbox_story, "a file of the office is read on the host") {
  test::put_file(office_file("a/b.txt"), std::string("x\0y\n", 4));
  auto executor = make();
  auto got = call<exec_slice>(executor, atom::read_v, whole("a/b.txt"));
  REQUIRE(got.value);
  CHECK(*got.value == exec_slice{std::string("x\0y\n", 4), true});
  auto path = "/workspace/" + args.place.key + "/a/b.txt";
  got = call<exec_slice>(executor, atom::read_v, exec_read{path, 1, 2});
  CHECK(got.value.value() == exec_slice{std::string("\0y", 2), false});
  got = call<exec_slice>(executor, atom::read_v, exec_read{path, 9, 2});
  CHECK(got.value.value() == exec_slice{"", true});
  CHECK(processes->specs.empty());
}

TEST_CASE_FIXTURE(sandbox_story, "reading tells what is wrong with a path") {
  test::put_file(office_file("a/b.txt"), "x");
  auto executor = make();
  auto read = [&](const exec_read& request) {
    return call<exec_slice>(executor, atom::read_v, request);
  };
  auto absent = read(whole("nothing"));
  CHECK(absent.code == errc::not_found);
  CHECK(absent.sentence
        == "cannot read /workspace/" + args.place.key
             + "/nothing: no such file or directory");
  CHECK(read(whole("a")).code == errc::is_directory);
  CHECK(read(whole(".")).code == errc::is_directory);
  CHECK(read(whole("")).code == errc::bad_request);
  CHECK(read(whole(std::string("a\0b", 3))).code == errc::bad_request);
  CHECK(read({"a/b.txt", 0, limits::exec_file_bytes + 1}).code
        == errc::too_large);
  CHECK(processes->specs.empty());
}

TEST_CASE_FIXTURE(sandbox_story, "a link is followed inside, never outside") {
  test::put_file(office_file("real"), "x");
  std::filesystem::create_symlink("/etc/passwd", office_file("link"));
  auto inside = ended(0, "agent", "5\n");
  processes->script(inside);
  auto executor = make();
  auto got = call<exec_slice>(executor, atom::read_v, whole("link"));
  REQUIRE(got.value);
  CHECK(got.value->bytes == "agent");
  REQUIRE(processes->specs.size() == 1);
  auto& program = program_of(processes->specs[0]);
  CHECK(contains(program, "p='/workspace/" + args.place.key + "/link'"));
  CHECK(contains(program, "head -c 1000"));
  CHECK(processes->specs[0].cap_out == 1000);
}

TEST_CASE_FIXTURE(sandbox_story, "a linked directory is no way out either") {
  std::filesystem::create_directories(directory.path + "/secret");
  test::put_file(directory.path + "/secret/key", "sesame");
  std::filesystem::create_directories(args.place.dir);
  std::filesystem::create_directory_symlink(directory.path + "/secret",
                                            office_file("d"));
  process_script absent = ended(80);
  processes->always(absent);
  auto executor = make();
  auto got = call<exec_slice>(executor, atom::read_v, whole("d/key"));
  CHECK(got.code == errc::not_found);
  auto wrote = call<uint64_t>(executor, atom::write_v, text("d/new", "x"));
  CHECK(wrote.code == errc::not_found);
  CHECK(!std::filesystem::exists(directory.path + "/secret/new"));
}

TEST_CASE_FIXTURE(sandbox_story, "a swapped office directory is not followed") {
  args.door_policy = "trusted";
  processes->always(ended(80));
  auto executor = make();
  REQUIRE(call<exec_slice>(executor, atom::read_v, whole("x")).code
          == errc::not_found);
  // As an office behind a full door could do to another one.
  test::put_file(directory.path + "/secret/key", "sesame");
  std::filesystem::rename(args.place.dir, args.place.dir + ".old");
  std::filesystem::create_directory_symlink(directory.path + "/secret",
                                            args.place.dir);
  CHECK(call<exec_slice>(executor, atom::read_v, whole("key")).code
        == errc::not_found);
  REQUIRE(processes->specs.size() == 1);
}

TEST_CASE_FIXTURE(sandbox_story, "paths outside the mounts are read inside") {
  processes->script(ended(0, "abc", "3\n"));
  processes->script(ended(80));
  processes->script(ended(0, "ab", "3\n"));
  auto executor = make();
  CHECK(call<exec_slice>(executor, atom::read_v, whole("/tmp/x")).value.value()
        == exec_slice{"abc", true});
  CHECK(call<exec_slice>(executor, atom::read_v, whole("/etc/none")).code
        == errc::not_found);
  CHECK(call<exec_slice>(executor, atom::read_v, whole("/tmp/x")).code
        == errc::transport);
}

TEST_CASE_FIXTURE(sandbox_story, "a read that hangs inside ends") {
  processes->script(held());
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::read_v, whole("/tmp/x"));
  advance(limits::disk_timeout);
  auto got = collect<exec_slice>(pending);
  CHECK(got.code == errc::timeout);
  CHECK(contains(got.sentence, "cannot read /tmp/x"));
}

// -- writing ------------------------------------------------------------------

TEST_CASE_FIXTURE(sandbox_story,
                  "a file of the office is written on the host") {
  auto executor = make();
  std::string bytes("a\0\r\n\xff", 5);
  auto got = call<uint64_t>(executor, atom::write_v, text("x/y/z", bytes));
  CHECK(got.value == 5u);
  CHECK(test::content_of(office_file("x/y/z")) == bytes);
  CHECK(processes->specs.empty());
  // No staging file is left.
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(office_file("x/y")))
    ++entries;
  CHECK(entries == 1);
}

TEST_CASE_FIXTURE(sandbox_story, "replacing keeps the mode") {
  auto path = office_file("run.sh");
  test::put_file(path, "old");
  std::filesystem::permissions(path, std::filesystem::perms{0755});
  auto executor = make();
  CHECK(call<uint64_t>(executor, atom::write_v, text("run.sh", "new")).value
        == 3u);
  CHECK(test::content_of(path) == "new");
  CHECK(std::filesystem::status(path).permissions()
        == std::filesystem::perms{0755});
}

TEST_CASE_FIXTURE(sandbox_story, "writing tells what is wrong with a path") {
  std::filesystem::create_directories(office_file("d"));
  auto executor = make();
  auto write = [&](const exec_write& request) {
    return call<uint64_t>(executor, atom::write_v, request);
  };
  CHECK(write(text("d", "x")).code == errc::is_directory);
  CHECK(write(text(".", "x")).code == errc::is_directory);
  CHECK(write(text("", "x")).code == errc::bad_request);
  auto log = write(text("log.jsonl", "forged"));
  CHECK(log.code == errc::denied);
  CHECK(contains(log.sentence, "read-only in the sandbox"));
  CHECK(write(text("sessions/s.jsonl", "forged")).code == errc::denied);
  CHECK(write(text("x", std::string(limits::exec_file_bytes + 1, 'x'))).code
        == errc::too_large);
  CHECK(processes->specs.empty());
}

TEST_CASE_FIXTURE(sandbox_story, "a link to the own records does not unlock "
                                 "them") {
  processes->always(ended(1, "",
                          "sh: 1: cannot create s: Read-only file "
                          "system\n"));
  auto executor = make();
  CHECK(call<uint64_t>(executor, atom::write_v, text("a", "x")).value == 1u);
  std::filesystem::create_directory_symlink("sessions", office_file("s"));
  auto got = call<uint64_t>(executor, atom::write_v, text("s/x.jsonl", "x"));
  CHECK(got.code == errc::denied);
  CHECK(!std::filesystem::exists(args.place.sessions_dir + "/x.jsonl"));
  REQUIRE(processes->specs.size() == 1);
}

TEST_CASE_FIXTURE(sandbox_story, "writes outside the mounts go inside") {
  processes->script(ended(0, "4\n"));
  auto executor = make();
  auto got = call<uint64_t>(executor, atom::write_v, text("/tmp/x", "data"));
  CHECK(got.value == 4u);
  auto& spec = processes->specs.at(0);
  CHECK(spec.input == stdin_kind::bytes);
  CHECK(spec.input_bytes == "data");
  CHECK(contains(program_of(spec), "p='/tmp/x'"));
  // The content never appears in a command line.
  CHECK(!contains(program_of(spec), "data"));
}

TEST_CASE_FIXTURE(sandbox_story, "an explicit mode is set inside") {
  processes->script(ended(0, "1\n"));
  auto executor = make();
  auto got =
    call<uint64_t>(executor, atom::write_v, exec_write{"run", "x", 0755});
  CHECK(got.value == 1u);
  CHECK(contains(program_of(processes->specs.at(0)), "new=755\n"));
}

TEST_CASE_FIXTURE(sandbox_story, "a short write is an error") {
  processes->script(ended(0, "3\n"));
  auto executor = make();
  CHECK(call<uint64_t>(executor, atom::write_v, text("/tmp/x", "data")).code
        == errc::transport);
}

TEST_CASE_FIXTURE(sandbox_story, "what an interrupted write left is removed") {
  processes->script(held());
  processes->script(ended(0));
  auto executor = make();
  auto pending =
    self->request(executor, forever, atom::write_v, text("/tmp/x", "data"));
  advance(limits::disk_timeout);
  auto got = collect<uint64_t>(pending);
  CHECK(got.code == errc::timeout);
  REQUIRE(processes->specs.size() == 2);
  auto& write = program_of(processes->specs[0]);
  auto& clean = program_of(processes->specs[1]);
  auto stage = clean.substr(std::string_view{"rm -f -- "}.size());
  stage.pop_back();
  CHECK(contains(clean, "rm -f -- '/tmp/.x.bureau-stage."));
  CHECK(contains(write, "s=" + stage + "\n"));
}

TEST_CASE_FIXTURE(sandbox_story, "one path has one writer at a time") {
  processes->always(held());
  auto executor = make();
  auto write = [&](std::string path, std::string bytes) {
    return self->request(executor, forever, atom::write_v,
                         text(std::move(path), std::move(bytes)));
  };
  auto first = write("/tmp/x", "1");
  auto second = write("/tmp/./x", "22");
  auto other = write("/tmp/y", "3");
  settle();
  REQUIRE(processes->specs.size() == 2);
  CHECK(processes->specs[0].input_bytes == "1");
  CHECK(processes->specs[1].input_bytes == "3");
  auto finish = [&](size_t index, const std::string& count) {
    processes->output(processes->specs[index].id, 1, count);
    processes->finish(processes->specs[index].id);
    settle();
  };
  // Without a status document the write fails, and the next still goes on.
  finish(0, "1\n");
  CHECK(collect<uint64_t>(first).code == errc::transport);
  bool found = false;
  for (const auto& spec : processes->specs)
    found = found || spec.input_bytes == "22";
  CHECK(found);
  auto stopped = self->request(executor, forever, atom::stop_v);
  CHECK(collect<uint64_t>(second).code != errc::none);
  CHECK(collect<uint64_t>(other).code != errc::none);
  CHECK(collect<caf::ok_atom>(stopped).value);
}

TEST_CASE_FIXTURE(sandbox_story, "waiting writes are bounded") {
  processes->always(held());
  auto executor = make();
  using pending_write =
    decltype(self->request(executor, forever, atom::write_v, exec_write{}));
  std::vector<pending_write> pending;
  for (size_t i = 0; i <= limits::exec_writes_waiting; ++i)
    pending.push_back(
      self->request(executor, forever, atom::write_v, text("/tmp/x", "1")));
  CHECK(collect<uint64_t>(pending.back()).code == errc::queue_full);
  pending.pop_back();
  auto stopped = self->request(executor, forever, atom::stop_v);
  for (auto& each : pending)
    CHECK(collect<uint64_t>(each).code != errc::none);
  CHECK(collect<caf::ok_atom>(stopped).value);
}

// -- parts --------------------------------------------------------------------

TEST_CASE_FIXTURE(sandbox_story, "a file in parts appears with the last one") {
  auto executor = make();
  auto part = [&](uint64_t id, uint32_t seq, std::string bytes, bool last) {
    exec_write_part request{id, "big", seq, std::move(bytes), last};
    return call<uint64_t>(executor, atom::write_part_v, request);
  };
  CHECK(part(1, 0, "abc", false).value == 3u);
  CHECK(!std::filesystem::exists(office_file("big")));
  CHECK(part(1, 1, "de", false).value == 5u);
  CHECK(part(1, 2, "f", true).value == 6u);
  CHECK(test::content_of(office_file("big")) == "abcdef");
  CHECK(part(2, 0, "", true).value == 0u);
  CHECK(test::content_of(office_file("big")).empty());
}

TEST_CASE_FIXTURE(sandbox_story, "parts out of order are refused") {
  auto executor = make();
  auto part = [&](uint64_t id, std::string path, uint32_t seq, bool last) {
    exec_write_part request{id, std::move(path), seq, "x", last};
    return call<uint64_t>(executor, atom::write_part_v, request).code;
  };
  CHECK(part(1, "a", 1, false) == errc::bad_request);
  CHECK(part(2, "a", 0, false) == errc::none);
  CHECK(part(2, "a", 2, true) == errc::bad_request);
  CHECK(part(2, "a", 1, true) == errc::bad_request);
  CHECK(part(3, "a", 0, false) == errc::none);
  CHECK(part(3, "b", 1, true) == errc::bad_request);
  CHECK(part(4, "a", 0, false) == errc::none);
  CHECK(part(4, "a", 0, false) == errc::bad_request);
  CHECK(part(5, "sessions/a", 0, true) == errc::denied);
  CHECK(!std::filesystem::exists(office_file("a")));
}

TEST_CASE_FIXTURE(sandbox_story, "parts are bounded in number and in time") {
  auto executor = make();
  auto open = [&](uint64_t id) {
    exec_write_part request{id, "a" + std::to_string(id), 0, "x", false};
    return call<uint64_t>(executor, atom::write_part_v, request).code;
  };
  for (uint64_t id = 1; id <= limits::exec_part_files; ++id)
    CHECK(open(id) == errc::none);
  CHECK(open(9) == errc::queue_full);
  advance(limits::exec_part_timeout);
  CHECK(open(9) == errc::none);
  exec_write_part late{1, "a1", 1, "x", true};
  CHECK(call<uint64_t>(executor, atom::write_part_v, late).code
        == errc::bad_request);
}

TEST_CASE_FIXTURE(sandbox_story, "a file in parts is bounded in size") {
  auto executor = make();
  std::string block(limits::exec_part_bytes / 2, 'x');
  auto part = [&](uint32_t seq, bool last) {
    exec_write_part request{1, "big", seq, block, last};
    return call<uint64_t>(executor, atom::write_part_v, request).code;
  };
  CHECK(part(0, false) == errc::none);
  CHECK(part(1, false) == errc::none);
  block = "x";
  CHECK(part(2, true) == errc::too_large);
  CHECK(!std::filesystem::exists(office_file("big")));
}

// -- host ---------------------------------------------------------------------

TEST_CASE_FIXTURE(sandbox_story, "host files are host files") {
  config.backend = "host";
  args.door_policy = "trusted";
  auto executor = make();
  auto outside = directory.path + "/elsewhere/f";
  CHECK(call<uint64_t>(executor, atom::write_v, text(outside, "x")).value
        == 1u);
  CHECK(test::content_of(outside) == "x");
  CHECK(call<uint64_t>(executor, atom::write_v, text("rel", "y")).value == 1u);
  CHECK(test::content_of(office_file("rel")) == "y");
  CHECK(call<exec_slice>(executor, atom::read_v, whole(outside)).value->bytes
        == "x");
  CHECK(processes->specs.empty());
}
