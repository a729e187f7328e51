#include "actors/harness/answer_parts_core.hpp"
#include "actors/harness/tools/attach_core.hpp"
#include "actors/harness/tools/attach_tool.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"
#include "tests/harness/loop_story.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scripted_executor.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <optional>

using namespace bureau;
using namespace bureau::test;
using code = contracts::part_failure_code;

namespace {

/// What a test sees and steers of the store of published files.
struct store_probe {
  std::vector<artifact_publish> requests;
  std::optional<errc> fault;
  bool silent = false;
};

struct store_state {
  using pointer = artifacts_actor::stateful_pointer<store_state>;
  static inline const char* name = "store";

  explicit store_state(pointer me) : self(me) {}

  void init(std::shared_ptr<store_probe> into) { probe = std::move(into); }

  using part_promise = caf::typed_response_promise<contracts::attachment_part>;

  part_promise publish(const artifact_publish& request) {
    auto answer = self->make_response_promise<part_promise>();
    probe->requests.push_back(request);
    contracts::attachment_part part;
    part.artifact_id = "id" + std::to_string(probe->requests.size());
    part.name = request.name;
    part.media_type = request.media_type;
    part.size_bytes = static_cast<int64_t>(request.bytes.size());
    if (probe->fault)
      answer.deliver(make_failure(*probe->fault, "The store says no."));
    else if (!probe->silent)
      answer.deliver(part);
    return answer;
  }

  artifacts_actor::behavior_type make_behavior() {
    return {
      [this](atom::publish, const artifact_publish& request) {
        return publish(request);
      },
      [](atom::open, const contracts::artifact_open_request&) {
        return artifact_opened{};
      },
      [](atom::read, const artifact_read&) { return artifact_slice{}; },
      [](atom::close, const std::string&) {},
      [](atom::status) { return status_line{}; },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }

  pointer self;
  std::shared_ptr<store_probe> probe;
};

struct attach_world : node_fixture {
  attach_world() {
    executor = machine.spawn(*system);
    auto store =
      kit::spawn_stateful<artifacts_actor, store_state>(*system, probe);
    tool_pack_args args;
    args.place.address = {platform_id::telegram, "-5"};
    args.session_key = "-5:7";
    args.executor = executor;
    args.paths = scripted_executor::paths();
    tool = harness::make_attach_tool(store)(*system, args).front().owner;
    settle();
  }

  ~attach_world() {
    self->send_exit(executor, caf::exit_reason::user_shutdown);
    settle();
  }

  std::shared_ptr<std::optional<tool_outcome>> begin(std::string arguments) {
    auto end = std::make_shared<std::optional<tool_outcome>>();
    tool_invocation what;
    what.call_id = "c1";
    what.name = "attach";
    what.arguments = json_text{std::move(arguments)};
    system->spawn([end, what, target = tool](caf::event_based_actor* client) {
      client->request(target, caf::infinite, atom::call_v, what)
        .then([end](const tool_outcome& outcome) { *end = outcome; },
              [](const caf::error&) {});
    });
    settle();
    return end;
  }

  tool_outcome call(std::string arguments) {
    auto end = begin(std::move(arguments));
    REQUIRE(end->has_value());
    return **end;
  }

  static std::string text_of(const tool_outcome& outcome) {
    std::string result;
    for (const auto& block : outcome.content)
      result += block.text;
    return result;
  }

  static const contracts::failed_part& failure_of(const tool_outcome& outcome) {
    REQUIRE(outcome.parts.size() == 1);
    auto part = caf::get_if<contracts::failed_part>(&outcome.parts[0]);
    REQUIRE(part != nullptr);
    return *part;
  }

  scripted_executor machine;
  executor_actor executor;
  std::shared_ptr<store_probe> probe = std::make_shared<store_probe>();
  tool_actor tool;
};

contracts::reply_part file_part(int number) {
  contracts::attachment_part part;
  part.id = std::to_string(number);
  return part;
}

std::vector<contracts::reply_part> file_parts(int count) {
  std::vector<contracts::reply_part> result;
  for (auto i = 1; i <= count; ++i)
    result.push_back(file_part(i));
  return result;
}

} // namespace

TEST_CASE_FIXTURE(attach_world,
                  "a file of the workspace goes with the answer") {
  machine.put("/workspace/office/out/report.PDF", "%PDF-");
  auto done = call(R"({"path":"out/report.PDF"})");
  CHECK_FALSE(done.is_error);
  CHECK(text_of(done).starts_with(
    "Attached report.PDF (application/pdf, 5 bytes). "));
  REQUIRE(done.parts.size() == 1);
  auto part = caf::get_if<contracts::attachment_part>(&done.parts[0]);
  REQUIRE(part != nullptr);
  CHECK(part->artifact_id == "id1");
  REQUIRE(probe->requests.size() == 1);
  CHECK(probe->requests[0].conversation_id == "telegram:-5:7");
  CHECK(probe->requests[0].bytes == "%PDF-");
}

TEST_CASE_FIXTURE(attach_world, "the name that is shown may be another one") {
  machine.put("/workspace/office/a.csv", "1,2");
  call(R"({"path":"/workspace/office/a.csv","name":"Numbers of May"})");
  REQUIRE(probe->requests.size() == 1);
  CHECK(probe->requests[0].name == "Numbers of May");
  CHECK(probe->requests[0].media_type == "text/csv");
}

TEST_CASE_FIXTURE(attach_world, "a file of several slices is read to its end") {
  std::string bytes(limits::artifact_bytes, 'x');
  machine.put("/workspace/office/big", bytes);
  CHECK_FALSE(call(R"({"path":"big"})").is_error);
  REQUIRE(probe->requests.size() == 1);
  CHECK(probe->requests[0].bytes == bytes);
}

TEST_CASE_FIXTURE(attach_world, "one byte too many is said to model and user") {
  machine.put("/workspace/office/big",
              std::string(limits::artifact_bytes + 1, 'x'));
  auto done = call(R"({"path":"big"})");
  CHECK(done.is_error);
  CHECK(text_of(done).find("larger than 20.0MB") != std::string::npos);
  CHECK(failure_of(done).code == code::artifact_too_large);
  CHECK(failure_of(done).message == "big is too large to go with an answer.");
  CHECK(probe->requests.empty());
}

TEST_CASE_FIXTURE(attach_world,
                  "a store that refuses is said to both as well") {
  machine.put("/workspace/office/a", "x");
  probe->fault = errc::disk;
  auto done = call(R"({"path":"a"})");
  CHECK(done.is_error);
  CHECK(text_of(done)
        == "/workspace/office/a was not attached. The store says no.");
  CHECK(failure_of(done).code == code::artifact_publish_failed);
  CHECK(failure_of(done).id == "failed-c1");
}

TEST_CASE_FIXTURE(attach_world, "mistakes of the model are the model's alone") {
  machine.put("/etc/passwd", "x");
  for (auto arguments :
       {R"({"path":"none"})", R"({"path":"/etc/passwd"})",
        R"({"path":"../../etc/passwd"})", R"({"path":"/workspace"})",
        R"({"path":""})", "{}", "7"}) {
    CAPTURE(arguments);
    auto done = call(arguments);
    CHECK(done.is_error);
    CHECK(done.parts.empty());
  }
  CHECK(probe->requests.empty());
}

TEST_CASE_FIXTURE(attach_world, "an abort answers at once") {
  machine.put("/workspace/office/a", "x");
  probe->silent = true;
  auto pending = begin(R"({"path":"a"})");
  CHECK_FALSE(pending->has_value());
  kit::urgent_send(&*self, tool, atom::abort_v, std::string{"c1"});
  settle();
  REQUIRE(pending->has_value());
  CHECK((*pending)->is_error);
  CHECK((*pending)->parts.empty());
}

TEST_CASE_FIXTURE(attach_world, "the end of the environment answers as well") {
  machine.stall_path("/workspace/office/a");
  auto pending = begin(R"({"path":"a"})");
  self->send_exit(executor, caf::exit_reason::kill);
  settle();
  REQUIRE(pending->has_value());
  CHECK((*pending)->is_error);
}

TEST_CASE("media types come from the extension") {
  CHECK(harness::media_type_of("a.tar.GZ") == "application/gzip");
  CHECK(harness::media_type_of("notes.md") == "text/markdown");
  CHECK(harness::media_type_of("Makefile") == "application/octet-stream");
  CHECK(harness::media_type_of("a.") == "application/octet-stream");
}

TEST_CASE("an answer has at most twenty parts") {
  harness::answer_parts parts;
  parts.add(file_parts(20));
  CHECK(parts.take() == file_parts(20));
  CHECK(parts.take().empty());
  parts.add(file_parts(15));
  parts.add(file_parts(8));
  auto taken = parts.take();
  REQUIRE(taken.size() == 20);
  CHECK(taken[18] == file_part(4));
  auto rest = caf::get_if<contracts::failed_part>(&taken[19]);
  REQUIRE(rest != nullptr);
  CHECK(rest->code == code::reply_part_too_large);
  CHECK(rest->message.starts_with("4 more parts were left out;"));
}

TEST_CASE("what tools add is settled with the run") {
  loop_story story;
  story.reach_call();
  story.reply(calling({"echo"}));
  story.append_ok();
  tool_outcome with;
  with.content.push_back(text_block("done"));
  with.parts = file_parts(2);
  story.tool(0, with);
  story.append_ok();
  story.reply(answer("here it is"));
  story.append_ok();
  CHECK(story.outcome().final_text == "here it is");
  CHECK(story.outcome().parts == file_parts(2));
}
