#include "config/cli.hpp"

#include <doctest/doctest.h>

using namespace bureau::config;

TEST_CASE("schedules are listed, shown and deleted") {
  auto list = parse_command_line({"events", "list", "--json"});
  REQUIRE(list);
  CHECK(list.plan.what == command::events);
  CHECK(list.plan.events.action == events_action::list);
  CHECK(list.plan.events.json);
  auto show = parse_command_line(
    {"events", "show", "daily", "--run=event:daily@1-1", "--state-dir", "/s"});
  REQUIRE(show);
  CHECK(show.plan.events.action == events_action::show);
  CHECK(show.plan.events.name == "daily");
  CHECK(show.plan.events.run == "event:daily@1-1");
  CHECK(show.plan.state_dir == "/s");
  CHECK(parse_command_line({"events", "show", "daily", "--before", "r5"})
          .plan.events.before
        == "r5");
  CHECK(parse_command_line({"events", "delete", "daily"}).plan.events.action
        == events_action::remove);
  for (const auto& args : std::vector<std::vector<std::string>>{
         {"events"},
         {"events", "show"},
         {"events", "list", "x"},
         {"events", "burn", "x"},
         {"events", "list", "--before", "r1"},
         {"events", "delete", "x", "--json"},
         {"events", "delete", ""}})
    CHECK(parse_command_line(args).usage_error.find("Usage: bureau events")
          != std::string::npos);
}
