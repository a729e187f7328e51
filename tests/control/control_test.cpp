#include "actors/control/control.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

/// What the scripted neighbours are told and what they say.
struct script {
  std::vector<std::string> shutdowns;
  std::vector<office_address> shown;
  std::vector<office_address> claimed;
  std::vector<job_order> orders;
  /// An error instead of an answer.
  std::map<std::string, caf::error> failures;
  /// Neighbours that never answer.
  std::vector<std::string> mute;
};

using script_ptr = std::shared_ptr<script>;

/// A neighbour that answers, refuses, or keeps silent, as the script says.
template <class Handle, class State>
struct neighbour {
  using pointer = typename Handle::template stateful_pointer<State>;
  pointer self;
  script_ptr story;
  explicit neighbour(pointer me) : self(me) {}
  void init(script_ptr book) { story = std::move(book); }

  template <class T>
  caf::result<T> answer(const std::string& who, T value) {
    if (std::find(story->mute.begin(), story->mute.end(), who)
        != story->mute.end())
      return self
        ->template make_response_promise<caf::typed_response_promise<T>>();
    if (auto found = story->failures.find(who); found != story->failures.end())
      return found->second;
    return value;
  }
};

struct fake_node_state : neighbour<node_control_actor, fake_node_state> {
  using neighbour::neighbour;
  static inline const char* name = "fake_node";
  node_control_actor::behavior_type make_behavior() {
    return {[](atom::health) { return health_report{}; },
            [](atom::degrade, const degraded_part&) {},
            [this](atom::shutdown, const std::string& why) {
              story->shutdowns.push_back(why);
            },
            [](atom::status) {
              return status_line{"node", "ok", ""};
            },
            [this](atom::describe) {
              return answer("node", node_report{{"node", "ok", "0 adapters"},
                                                {{"journal", "ok", ""}},
                                                {},
                                                {}});
            },
            [this](atom::shutdown, const std::string& why, int64_t deadline) {
              story->shutdowns.push_back(why + " / "
                                         + std::to_string(deadline));
            }};
  }
};

struct fake_offices_state : neighbour<offices_actor, fake_offices_state> {
  using neighbour::neighbour;
  static inline const char* name = "fake_offices";
  offices_actor::behavior_type make_behavior() {
    return {
      [](atom::intake, const intake_request&) -> caf::result<intake_reply> {
        return intake_reply{};
      },
      [](atom::may_send, const delivery_key&) -> caf::result<caf::ok_atom> {
        return caf::ok_atom_v;
      },
      [](atom::stop, const stop_request&) { return stop_report{}; },
      [](atom::renew, const office_address&) { return uint64_t{0}; },
      [](atom::renew) { return uint64_t{0}; },
      [](atom::attach, platform_id, const transport_actor&)
        -> caf::result<caf::ok_atom> { return caf::ok_atom_v; },
      [this](atom::describe) {
        runtime_snapshot snapshot;
        snapshot.offices_known = 4;
        snapshot.sessions = {{"C1", "running", 3, "r", "m", 1}};
        return answer("offices", snapshot);
      },
      [](atom::drain, drain_phase) { return drain_report{}; },
      [](atom::status) {
        return status_line{"offices", "ok", ""};
      }};
  }
};

struct fake_registry_state : neighbour<registry_actor, fake_registry_state> {
  using neighbour::neighbour;
  static inline const char* name = "fake_registry";
  registry_actor::behavior_type make_behavior() {
    return {[](atom::ensure, const office_address&) -> caf::result<office> {
              return office{};
            },
            [this](atom::list) {
              return answer("registry",
                            office_inventory{{platform_id::slack},
                                             {{{platform_id::slack, "C1"},
                                               "2026-01-01T00:00:00.000Z"}}});
            },
            [this](atom::claim,
                   const office_address& address) -> caf::result<caf::ok_atom> {
              story->claimed.push_back(address);
              return answer("registry", caf::ok_atom_v);
            },
            [](atom::status) {
              return status_line{"registry", "ok", ""};
            }};
  }
};

struct fake_inspector_state
  : neighbour<office_inspector_actor, fake_inspector_state> {
  using neighbour::neighbour;
  static inline const char* name = "fake_inspector";
  office_inspector_actor::behavior_type make_behavior() {
    return {[this](atom::describe, const office_address& address) {
      story->shown.push_back(address);
      return answer("inspector", std::string{R"({"key":"v1"})"});
    }};
  }
};

struct fake_operator_state
  : neighbour<job_operator_actor, fake_operator_state> {
  using neighbour::neighbour;
  static inline const char* name = "fake_operator";
  static contracts::process_job_projection job() {
    contracts::process_job_projection result;
    result.job_id = "pj-0000000000000001";
    result.summary = "make";
    result.origin = {"console:local", "console", "r1", "m1", {}};
    result.timestamps.admitted_at = "2026-01-01T00:00:00.000Z";
    result.timestamps.queue_deadline_at = "2026-01-01T00:05:00.000Z";
    result.wake.delivery_key = "job:pj-0000000000000001";
    return result;
  }
  caf::result<job_answer> one(const job_order& order) {
    story->orders.push_back(order);
    job_answer result;
    if (order.job_id == job().job_id)
      result.job = job();
    else
      result.refusal = contracts::process_job_error_code::process_job_not_found;
    return answer("operator", result);
  }
  job_operator_actor::behavior_type make_behavior() {
    return {[this](atom::list, const job_order& order) {
              story->orders.push_back(order);
              return answer("operator", job_list{{job()}});
            },
            [this](atom::read, const job_order& order) { return one(order); },
            [this](atom::cancel, const job_order& order) {
              return one(order);
            }};
  }
};

struct control_story : test::node_fixture {
  script_ptr story = std::make_shared<script>();
  control_actor actor = spawn();

  control_actor spawn() {
    control::control_args args;
    args.node =
      kit::spawn_stateful<node_control_actor, fake_node_state>(*system, story);
    args.offices =
      kit::spawn_stateful<offices_actor, fake_offices_state>(*system, story);
    args.registry =
      kit::spawn_stateful<registry_actor, fake_registry_state>(*system, story);
    args.inspector =
      kit::spawn_stateful<office_inspector_actor, fake_inspector_state>(*system,
                                                                        story);
    args.jobs = kit::spawn_stateful<job_operator_actor, fake_operator_state>(
      *system, story);
    args.operator_token = secret_text{"owner"};
    args.facts = {"1.0", 42, "2026-01-01T00:00:00.000Z"};
    args.deadline = 30s;
    args.log_level = "info";
    args.workspace_root = "/w";
    auto result = control::spawn_control(*system, std::move(args));
    settle();
    return result;
  }

  /// The answer of a call once virtual time has moved on.
  std::string raw(const std::string& line,
                  std::chrono::milliseconds span = 0ms) {
    auto pending = self->request(actor, caf::infinite, atom::call_v, line);
    settle();
    if (span > 0ms)
      advance(span);
    std::string result;
    pending.receive([&](const std::string& told) { result = told; },
                    [](const caf::error& err) { FAIL(sentence_of(err)); });
    return result;
  }

  static std::string line_of(const std::string& method,
                             const std::string& params = {}) {
    std::string line = R"({"jsonrpc":"2.0","id":1,"method":")" + method + '"';
    if (!params.empty())
      line += R"(,"params":)" + params;
    return line + '}';
  }

  std::string call(const std::string& method, const std::string& params = {}) {
    return raw(line_of(method, params));
  }
};

std::string result(const std::string& json) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + json + '}';
}

std::string failure(const char* code, const std::string& sentence) {
  return R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":")"
         + sentence + R"(","data":{"errc":")" + code + R"("}}})";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE_FIXTURE(control_story, "status gathers the node and its offices") {
  advance(90s);
  auto told = call("status");
  CHECK(contains(told, R"("version":"1.0","pid":42)"));
  CHECK(contains(told, R"("uptimeMs":90000,"logLevel":"info","state":"ok")"));
  CHECK(contains(told, R"("label":"journal")"));
  CHECK(contains(told, R"("offices":{"known":4,"active":0})"));
  CHECK(contains(told, R"("sessionKey":"C1","state":"running","waiting":3)"));
  CHECK(contains(told, R"("silent":[])"));
}

TEST_CASE_FIXTURE(control_story, "status tells who did not answer") {
  story->mute = {"offices"};
  auto told = raw(line_of("status"), control::part_timeout);
  CHECK(contains(told, R"("state":"ok")"));
  CHECK_FALSE(contains(told, "openEntries"));
  CHECK(contains(told, R"("silent":[{"part":"offices","errc":"timeout")"));
  story->failures["node"] = make_failure(errc::busy, "not now");
  told = raw(line_of("status"), control::part_timeout);
  CHECK(contains(told, R"({"part":"node","errc":"busy","message":"not now"})"));
  CHECK(contains(told, R"("part":"offices")"));
}

TEST_CASE_FIXTURE(control_story, "shutdown goes to the node at once") {
  CHECK(call("shutdown") == result(R"({"deadlineMs":30000})"));
  CHECK(call("shutdown", R"({"deadlineMs":1500})")
        == result(R"({"deadlineMs":1500})"));
  CHECK(story->shutdowns
        == std::vector<std::string>{"asked for on the control socket",
                                    "asked for on the control socket / 1500"});
}

TEST_CASE_FIXTURE(control_story, "a wrong call does nothing") {
  auto told = call("shutdown", R"({"deadline":5})");
  CHECK(contains(told, "-32602"));
  CHECK(contains(told, "takes no parameter 'deadline'"));
  CHECK(contains(call("reboot"), "-32601"));
  CHECK(contains(raw("{"), "-32700"));
  CHECK(story->shutdowns.empty());
}

TEST_CASE_FIXTURE(control_story,
                  "a notification is carried out, not answered") {
  CHECK(raw(R"({"jsonrpc":"2.0","method":"shutdown"})").empty());
  CHECK(story->shutdowns.size() == 1);
  CHECK(raw(R"({"jsonrpc":"2.0","method":"status"})").empty());
  CHECK(raw(R"({"jsonrpc":"2.0","method":"nothing"})").empty());
}

TEST_CASE_FIXTURE(control_story,
                  "offices are listed as the registry has them") {
  CHECK(contains(call("office.list"),
                 R"("offices":[{"platform":"slack","id":"C1","key":"v1-)"));
  story->failures["registry"] = make_failure(errc::corrupt, "line 3 is odd");
  CHECK(call("office.list") == failure("corrupt", "line 3 is odd"));
  story->failures.clear();
  story->mute = {"registry"};
  CHECK(raw(line_of("office.list"), 5s)
        == failure("timeout", "no answer within the time allowed"));
}

TEST_CASE_FIXTURE(control_story, "a claim goes to the registry") {
  auto claim = [&] {
    return call("office.claim", R"({"platform":"telegram","id":"900100"})");
  };
  CHECK(contains(claim(), R"("status":"prepared")"));
  CHECK(story->claimed
        == std::vector<office_address>{{platform_id::telegram, "900100"}});
  // Somebody who has another workspace in mind is told.
  story->claimed.clear();
  auto elsewhere = call(
    "office.claim", R"({"platform":"telegram","id":"9","workspace":"/other"})");
  CHECK(contains(elsewhere, R"("errc":"bad_request")"));
  CHECK(story->claimed.empty());
  call("office.claim", R"({"platform":"telegram","id":"9","workspace":"/w"})");
  CHECK(story->claimed.size() == 1);
  story->failures["registry"] = make_failure(errc::denied, "it is not enabled");
  CHECK(claim() == failure("denied", "it is not enabled"));
}

TEST_CASE_FIXTURE(control_story, "an office is shown as its files have it") {
  CHECK(call("office.show", R"({"platform":"slack","id":"C1"})")
        == result(R"({"key":"v1"})"));
  CHECK(story->shown
        == std::vector<office_address>{{platform_id::slack, "C1"}});
  story->failures["inspector"] =
    make_failure(errc::not_found, "no such office");
  CHECK(call("office.show", R"({"platform":"slack","id":"C2"})")
        == failure("not_found", "no such office"));
  story->mute = {"inspector"};
  CHECK(
    contains(raw(line_of("office.show", R"({"platform":"slack","id":"C1"})"),
                 control::show_timeout),
             R"("errc":"timeout")"));
}

TEST_CASE_FIXTURE(control_story, "the log level is changed for this life") {
  auto lines = std::make_shared<std::vector<std::string>>();
  kit::log::to_sink([lines](kit::log::level, std::string_view line) {
    lines->emplace_back(line);
  });
  CHECK(call("log.level", R"({"level":"warning"})")
        == result(R"({"level":"warning","before":"info"})"));
  kit::log::info("test", "not to be seen");
  CHECK(lines->empty());
  CHECK(call("log.level", R"({"level":"debug"})")
        == result(R"({"level":"debug","before":"warning"})"));
  kit::log::debug("test", "to be seen");
  REQUIRE(lines->size() == 2);
  CHECK(contains(lines->front(), "the log level is debug now"));
  CHECK(contains(lines->back(), "to be seen"));
  CHECK(contains(call("status"), R"("logLevel":"debug")"));
  kit::log::to_stderr();
  kit::log::set_level(kit::log::level::off);
}

TEST_CASE_FIXTURE(control_story, "open calls are bounded") {
  story->mute = {"inspector"};
  auto line = line_of("office.show", R"({"platform":"slack","id":"C1"})");
  for (size_t i = 0; i < control::open_calls; ++i)
    self->send(actor, atom::call_v, line);
  settle();
  CHECK(contains(call("status"), R"("errc":"queue_full")"));
  advance(control::show_timeout);
  CHECK(contains(call("status"), R"("state":"ok")"));
}

TEST_CASE_FIXTURE(control_story, "the end of the actor answers what is open") {
  story->mute = {"offices"};
  auto pending =
    self->request(actor, caf::infinite, atom::call_v, line_of("status"));
  settle();
  self->send_exit(actor, caf::exit_reason::user_shutdown);
  settle();
  auto code = errc::none;
  pending.receive([](const std::string&) {},
                  [&](const caf::error& err) { code = code_of(err); });
  CHECK(code == errc::shutting_down);
}

// -- jobs ---------------------------------------------------------------------

TEST_CASE_FIXTURE(control_story, "the operator looks at jobs with the token of "
                                 "the node") {
  auto list = call("jobs.list");
  CHECK(contains(list, R"("jobId":"pj-0000000000000001")"));
  CHECK(contains(list, R"("total":1)"));
  CHECK(contains(call("jobs.list", R"({"state":"running"})"),
                 R"({"jobs":[],"total":0})"));
  CHECK(contains(call("jobs.show", R"({"id":"pj-0000000000000001"})"),
                 R"("job":{)"));
  CHECK(contains(call("jobs.cancel", R"({"id":"pj-2"})"),
                 R"("errc":"process_job_not_found")"));
  REQUIRE(story->orders.size() == 4);
  for (const auto& order : story->orders)
    CHECK(order.token.reveal() == "owner");
  CHECK(story->orders[3].job_id == "pj-2");
  story->failures["operator"] = make_failure(errc::denied, "not you");
  CHECK(call("jobs.list") == failure("denied", "not you"));
}
