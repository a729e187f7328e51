#include "messages/contracts/ask.hpp"
#include "messages/contracts/channel.hpp"
#include "messages/contracts/continuation.hpp"
#include "messages/contracts/cron_operator.hpp"
#include "messages/contracts/memory.hpp"
#include "messages/contracts/process_job.hpp"
#include "messages/contracts/reply_parts.hpp"
#include "messages/contracts/turn.hpp"

#include <boost/json/serialize.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::contracts;

// Every member of a value arrives in another actor as it left.

namespace {

template <class T>
void check_travel(T value) {
  caf::binary_serializer::container_type bytes;
  caf::binary_serializer sink{nullptr, bytes};
  REQUIRE_FALSE(sink(value));
  T result;
  caf::binary_deserializer source{nullptr, bytes};
  REQUIRE_FALSE(source(result));
  CHECK(result == value);
  // A value that is all defaults would prove nothing.
  CHECK_FALSE(value == T{});
}

std::string text(const char* what) {
  return what;
}

} // namespace

TEST_CASE("turns travel with all that they carry") {
  check_travel(message_sender{text("u1"), text("Ann"), text("ann"), true});
  check_travel(preceding_message{message_sender{text("u1"), {}, {}, {}},
                                 "before", text("2026-01-02T03:04:05.000Z")});
  check_travel(surface_message_budget{4000, surface_overflow::thread});
  check_travel(turn_surface{surface_kind::channel, text("general"), text("C1"),
                            surface_message_budget{}});
  check_travel(tool_environment{{{"A", "1"}}, {"/opt/bin"}});
  auto file = make_attachment("text/csv", "a,b\n", text("a.csv"));
  CHECK(file.text == text("a,b\n"));
  check_travel(file);
  check_travel(request_attachment{attachment_kind::image,
                                  "image/png",
                                  "AA==",
                                  text("a.png"),
                                  int64_t{1},
                                  {},
                                  int64_t{5}});
  check_travel(reply_target{"console:local"});
  turn_request request;
  request.conversation_id = "console:local";
  request.text = "hello";
  request.metadata = json_text{R"({"a":1})"};
  request.attachments = {file};
  request.environment = tool_environment{{{"A", "1"}}, {}};
  request.sender = message_sender{{}, text("Ann"), {}, {}};
  request.preceding = {preceding_message{{}, "before", {}}};
  request.surface = turn_surface{};
  request.reply_to = reply_target{"console:local"};
  request.continuation = continuation_turn{"c1", "r1", {}};
  check_travel(request);
  check_travel(turn_response{text("done"), json_text{"{}"}, {failed_part{}}});
  check_travel(
    finish_options{{failed_part{}}, unsupported_part_fallback::none});
  check_travel(cancel_reason{"Enough.", text("slack")});
}

TEST_CASE("continuations travel") {
  continuation_message question;
  question.content = "hello";
  question.run_id = text("r1");
  continuation_message answer = question;
  answer.role = continuation_role::assistant;
  check_travel(answer);
  continuation_context context{"console:local",
                               "r1",
                               "r1",
                               "2026-01-02T03:04:05.000Z",
                               {question, answer}};
  check_travel(context);
  check_travel(continuation_turn{"c1", "r1", context});
}

TEST_CASE("asks travel") {
  ask_option option{"q0o0", "Yes", "Do it"};
  check_travel(option);
  ask_question question{"q0", "Go", "Shall I?", {option, option}, true};
  check_travel(question);
  ask_answer answer{"q0", {"q0o0"}, text("later")};
  check_travel(answer);
  ask_snapshot snapshot{"i1",
                        text("m"),
                        {question},
                        {answer},
                        ask_status::answered,
                        "2026-01-02T03:04:05.000Z",
                        "2026-01-02T03:14:05.000Z"};
  check_travel(snapshot);
  check_travel(ask_submission{"console:local", "i1", {answer}});
  ask_submission_result result;
  result.refusal = ask_refusal::stale;
  result.snapshot = snapshot;
  check_travel(result);
}

TEST_CASE("parts, apps and outcomes travel") {
  mcp_app_part app;
  app.id = "p1";
  app.invocation_id = "v1";
  app.title = text("Chart");
  check_travel(app);
  mcp_app_load_request load{"console:local", "v1", "n1"};
  check_travel(load);
  check_travel(mcp_app_host_request{load, mcp_app_method::tools_call,
                                    json_text{"{}"}, true});
  mcp_app_resource resource;
  resource.app = app;
  resource.html = "<p>";
  check_travel(resource);
  check_travel(artifact_open_request{"console:local", "a1", text("sha256:0")});
  check_travel(delivery_outcome{delivery_part_type::failure,
                                part_failure_code::artifact_missing, 0});
}

TEST_CASE("what memory takes and gives travels") {
  check_travel(memory_block{"# Notes", "MEMORY.md", true});
  check_travel(memory_query{"console:local", text("q"), text("t1")});
  check_travel(memory_write_result{"console:local", "MEMORY.md", 12});
  check_travel(
    memory_completed_turn{"r1", "console:local", "summary", text("all")});
}

TEST_CASE("jobs travel") {
  check_travel(process_job_origin{"console:local", "console", "r1", "r1",
                                  text("2026-01-02")});
  check_travel(process_job_timestamps{"2026-01-02T03:04:05.000Z",
                                      "2026-01-02T03:09:05.000Z",
                                      text("2026-01-02T03:04:06.000Z"),
                                      {},
                                      {}});
  check_travel(process_job_limits{600'000, 65'536, 2000, 1});
  check_travel(
    process_job_output{1, 2, true, "text", text("stdout"), text("stderr")});
  check_travel(process_job_wake{process_job_wake_state::delivered, 1,
                                "process-job:j1",
                                text("2026-01-02T03:04:05.000Z")});
}

TEST_CASE("schedules and their runs travel") {
  cron_run run;
  run.projection = cron_projection::detail;
  run.run_id = "r1";
  run.job_id = "nightly";
  run.trigger = cron_trigger::manual;
  run.status = cron_run_status::skipped_overlap;
  check_travel(run);
  cron_job job;
  job.job_id = "nightly";
  job.health = cron_health::warning;
  job.last_run = run;
  check_travel(job);
  check_travel(
    cron_overview{"2026-01-02T03:04:05.000Z", true, {job}, text("slow"), true});
  check_travel(cron_run_page{{run}, text("next")});
}

TEST_CASE("notifications travel") {
  check_travel(notify_destination{"console:local", "console",
                                  text("2026-01-02T03:04:05.000Z"), true});
  notify_request request{"console:local", "hello", true, text("k"),
                         notify_context{"nightly", "r1"}};
  check_travel(request);
  check_travel(notify_context{"nightly", "r1"});
  notify_delivery_result result;
  result.delivered = true;
  result.history_recorded = false;
  result.disposition = wake_disposition::steered;
  check_travel(result);
}

TEST_CASE("how a channel is and what it was told travels") {
  channel_status status;
  status.state = channel_state::running;
  status.summary = json_text{R"({"open":1})"};
  check_travel(status);
  config_view_field field{"web.port",         "port", "8181",
                          config_source::env, true,   text("LINK_PORT")};
  check_travel(field);
  config_view_section section{"web", "Portals", true, {field}};
  check_travel(section);
  CHECK(boost::json::serialize(to_json(section))
        == R"({"id":"web","label":"Portals","status":"active","fields":[)"
           R"({"id":"web.port","label":"port","value":"8181","source":"env",)"
           R"("redacted":true,"envKey":"LINK_PORT"}]})");
}
