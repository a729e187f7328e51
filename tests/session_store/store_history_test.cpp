#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "tests/session_store/store_world.hpp"
#include "tests/session_store/tree_support.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace bureau;
using namespace bureau::test;

namespace {

using list = std::vector<std::string>;

constexpr int64_t minute = 60'000;

/// A conversation whose log is much longer than what is read of it at a time.
class long_log : public store_world {
public:
  /// Talk in another thread, which fills the log and enters no session here.
  void noise(size_t bytes, int64_t age_ms = 0) {
    log_record record;
    record.date = text::iso_utc(wall->now_ms() - age_ms);
    record.thread_ts = "noise";
    record.user = "U2";
    record.text = std::string(2000, 'n');
    std::string lines;
    while (lines.size() < bytes) {
      record.ts = "n" + std::to_string(++number_);
      lines += print_log_line(record);
    }
    std::ofstream out{place.log_path, std::ios::app};
    out << lines;
  }

  /// Bytes of the log that were read since the last call.
  uint64_t log_bytes() {
    uint64_t result = 0;
    for (const auto& job : std::exchange(jobs->jobs, {}))
      if (job.path == place.key + "/log.jsonl" && job.op == file_op::read_range)
        result += job.length;
    return result;
  }

private:
  size_t number_ = 0;
};

constexpr size_t beyond = limits::history_sync_bytes + (1u << 20);

} // namespace

TEST_CASE_FIXTURE(long_log, "a session learns what was said before the end of "
                            "a long log") {
  logged("1", "taken over", {}, 9 * minute);
  REQUIRE(open(spawn()));
  logged("2", "missed", {}, 8 * minute);
  noise(beyond, 7 * minute);
  logged("3", "recent", {}, minute);
  logged("4", "current");
  CHECK(texts(open(spawn(), "4").value)
        == list{"taken over", "missed", "recent"});
  auto before = current_text();
  CHECK(texts(open(spawn(), "4").value).size() == 3);
  CHECK(current_text() == before);
}

TEST_CASE_FIXTURE(long_log, "a session that is up to date reads little of a "
                            "long log") {
  noise(beyond, 9 * minute);
  logged("1", "taken over", {}, minute);
  REQUIRE(open(spawn()));
  logged("2", "current");
  log_bytes();
  REQUIRE(open(spawn(), "2"));
  CHECK(log_bytes() <= 3u << 20);
}

TEST_CASE_FIXTURE(long_log, "a thread begins with its root, however far back") {
  logged("c1", "talk before", {}, 9 * minute);
  logged("root", "what began it", {}, 8 * minute);
  logged("c2", "talk behind", {}, 7 * minute);
  logged("r1", "first reply", "root", 7 * minute);
  noise(beyond, 6 * minute);
  logged("r2", "second reply", "root", minute);
  auto context = open(spawn("C123:root"));
  CHECK(texts(context.value)
        == list{"talk before", "what began it", "first reply", "second reply"});
  CHECK(context.value.thread_root == "what began it");
  // A store of a later process finds it as well, and this one keeps it.
  auto store = spawn("C123:root");
  CHECK(open(store).value == context.value);
  CHECK(load(store).value.thread_root == "what began it");
  log_bytes();
  CHECK(open(store).value == context.value);
  CHECK(log_bytes() < 10'000);
}

TEST_CASE_FIXTURE(long_log, "only threads have a root, and only when the log "
                            "knows it") {
  logged("1", "talk");
  CHECK(open(spawn()).value.thread_root.empty());
  auto store = spawn("C123:root");
  CHECK(open(store).value.thread_root.empty());
  // It comes into the log later.
  logged("root", "here it is");
  CHECK(open(store).value.thread_root == "here it is");
}

TEST_CASE_FIXTURE(long_log, "a reset names the last message, however far "
                            "back") {
  logged("1", "before", {}, 9 * minute);
  noise(beyond, 8 * minute);
  REQUIRE(reset(spawn()));
  CHECK(current_text().find(R"("lastMessageId":"1")") != std::string::npos);
}

TEST_CASE_FIXTURE(long_log, "what follows an old message does not enter its "
                            "run") {
  logged("1", "first", {}, 9 * minute);
  logged("2", "current", {}, 8 * minute);
  logged("3", "behind it", {}, 7 * minute);
  noise(limits::history_sync_bytes / 2, 6 * minute);
  logged("4", "further behind");
  CHECK(texts(open(spawn(), "2").value) == list{"first"});
  CHECK(texts(open(spawn(), "2").value) == list{"first"});
  CHECK(texts(open(spawn()).value)
        == list{"first", "current", "behind it", "further behind"});
}

TEST_CASE_FIXTURE(long_log, "an old message is found however long the log "
                            "went on") {
  logged("1", "first", {}, 9 * minute);
  logged("2", "current", {}, 8 * minute);
  logged("3", "behind it", {}, 7 * minute);
  noise(beyond, 6 * minute);
  logged("4", "further behind");
  auto store = spawn();
  CHECK(texts(open(store, "2").value) == list{"first"});
  // What follows is told with the next message, not lost.
  logged("5", "next");
  CHECK(texts(open(store, "5").value)
        == list{"first", "current", "behind it", "further behind"});
}

TEST_CASE_FIXTURE(long_log, "what is older and logged later stays out of a "
                            "session in use as of one that opens") {
  auto known = [&](const session_store_actor& store) {
    return texts(open(store).value);
  };
  logged("1", "first", {}, 9 * minute);
  auto store = spawn();
  REQUIRE(open(store));
  logged("2", "second", {}, 5 * minute);
  CHECK(known(store) == list{"first", "second"});
  logged("3", "late", {}, 7 * minute);
  CHECK(known(store) == list{"first", "second"});
  CHECK(current_text().find(R"("lastMessageId":"3")") == std::string::npos);
  CHECK(known(spawn()) == list{"first", "second"});
  logged("4", "third", {}, minute);
  CHECK(known(spawn()) == list{"first", "second", "third"});
}

TEST_CASE_FIXTURE(long_log, "an answer of ours may be where a session ends") {
  // The session begins with its last messages only; the older ones stay out
  // although the last one of all is passed over by a sync.
  history_window reach;
  reach.messages = 2;
  logged("1", "old", {}, 9 * minute);
  logged("2", "question", {}, 8 * minute);
  log_record answer;
  answer.date = text::iso_utc(wall->now_ms() - 7 * minute);
  answer.ts = "3";
  answer.user = "bot";
  answer.text = "answer";
  answer.from_bot = true;
  answer.session_key = "C123";
  put_file(place.log_path, get_file(place.log_path) + print_log_line(answer));
  CHECK(texts(open(spawn(), {}, reach).value) == list{"question", "answer"});
  logged("4", "new");
  CHECK(texts(open(spawn(), {}, reach).value)
        == list{"question", "answer", "new"});
}

TEST_CASE_FIXTURE(long_log, "a chat log with a second name is not read") {
  logged("1", "talk");
  std::filesystem::create_hard_link(place.log_path, disk / "other");
  auto refused = open(spawn());
  CHECK(refused.code == errc::denied);
  CHECK(refused.sentence.find("log.jsonl") != std::string::npos);
  CHECK(files().empty());
  std::filesystem::remove(disk / "other");
  CHECK(texts(open(spawn()).value) == list{"talk"});
}

TEST_CASE("whatever disk operation fails while a long log is read, nothing is "
          "taken over twice") {
  for (size_t n = 1;; ++n) {
    CAPTURE(n);
    long_log world;
    world.logged("1", "taken over", {}, 9 * minute);
    REQUIRE(world.open(world.spawn()));
    world.logged("2", "missed", {}, 8 * minute);
    world.noise(2u << 20, 7 * minute);
    auto store = world.spawn();
    world.fs->fail_at(n, EIO);
    auto failed = world.open(store);
    auto finished = world.fs->operations().size() < n;
    world.fs->heal();
    CHECK(texts(world.open(store).value) == list{"taken over", "missed"});
    CHECK(texts(world.open(world.spawn()).value)
          == list{"taken over", "missed"});
    if (finished) {
      CHECK(failed);
      CHECK(n > 10);
      break;
    }
  }
}
