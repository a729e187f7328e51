#include "actors/control/control_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::control;

namespace {

json::bj::object object_of(const std::string& line) {
  auto parsed = json::parse(line);
  REQUIRE(parsed);
  REQUIRE(parsed.value.is_object());
  return parsed.value.get_object();
}

json::bj::object inner(const json::bj::object& from, std::string_view name) {
  auto found = json::member(from, name);
  REQUIRE(found != nullptr);
  REQUIRE(found->is_object());
  return found->get_object();
}

} // namespace

TEST_CASE("a well-formed call names its method and its id") {
  struct row {
    const char* line;
    const char* id;
    method_call call;
  };
  office_address slack{platform_id::slack, "C1"};
  for (
    const auto& [line, id, call] :
    {row{R"({"jsonrpc":"2.0","id":1,"method":"status"})", "1", status_call{}},
     row{R"({"jsonrpc":"2.0","id":"a b","method":"status","params":{}})",
         R"("a b")", status_call{}},
     row{R"({"jsonrpc":"2.0","id":null,"method":"shutdown"})", "null",
         shutdown_call{}},
     row{
       R"({"jsonrpc":"2.0","id":2,"method":"shutdown","params":{"deadlineMs":0}})",
       "2", shutdown_call{0}},
     row{
       R"({"jsonrpc":"2.0","id":2,"method":"shutdown","params":{"deadlineMs":86400000}})",
       "2", shutdown_call{86'400'000}},
     row{R"({"jsonrpc":"2.0","id":-3,"method":"office.list"})", "-3",
         office_list_call{}},
     row{
       R"({"jsonrpc":"2.0","id":4,"method":"office.show","params":{"platform":"slack","id":"C1"}})",
       "4", office_show_call{slack}},
     row{
       R"({"jsonrpc":"2.0","id":4,"method":"office.claim","params":{"platform":"slack","id":"C1"}})",
       "4", office_claim_call{slack, {}}},
     row{
       R"( {"jsonrpc":"2.0","method":"log.level","params":{"level":"debug"},"id":5} )",
       "5", log_level_call{"debug"}}}) {
    CAPTURE(std::string{line});
    auto read = parse_call(line);
    CHECK(read.refusal.empty());
    CHECK(read.id == id);
    REQUIRE(read.call);
    CHECK((*read.call == call));
  }
}

TEST_CASE("a call without an id is carried out and not answered") {
  auto read = parse_call(R"({"jsonrpc":"2.0","method":"status"})");
  CHECK(read.id.empty());
  CHECK(read.call);
  auto wrong = parse_call(R"({"jsonrpc":"2.0","method":"nothing"})");
  CHECK_FALSE(wrong.call);
  CHECK(wrong.refusal.empty());
  auto bad =
    parse_call(R"({"jsonrpc":"2.0","method":"shutdown","params":{"x":1}})");
  CHECK_FALSE(bad.call);
  CHECK(bad.refusal.empty());
}

TEST_CASE("a wrong line is refused with its code and one sentence") {
  struct row {
    const char* line;
    int code;
    const char* id;
    const char* part;
  };
  for (
    const auto& [line, code, id, part] :
    {row{"", parse_error, "null", "no JSON"},
     row{"status", parse_error, "null", "no JSON"},
     row{R"({"jsonrpc":"2.0","id":1,)", parse_error, "null", "no JSON"},
     row{"\xFF", parse_error, "null", "no JSON"},
     row{R"([{"jsonrpc":"2.0","id":1,"method":"status"}])", invalid_request,
         "null", "batches"},
     row{"7", invalid_request, "null", "object"},
     row{R"({"id":1,"method":"status"})", invalid_request, "1", "jsonrpc"},
     row{R"({"jsonrpc":"1.0","id":1,"method":"status"})", invalid_request, "1",
         "jsonrpc"},
     row{R"({"jsonrpc":"2.0","id":1})", invalid_request, "1", "method"},
     row{R"({"jsonrpc":"2.0","id":1,"method":7})", invalid_request, "1",
         "method"},
     row{R"({"jsonrpc":"2.0"})", invalid_request, "null", "method"},
     row{R"({"jsonrpc":"2.0","id":1.5,"method":"status"})", invalid_request,
         "null", "id must be"},
     row{R"({"jsonrpc":"2.0","id":{},"method":"status"})", invalid_request,
         "null", "id must be"},
     row{R"({"jsonrpc":"2.0","id":1,"method":"Status"})", unknown_method, "1",
         "no method 'Status'"},
     row{R"({"jsonrpc":"2.0","id":1,"method":"status","params":[]})",
         bad_params, "1", "must be an object"},
     row{R"({"jsonrpc":"2.0","id":1,"method":"status","params":{"a":1}})",
         bad_params, "1", "status takes no parameter 'a'"},
     row{
       R"({"jsonrpc":"2.0","id":1,"method":"shutdown","params":{"deadlineMs":-1}})",
       bad_params, "1", "'deadlineMs' must be a whole number from 0 to"},
     row{
       R"({"jsonrpc":"2.0","id":1,"method":"shutdown","params":{"deadlineMs":86400001}})",
       bad_params, "1", "from 0 to 86400000"},
     row{
       R"({"jsonrpc":"2.0","id":1,"method":"shutdown","params":{"deadlineMs":"1"}})",
       bad_params, "1", "whole number"},
     row{
       R"({"jsonrpc":"2.0","id":1,"method":"shutdown","params":{"deadlineMs":null}})",
       bad_params, "1", "whole number"},
     row{R"({"jsonrpc":"2.0","id":1,"method":"office.show"})", bad_params, "1",
         "'platform' must be a string"},
     row{
       R"({"jsonrpc":"2.0","id":1,"method":"office.show","params":{"platform":"irc","id":"C1"}})",
       bad_params, "1", "unsupported platform"},
     row{
       R"({"jsonrpc":"2.0","id":1,"method":"office.show","params":{"platform":"slack","id":"../x"}})",
       bad_params, "1", "conversation"},
     row{
       R"({"jsonrpc":"2.0","id":1,"method":"office.show","params":{"platform":"slack","id":7}})",
       bad_params, "1", "'id' must be a string"},
     row{
       R"({"jsonrpc":"2.0","id":1,"method":"log.level","params":{"level":"off"}})",
       bad_params, "1", "debug, info, warning or error"}}) {
    CAPTURE(std::string{line});
    auto read = parse_call(line);
    CHECK_FALSE(read.call);
    auto answer = object_of(read.refusal);
    CHECK(json::text_or_empty(answer, "jsonrpc") == "2.0");
    CHECK(json::print(answer.at("id")) == id);
    auto error = inner(answer, "error");
    CHECK(json::int_member(error, "code") == code);
    auto sentence = json::text_or_empty(error, "message");
    CAPTURE(sentence);
    CHECK(sentence.find(part) != std::string::npos);
    CHECK(json::member(answer, "result") == nullptr);
  }
}

TEST_CASE("a refusal stays short, whatever the call was") {
  std::string huge(limits::json_text_bytes - 100, 'm');
  for (const auto& line :
       {R"({"jsonrpc":"2.0","id":1,"method":")" + huge + "\"}",
        R"({"jsonrpc":"2.0","id":")" + huge + R"(","method":"status"})",
        R"({"jsonrpc":"2.0","id":1,"method":"status","params":{")" + huge
          + R"(":1}})",
        "{" + huge, std::string(300, '[')}) {
    auto read = parse_call(line);
    CHECK_FALSE(read.call);
    CHECK(read.refusal.size() < 2000);
    object_of(read.refusal);
  }
}

TEST_CASE("answers are one line each") {
  CHECK(result_line("7", R"({"a":1})")
        == R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})");
  CHECK(
    failure_line("\"x\"", errc::timeout, "no answer\nin time\xFF")
    == R"({"jsonrpc":"2.0","id":"x","error":{"code":-32000,"message":"no answer\nin time)"
       "\xEF\xBF\xBD"
       R"(","data":{"errc":"timeout"}}})");
  auto large =
    result_line("7", '"' + std::string(limits::json_text_bytes, 'x') + '"');
  CHECK(
    json::text_or_empty(inner(inner(object_of(large), "error"), "data"), "errc")
    == "too_large");
}

TEST_CASE("a status holds what the parts said") {
  status_parts parts;
  parts.facts = {"1.2.3", 77, "2026-01-01T00:00:00.000Z"};
  parts.uptime_ms = 61'000;
  parts.log_level = "info";
  parts.node = node_report{{"node", "degraded", "1 adapters"},
                           {{"journal", "ok", "0 waiting"}},
                           {{"adapter/console", "ok", "open"}},
                           {{"web", "port \xFF taken"}}};
  runtime_snapshot runtime;
  runtime.offices_known = 3;
  runtime.offices_active = 1;
  runtime.open_entries = 2;
  runtime.sessions = {{"C1", "idle", 0, "", "", 5},
                      {"C2", "running", 2, "r-1", "m-1", 1}};
  parts.runtime = runtime;
  auto result = status_result(parts);
  CHECK(
    json::print(result)
    == R"({"product":"bureau","version":"1.2.3","pid":77,)"
       R"("startedAt":"2026-01-01T00:00:00.000Z","uptimeMs":61000,)"
       R"("logLevel":"info","state":"degraded",)"
       R"("components":[{"label":"journal","state":"ok","detail":"0 waiting"}],)"
       R"("adapters":[{"label":"adapter/console","state":"ok","detail":"open"}],)"
       R"("degraded":[{"component":"web","reason":"port )"
       "\xEF\xBF\xBD"
       R"( taken"}],)"
       R"("channels":[],)"
       R"("offices":{"known":3,"active":1},"openEntries":2,"sessionsTotal":2,)"
       R"("sessions":[{"sessionKey":"C2","state":"running","waiting":2,)"
       R"("run":"r-1","messageId":"m-1"},)"
       R"({"sessionKey":"C1","state":"idle","waiting":0}],"silent":[]})");
}

TEST_CASE("a status without answers says who was silent") {
  status_parts parts;
  parts.silent = {{"node", errc::timeout, "no answer within the time allowed"}};
  auto result = status_result(parts);
  CHECK(json::member(result, "state") == nullptr);
  CHECK(json::member(result, "offices") == nullptr);
  CHECK(
    json::print(result.at("silent"))
    == R"([{"part":"node","errc":"timeout","message":"no answer within the time allowed"}])");
}

TEST_CASE("long lists are cut, what works comes first, and totals stay true") {
  status_parts parts;
  parts.runtime = runtime_snapshot{};
  for (int i = 0; i < 5000; ++i)
    parts.runtime->sessions.push_back(
      {"C" + std::to_string(i), i == 4000 ? "running" : "idle", 0, "", "", i});
  auto result = status_result(parts);
  const auto& sessions = result.at("sessions").as_array();
  REQUIRE(sessions.size() == sessions_shown);
  CHECK(json::text_or_empty(sessions[0].as_object(), "sessionKey") == "C4000");
  CHECK(json::text_or_empty(sessions[1].as_object(), "sessionKey") == "C4999");
  CHECK(result.at("sessionsTotal").to_number<int>() == 5000);
  office_inventory inventory;
  for (int i = 0; i < 1500; ++i)
    inventory.offices.push_back(
      {{platform_id::slack, "C" + std::to_string(i)}, ""});
  auto list = office_list_result(inventory);
  CHECK(list.at("offices").as_array().size() == offices_shown);
  CHECK(list.at("total").to_number<int>() == 1500);
}

TEST_CASE("a list of offices names platforms, ids and keys") {
  office_inventory inventory;
  inventory.enabled_platforms = {platform_id::slack};
  inventory.offices = {
    {{platform_id::telegram, "-100"}, "2026-05-01T09:00:00.000Z"}};
  auto key = office_key({platform_id::telegram, "-100"});
  CHECK(json::print(office_list_result(inventory))
        == R"({"enabledPlatforms":["slack"],"offices":[{"platform":"telegram",)"
           R"("id":"-100","key":")"
             + key
             + R"(","recordedAt":"2026-05-01T09:00:00.000Z"}],"total":1})");
}

TEST_CASE("both ends understand each other") {
  CHECK(call_line("status", {})
        == R"({"jsonrpc":"2.0","id":1,"method":"status"})");
  auto read = parse_call(call_line("shutdown", {{"deadlineMs", 5}}));
  REQUIRE(read.call);
  CHECK((*read.call == method_call{shutdown_call{5}}));
  auto good = parse_reply(result_line(read.id, R"({"deadlineMs":5})"));
  REQUIRE(good.result);
  CHECK(json::int_member(*good.result, "deadlineMs") == 5);
  auto bad = parse_reply(failure_line(read.id, errc::disk, "no space"));
  CHECK_FALSE(bad.result);
  CHECK(bad.code == service_failed);
  CHECK(bad.sentence == "no space");
  for (auto line : {"", "[]", "{}", R"({"result":7})", R"({"error":"x"})"}) {
    auto odd = parse_reply(line);
    CHECK_FALSE(odd.result);
    CHECK(odd.code == parse_error);
    CHECK_FALSE(odd.sentence.empty());
  }
}
