#include "actors/harness/tools/event_tool.hpp"

#include "actors/harness/tools/event_core.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::harness;
using namespace bureau::test;

namespace {

constexpr int64_t ms = 1'700'000'000'000;

event_place place_of(const std::string& cause = "m1") {
  event_place result;
  result.conversation = {platform_id::slack, "C9"};
  result.context = {conversation_kind::shared, "U7"};
  result.message_id = cause;
  result.time_zone = "Europe/Berlin";
  result.now_ms = ms;
  return result;
}

event_call call_of(const char* arguments) {
  return read_event_call(json::parse(arguments).value.get_object(), place_of());
}

struct events_script {
  std::vector<event_write> written;
  std::vector<event_query> listed;
  std::vector<event_query> read;
  std::vector<event_query> dropped;
  caf::error failure;
  event_list list;
};

struct scripted_events_state {
  events_actor::stateful_pointer<scripted_events_state> self;
  std::shared_ptr<events_script> script;
  static inline const char* name = "scripted_events";

  explicit scripted_events_state(
    events_actor::stateful_pointer<scripted_events_state> me)
    : self(me) {}

  void init(std::shared_ptr<events_script> shared) {
    script = std::move(shared);
  }

  events_actor::behavior_type make_behavior() {
    return {
      [this](atom::write, const event_write& x) -> caf::result<event_stored> {
        script->written.push_back(x);
        if (script->failure)
          return script->failure;
        return event_stored{"events/" + x.filename, 1};
      },
      [this](atom::list, const event_query& x) {
        script->listed.push_back(x);
        return script->list;
      },
      [this](atom::read, const event_query& x) {
        script->read.push_back(x);
        event_entry entry;
        entry.filename = x.filename;
        return entry;
      },
      [this](atom::drop, const event_query& x) {
        script->dropped.push_back(x);
        return true;
      },
      [](atom::describe) { return contracts::cron_overview{}; },
      [](atom::list, const event_run_query&) {
        return contracts::cron_run_page{};
      },
      [](atom::read, const event_run_query&) { return contracts::cron_run{}; },
      [](atom::start, const event_desk_actor&) {},
      [](atom::attach, platform_id) {},
      [](atom::changed, const directory_change&) {},
      [](atom::drain) { return caf::ok_atom_v; },
      [](atom::status) {
        return status_line{"events", "ok", ""};
      },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

struct event_tool_world : node_fixture {
  event_tool_world() {
    events =
      kit::spawn_stateful<events_actor, scripted_events_state>(*system, script);
    tool_pack_args args;
    args.place.address = {platform_id::slack, "C9"};
    tool =
      make_event_tool(events, wall, "Europe/Berlin")(*system, args)[0].owner;
    settle();
  }

  ~event_tool_world() {
    self->send_exit(events, caf::exit_reason::user_shutdown);
    self->send_exit(tool, caf::exit_reason::user_shutdown);
    settle();
  }

  tool_outcome call(const char* arguments) {
    tool_invocation invocation;
    invocation.name = "event";
    invocation.arguments = json_text{arguments};
    invocation.message_id = "event:x@1-1";
    invocation.context = {conversation_kind::shared, "U7"};
    tool_outcome result;
    ask(
      tool, [&](const tool_outcome& outcome) { result = outcome; },
      [](const caf::error& reason) { FAIL(sentence_of(reason)); }, atom::call_v,
      invocation);
    REQUIRE(result.content.size() == 1);
    return result;
  }

  std::shared_ptr<events_script> script = std::make_shared<events_script>();
  events_actor events;
  tool_actor tool;
};

} // namespace

TEST_SUITE("event tool") {

  TEST_CASE("where an event goes comes from the run, never from the model") {
    auto call = call_of(
      R"({"type":"immediate","text":"look","filenamePrefix":" Deploy / Prod ",
          "platform":"telegram","conversationId":"other","userId":"root"})");
    CHECK(call.refusal.empty());
    CHECK(call.write.filename == "deploy-prod-1700000000000.json");
    const auto& payload = call.write.payload;
    CHECK(payload.platform == std::string{"slack"});
    CHECK(payload.conversation_id == "C9");
    CHECK(payload.kind == conversation_kind::shared);
    CHECK(payload.user_id == std::string{"U7"});
    CHECK_FALSE(payload.allow_schedules);
    CHECK(call.write.author == event_author::agent);
    CHECK(call.write.office == office_address{platform_id::slack, "C9"});
    CHECK(call.write.cause == "m1");
    CHECK_FALSE(call.write.must_exist);
    CHECK(call_of(R"({"type":"periodic","text":"t","schedule":"0 9 * * *"})")
            .write.payload.timezone
          == "Europe/Berlin");
    auto update = call_of(
      R"({"action":"update","filename":"a.json","type":"immediate","text":"t"})");
    CHECK(update.write.must_exist);
    CHECK(update.write.filename == "a.json");
  }

  TEST_CASE("what is missing or wrong is said") {
    for (auto arguments :
         {R"({})", R"({"type":"immediate"})", R"({"text":"t"})",
          R"({"type":"never","text":"t"})", R"({"type":"one-shot","text":"t"})",
          R"({"type":"one-shot","text":"t","at":"2030-01-01T00:00:00"})",
          R"({"type":"one-shot","text":"t","at":"2000-01-01T00:00:00Z"})",
          R"({"type":"periodic","text":"t"})", R"({"action":"read"})",
          R"({"action":"update","type":"immediate","text":"t"})",
          R"({"action":"delete"})", R"({"action":"burn"})"})
      CHECK_MESSAGE(!call_of(arguments).refusal.empty(), arguments);
    auto past =
      call_of(R"({"type":"one-shot","text":"t","at":"2000-01-01T00:00:00Z"})");
    CHECK(past.refusal.find("2000-01-01T00:00:00Z") != std::string::npos);
    CHECK(past.refusal.find("2023-11-14T22:13:20.000Z") != std::string::npos);
  }

  TEST_CASE("a list is of this conversation unless all are asked for") {
    auto own = call_of(R"({"action":"list"})");
    CHECK(own.what == event_action::list);
    CHECK(own.query.office.conversation_id == "C9");
    auto all = call_of(R"({"action":"list","scope":"all"})");
    CHECK(all.query.office.conversation_id.empty());
    event_list list;
    event_entry broken;
    broken.filename = "broken.json";
    broken.fault = "malformed";
    list.events.push_back(broken);
    auto told = event_list_outcome(list, all, {platform_id::slack, "C9"});
    auto value = json::parse(told.content[0].text).value.get_object();
    CHECK(json::text_or_empty(value, "scope") == "all");
    const auto& entry = value.at("events").get_array().at(0).get_object();
    CHECK(entry.at("payload").is_null());
    CHECK(json::text_or_empty(entry, "error") == "malformed");
  }

  TEST_CASE("answers say what was done") {
    event_tool_world w;
    auto told = w.call(
      R"({"type":"periodic","text":"t","schedule":"0 9 * * *","filenamePrefix":"daily"})");
    CHECK_FALSE(told.is_error);
    CHECK(told.content[0].text
          == "Event scheduled: daily-1767225600000.json for slack/C9, "
             "0 9 * * * in Europe/Berlin.");
    REQUIRE(w.script->written.size() == 1);
    CHECK(w.script->written[0].cause == "event:x@1-1");
    CHECK(w.call(R"({"type":"immediate","text":"t"})")
            .content[0]
            .text.starts_with("Event queued: immediate-"));
    CHECK(w.call(R"({"action":"delete","filename":"a.json"})").content[0].text
          == "Event deleted: a.json.");
    CHECK(w.script->dropped[0]
          == event_query{"a.json", {platform_id::slack, "C9"}});
    CHECK(w.call(R"({"action":"read","filename":"a.json"})")
            .content[0]
            .text.find("a.json")
          != std::string::npos);
    w.script->failure =
      make_failure(errc::denied, "Scheduled runs cannot create schedules.");
    auto refused = w.call(R"({"type":"immediate","text":"t"})");
    CHECK(refused.is_error);
    CHECK(refused.content[0].text == "Scheduled runs cannot create schedules.");
  }
}
