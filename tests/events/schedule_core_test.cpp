#include "actors/events/schedule_core.hpp"
#include "config/os/system_time_zones.hpp"
#include "messages/text/time_text.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <deque>

using namespace bureau;
using namespace bureau::events;

namespace {

constexpr int64_t second = 1000;
constexpr int64_t minute = 60 * second;
constexpr int64_t hour = 60 * minute;
constexpr int64_t day = 24 * hour;
constexpr auto t0 = test::start_ms;

/// Disk, record and offices of a story, and a clock.
struct story {
  struct file {
    std::string content;
    int64_t modified_ms = 0;
  };

  schedule_core core;
  std::map<std::string, file> disk;
  /// Everything that reached the record.
  std::vector<log_line> record;
  bool record_works = true;
  /// Every turn that was given to an office, and what the office says.
  std::vector<schedule_effect> turns;
  std::deque<dispatch_outcome> answers;
  std::vector<std::string> warnings;
  std::vector<std::string> followed;
  bool removable = true;
  size_t reads = 0;
  int64_t wall_ms = t0;
  int64_t clock_ms = 0;

  explicit story(bool attached = true) { boot(attached); }

  instants now() const { return {wall_ms, clock_ms}; }

  /// A process begins, with what is on the disk.
  void boot(bool attached = true) {
    core = {};
    schedule_rules rules;
    rules.platforms = {platform_id::console};
    rules.zones = std::make_shared<os::system_time_zones>();
    rules.catch_up_ms = day;
    run_table table;
    for (const auto& line : record)
      table.apply(line);
    core.begin(std::move(rules), std::move(table));
    if (attached)
      carry_out(core.attached(platform_id::console, now()));
    scan();
  }

  void scan() {
    std::vector<std::string> names;
    for (const auto& [name, content] : disk)
      names.push_back(name);
    carry_out(core.listed(names, now()));
  }

  void put(const std::string& name, const std::string& content) {
    disk[name] = {content, wall_ms};
    carry_out(core.noticed(name, now()));
  }

  void carry_out(schedule_effects effects) {
    for (auto& effect : effects)
      perform(effect);
  }

  void perform(const schedule_effect& effect) {
    const auto& name = effect.file;
    auto found = disk.find(name);
    switch (effect.what) {
    case schedule_step::look: {
      file_look look;
      if (found != disk.end())
        look = {file_look::kind::regular,
                found->second.modified_ms,
                found->second.content.size(),
                {}};
      carry_out(core.looked(name, effect.number, look, now()));
      break;
    }
    case schedule_step::read:
      ++reads;
      carry_out(core.loaded(name, effect.number,
                            found == disk.end() ? "" : found->second.content,
                            {}, now()));
      break;
    case schedule_step::record:
      if (record_works)
        record.push_back(effect.line);
      carry_out(core.recorded(name, record_works, now()));
      break;
    case schedule_step::note:
      record.push_back(effect.line);
      break;
    case schedule_step::dispatch: {
      turns.push_back(effect);
      auto outcome = dispatch_outcome::taken;
      if (!answers.empty()) {
        outcome = answers.front();
        answers.pop_front();
      }
      carry_out(core.dispatched(name, outcome, "queue_full", now()));
      break;
    }
    case schedule_step::follow:
      followed.push_back(occurrence_id(name, effect.occurrence));
      break;
    case schedule_step::remove:
      if (removable)
        disk.erase(name);
      carry_out(
        core.removed(name, removable ? removal::gone : removal::failed, now()));
      break;
    case schedule_step::warn:
      warnings.push_back(effect.sentence);
      break;
    }
  }

  /// Lets time pass, stopping wherever there is something to do.
  void advance(int64_t span) {
    while (true) {
      auto due = core.next_due(now());
      auto step = due ? std::min(std::max<int64_t>(*due, 1), span) : span;
      wall_ms += step;
      clock_ms += step;
      span -= step;
      carry_out(core.tick(now()));
      if (span <= 0)
        return;
    }
  }

  /// The instants of all turns.
  std::string fired() const {
    std::string result;
    for (const auto& turn : turns)
      result += (result.empty() ? "" : " ") + turn.occurrence;
    return result;
  }

  std::string steps(const std::string& name) const {
    static constexpr const char* words[] = {"written", "claimed", "delivered",
                                            "refused", "missed",  "ended"};
    std::string result;
    for (const auto& line : record)
      if (line.file == name && line.step != log_step::written)
        result += (result.empty() ? "" : " ")
                  + std::string{words[static_cast<size_t>(line.step)]};
    return result;
  }

  event_state state(const std::string& name) const {
    auto entry = core.entry(name);
    REQUIRE(entry);
    return entry->state;
  }
};

std::string immediate(const char* text = "look") {
  return std::string{R"({"type":"immediate","conversationId":"local","text":")"}
         + text + R"("})";
}

std::string one_shot(int64_t at_ms) {
  return R"({"type":"one-shot","conversationId":"local","text":"stand up","at":")"
         + text::iso_utc(at_ms) + R"("})";
}

std::string periodic(const char* schedule, const char* zone = "UTC") {
  return std::string{R"({"type":"periodic","conversationId":"local",)"}
         + R"("text":"look","schedule":")" + schedule + R"(","timezone":")"
         + zone + R"("})";
}

} // namespace

TEST_SUITE("schedules") {

  TEST_CASE("an immediate event fires once and is removed") {
    story s;
    s.put("now.json", immediate());
    CHECK(s.turns.empty());
    s.advance(second);
    REQUIRE(s.turns.size() == 1);
    CHECK(s.turns[0].target.conversation
          == office_address{platform_id::console, "local"});
    CHECK(s.turns[0].user == "EVENT");
    CHECK(s.turns[0].text.ends_with("Event: look"));
    CHECK(s.steps("now.json") == "claimed delivered");
    CHECK_FALSE(s.disk.contains("now.json"));
    CHECK(s.followed.size() == 1);
    s.advance(day);
    CHECK(s.turns.size() == 1);
  }

  TEST_CASE("a file that is written in parts is read when it is whole") {
    story s;
    s.put("now.json", immediate());
    s.advance(50);
    s.put("now.json", immediate("b"));
    s.advance(50);
    s.put("now.json", immediate("c"));
    s.advance(second);
    CHECK(s.reads == 1);
    s.put("half.json", R"({"type":"imm)");
    s.advance(250);
    CHECK(s.reads == 3);
    s.disk["half.json"].content = immediate();
    s.advance(second);
    CHECK(s.turns.size() == 2);
    CHECK(s.warnings.empty());
  }

  TEST_CASE("what cannot be acted on is kept, listed and looked at again") {
    story s;
    s.put("a.json", "{");
    s.put("b.json", periodic("not a cron"));
    s.put("c.json", periodic("0 9 * * *", "Mars/Phobos"));
    s.put(
      "d.json",
      R"({"type":"immediate","platform":"irc","conversationId":"x","text":"t"})");
    s.advance(hour);
    CHECK(s.disk.size() == 4);
    CHECK(s.warnings.size() == 4);
    for (auto name : {"a.json", "b.json", "c.json", "d.json"}) {
      CHECK(s.state(name) == event_state::faulty);
      CHECK_FALSE(s.core.entry(name)->fault.empty());
    }
    CHECK_FALSE(s.core.entry("a.json")->payload);
    s.scan();
    s.advance(second);
    CHECK(s.warnings.size() == 4);
    s.put("a.json", immediate());
    s.advance(second);
    CHECK(s.turns.size() == 1);
  }

  TEST_CASE("a reminder comes at its time, however far away") {
    story s;
    s.put("far.json", one_shot(t0 + 60 * day));
    s.advance(second);
    CHECK(s.core.entry("far.json")->next_run_ms == t0 + 60 * day);
    s.advance(60 * day - 2 * second);
    CHECK(s.turns.empty());
    s.advance(2 * second);
    REQUIRE(s.turns.size() == 1);
    CHECK(s.turns[0].text.ends_with("Reminder: stand up"));
    CHECK(s.disk.empty());
    s.advance(day);
    CHECK(s.turns.size() == 1);
  }

  TEST_CASE("a reminder whose file is gone still comes") {
    story s;
    s.put("r.json", one_shot(t0 + hour));
    s.advance(second);
    s.disk.clear();
    s.carry_out(s.core.noticed("r.json", s.now()));
    s.advance(2 * hour);
    CHECK(s.turns.size() == 1);
    CHECK_FALSE(s.core.knows("r.json"));
  }

  TEST_CASE("a reminder that the store removed does not come") {
    story s;
    s.put("r.json", one_shot(t0 + hour));
    s.advance(second);
    s.disk.clear();
    s.carry_out(s.core.dropped("r.json", s.now()));
    s.advance(2 * hour);
    CHECK(s.turns.empty());
  }

  TEST_CASE("a schedule fires at its times and stays") {
    story s;
    s.put("p.json", periodic("0 9 * * *", "Europe/Berlin"));
    s.advance(3 * day);
    CHECK(s.fired()
          == "2026-01-01T08:00:00.000Z 2026-01-02T08:00:00.000Z "
             "2026-01-03T08:00:00.000Z");
    CHECK(s.disk.contains("p.json"));
    CHECK(s.turns[0].text.ends_with("Task: look"));
    // Removed: after three looks it is forgotten.
    s.disk.clear();
    s.carry_out(s.core.noticed("p.json", s.now()));
    s.advance(700);
    CHECK(s.core.knows("p.json"));
    s.advance(200);
    CHECK_FALSE(s.core.knows("p.json"));
    s.advance(3 * day);
    CHECK(s.turns.size() == 3);
  }

  TEST_CASE("a schedule that is replaced has one set of times") {
    story s;
    s.put("p.json", periodic("0 9 * * *"));
    s.advance(second);
    s.put("p.json", periodic("0 10 * * *"));
    s.advance(20);
    s.put("p.json", periodic("0 11 * * *"));
    s.advance(day);
    CHECK(s.fired() == "2026-01-01T11:00:00.000Z");
    // Gone for a moment, as editors do it.
    s.disk.clear();
    s.carry_out(s.core.noticed("p.json", s.now()));
    s.advance(250);
    s.put("p.json", periodic("0 11 * * *"));
    s.advance(day);
    CHECK(s.turns.size() == 2);
  }

  TEST_CASE("a refused turn is tried again, at growing distances") {
    story s;
    using enum dispatch_outcome;
    s.answers = {again, again, again, taken};
    s.put("r.json", one_shot(t0 + hour));
    s.advance(hour);
    CHECK(s.turns.size() == 1);
    CHECK(s.state("r.json") == event_state::retrying);
    CHECK(s.disk.contains("r.json"));
    s.advance(minute);
    CHECK(s.turns.size() == 2);
    s.advance(2 * minute);
    CHECK(s.turns.size() == 3);
    s.advance(3 * minute);
    CHECK(s.turns.size() == 3);
    s.advance(minute);
    CHECK(s.turns.size() == 4);
    CHECK(s.steps("r.json") == "claimed refused delivered");
    CHECK(s.disk.empty());
  }

  TEST_CASE("what waits is given up for a newer run") {
    story s;
    s.answers.assign(100, dispatch_outcome::again);
    s.put("p.json", periodic("0 * * * *"));
    s.advance(2 * hour + 10 * minute);
    CHECK(s.steps("p.json").starts_with("claimed refused missed claimed"));
    s.answers.clear();
    s.advance(20 * minute);
    CHECK(s.turns.back().occurrence == "2026-01-01T02:00:00.000Z");
    CHECK(s.turns.back().text.find("1 earlier run was skipped")
          != std::string::npos);
    CHECK(s.core.runs().last("p.json")->step == log_step::delivered);
    CHECK(s.core.runs().runs_of("p.json")->front().why == "superseded");
  }

  TEST_CASE("a turn that is never taken leaves the file and says why") {
    story s;
    s.answers = {dispatch_outcome::never};
    s.put("now.json", immediate());
    s.advance(second);
    CHECK(s.state("now.json") == event_state::faulty);
    CHECK(s.disk.contains("now.json"));
    CHECK(s.steps("now.json") == "claimed missed");
  }

  TEST_CASE("nothing fires before its claim is on the disk") {
    story s;
    s.record_works = false;
    s.put("now.json", immediate());
    s.advance(10 * second);
    CHECK(s.turns.empty());
    CHECK(s.state("now.json") == event_state::due);
    s.record_works = true;
    s.advance(minute);
    CHECK(s.turns.size() == 1);
    CHECK(s.disk.empty());
  }

  TEST_CASE("a node that ended between claim and turn fires the same turn") {
    story s;
    // The office never answered.
    log_line claimed;
    claimed.step = log_step::claimed;
    claimed.at_ms = t0;
    claimed.file = "p.json";
    claimed.occurrence = "2026-01-01T00:00:00.000Z";
    claimed.sequence = 1;
    s.record.push_back(claimed);
    s.disk["p.json"] = {periodic("0 0 * * *"), t0 - day};
    s.advance(minute);
    s.boot();
    CHECK(s.fired() == "2026-01-01T00:00:00.000Z");
    CHECK(s.steps("p.json") == "claimed delivered");
    s.boot();
    CHECK(s.turns.size() == 1);
  }

  TEST_CASE("a node that ended between turn and removal removes the file") {
    story s;
    s.removable = false;
    s.put("now.json", immediate());
    s.advance(second);
    CHECK(s.turns.size() == 1);
    CHECK(s.state("now.json") == event_state::done);
    s.removable = true;
    s.boot();
    CHECK(s.turns.size() == 1);
    CHECK(s.disk.empty());
  }

  TEST_CASE("runs that were missed are made up for once") {
    story s;
    s.put("p.json", periodic("0 * * * *"));
    s.advance(90 * minute);
    CHECK(s.turns.size() == 1);
    s.wall_ms += 5 * hour;
    s.boot();
    CHECK(s.turns.size() == 2);
    CHECK(s.turns[1].occurrence == "2026-01-01T06:00:00.000Z");
    CHECK(s.turns[1].text.find("4 earlier runs were skipped")
          != std::string::npos);
    // Down for longer than is made up for.
    s.disk["d.json"] = {periodic("0 12 2 1 *"), s.wall_ms - hour};
    s.wall_ms += 3 * day;
    s.boot();
    CHECK(s.core.runs().last("d.json")->why == "too_old");
    CHECK(s.state("d.json") == event_state::scheduled);
  }

  TEST_CASE("a reminder that was missed comes late, or not at all") {
    story s;
    s.disk["late.json"] = {one_shot(t0 - hour), t0 - day};
    s.disk["old.json"] = {one_shot(t0 - 2 * day), t0 - 3 * day};
    s.disk["young.json"] = {immediate(), t0 - hour};
    s.disk["stale.json"] = {immediate(), t0 - 2 * day};
    s.boot();
    REQUIRE(s.turns.size() == 2);
    CHECK(s.turns[0].file == "late.json");
    CHECK(s.turns[0].text.starts_with("This reminder is late"));
    CHECK(s.turns[1].file == "young.json");
    CHECK(s.steps("old.json") == "missed");
    CHECK(s.steps("stale.json") == "missed");
    CHECK(s.disk.empty());
  }

  TEST_CASE("a clock that is set does not repeat and does not lose") {
    story s;
    s.put("p.json", periodic("0 * * * *"));
    s.advance(90 * minute);
    CHECK(s.turns.size() == 1);
    s.wall_ms -= hour;
    s.advance(80 * minute);
    CHECK(s.turns.size() == 1);
    s.advance(hour);
    CHECK(s.turns.size() == 2);
    s.wall_ms += 2 * hour;
    s.carry_out(s.core.tick(s.now()));
    CHECK(s.turns.size() == 3);
    CHECK(s.turns[2].text.find("1 earlier run was skipped")
          != std::string::npos);
  }

  TEST_CASE("a platform that is not there yet is waited for") {
    story s{false};
    s.put("now.json", immediate());
    s.advance(hour);
    CHECK(s.turns.empty());
    CHECK(s.record.size() == 1);
    s.carry_out(s.core.attached(platform_id::console, s.now()));
    CHECK(s.turns.size() == 1);
  }

  TEST_CASE("nothing fires after the end") {
    story s;
    s.put("p.json", periodic("0 * * * *"));
    s.put("r.json", one_shot(t0 + hour));
    s.advance(second);
    s.core.stop();
    s.put("now.json", immediate());
    s.advance(day);
    CHECK(s.turns.empty());
    CHECK_FALSE(s.core.next_due(s.now()));
  }

  TEST_CASE("there is a bound of files") {
    story s;
    for (auto i = 0; i < 1010; ++i) {
      auto name = "p" + std::to_string(10'000 + i) + ".json";
      s.disk[name] = {periodic("0 9 * * *"), t0};
    }
    s.boot();
    CHECK(s.core.entries().size() == 1000);
    CHECK(s.core.ignored() == 10);
    CHECK(s.core.counts()[event_state::scheduled] == 1000);
  }

  TEST_CASE("a run may make schedules when an operator said so") {
    story s;
    auto content =
      std::string{R"({"type":"immediate","conversationId":"local",)"}
      + R"("allowSchedules":true,"text":"t"})";
    s.put("agent.json", content);
    s.advance(second);
    CHECK_FALSE(s.core.runs().last("agent.json")->may_schedule);
    log_line written;
    written.step = log_step::written;
    written.file = "operator.json";
    written.content = {0, content.size(), {}};
    written.author = event_author::operators;
    s.put("operator.json", content);
    written.content.sha256 =
      s.record.front().content.sha256; // the same content
    s.core.runs().apply(written);
    s.advance(second);
    CHECK(s.core.runs().last("operator.json")->may_schedule);
  }
}
