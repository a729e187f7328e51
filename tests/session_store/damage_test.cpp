#include "actors/session/store_core.hpp"
#include "messages/codec/log_record.hpp"
#include "tests/session_store/tree_support.hpp"

#include <algorithm>

using namespace bureau;
using namespace bureau::test;

/// Every byte of a small file is cut off or changed: what comes out is the
/// data, a typed fault, or a set-aside tail, and never less without a word.

namespace {

std::string small_session() {
  return lines({header_line, cause_line("c1", "", "m1"),
                user_entry("u2", "c1", "one"),
                assistant_entry("a3", "u2", "two"),
                compaction_entry("c4", "a3", "S", "u2"),
                entry("leaf", "l5", "c4", R"("targetId":"a3")"),
                user_entry("u6", "a3", "three")});
}

std::string small_log() {
  std::string text;
  for (auto id : {"1", "2", "3"}) {
    log_record record;
    record.date = "2026-05-01T08:59:40.000Z";
    record.ts = id;
    record.user = "U1";
    record.text = std::string{"text "} + id;
    text += print_log_line(record);
  }
  return text;
}

} // namespace

TEST_CASE("a session cut anywhere keeps every complete line") {
  auto whole = small_session();
  for (size_t size = 0; size <= whole.size(); ++size) {
    CAPTURE(size);
    auto text = whole.substr(0, size);
    auto complete =
      static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    auto opened = open_tree(text);
    if (size > 0 && size < whole.find('\n')) {
      CHECK_FALSE(opened);
      CHECK(opened.fault.code == errc::corrupt);
      continue;
    }
    REQUIRE_MESSAGE(bool{opened}, opened.fault.what);
    // A last line that only lacks its line break is complete as well.
    auto records = opened.tree->nodes().size() + (size > 0 ? 1 : 0);
    CHECK(records >= complete);
    CHECK(records <= complete + 1);
    if (records == complete && size > 0 && text.back() != '\n')
      CHECK_FALSE(opened.tree->torn_tail().empty());
    CHECK(opened.tree->needs_rewrite() == (size == 0 || text.back() != '\n'));
    opened.tree->context();
  }
}

TEST_CASE(
  "a session with one changed byte loads whole, or says what is wrong") {
  auto whole = small_session();
  auto good = good_tree(whole);
  auto last_line = whole.rfind('\n', whole.size() - 2) + 1;
  size_t faults = 0;
  for (size_t pos = 0; pos < whole.size(); ++pos)
    for (auto mask : {0x01, 0x20, 0x80, 0xFF}) {
      auto text = whole;
      text[pos] = static_cast<char>(text[pos] ^ mask);
      CAPTURE(pos);
      CAPTURE(mask);
      auto opened = open_tree(text);
      if (!opened) {
        ++faults;
        CHECK(opened.fault.code == errc::corrupt);
        CHECK_FALSE(opened.fault.what.empty());
        continue;
      }
      opened.tree->context();
      // Only the last line may be set aside, and then it is kept to be seen. A
      // changed line break in front of it makes two lines one.
      if (opened.tree->nodes().size() < good.nodes().size()) {
        CHECK(pos + 1 >= last_line);
        CHECK_FALSE(opened.tree->torn_tail().empty());
      }
      auto tolerant = open_tree(text, session_tree::mode::tolerant);
      if (tolerant)
        tolerant.tree->context();
    }
  CHECK(faults > whole.size());
}

TEST_CASE("what was opened from a damaged file can be written and read again") {
  auto whole = small_session();
  seeded_entropy chance;
  for (size_t size = 0; size <= whole.size(); ++size) {
    auto file = whole.substr(0, size);
    auto opened = open_tree(file);
    if (!opened)
      continue;
    CAPTURE(size);
    auto before = said(opened.tree->context()).size();
    append_to(*opened.tree, {said_by_user("more")}, file, chance);
    auto again = open_tree(file);
    REQUIRE(again);
    CHECK(again.tree->torn_tail().empty());
    CHECK(said(again.tree->context()).size() == before + 1);
    CHECK(again.tree->context() == opened.tree->context());
  }
}

TEST_CASE("a log cut or changed anywhere loses at most what was touched") {
  auto whole = small_log();
  for (size_t size = 0; size <= whole.size(); ++size) {
    auto text = whole.substr(0, size);
    auto complete =
      static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    auto log = read_log(text, "log");
    CHECK(log.entries.size() >= complete);
    CHECK(log.entries.size() + log.skipped <= complete + 1);
  }
  for (size_t pos = 0; pos < whole.size(); ++pos)
    for (auto mask : {0x01, 0x20, 0x80, 0xFF}) {
      auto text = whole;
      text[pos] = static_cast<char>(text[pos] ^ mask);
      CAPTURE(pos);
      auto log = read_log(text, "log");
      // A changed line break costs the two lines around it.
      CHECK(log.entries.size() + log.skipped >= 2);
      CHECK(log.entries.size() >= 1);
      for (const auto& warning : log.warnings)
        CHECK(warning.find("log, line ") != std::string::npos);
      log_tail_ids(text, true);
      log_tail_ids(text, false);
    }
}

TEST_CASE("a changed pointer names one plain segment or nothing") {
  std::string whole = "2026-05-01T09-00-01-000Z_7b54cf90.jsonl";
  CHECK(session::pointer_target(whole) == whole);
  for (size_t pos = 0; pos < whole.size(); ++pos)
    for (int byte = 0; byte < 256; ++byte) {
      auto text = whole;
      text[pos] = static_cast<char>(byte);
      auto target = session::pointer_target(text);
      if (!target)
        continue;
      CHECK(target->find('/') == std::string::npos);
      CHECK(target->find('\0') == std::string::npos);
      CHECK_FALSE(target->empty());
    }
  for (size_t size = 0; size < whole.size(); ++size)
    session::pointer_target(whole.substr(0, size));
}
