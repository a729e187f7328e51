#include "actors/system/channel_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::system;
using contracts::channel_state;

namespace {

channel_news news(uint64_t generation, channel_event what,
                  const std::string& text = {}) {
  channel_news result;
  result.generation = generation;
  result.what = what;
  if (what == channel_event::summary_changed)
    result.summary = json_text{text};
  else
    result.reason = text;
  return result;
}

struct channel_fixture {
  channel_core channel{platform_id::console};
  channel_state state() const { return channel.report().status.state; }
  std::string reason() const { return channel.report().status.reason; }
  std::string summary() const { return channel.report().status.summary.text; }

  uint64_t run() {
    channel.configured({platform_id::console, {}, {}, {}});
    auto generation = channel.start();
    channel.started(generation);
    return generation;
  }
};

} // namespace

TEST_CASE_FIXTURE(channel_fixture,
                  "what is not configured, not wanted or not complete does not "
                  "start") {
  CHECK(state() == channel_state::disabled);
  CHECK_FALSE(channel.configured(
    {platform_id::console, "It is switched off.", "No token.", {}}));
  CHECK(state() == channel_state::disabled);
  CHECK(reason() == "It is switched off.");
  CHECK_FALSE(channel.configured({platform_id::console, {}, "No token.", {}}));
  CHECK(state() == channel_state::waiting_for_config);
  CHECK(reason() == "No token.");
  CHECK(channel.configured({platform_id::console, {}, {}, {"odd"}}));
  CHECK_FALSE(channel.exists());
}

TEST_CASE_FIXTURE(channel_fixture, "a start has a number and an outcome") {
  auto first = run();
  CHECK(state() == channel_state::running);
  CHECK(channel.exists());
  auto second = channel.start();
  CHECK(second > first);
  CHECK(state() == channel_state::waiting_for_config);
  CHECK_FALSE(channel.started(first));
  CHECK_FALSE(channel.failed(first, "late"));
  CHECK(channel.failed(second, "no terminal"));
  CHECK(state() == channel_state::failed);
  CHECK(reason() == "no terminal");
  CHECK_FALSE(channel.exists());
}

TEST_CASE_FIXTURE(channel_fixture,
                  "a fault leaves the summary, which the recovery shows") {
  auto generation = run();
  CHECK(channel.tell(
    news(generation, channel_event::summary_changed, R"({"a":1})")));
  CHECK(summary() == R"({"a":1})");
  CHECK(channel.tell(news(generation, channel_event::degraded, "slow")));
  CHECK(state() == channel_state::degraded);
  CHECK(summary().empty());
  // It changes meanwhile, and is not published yet.
  CHECK_FALSE(channel.tell(
    news(generation, channel_event::summary_changed, R"({"a":2})")));
  CHECK(channel.tell(news(generation, channel_event::recovered)));
  CHECK(state() == channel_state::running);
  CHECK(summary() == R"({"a":2})");
  CHECK_FALSE(channel.tell(news(generation, channel_event::recovered)));
}

TEST_CASE_FIXTURE(channel_fixture, "a summary is a record") {
  auto generation = run();
  for (auto text : {"", "[]", "5", "{"})
    CHECK_FALSE(
      channel.tell(news(generation, channel_event::summary_changed, text)));
  CHECK(summary() == "{}");
}

TEST_CASE_FIXTURE(channel_fixture, "a stopped channel does not come back") {
  auto generation = run();
  CHECK(channel.tell(news(generation, channel_event::degraded, "slow")));
  CHECK(channel.stopped(false));
  CHECK(state() == channel_state::waiting_for_config);
  CHECK_FALSE(channel.tell(news(generation, channel_event::recovered)));
  CHECK_FALSE(channel.tell(news(generation, channel_event::failed, "x")));
  CHECK(state() == channel_state::waiting_for_config);
  CHECK_FALSE(channel.stopped(false));
  run();
  CHECK(channel.stopped(true));
  CHECK(state() == channel_state::disabled);
}

TEST_CASE_FIXTURE(channel_fixture,
                  "news of another start or platform are ignored") {
  auto first = run();
  auto second = run();
  CHECK_FALSE(channel.tell(news(first, channel_event::failed, "late")));
  auto foreign = news(second, channel_event::failed, "not mine");
  foreign.platform = platform_id::slack;
  CHECK_FALSE(channel.tell(foreign));
  CHECK(state() == channel_state::running);
  CHECK(channel.tell(news(second, channel_event::failed, "dead")));
  CHECK(reason() == "dead");
}
