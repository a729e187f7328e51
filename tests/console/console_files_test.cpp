#include "tests/console/console_world.hpp"

#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;

TEST_CASE_FIXTURE(console_world,
                  "given /attach, then the message goes out with "
                  "a reference that brings the file") {
  (*logs)["/work/my notes.txt"] = "remember the milk";
  start();
  say("/attach \"my notes.txt\" what is this?");
  REQUIRE(offices->intakes.size() == 1);
  const auto& event = offices->intakes[0].event;
  CHECK(event.text == "what is this?");
  REQUIRE(event.attachments.size() == 1);
  CHECK(event.attachments[0].name == "my notes.txt");
  CHECK(event.attachments[0].local_path.empty());
  CHECK(fetch(event.attachments[0].ref) == "17");
  CHECK((*logs)["/ws/k/attachments/.1_a.part"] == "remember the milk");
  // Also after a restart: the ledger has nothing but the reference.
  CHECK(fetch("file:/work/my notes.txt") == "17");
  CHECK(port->err.empty());
}

TEST_CASE_FIXTURE(console_world, "a fetch brings only what the console sent") {
  (*logs)["/work/a"] = "0123456789";
  start();
  CHECK(fetch("file:/work/../work/a") == "denied");
  CHECK(fetch("/work/a") == "denied");
  CHECK(fetch("file:/work/a", platform_id::telegram) == "denied");
  CHECK(fetch("file:/work/a", platform_id::console, 9) == "too_large");
  (*logs)["/work/b"] = "secret";
  CHECK(fetch("file:/work/b") == "denied");
  (*logs)["/work/b"] = "broken";
  CHECK(fetch("file:/work/b") == "disk");
  CHECK(logs->count("/ws/k/attachments/.1_a.part") == 0);
  ask(
    handle.service, [](caf::ok_atom) {},
    [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::stop_v);
  CHECK(fetch("file:/work/a") == "shutting_down");
}

TEST_CASE_FIXTURE(console_world,
                  "the name of a file that is sent need not be UTF-8") {
  (*logs)["/work/caf\xE9.txt"] = "remember the milk";
  start();
  say("/attach caf\xE9.txt caf\xE9?");
  REQUIRE(offices->intakes.size() == 1);
  const auto& event = offices->intakes[0].event;
  CHECK(event.text == "caf\xEF\xBF\xBD?");
  REQUIRE(event.attachments.size() == 1);
  CHECK(event.attachments[0].name == "caf\xEF\xBF\xBD.txt");
  CHECK(text::is_valid_utf8(event.attachments[0].ref));
  CHECK(fetch(event.attachments[0].ref) == "17");
}

TEST_CASE_FIXTURE(console_world,
                  "a file that cannot be sent is refused at once") {
  (*logs)["/home/ann/locked"] = "secret";
  (*logs)["/home/ann/big"] = std::string(limits::attachment_bytes + 1, 'x');
  start();
  say("/attach nothing.txt");
  CHECK(port->err.find("There is no file /work/nothing.txt. Nothing was sent.")
        != std::string::npos);
  say("/attach ~/locked");
  CHECK(port->err.find("cannot read '/home/ann/locked'. Nothing was sent.")
        != std::string::npos);
  say("/attach ~/big read it");
  CHECK(port->err.find("/home/ann/big is larger than 20 MB")
        != std::string::npos);
  CHECK(offices->intakes.empty());
  say("/attach /state/auth.json");
  CHECK(port->err.find("is in the state directory") != std::string::npos);
  say("hello");
  CHECK(offices->intakes.size() == 1);
}

TEST_CASE("a file of an answer is told of on a terminal and can be kept") {
  auto artifacts = std::make_shared<artifact_script>();
  test::scratch_directory home;
  console_world at{true,
                   [&](console::console_options& options) {
                     options.working_dir = home.path();
                   },
                   {},
                   artifacts};
  CHECK(at.start());
  outbound upload;
  upload.op = outbound_op::upload;
  upload.conversation = {platform_id::console, "local"};
  upload.run = "r1";
  upload.message_id = "m1";
  contracts::attachment_part file;
  file.artifact_id = "a1";
  file.name = "notes.txt";
  file.media_type = "text/plain";
  file.size_bytes = 20;
  file.integrity_id = "sha256:x";
  upload.file = file;
  auto outcome = at.deliver(upload);
  CHECK(outcome.fault == delivery_fault::none);
  CHECK(at.port->out.find("File 1: notes.txt (20 bytes, text/plain)")
        != std::string::npos);
  SUBCASE("under its own name") {
    at.say("/save 1");
    CHECK(test::get_file(home / "notes.txt") == artifacts->bytes);
    REQUIRE(artifacts->opened.size() == 1);
    CHECK(artifacts->opened[0].conversation_id == "console:local");
    CHECK(artifacts->opened[0].artifact_id == "a1");
    CHECK(*artifacts->opened[0].expected_integrity_id == "sha256:x");
    CHECK(artifacts->closed == std::vector<std::string>{"t1"});
    // What is there stays.
    test::put_file(home / "notes.txt", "mine");
    at.say("/save 1");
    CHECK(at.port->out.find("exists already") != std::string::npos);
    CHECK(test::get_file(home / "notes.txt") == "mine");
  }
  SUBCASE("it is gone") {
    artifacts->fault = contracts::part_failure_code::artifact_expired;
    at.say("/save 1 elsewhere.txt");
    CHECK(at.port->out.find("has expired") != std::string::npos);
    CHECK(test::get_file(home / "elsewhere.txt").empty());
  }
  SUBCASE("there is none of that number") {
    at.say("/save 7");
    CHECK(at.port->out.find("There is no file 7") != std::string::npos);
  }
}
