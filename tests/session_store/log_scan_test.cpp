#include "actors/session/log_scan_core.hpp"
#include "messages/text/time_text.hpp"
#include "tests/session_store/tree_support.hpp"

#include <random>

using namespace bureau;
using namespace bureau::session;
using namespace bureau::test;

namespace {

constexpr int64_t day = 86'400'000;
constexpr int64_t noon = 1'777'636'800'000;

/// A chat log of many days, with threads, bots, edits and noise.
class busy_chat {
public:
  explicit busy_chat(unsigned seed, size_t records) : random_(seed) {
    for (size_t i = 0; i < records; ++i)
      add(noon
          - static_cast<int64_t>(records - i) * 30 * day
              / static_cast<int64_t>(records));
  }

  const std::string& text() const { return text_; }
  const std::vector<std::string>& ids() const { return ids_; }
  const std::vector<std::string>& roots() const { return roots_; }

  unsigned dice(unsigned sides) {
    return static_cast<unsigned>(random_() % sides);
  }

private:
  void add(int64_t at) {
    log_record record;
    record.date = text::iso_utc(at);
    record.ts = "m" + std::to_string(ids_.size());
    record.user = "U1";
    record.user_name = "ana";
    record.text = "words " + std::string(dice(60), 'x');
    auto kind = dice(12);
    if (kind < 3 && !roots_.empty())
      record.thread_ts = roots_[dice(static_cast<unsigned>(roots_.size()))];
    else if (kind == 3)
      roots_.push_back(record.ts);
    if (kind == 4 || kind == 5) {
      record.from_bot = true;
      record.user = "bot";
      record.session_key = kind == 4 ? "C1" : "";
    }
    if (kind == 6)
      record.text = "/new";
    if (kind == 7)
      record.text = " ";
    if (kind == 8)
      text_ += "not json\n\n";
    text_ += print_log_line(record);
    // Chunks of one bot message, as old writers left them.
    if (kind == 5)
      for (auto parts = dice(4); parts > 0; --parts) {
        record.text = " more";
        text_ += print_log_line(record);
      }
    ids_.push_back(record.ts);
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<std::string> ids_;
  std::vector<std::string> roots_;
};

/// Reads a log from its end in parts of a size, as a store does.
log_scan scanned(const std::string& log, const scan_wish& wish, size_t part,
                 size_t* read = nullptr) {
  log_scan scan{wish, "log.jsonl"};
  auto end = log.size();
  while (end > 0) {
    auto begin = end > part ? end - part : 0;
    scan.take(begin, std::string_view{log}.substr(begin, end - begin));
    end = begin;
    if (scan.enough())
      break;
  }
  if (read != nullptr)
    *read = log.size() - end;
  return scan;
}

std::vector<std::string> printed(const history_batch& batch) {
  std::vector<std::string> result;
  for (const auto& entry : batch.entries)
    result.push_back(text_of(entry.message) + entry.fields.text);
  return result;
}

const history_clock clock_at_noon{noon, {}};

} // namespace

TEST_CASE("what is gathered from the end is what the whole log says") {
  for (unsigned seed = 1; seed <= 80; ++seed) {
    busy_chat chat{seed, 20 + seed};
    auto whole = read_log(chat.text(), "log.jsonl");
    scan_wish wish;
    wish.now_ms = noon;
    wish.later_within = chat.text().size();
    wish.reach.recent_days = 1 + chat.dice(40);
    wish.reach.max_messages = chat.dice(12);
    wish.reach.thread_seed = chat.dice(6);
    if (chat.dice(3) != 0)
      wish.scope.current_message_id =
        chat.dice(4) == 0 ? "elsewhere"
                          : chat.ids()[chat.ids().size() - 1 - chat.dice(15)];
    if (chat.dice(2) == 0 && !chat.roots().empty())
      wish.scope.thread =
        chat.dice(6) == 0
          ? "elsewhere"
          : chat.roots()[chat.dice(static_cast<unsigned>(chat.roots().size()))];
    for (size_t part : {1u, 17u, 150u, 700u, 5'000u, 1'000'000u}) {
      CAPTURE(seed);
      CAPTURE(part);
      wish.why = scan_wish::purpose::bootstrap;
      auto begun = scanned(chat.text(), wish, part);
      CHECK(printed(plan_bootstrap(begun.result(), wish.scope, wish.reach,
                                   clock_at_noon))
            == printed(
              plan_bootstrap(whole, wish.scope, wish.reach, clock_at_noon)));
      if (wish.scope.thread) {
        auto root = find_thread_root(whole, *wish.scope.thread);
        CHECK(begun.root_text().has_value() == root.has_value());
        if (root)
          CHECK(begun.root_text() == root->text);
      }
      wish.why = scan_wish::purpose::reset;
      auto reset = scanned(chat.text(), wish, part);
      CHECK(reset_marker(reset.result(), wish.scope, noon)
            == reset_marker(whole, wish.scope, noon));
      // A session that began a while ago, and has handled some messages since.
      seeded_entropy chance;
      auto file = lines({header_line});
      auto tree = good_tree(file);
      history_scope earlier = wish.scope;
      earlier.current_message_id = chat.ids()[chat.ids().size() / 2];
      append_to(
        tree, plan_bootstrap(whole, earlier, wish.reach, clock_at_noon).entries,
        file, chance);
      append_to(
        tree, {run_cause_entry(earlier.current_message_id), said_by_user("x")},
        file, chance);
      auto facts = facts_of(tree);
      wish.why = scan_wish::purpose::sync;
      wish.watermark = facts.watermark;
      wish.handled = tree.handled_messages(0);
      auto news = scanned(chat.text(), wish, part);
      // What a sync passes over takes nobody's room.
      auto rest = whole;
      std::erase_if(rest.entries, [&](const log_entry& entry) {
        const auto& record = entry.record;
        auto own = record.from_bot && !record.session_key.empty();
        auto handled = record.ts == earlier.current_message_id;
        return record.ts != wish.watermark
               && record.ts != wish.scope.current_message_id
               && (own || handled);
      });
      CHECK(printed(plan_sync(news.result(), tree, wish.scope, wish.reach,
                              clock_at_noon))
            == printed(
              plan_sync(rest, tree, wish.scope, wish.reach, clock_at_noon)));
      wish.watermark.reset();
    }
  }
}

TEST_CASE("a log is read as far back as it matters") {
  busy_chat chat{7, 2000};
  scan_wish wish;
  wish.now_ms = noon;
  wish.reach = {3, 20, 5};
  size_t read = 0;
  auto share = [&] {
    return static_cast<double>(read) / static_cast<double>(chat.text().size());
  };
  SUBCASE("a session that begins") {
    wish.why = scan_wish::purpose::bootstrap;
    scanned(chat.text(), wish, 2000, &read);
    CHECK(share() < 0.1);
  }
  SUBCASE("a session that is nearly up to date") {
    wish.watermark = "m1990";
    scanned(chat.text(), wish, 2000, &read);
    CHECK(share() < 0.05);
  }
  SUBCASE("a watermark from long ago") {
    wish.watermark = "m10";
    wish.reach = {365, 5000, 5};
    auto scan = scanned(chat.text(), wish, 2000, &read);
    CHECK(share() > 0.9);
    CHECK(scan.result().entries.size() > 500);
  }
  SUBCASE("a reset") {
    wish.reset_ms = noon - day;
    scanned(chat.text(), wish, 2000, &read);
    CHECK(share() < 0.1);
  }
  SUBCASE("the root of an old thread") {
    wish.scope.thread = chat.roots().front();
    wish.root = true;
    auto scan = scanned(chat.text(), wish, 2000, &read);
    CHECK(scan.root_text());
    CHECK(share() > 0.9);
    // Only what matters is kept.
    CHECK(scan.result().entries.size() <= 20);
  }
}

TEST_CASE("the current message is looked for in the whole log") {
  busy_chat chat{7, 2000};
  auto whole = read_log(chat.text(), "log.jsonl");
  scan_wish wish;
  wish.now_ms = noon;
  wish.reach = {365, 20, 5};
  wish.later_within = 20'000;
  for (auto current : {"m3", "m500", "m1995", "nowhere"})
    for (auto why :
         {scan_wish::purpose::bootstrap, scan_wish::purpose::reset}) {
      CAPTURE(current);
      wish.why = why;
      wish.scope.current_message_id = current;
      size_t read = 0;
      auto scan = scanned(chat.text(), wish, 2000, &read);
      auto found = scan.result();
      if (why == scan_wish::purpose::reset)
        CHECK(reset_marker(found, wish.scope, noon)
              == reset_marker(whole, wish.scope, noon));
      else
        CHECK(
          printed(plan_bootstrap(found, wish.scope, wish.reach, clock_at_noon))
          == printed(
            plan_bootstrap(whole, wish.scope, wish.reach, clock_at_noon)));
      // Nothing is kept of what follows a message from long ago.
      auto far = current == std::string{"m3"} || current == std::string{"m500"};
      CHECK(scan.lacks_later() == far);
      CHECK(found.entries.size() <= 45);
      CHECK((read < 40'000) == (current == std::string{"m1995"}));
    }
}

TEST_CASE("warnings name the byte at which a line begins") {
  std::string log;
  for (int i = 0; i < 40; ++i)
    log += i == 20 ? "oops\n" : "{\"ts\":\"" + std::to_string(i) + "\"}\n";
  auto place = std::to_string(log.find("oops"));
  scan_wish wish;
  for (size_t part : {7u, 50u, 10'000u}) {
    auto result = scanned(log, wish, part).result();
    REQUIRE(result.warnings.size() == 1);
    CHECK(result.warnings.at(0)
          == "Skipped a malformed line of log.jsonl at byte " + place
               + ": it is not a JSON object.");
    CHECK(result.skipped == 1);
  }
}

TEST_CASE("a line without an end does not fill the memory") {
  std::string log = "{\"ts\":\"1\",\"text\":\"first\",\"user\":\"U\"}\n";
  log += std::string(log_line_bytes + 3 * log_part_bytes, 'x') + "\n";
  log += "{\"ts\":\"2\",\"text\":\"last\",\"user\":\"U\"}\n";
  scan_wish wish;
  wish.now_ms = noon;
  auto result = scanned(log, wish, log_part_bytes).result();
  REQUIRE(result.entries.size() == 2);
  CHECK(result.entries.at(0).record.text == "first");
  CHECK(result.entries.at(1).record.text == "last");
}
