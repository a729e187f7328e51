#include "tests/io/journal_world.hpp"
#include "tests/io/power_cut.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

// One story of appends, seals and checkpoints, stopped everywhere.

using namespace bureau;
using test::append_of;
using test::disk_errors;
using test::get_file;
using test::journal_world;
using test::lines_of;
using test::put;

namespace {

/// What a story of appends left: every line it asked for, and how far the
/// promises went.
struct story {
  std::map<std::string, std::vector<std::string>> asked;
  /// How many lines of each file are promised to survive a kill, and a cut.
  std::map<std::string, size_t> survives_kill;
  std::map<std::string, size_t> survives_cut;
};

/// Mixed appends, seals and checkpoints on three files. With `stop_at_failure`
/// the process is taken to die at the first refusal.
story tell(io::journal_writer& writer, bool stop_at_failure) {
  story result;
  auto number = 0;
  for (auto round = 0; round < 6; ++round) {
    std::vector<io::journal_append> batch;
    for (auto name : {"a", "b", "c"}) {
      if (round % 3 == 2 && name[0] == 'c')
        continue;
      auto level =
        (round + name[0]) % 2 == 0 ? durability::sync : durability::lazy;
      auto line = name + std::to_string(++number);
      result.asked[name].push_back(line);
      batch.push_back(append_of(name, line + "\n", level));
    }
    writer.commit(batch);
    for (const auto& append : batch) {
      const auto& name = append.record.path;
      if (append.failure) {
        if (stop_at_failure)
          return result;
        continue;
      }
      result.survives_kill[name] = result.asked[name].size();
      if (append.record.level == durability::sync)
        result.survives_cut[name] = result.asked[name].size();
    }
    if (round == 2 && writer.seal({journal_root::state, "b"})
        && stop_at_failure)
      return result;
    if (round == 3) {
      writer.begin_checkpoint();
      while (writer.checkpoint_step(1))
        ;
    }
  }
  return result;
}

/// Whether a file is a run of whole lines in the order they were asked for.
bool is_prefix_of(const std::string& text,
                  const std::vector<std::string>& lines) {
  std::string expected;
  if (text.empty())
    return true;
  for (const auto& line : lines) {
    expected += line + "\n";
    if (text == expected)
      return true;
  }
  return false;
}

} // namespace

TEST_CASE("killed at any operation, a journal keeps what it promised") {
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    journal_world world;
    auto writer = world.writer();
    world.fs->fail_from(n, EIO);
    auto told = tell(*writer, true);
    auto reached_end = world.fs->operations().size() < n;
    writer.reset();
    auto report = world.replay();
    REQUIRE_FALSE(report.failure);
    for (const auto& [name, lines] : told.asked) {
      auto text = get_file(world.file(name));
      CAPTURE(name);
      CAPTURE(text);
      CHECK(is_prefix_of(text, lines));
      CHECK(lines_of(text).size() >= told.survives_kill[name]);
    }
    if (reached_end)
      return;
  }
}

TEST_CASE("without power at any operation, synced appends are kept") {
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    journal_world world;
    auto power = std::make_shared<test::power_cut_file_system>();
    world.fs = std::make_shared<test::faulty_file_system>(power);
    auto writer = world.writer();
    world.fs->fail_from(n, EIO);
    auto told = tell(*writer, true);
    auto reached_end = world.fs->operations().size() < n;
    writer.reset();
    power->cut();
    auto report = world.replay();
    REQUIRE_FALSE(report.failure);
    for (const auto& [name, lines] : told.asked) {
      auto text = get_file(world.file(name));
      CAPTURE(name);
      CAPTURE(text);
      CHECK(is_prefix_of(text, lines));
      CHECK(lines_of(text).size() >= told.survives_cut[name]);
    }
    if (reached_end)
      return;
  }
}

TEST_CASE("after any single fault the journal goes on without a flaw") {
  for (auto cut : {false, true})
    for (size_t n = 1;; ++n) {
      CAPTURE(cut);
      CAPTURE(n);
      journal_world world;
      auto power = std::make_shared<test::power_cut_file_system>();
      world.fs = std::make_shared<test::faulty_file_system>(power);
      world.fs->shorten_writes(5);
      auto writer = world.writer();
      world.fs->fail_at(n, disk_errors[(n + cut) % std::size(disk_errors)]);
      std::map<std::string, std::vector<std::string>> kept;
      std::map<std::string, std::set<std::string>> known;
      for (auto number = 0; number < 12; ++number) {
        auto name = number % 3 == 0 ? "a" : "b";
        auto line = "line " + std::to_string(number);
        known[name].insert(line);
        if (!put(*writer, name, line + "\n").failure)
          kept[name].push_back(line);
        if (number == 7) {
          writer->begin_checkpoint();
          while (writer->checkpoint_step(1))
            ;
        }
      }
      auto reached_end = world.fs->operations().size() < n;
      writer.reset();
      if (cut)
        power->cut();
      REQUIRE_FALSE(world.replay().failure);
      for (const auto& [name, lines] : known) {
        auto found = lines_of(get_file(world.file(name)));
        CAPTURE(name);
        // Refused lines may have come through, but whole, once and in order.
        std::set<std::string> distinct{found.begin(), found.end()};
        CHECK(distinct.size() == found.size());
        for (const auto& line : found)
          CHECK(lines.count(line) == 1);
        std::vector<std::string> order;
        for (const auto& line : found)
          if (std::find(kept[name].begin(), kept[name].end(), line)
              != kept[name].end())
            order.push_back(line);
        CHECK(order == kept[name]);
      }
      if (reached_end)
        break;
    }
}
