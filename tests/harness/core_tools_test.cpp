#include "actors/harness/tools/core_tools.hpp"
#include "actors/kit/requests.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scripted_executor.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;

namespace {

class tools_world : public node_fixture {
public:
  tools_world() { executor = machine.spawn(*system); }

  ~tools_world() {
    self->send_exit(executor, caf::exit_reason::user_shutdown);
    settle();
  }

  void start() {
    tool_pack_args args;
    args.executor = executor;
    args.paths = scripted_executor::paths();
    auto pack = harness::make_core_tools(chance)(*system, args);
    REQUIRE(pack.size() == 4);
    tools = pack[0].owner;
    settle();
  }

  std::shared_ptr<std::optional<tool_outcome>> call(std::string name,
                                                    std::string arguments,
                                                    std::string id = "c1") {
    auto end = std::make_shared<std::optional<tool_outcome>>();
    tool_invocation what;
    what.call_id = std::move(id);
    what.name = std::move(name);
    what.arguments = json_text{std::move(arguments)};
    system->spawn([end, what, target = tools](caf::event_based_actor* client) {
      client->request(target, caf::infinite, atom::call_v, what)
        .then([end](const tool_outcome& outcome) { *end = outcome; },
              [](const caf::error&) {});
    });
    settle();
    return end;
  }

  void abort(const std::string& id = "c1") {
    kit::urgent_send(&*self, tools, atom::abort_v, id);
    settle();
  }

  static std::string text_in(const std::optional<tool_outcome>& outcome) {
    REQUIRE(outcome.has_value());
    std::string result;
    for (const auto& block : outcome->content)
      result += block.text;
    return result;
  }

  scripted_executor machine;
  executor_actor executor;
  tool_actor tools;
};

std::string big_text(size_t bytes) {
  std::string result;
  for (size_t i = 0; result.size() < bytes; ++i)
    result += "line " + std::to_string(i) + "\n";
  return result;
}

} // namespace

TEST_CASE("the pack: order, schemas, a label in each") {
  auto definitions = harness::core_tool_definitions();
  std::string names;
  for (const auto& definition : definitions) {
    names += definition.name + " ";
    auto schema = json::parse(definition.parameters.text);
    REQUIRE(schema);
    const auto& object = schema.value.get_object();
    CHECK(json::text_or_empty(object, "type") == "object");
    const auto* required = json::member(object, "required");
    REQUIRE(required != nullptr);
    CHECK(required->get_array().front() == "label");
    CHECK_FALSE(definition.description.empty());
  }
  CHECK(names == "read bash edit write ");
  CHECK_FALSE(definitions[0].sequential);
  CHECK(definitions[1].sequential);
  CHECK(definitions[2].sequential);
  CHECK(definitions[3].sequential);
  CHECK(definitions[1].description.find("do not survive") != std::string::npos);
}

// -- read ---------------------------------------------------------------------

TEST_CASE_FIXTURE(tools_world, "reading files") {
  machine.put("/workspace/office/a.txt", "one\ntwo\n");
  machine.put("/abs.txt", "absolute");
  start();
  CHECK(text_in(*call("read", R"({"path":"a.txt"})")) == "one\ntwo\n");
  CHECK(text_in(*call("read", R"({"path":"/abs.txt"})")) == "absolute");
  CHECK(text_in(*call("read", R"({"path":"a.txt","offset":2,"limit":1})"))
          .rfind("two\n\n[1 more line", 0)
        == 0);
  auto missing = call("read", R"({"path":"/none"})");
  CHECK((*missing)->is_error);
  CHECK(text_in(*missing) == "/none does not exist");
  CHECK((*call("read", "{}"))->is_error);
}

TEST_CASE_FIXTURE(tools_world, "a file above one slice is read in parts") {
  auto text = big_text(limits::exec_file_bytes + 1000);
  machine.put("/big", text);
  start();
  auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  auto shown = text_in(*call("read", R"({"path":"/big"})"));
  CHECK(shown.find("of " + std::to_string(lines) + ".") != std::string::npos);
  auto last =
    "{\"path\":\"/big\",\"offset\":" + std::to_string(lines - 1) + "}";
  CHECK(text_in(*call("read", last))
        == "line " + std::to_string(lines - 2) + "\n");
}

TEST_CASE_FIXTURE(tools_world, "images are shown, unless they are too large") {
  machine.put("/a.PNG", "Man");
  machine.put("/big.jpg", std::string(limits::tool_image_bytes + 1, 'x'));
  machine.put("/full.gif", std::string(limits::tool_image_bytes, 'x'));
  start();
  auto image = call("read", R"({"path":"/a.PNG"})");
  REQUIRE((*image)->content.size() == 2);
  CHECK((*image)->content[1].data == "TWFu");
  CHECK((*image)->content[1].mime_type == "image/png");
  CHECK((*call("read", R"({"path":"/big.jpg"})"))->is_error);
  CHECK_FALSE((*call("read", R"({"path":"/full.gif"})"))->is_error);
}

TEST_CASE_FIXTURE(tools_world, "a read that stalls ends by abort or by time") {
  machine.stall_path("/pipe");
  start();
  auto aborted = call("read", R"({"path":"/pipe"})", "c1");
  auto waiting = call("read", R"({"path":"/pipe"})", "c2");
  abort("c1");
  REQUIRE(aborted->has_value());
  CHECK((*aborted)->is_error);
  CHECK_FALSE(waiting->has_value());
  advance(limits::disk_timeout);
  REQUIRE(waiting->has_value());
  CHECK((*waiting)->is_error);
}

// -- bash ---------------------------------------------------------------------

TEST_CASE_FIXTURE(tools_world, "a command runs in the office's directory") {
  machine.on("ls", prints("a.txt\n"));
  start();
  CHECK(text_in(*call("bash", R"({"command":"ls"})")) == "a.txt\n");
  CHECK(text_in(*call("bash", R"({"command":"true","timeout":1.5})"))
        == "(no output)");
  REQUIRE(machine.commands().size() == 2);
  CHECK(machine.commands()[0].cwd == "/workspace/office");
  CHECK(machine.commands()[0].timeout_ms == 0);
  CHECK(machine.commands()[1].timeout_ms == 1500);
  CHECK(machine.commands()[0].id != machine.commands()[1].id);
}

TEST_CASE_FIXTURE(tools_world, "a non-zero exit code is an error result") {
  machine.on("fail", prints("x", 3));
  start();
  auto end = call("bash", R"({"command":"fail"})");
  CHECK((*end)->is_error);
  CHECK(text_in(*end) == "x\n\nCommand exited with code 3");
}

TEST_CASE_FIXTURE(tools_world, "long output is kept in the office") {
  auto text = big_text(60'000);
  machine.on("long", prints(text));
  start();
  auto end = call("bash", R"({"command":"long"})");
  REQUIRE(machine.files().size() == 1);
  auto path = machine.files().begin()->first;
  CHECK(path.rfind("/workspace/office/.bureau/bash-output/", 0) == 0);
  CHECK(path.size()
        == std::string{"/workspace/office/.bureau/bash-output/"}.size() + 20);
  CHECK(machine.file(path) == text);
  CHECK(text_in(*end).find(path) != std::string::npos);
  CHECK((*end)->details.text.find(path) != std::string::npos);
}

TEST_CASE_FIXTURE(tools_world, "very long output is kept in parts") {
  auto text = big_text(limits::exec_file_bytes + 5);
  machine.on("huge", prints(text));
  start();
  auto end = call("bash", R"({"command":"huge"})");
  CHECK(end->has_value());
  CHECK(machine.parts() == 2);
  REQUIRE(machine.files().size() == 1);
  CHECK(machine.files().begin()->second == text);
}

TEST_CASE_FIXTURE(tools_world, "output that cannot be kept is no failure") {
  machine.on("long", prints(big_text(60'000)));
  start();
  auto first = call("bash", R"({"command":"long"})");
  auto path = machine.files().begin()->first;
  // The next names are known: the chance port is seeded.
  auto twin = std::make_shared<seeded_entropy>();
  for (auto i = 0; i < 3; ++i)
    twin->next();
  machine.break_path("/workspace/office/.bureau/bash-output/"
                       + random_hex(*twin, 16) + ".log",
                     errc::disk);
  auto second = call("bash", R"({"command":"long"})");
  CHECK_FALSE((*second)->is_error);
  CHECK(text_in(*second).find("not available") != std::string::npos);
  CHECK(text_in(*first).find(path) != std::string::npos);
}

TEST_CASE_FIXTURE(tools_world, "a command that runs out of time") {
  machine.on("sleep", hangs("half"));
  start();
  auto end = call("bash", R"({"command":"sleep 60","timeout":2})");
  advance(1999ms);
  CHECK_FALSE(end->has_value());
  advance(1ms);
  REQUIRE(end->has_value());
  CHECK((*end)->is_error);
  CHECK(text_in(*end) == "half\nCommand timed out after 2 seconds");
}

TEST_CASE_FIXTURE(tools_world, "abort ends the command, and only that one") {
  machine.on("sleep", hangs("half"));
  start();
  auto first = call("bash", R"({"command":"sleep 1"})", "c1");
  auto second = call("bash", R"({"command":"sleep 2"})", "c2");
  abort("c2");
  abort("unknown");
  REQUIRE(second->has_value());
  CHECK((*second)->is_error);
  CHECK(text_in(*second) == "half\nCommand aborted");
  CHECK_FALSE(first->has_value());
  CHECK(machine.aborts() == std::vector<uint64_t>{machine.commands()[1].id});
  CHECK(machine.running() == 1);
}

TEST_CASE_FIXTURE(tools_world, "an environment that refuses says why") {
  machine.on("x", refuses(errc::not_ready, "The sandbox is starting."));
  start();
  auto end = call("bash", R"({"command":"x"})");
  CHECK((*end)->is_error);
  CHECK(text_in(*end) == "The sandbox is starting.");
}

// -- edit and write -----------------------------------------------------------

TEST_CASE_FIXTURE(tools_world, "an edit replaces one passage") {
  machine.put("/workspace/office/a.txt", "one\ntwo\n");
  start();
  auto end =
    call("edit", R"({"path":"a.txt","oldText":"two","newText":"zwei"})");
  CHECK_FALSE((*end)->is_error);
  CHECK(machine.file("/workspace/office/a.txt") == "one\nzwei\n");
  auto details = json::parse((*end)->details.text);
  CHECK(json::text_or_empty(details.value.get_object(), "diff")
        == " 1 one\n-2 two\n+2 zwei");
}

TEST_CASE_FIXTURE(tools_world, "edits that fail leave the file alone") {
  machine.put("/a", "x x");
  machine.put("/ro", "abc");
  machine.put("/big", std::string(limits::exec_file_bytes + 1, 'x'));
  machine.break_path("/denied", errc::denied);
  start();
  struct row {
    const char* arguments;
    const char* says;
  };
  const row rows[] = {
    {R"({"path":"/none","oldText":"a","newText":"b"})", "does not exist"},
    {R"({"path":"/a","oldText":"x","newText":"b"})", "2 times"},
    {R"({"path":"/a","oldText":"y","newText":"b"})", "does not occur"},
    {R"({"path":"/a","oldText":"","newText":"b"})", "empty"},
    {R"({"path":"/a","oldText":"x x","newText":"x x"})", "unchanged"},
    {R"({"path":"/big","oldText":"x","newText":"b"})", "8.0MB"},
    {R"({"path":"/denied","oldText":"x","newText":"b"})", "denied"},
  };
  for (const auto& row : rows) {
    auto end = call("edit", row.arguments);
    REQUIRE(end->has_value());
    CHECK((*end)->is_error);
    CHECK(text_in(*end).find(row.says) != std::string::npos);
  }
  CHECK(machine.file("/a") == "x x");
}

TEST_CASE_FIXTURE(tools_world, "a write tells how many bytes it wrote") {
  start();
  auto end =
    call("write", "{\"path\":\"new/a.txt\",\"content\":\"\xC3\xA4!\"}");
  CHECK(text_in(*end) == "Wrote 3 bytes to /workspace/office/new/a.txt.");
  CHECK(machine.file("/workspace/office/new/a.txt") == "\xC3\xA4!");
  call("write", R"({"path":"/empty","content":""})");
  CHECK(machine.has_file("/empty"));
}

TEST_CASE_FIXTURE(tools_world, "a write that fails says why") {
  machine.break_path("/ro", errc::denied);
  start();
  auto end = call("write", R"({"path":"/ro","content":"x"})");
  CHECK((*end)->is_error);
  CHECK(text_in(*end).find("denied") != std::string::npos);
}

TEST_CASE_FIXTURE(tools_world, "a write is not answered before its outcome is "
                               "known, abort or not") {
  machine.stall_path("/slow");
  start();
  auto end = call("write", R"({"path":"/slow","content":"x"})");
  abort();
  CHECK_FALSE(end->has_value());
  advance(limits::disk_timeout);
  REQUIRE(end->has_value());
  CHECK((*end)->is_error);
}

// -- faults -------------------------------------------------------------------

TEST_CASE("an environment that ends answers every running call") {
  struct row {
    const char* tool;
    const char* arguments;
  };
  const row rows[] = {
    {"read", R"({"path":"/deadly"})"},
    {"write", R"({"path":"/deadly","content":"x"})"},
    {"edit", R"({"path":"/deadly","oldText":"a","newText":"b"})"},
    {"bash", R"({"command":"die"})"},
  };
  for (const auto& row : rows) {
    INFO(row.tool);
    tools_world world;
    world.machine.on("sleep", hangs());
    exec_reply deadly;
    deadly.dies = true;
    world.machine.on("die", deadly);
    world.machine.die_at_path("/deadly");
    world.start();
    auto other = world.call("bash", R"({"command":"sleep 9"})", "c1");
    auto end = world.call(row.tool, row.arguments, "c2");
    REQUIRE(end->has_value());
    CHECK((*end)->is_error);
    REQUIRE(other->has_value());
    CHECK((*other)->is_error);
    auto after = world.call("bash", R"({"command":"ls"})", "c3");
    REQUIRE(after->has_value());
    CHECK((*after)->is_error);
  }
}

TEST_CASE_FIXTURE(tools_world, "calls that make no sense") {
  start();
  CHECK((*call("grep", R"({"path":"x"})"))->is_error);
  CHECK((*call("read", "[]"))->is_error);
  CHECK((*call("read", "{"))->is_error);
  CHECK((*call("read", R"({"path":""})"))->is_error);
}
