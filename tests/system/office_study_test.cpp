#include "actors/io/file_jobs.hpp"
#include "actors/office/registry_core.hpp"
#include "actors/system/line_reader_core.hpp"
#include "actors/system/office_inspector.hpp"
#include "actors/system/office_study_core.hpp"
#include "actors/system/office_text_core.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/codec/log_record.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <filesystem>

using namespace bureau;
using namespace bureau::system;
using namespace std::chrono_literals;

namespace {

const office_address slack{platform_id::slack, "C1"};

/// A state directory and a workspace on a real disk.
struct desk {
  test::scratch_directory scratch;
  std::shared_ptr<os::posix_file_system> disk =
    std::make_shared<os::posix_file_system>();
  std::shared_ptr<test::seeded_entropy> chance =
    std::make_shared<test::seeded_entropy>();
  workspace place = make_workspace(scratch / "work", scratch / "state");
  office here = make_office(place, slack);
  registry_state registry;

  desk() {
    std::filesystem::create_directories(here.sessions_dir);
    std::filesystem::create_directories(here.state_dir);
  }

  void record() {
    offices::record_office(registry, slack, "2026-05-01T09:00:00.000Z");
    write_registry();
  }

  void write_registry() const {
    test::put_file(scratch / "state/office-registry.json",
                   print_registry(registry));
  }

  ledger_record entry(ledger_state state, std::string id) const {
    ledger_record result;
    result.at = "2026-05-01T10:00:00.000Z";
    result.id = std::move(id);
    result.state = state;
    result.run = "r-1";
    result.event.address = slack;
    result.event.session_key = "C1";
    result.event.message_id = result.id;
    result.event.text = "hello";
    return result;
  }

  /// Walks a study; the sentence of its fault, or its result as JSON.
  std::string study(const office_address& address = slack) const {
    office_study what{place, address};
    for (int jobs = 0; auto job = what.next(); ++jobs) {
      REQUIRE(jobs < 1000);
      auto outcome = io::run_file_job(*disk, *chance, *job);
      if (outcome)
        what.take(*outcome);
      else
        what.fail(outcome.error());
    }
    if (what.fault())
      return to_string(code_of(what.fault())) + ": "
             + sentence_of(what.fault());
    return json::print(what.result());
  }

  std::string text() const {
    return office_text(json::parse(study()).value.as_object());
  }
};

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  auto found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

std::vector<std::string> read_lines(const std::vector<std::string>& parts,
                                    uint64_t& count) {
  std::vector<std::string> told;
  line_reader reader{[&](std::string_view line) {
    told.emplace_back(line);
  }};
  for (const auto& part : parts)
    reader.feed(part);
  reader.finish();
  count = reader.lines();
  return told;
}

} // namespace

TEST_CASE("lines of a file are found across its parts") {
  using lines = std::vector<std::string>;
  uint64_t count = 0;
  CHECK(read_lines({}, count) == lines{});
  CHECK(count == 0);
  CHECK(read_lines({"a\nb", "c\n", "\n \t\r\nd", "", "\n"}, count)
        == lines{"a", "bc", "d"});
  CHECK(count == 3);
  // The last line may be cut: it counts, but nobody reads it.
  CHECK(read_lines({"a\n", "{\"b"}, count) == lines{"a"});
  CHECK(count == 2);
  std::string huge(limits::json_text_bytes, 'x');
  CHECK(read_lines({huge, "y", "z\nb\n"}, count) == lines{"", "b"});
  CHECK(count == 2);
  CHECK(read_lines({huge, huge}, count) == lines{});
  CHECK(count == 1);
}

TEST_CASE_FIXTURE(desk, "a conversation with everything is told whole") {
  record();
  log_record said;
  said.date = "2026-05-01T10:00:00.000Z";
  said.text = "hello";
  test::put_file(here.log_path,
                 print_log_line({}) + "\n" + print_log_line(said));
  test::put_file(here.sessions_dir + "/current", "s.jsonl\n");
  test::put_file(here.sessions_dir + "/s.jsonl", "{}\n{}\n{}\n");
  test::put_file(here.state_dir + "/ledger.jsonl",
                 print_ledger_line(entry(ledger_state::accepted, "m-1"))
                   + print_ledger_line(entry(ledger_state::accepted, "m-2"))
                   + print_ledger_line(entry(ledger_state::running, "m-2"))
                   + "damaged\n");
  auto told = study();
  contains(told, R"("platform":"slack","id":"C1","key":")" + here.key + '"');
  contains(told, R"("directoryExists":true)");
  contains(told, R"("recordedAt":"2026-05-01T09:00:00.000Z")");
  contains(
    told,
    R"("log":{"lines":2,"complete":true,"lastDate":"2026-05-01T10:00:00.000Z"})");
  contains(told, R"("session":{"file":"s.jsonl","entries":2,"complete":true})");
  contains(told, R"("open":2)");
  contains(told,
           R"("state":"accepted","acceptedAt":"2026-05-01T10:00:00.000Z")");
  contains(told, R"("id":"m-2","state":"running")");
  contains(told, R"("migration":null,"notes":[])");
  CHECK(text()
        == "office     slack C1\n"
           "key        "
             + here.key + "\ndirectory  " + here.dir + "\nstate      "
             + here.state_dir
             + "\nrecorded   2026-05-01T09:00:00.000Z\n"
               "log        2 lines, the last of 2026-05-01T10:00:00.000Z\n"
               "session    s.jsonl, 2 entries\n"
               "ledger     2 open entries\n"
               "  m-1  accepted  since 2026-05-01T10:00:00.000Z  session C1\n"
               "  m-2  running  since 2026-05-01T10:00:00.000Z  session C1\n");
}

TEST_CASE_FIXTURE(desk, "a conversation with nothing but its record") {
  record();
  std::filesystem::remove_all(here.dir);
  std::filesystem::remove_all(here.state_dir);
  auto told = study();
  contains(told, R"("directoryExists":false)");
  contains(told, R"("log":null,"session":null,"ledger":null)");
  contains(text(), "directory  " + here.dir + " (not there)\n");
  contains(text(), "session    none\n");
}

TEST_CASE_FIXTURE(desk, "what is not recorded is no office") {
  contains(study(), "not_found: no office is recorded for slack C1");
  record();
  contains(study({platform_id::discord, "C1"}), "not_found");
  contains(study({platform_id::slack, "../C1"}), "bad_identity");
  contains(study({platform_id::slack, ""}), "bad_identity");
}

TEST_CASE_FIXTURE(desk, "a damaged registry is named, not passed over") {
  test::put_file(scratch / "state/office-registry.json", "{\"version\":");
  contains(study(), "corrupt: " + scratch / "state/office-registry.json:1:");
}

TEST_CASE_FIXTURE(desk, "an unfinished move is shown, recorded or not") {
  migration_record moved;
  moved.raw_id = "C1";
  moved.workspace_root = place.root;
  moved.source_dir = place.root + "/C1";
  moved.target_dir = here.dir;
  moved.owner = platform_id::slack;
  moved.status = migration_status::failed;
  moved.error = "target in the way";
  moved.updated_at = "2026-05-01T09:00:00.000Z";
  offices::enable_platform(registry, platform_id::slack);
  registry.migrations.push_back(moved);
  write_registry();
  contains(study(), R"("migration":{"status":"failed")");
  contains(text(), "recorded   no\n");
  contains(text(), "migration  failed, from " + moved.source_dir
                     + ": target in the way\n");
  contains(study({platform_id::discord, "C1"}), "not_found");
}

TEST_CASE_FIXTURE(desk, "links and odd files are noted, not followed") {
  record();
  test::put_file(scratch / "secret", "a\nb\n");
  std::filesystem::create_symlink(scratch / "secret", here.log_path);
  test::put_file(here.sessions_dir + "/current", "../../secret");
  auto told = study();
  contains(told, R"("log":null)");
  contains(told, R"("session":null)");
  contains(told, "log.jsonl");
  contains(told, "The pointer to the current session is damaged.");
  contains(text(), "note       ");
  std::filesystem::remove_all(here.dir);
  std::filesystem::create_directory_symlink(scratch.path(), here.dir);
  told = study();
  contains(told, R"("directoryExists":false)");
  contains(told, "The directory of the office is none");
}

TEST_CASE_FIXTURE(desk, "long lists and large files are cut, and say so") {
  record();
  std::string ledger;
  for (size_t i = 0; i < study_entries + 7; ++i)
    ledger += print_ledger_line(
      entry(ledger_state::accepted, "m-" + std::to_string(i)));
  test::put_file(here.state_dir + "/ledger.jsonl", ledger);
  contains(text(), "ledger     57 open entries\n");
  contains(text(), "  and 7 more\n");
  // A hole costs nothing on the disk, and no line is in it.
  test::put_file(here.log_path, "{}\n");
  std::filesystem::resize_file(here.log_path, study_file_bytes + 10);
  contains(text(), "log        more than 2 lines\n");
}

TEST_CASE("whatever comes in, the text holds no control characters") {
  auto text = office_text({{"platform", "slack"},
                           {"id", "C\x1b[2J1"},
                           {"notes", {"a\nb", 7}},
                           {"ledger", {{"open", 1}, {"entries", 5}}},
                           {"log", {{"lines", 1}}}});
  for (auto c : text)
    CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  contains(text, "log        1 line\n");
  contains(text, "note       a b\n");
}

namespace {

struct inspector_story : test::node_fixture, desk {
  std::shared_ptr<test::files_probe> probe =
    std::make_shared<test::files_probe>();
  files_actor files =
    test::spawn_inline_files(*system, desk::disk, desk::chance, probe);
  office_inspector_actor actor = spawn_office_inspector(*system, place, files);

  std::string ask_for(const office_address& address) {
    std::string result;
    ask(
      actor, [&](const std::string& told) { result = told; },
      [&](const caf::error& err) {
        result = to_string(code_of(err)) + ": " + sentence_of(err);
      },
      atom::describe_v, address);
    return result;
  }
};

} // namespace

TEST_CASE_FIXTURE(inspector_story, "the actor reads as the command line does") {
  record();
  test::put_file(here.log_path, print_log_line({}));
  CHECK(ask_for(slack) == study());
  for (const auto& job : probe->jobs)
    CHECK(job.reason == "control");
  contains(ask_for({platform_id::slack, "C2"}), "not_found");
}

TEST_CASE_FIXTURE(inspector_story, "a disk that fails is told") {
  record();
  probe->failures = {make_failure(errc::disk, "the disk is gone")};
  CHECK(ask_for(slack) == "disk: the disk is gone");
  // Behind the registry a fault costs one part.
  probe->failures = {{}, {}, make_failure(errc::disk, "the disk is gone")};
  contains(ask_for(slack), R"("notes":["the disk is gone"])");
  self->send_exit(files, caf::exit_reason::kill);
  settle();
  contains(ask_for(slack), "shutting_down");
}
