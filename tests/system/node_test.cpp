#include "actors/kit/spawn_stateful.hpp"
#include "actors/system/node.hpp"
#include "actors/system/shutdown_core.hpp"
#include "tests/support/metric_recorder.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <memory>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

/// What happened, in order, across all scripted parts of the story.
struct diary {
  std::vector<std::string> lines;
  drain_report report;
  /// Reports for `hold`, one after the other; then `report`.
  std::deque<drain_report> holds;
  std::string journal_state = "ok";
  bool adapter_starts = true;
  int exit_code = -1;
};

using diary_ptr = std::shared_ptr<diary>;

struct scripted_offices_state {
  offices_actor::stateful_pointer<scripted_offices_state> self;
  diary_ptr story;
  static inline const char* name = "scripted_offices";
  explicit scripted_offices_state(
    offices_actor::stateful_pointer<scripted_offices_state> me)
    : self(me) {}
  void init(diary_ptr book) { story = std::move(book); }
  drain_report drain(drain_phase step) {
    story->lines.push_back("offices " + to_string(step));
    if (step == drain_phase::hold && !story->holds.empty()) {
      auto next = story->holds.front();
      story->holds.pop_front();
      return next;
    }
    return story->report;
  }
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
      [this](atom::attach, platform_id platform,
             const transport_actor&) -> caf::result<caf::ok_atom> {
        story->lines.push_back("attach " + to_string(platform));
        return caf::ok_atom_v;
      },
      [](atom::describe) { return runtime_snapshot{}; },
      [this](atom::drain, drain_phase step) { return drain(step); },
      [](atom::status) {
        return status_line{"offices", "ok", ""};
      }};
  }
};

struct scripted_adapter_state {
  adapter_service_actor::stateful_pointer<scripted_adapter_state> self;
  diary_ptr story;
  static inline const char* name = "scripted_adapter";
  explicit scripted_adapter_state(
    adapter_service_actor::stateful_pointer<scripted_adapter_state> me)
    : self(me) {}
  void init(diary_ptr book) { story = std::move(book); }
  caf::ok_atom note(const char* line) {
    story->lines.push_back(line);
    return caf::ok_atom_v;
  }
  adapter_service_actor::behavior_type make_behavior() {
    return {[this](atom::start) -> caf::result<caf::ok_atom> {
              if (!story->adapter_starts)
                return make_failure(errc::bad_config, "no terminal");
              return note("adapter start");
            },
            [this](atom::drain) { return note("adapter drain"); },
            [this](atom::stop) { return note("adapter stop"); },
            [](atom::status) {
              return status_line{"adapter", "ok", ""};
            }};
  }
};

struct scripted_service_state {
  service_actor::stateful_pointer<scripted_service_state> self;
  diary_ptr story;
  std::string label;
  static inline const char* name = "scripted_service";
  explicit scripted_service_state(
    service_actor::stateful_pointer<scripted_service_state> me)
    : self(me) {}
  void init(diary_ptr book, std::string own) {
    story = std::move(book);
    label = std::move(own);
  }
  service_actor::behavior_type make_behavior() {
    return {[this](atom::status) {
              return status_line{label, story->journal_state, "disk is full"};
            },
            [this](atom::stop) {
              story->lines.push_back(label + " stop");
              return caf::ok_atom_v;
            }};
  }
};

struct node_story : test::node_fixture {
  diary_ptr story = std::make_shared<diary>();
  service_actor journal =
    kit::spawn_stateful<service_actor, scripted_service_state>(
      *system, story, std::string{"journal"});
  service_actor files =
    kit::spawn_stateful<service_actor, scripted_service_state>(
      *system, story, std::string{"files"});
  service_actor portal =
    kit::spawn_stateful<service_actor, scripted_service_state>(
      *system, story, std::string{"portal"});
  adapter_service_actor adapter;
  system::channel_link link;
  node_control_actor node;
  /// What the configuration says of channels.
  std::vector<system::channel_plan> channels;
  std::vector<system::turn_source> sources;
  std::shared_ptr<std::vector<metric_sample>> samples =
    std::make_shared<std::vector<metric_sample>>();

  /// The last value of the gauge of a part; -1: it was never set.
  int64_t up(const std::string& component) const {
    int64_t result = -1;
    for (const auto& sample : *samples)
      if (sample.id == metric::component_up
          && sample.labels == std::vector<std::string>{component})
        result = sample.value;
    return result;
  }

  void boot(bool with_adapter = true) {
    system::node_plan plan;
    plan.critical = {{"journal", journal}};
    plan.watched = {{"portal", caf::actor_cast<caf::actor>(portal)}};
    plan.offices = kit::spawn_stateful<offices_actor, scripted_offices_state>(
      *system, story);
    plan.closing = {{"journal", journal}, {"files", files}};
    plan.metrics = test::spawn_metric_recorder(*system, samples);
    if (with_adapter)
      plan.adapters.push_back(
        {platform_id::console, [this](caf::actor_system& sys, const node_actor&,
                                      const system::channel_link& to) {
           link = to;
           adapter =
             kit::spawn_stateful<adapter_service_actor, scripted_adapter_state>(
               sys, story);
           return adapter;
         }});
    plan.sources = sources;
    plan.channels = channels;
    plan.channel_gone = [this](platform_id platform) {
      story->lines.push_back("gone " + to_string(platform));
    };
    plan.tell_main = [this](system::main_event event) {
      constexpr const char* words[] = {"interrupt", "terminate", "ready",
                                       "stopping", "finished"};
      story->lines.push_back(std::string{"main "}
                             + words[static_cast<size_t>(event)]);
    };
    plan.set_exit_code = [this](int code) {
      story->exit_code = code;
    };
    node =
      system::spawn_node(*system, [plan](const node_actor&) { return plan; });
    settle();
  }

  health_report health() {
    health_report result;
    ask(
      node, [&](const health_report& report) { result = report; },
      [](const caf::error& err) { FAIL(sentence_of(err)); }, atom::health_v);
    return result;
  }

  node_report report() {
    node_report result;
    ask(
      node, [&](const node_report& told) { result = told; },
      [](const caf::error& err) { FAIL(sentence_of(err)); }, atom::describe_v);
    return result;
  }

  contracts::channel_status channel(platform_id platform) {
    for (const auto& item : report().channels)
      if (item.platform == platform)
        return item.status;
    FAIL("no such channel");
    return {};
  }

  void tell(channel_event what, const std::string& text = {}) {
    channel_news news;
    news.platform = platform_id::console;
    news.generation = link.generation;
    news.what = what;
    if (what == channel_event::summary_changed)
      news.summary = json_text{text};
    else
      news.reason = text;
    self->send(link.host, atom::notice_v, news);
    settle();
  }

  void shutdown_within(std::chrono::milliseconds deadline) {
    self->send(node, atom::shutdown_v, std::string{"test"},
               int64_t{deadline.count()});
    settle();
  }

  size_t count(const std::string& line) const {
    return static_cast<size_t>(
      std::count(story->lines.begin(), story->lines.end(), line));
  }

  void shutdown() {
    story->lines.clear();
    self->send(node, atom::shutdown_v, std::string{"test"});
    settle();
  }
};

using lines = std::vector<std::string>;

} // namespace

TEST_CASE("how long a shutdown waits") {
  struct row {
    const char* name;
    system::shutdown_view view;
    bool turns_over;
    bool deliveries_over;
  };
  const row rows[] = {
    {"nothing to wait for", {0ms, 30s, 0, 0}, true, true},
    {"a turn runs", {0ms, 30s, 1, 0}, false, true},
    {"the reserve begins", {22s, 30s, 1, 0}, true, true},
    {"just before the reserve", {21'999ms, 30s, 1, 0}, false, true},
    {"a deadline below the reserve", {0ms, 5s, 1, 0}, true, true},
    {"an answer is under way", {29s, 30s, 0, 1}, true, false},
    {"the deadline is over", {30s, 30s, 0, 1}, true, true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(system::turns_are_over(row.view) == row.turns_over);
    CHECK(system::deliveries_are_over(row.view) == row.deliveries_over);
  }
}

TEST_CASE_FIXTURE(node_story,
                  "boot starts the adapters, then the node is ready") {
  boot();
  CHECK(story->lines == lines{"adapter start", "main ready"});
  CHECK(health().ready);
}

TEST_CASE_FIXTURE(node_story, "a node without adapters is ready") {
  boot(false);
  CHECK(story->lines == lines{"main ready"});
}

TEST_CASE_FIXTURE(node_story,
                  "an adapter that does not start leaves a degraded node") {
  story->adapter_starts = false;
  boot();
  auto report = health();
  CHECK(report.ready);
  REQUIRE(report.degraded.size() == 1);
  CHECK(report.degraded[0] == degraded_part{"adapter/console", "no terminal"});
}

TEST_CASE_FIXTURE(node_story, "parts mark themselves degraded and well again") {
  boot();
  self->send(node, atom::degrade_v, degraded_part{"settings", "line 3"});
  CHECK(health().degraded == std::vector{degraded_part{"settings", "line 3"}});
  self->send(node, atom::degrade_v, degraded_part{"settings", ""});
  CHECK(health().degraded.empty());
}

TEST_CASE_FIXTURE(node_story,
                  "without a working journal the node is not ready") {
  boot();
  story->journal_state = "degraded";
  auto report = health();
  CHECK_FALSE(report.ready);
  CHECK(report.degraded
        == std::vector{degraded_part{"journal", "disk is full"}});
}

TEST_CASE_FIXTURE(node_story,
                  "the gauge of a part follows what it says of itself") {
  boot();
  CHECK(up("journal") == 1);
  CHECK(up("adapter/console") == 1);
  story->journal_state = "degraded";
  advance(15s);
  CHECK(up("journal") == 0);
  story->journal_state = "ok";
  advance(15s);
  CHECK(up("journal") == 1);
  caf::anon_send_exit(journal, caf::exit_reason::kill);
  settle();
  CHECK(up("adapter/console") == 1);
}

TEST_CASE_FIXTURE(node_story, "shutdown walks its phases in order") {
  boot();
  shutdown();
  CHECK(story->lines
        == lines{"main stopping", "adapter drain", "offices hold",
                 "offices hold", "adapter stop", "offices close",
                 "journal stop", "files stop", "main finished"});
  CHECK(story->exit_code == 0);
}

TEST_CASE_FIXTURE(node_story, "what brings turns besides adapters is closed "
                              "after them and before turns are held") {
  auto source =
    kit::spawn_stateful<adapter_service_actor, scripted_adapter_state>(*system,
                                                                       story);
  sources = {{"source", source}};
  boot(false);
  story->lines.clear();
  shutdown();
  CHECK(std::vector<std::string>{story->lines.begin(), story->lines.begin() + 3}
        == std::vector<std::string>{"main stopping", "adapter drain",
                                    "offices hold"});
  CHECK(story->lines.back() == "main finished");
  CHECK(story->exit_code == 0);
  self->send_exit(source, caf::exit_reason::user_shutdown);
  settle();
}

TEST_CASE_FIXTURE(node_story, "running turns may finish, then answers go out") {
  boot();
  story->holds = {{1, 1, 0, 0, 0}, {0, 1, 0, 1, 1}, {0, 1, 0, 1, 1}, {}};
  shutdown();
  CHECK(story->lines.back() == "offices hold");
  advance(200ms);
  CHECK(story->lines.back() == "main finished");
  CHECK(std::count(story->lines.begin(), story->lines.end(), "offices abort")
        == 0);
  CHECK(story->exit_code == 0);
}

TEST_CASE_FIXTURE(node_story, "turns that do not end are aborted in time") {
  boot();
  story->report = {1, 1, 0, 0};
  shutdown();
  advance(21s);
  CHECK(std::count(story->lines.begin(), story->lines.end(), "offices abort")
        == 0);
  advance(2s);
  CHECK(std::count(story->lines.begin(), story->lines.end(), "offices abort")
        == 1);
  CHECK(story->lines.back() == "main finished");
}

TEST_CASE_FIXTURE(node_story,
                  "an answer whose delivery is unknown gives exit code 1") {
  boot();
  story->report = {0, 1, 1, 1};
  shutdown();
  advance(31s);
  CHECK(story->lines.back() == "main finished");
  CHECK(story->exit_code == 1);
}

TEST_CASE_FIXTURE(node_story, "a second request to shut down changes nothing") {
  boot();
  shutdown();
  auto before = story->lines.size();
  self->send(node, atom::shutdown_v, std::string{"again"});
  settle();
  CHECK(story->lines.size() == before);
}

TEST_CASE_FIXTURE(node_story, "a dead part does not hold the shutdown up") {
  boot();
  self->send_exit(files, caf::exit_reason::kill);
  settle();
  shutdown();
  CHECK(story->lines.back() == "main finished");
  CHECK(story->exit_code == 1);
}

TEST_CASE_FIXTURE(node_story,
                  "the death of a critical service ends the node in order") {
  boot();
  story->lines.clear();
  self->send_exit(journal, caf::exit_reason::kill);
  settle();
  CHECK(story->lines.front() == "main stopping");
  CHECK(story->lines.back() == "main finished");
  CHECK(story->exit_code == 1);
}

TEST_CASE_FIXTURE(node_story,
                  "the death of a watched actor ends the node in order") {
  boot();
  story->lines.clear();
  self->send_exit(portal, caf::exit_reason::kill);
  settle();
  REQUIRE_FALSE(story->lines.empty());
  CHECK(story->lines.front() == "main stopping");
  CHECK(story->lines.back() == "main finished");
  CHECK(story->exit_code == 1);
}

TEST_CASE_FIXTURE(node_story, "a fallen adapter is restarted, then disabled") {
  boot();
  for (int i = 0; i < 5; ++i) {
    self->send_exit(adapter, caf::exit_reason::kill);
    advance(2s);
    CHECK(health().degraded.empty());
  }
  CHECK(std::count(story->lines.begin(), story->lines.end(), "adapter start")
        == 6);
  self->send_exit(adapter, caf::exit_reason::kill);
  advance(2s);
  auto report = health();
  REQUIRE(report.degraded.size() == 1);
  CHECK(report.degraded[0].component == "adapter/console");
  CHECK(report.ready);
}

TEST_CASE_FIXTURE(node_story,
                  "a report lists the node, its services and its adapters") {
  boot();
  self->send(node, atom::degrade_v, degraded_part{"web", "port taken"});
  auto told = report();
  CHECK(told.node == status_line{"node", "degraded", "1 adapters"});
  CHECK(told.services
        == std::vector{status_line{"journal", "ok", "disk is full"}});
  CHECK(told.adapters == std::vector{status_line{"adapter/console", "ok", ""}});
  CHECK(told.degraded == std::vector{degraded_part{"web", "port taken"}});
}

TEST_CASE_FIXTURE(node_story, "a node is no better than its parts") {
  boot();
  CHECK(report().node.state == "ok");
  story->journal_state = "degraded";
  CHECK(report().node.state == "degraded");
  CHECK_FALSE(health().ready);
}

TEST_CASE_FIXTURE(node_story, "a part that is gone does not hold a report up") {
  boot();
  self->send_exit(journal, caf::exit_reason::kill);
  self->send_exit(adapter, caf::exit_reason::kill);
  auto told = report();
  REQUIRE(told.services.size() == 1);
  CHECK(told.services[0]
        == status_line{"journal", "silent",
                       "the component that should answer has ended"});
}

TEST_CASE_FIXTURE(node_story, "a node without parts has a report too") {
  boot(false);
  auto told = report();
  CHECK(told.node == status_line{"node", "ok", "0 adapters"});
  CHECK(told.adapters.empty());
}

TEST_CASE_FIXTURE(node_story, "a shutdown may say how long turns have") {
  boot();
  story->report = {1, 1, 0, 0};
  auto turns = 2s;
  SUBCASE("a moment") {
  }
  SUBCASE("longer than usual") {
    turns = 60s;
  }
  shutdown_within(turns);
  advance(turns - 1s);
  CHECK(count("offices abort") == 0);
  advance(2s);
  CHECK(count("offices abort") == 1);
  CHECK(story->lines.back() == "main finished");
}

TEST_CASE_FIXTURE(node_story, "no time at all aborts what runs") {
  boot();
  story->report = {1, 1, 0, 0};
  shutdown_within(0ms);
  CHECK(count("offices abort") == 1);
  CHECK(story->lines.back() == "main finished");
}

TEST_CASE_FIXTURE(node_story,
                  "during a shutdown a deadline only comes nearer") {
  boot();
  story->report = {1, 1, 0, 0};
  shutdown();
  shutdown_within(300s);
  advance(5s);
  CHECK(count("offices abort") == 0);
  shutdown_within(1s);
  advance(500ms);
  CHECK(count("offices abort") == 0);
  advance(1s);
  CHECK(count("offices abort") == 1);
  CHECK(story->lines.back() == "main finished");
}

// -- channels -----------------------------------------------------------------

TEST_CASE_FIXTURE(node_story, "a channel that has started runs") {
  boot();
  auto status = channel(platform_id::console);
  CHECK(status.state == contracts::channel_state::running);
  CHECK(status.summary.text == "{}");
  tell(channel_event::summary_changed, R"({"open":2})");
  CHECK(channel(platform_id::console).summary.text == R"({"open":2})");
}

TEST_CASE_FIXTURE(node_story,
                  "a channel without its configuration is not started") {
  channels.push_back(
    {platform_id::console, {}, "CONSOLE_TOKEN is not set.", {}});
  channels.push_back({platform_id::slack, "It is not configured.", {}, {}});
  boot();
  CHECK(story->lines == std::vector<std::string>{"main ready"});
  auto status = channel(platform_id::console);
  CHECK(status.state == contracts::channel_state::waiting_for_config);
  CHECK(status.reason == "CONSOLE_TOKEN is not set.");
  CHECK(channel(platform_id::slack).state
        == contracts::channel_state::disabled);
  CHECK(report().adapters.empty());
}

TEST_CASE_FIXTURE(node_story, "a channel is degraded and recovers") {
  boot();
  tell(channel_event::summary_changed, R"({"open":1})");
  tell(channel_event::degraded, "its output is closed");
  auto status = channel(platform_id::console);
  CHECK(status.state == contracts::channel_state::degraded);
  CHECK(status.reason == "its output is closed");
  CHECK(
    health().degraded
    == std::vector{degraded_part{"adapter/console", "its output is closed"}});
  tell(channel_event::recovered);
  status = channel(platform_id::console);
  CHECK(status.state == contracts::channel_state::running);
  CHECK(status.summary.text == R"({"open":1})");
  CHECK(health().degraded.empty());
}

TEST_CASE_FIXTURE(node_story,
                  "a channel that failed is dropped, and whoever answers "
                  "through it hears of it first") {
  boot();
  story->lines.clear();
  tell(channel_event::failed, "its token was revoked");
  CHECK(story->lines
        == std::vector<std::string>{"gone console", "adapter stop"});
  CHECK(channel(platform_id::console).state
        == contracts::channel_state::failed);
  CHECK(report().adapters.empty());
  tell(channel_event::recovered);
  CHECK(channel(platform_id::console).state
        == contracts::channel_state::failed);
}

TEST_CASE_FIXTURE(node_story, "news of an earlier start are ignored") {
  boot();
  auto before = link;
  self->send_exit(adapter, caf::exit_reason::kill);
  advance(1s);
  CHECK(link.generation > before.generation);
  std::swap(link, before);
  tell(channel_event::failed, "late");
  CHECK(channel(platform_id::console).state
        == contracts::channel_state::running);
}
