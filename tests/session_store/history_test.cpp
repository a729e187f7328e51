#include "messages/codec/history.hpp"
#include "messages/text/time_text.hpp"
#include "tests/session_store/tree_support.hpp"

using namespace bureau;
using namespace bureau::test;

namespace {

constexpr int64_t day = 86'400'000;
/// 2026-05-01T12:00:00Z.
constexpr int64_t noon = 1'777'636'800'000;

/// A chat log written record by record.
class chat {
public:
  explicit chat(int64_t now = noon) : now_(now) {}

  chat& says(const char* who, const char* ts, const char* text,
             int64_t age = 0) {
    return put(who, ts, text, age, "", false, "");
  }
  chat& in_thread(const char* who, const char* ts, const char* thread,
                  const char* text, int64_t age = 0) {
    return put(who, ts, text, age, thread, false, "");
  }
  chat& bot(const char* ts, const char* text, const char* session = "",
            const char* thread = "", const char* user = "bot") {
    return put(user, ts, text, 0, thread, true, session);
  }
  chat& undated(const char* who, const char* ts, const char* text,
                const char* date = "") {
    put(who, ts, text, 0, "", false, "");
    records_.back().date = date;
    return *this;
  }

  log_contents log() const {
    std::string text;
    for (const auto& record : records_)
      text += print_log_line(record);
    return read_log(text, "log.jsonl");
  }

private:
  chat& put(const char* who, const char* ts, const char* text, int64_t age,
            const char* thread, bool from_bot, const char* session) {
    log_record record;
    record.date = text::iso_utc(now_ - age);
    record.ts = ts;
    record.thread_ts = thread;
    record.user = who;
    if (!from_bot)
      record.user_name = who;
    record.text = text;
    record.from_bot = from_bot;
    record.session_key = session;
    records_.push_back(std::move(record));
    return *this;
  }

  int64_t now_;
  std::vector<log_record> records_;
};

history_clock at(int64_t now = noon, int offset = 0) {
  return {now, [offset](int64_t) {
            return offset;
          }};
}

history_scope top(std::string current = {}) {
  return {std::nullopt, std::move(current)};
}

history_scope thread(std::string id, std::string current = {}) {
  return {std::move(id), std::move(current)};
}

/// Stripped texts of a batch's messages, and the data of its marker.
struct summary {
  std::vector<std::string> texts;
  json::bj::object marker;
};

summary summarise(const history_batch& batch) {
  summary result;
  for (const auto& entry : batch.entries) {
    if (entry.kind == entry_kind::message) {
      CHECK(entry.message.role == message_role::user);
      result.texts.push_back(text_of(entry.message));
    } else {
      CHECK(entry.custom_type == "mikan.chat_sync");
      auto parsed = json::parse(entry.fields.text);
      REQUIRE(parsed);
      result.marker = parsed.value.get_object();
    }
  }
  CHECK(result.texts.size() == batch.messages);
  return result;
}

std::vector<std::string> texts(const history_batch& batch) {
  auto all = summarise(batch).texts;
  for (auto& text : all)
    text = text.substr(text.find("]: ") + 3);
  return all;
}

std::string last_id(const history_batch& batch) {
  return json::text_or_empty(summarise(batch).marker, "lastMessageId");
}

/// A session that grows by batches, as the store lets it.
class live_session {
public:
  live_session() : tree_(good_tree(std::string{header_line} + "\n")) {}
  explicit live_session(std::string text) : tree_(good_tree(std::move(text))) {}

  void take(const history_batch& batch) {
    auto plan = tree_.plan_append(batch.entries, noon, chance_);
    REQUIRE(plan.fault.code == errc::none);
    tree_.commit(plan);
  }
  void add(const std::vector<session_entry>& entries) {
    auto plan = tree_.plan_append(entries, noon, chance_);
    REQUIRE(plan.fault.code == errc::none);
    tree_.commit(plan);
  }
  history_batch sync(const chat& log, const history_scope& scope = top(),
                     const history_options& options = {}) const {
    return plan_sync(log.log(), tree_, scope, options, at());
  }

private:
  seeded_entropy chance_;
  session_tree tree_;
};

history_batch bootstrap(const chat& log, const history_scope& scope = top(),
                        const history_options& options = {}) {
  return plan_bootstrap(log.log(), scope, options, at());
}

using list = std::vector<std::string>;

} // namespace

TEST_CASE("a session starts with the recent history before its message") {
  chat log;
  log.says("ana", "1", "too old", 30 * day)
    .says("ana", "2", "recent question")
    .bot("3", "recent answer", "C1")
    .says("ana", "4", "current");
  auto batch = bootstrap(log, top("4"), {7, 200, 10});
  CHECK(texts(batch) == list{"recent question", "recent answer"});
  auto marker = summarise(batch).marker;
  CHECK(json::print(marker)
        == R"({"source":"log.jsonl","messageCount":2,"lastMessageId":"3",)"
           R"("messageIds":["2","3"]})");
  // The last entry is the marker: both are one unit.
  CHECK(batch.entries.back().kind == entry_kind::custom);
}

TEST_CASE("nothing at or after the current message enters") {
  chat log;
  log.says("ana", "1", "before")
    .says("ana", "2", "current")
    .says("ben", "3", "queued behind it");
  CHECK(texts(bootstrap(log, top("2"))) == list{"before"});
  CHECK(texts(live_session{}.sync(log, top("2"))) == list{"before"});
  // Its last occurrence counts.
  log.says("ana", "2", "current, edited");
  CHECK(texts(bootstrap(log, top("2"))) == list{"before", "queued behind it"});
  // An id that is not in the log stops nothing.
  CHECK(bootstrap(log, top("99")).messages == 3);
}

TEST_CASE("an empty log leaves an empty session") {
  CHECK(bootstrap(chat{}).entries.empty());
  CHECK(live_session{}.sync(chat{}).entries.empty());
  chat commands;
  commands.says("ana", "1", "/new").says("ana", "2", "  \n ");
  CHECK(bootstrap(commands).entries.empty());
  CHECK(live_session{}.sync(commands).entries.empty());
}

TEST_CASE("messages out of the window still move the watermark") {
  chat log;
  log.says("ana", "1", "old", 100 * day);
  auto batch = bootstrap(log);
  CHECK(batch.messages == 0);
  CHECK(last_id(batch) == "1");
  CHECK(batch.entries.size() == 1);
}

TEST_CASE("the cap counts whole answers") {
  chat log;
  log.says("ana", "0", "first").says("ana", "1", "question");
  for (auto part : {"One", " two", " three"})
    log.bot("2", part);
  CHECK(texts(bootstrap(log, top(), {14, 2, 10}))
        == list{"question", "One two three"});
}

TEST_CASE("a running session learns what is new, bounded") {
  chat log;
  log.says("ana", "1", "seed");
  live_session session;
  session.take(bootstrap(log));
  log.says("ana", "2", "sync0")
    .says("ana", "3", "sync1")
    .says("ana", "4", "sync2");
  auto batch = session.sync(log, top(), {14, 2, 10});
  CHECK(texts(batch) == list{"sync1", "sync2"});
  CHECK(last_id(batch) == "4");
  session.take(batch);
  CHECK(session.sync(log, top(), {14, 2, 10}).entries.empty());
  CHECK(session.sync(log).entries.empty());
}

TEST_CASE("commands of people stay out, the same words of a bot do not") {
  chat log;
  log.says("ana", "1", "/pi-session")
    .says("ana", "2", "/new@bot now")
    .says("ana", "3", "/LOGIN")
    .bot("4", "/new", "", "", "bot:B1")
    .says("ana", "5", "/foo");
  CHECK(texts(live_session{}.sync(log)) == list{"/new", "/foo"});
}

TEST_CASE("blank text is no message and no watermark") {
  chat log;
  log.says("ana", "1", "one").says("ana", "2", " \t\n").says("ana", "3", "");
  auto batch = live_session{}.sync(log);
  CHECK(texts(batch) == list{"one"});
  CHECK(last_id(batch) == "1");
}

TEST_CASE("the last version of a message counts, at its own time") {
  chat log;
  log.says("ana", "1", "v1", 3000)
    .says("ben", "2", "between", 2000)
    .says("ana", "1", "v2", 3000);
  CHECK(texts(bootstrap(log)) == list{"v2", "between"});
}

TEST_CASE("a lost watermark brings a bounded replay without repeats") {
  chat log;
  log.says("ana", "1", "seed").says("ana", "2", "gone");
  live_session session;
  session.take(bootstrap(log));
  chat rebuilt;
  rebuilt.says("ana", "1", "seed").says("ana", "3", "new");
  auto batch = session.sync(rebuilt);
  CHECK(texts(batch) == list{"new"});
  session.take(batch);
  CHECK(session.sync(rebuilt).entries.empty());
}

TEST_CASE("equal words of different messages are not one message") {
  chat log;
  log.says("alice", "1", "thanks");
  live_session session;
  session.take(session.sync(log));
  log.says("bob", "2", "thanks").says("alice", "3", "thanks");
  auto batch = session.sync(log);
  CHECK(summarise(batch).texts
        == list{"[2026-05-01 12:00:00+00:00] [bob]: thanks",
                "[2026-05-01 12:00:00+00:00] [alice]: thanks"});
  session.take(batch);
  CHECK(session.sync(log).entries.empty());
}

TEST_CASE("a message that was a prompt does not come back as history") {
  chat log;
  log.says("ana", "1", "current");
  live_session session;
  session.add({run_cause_entry("1"),
               said_by_user("[2026-05-01 12:00:00+00:00] [ana]: current\n"
                            "<slack_attachments>\n/x/y.png\n"
                            "</slack_attachments>")});
  log.says("ana", "2", "next");
  CHECK(session.sync(log, top("2")).entries.empty());
}

TEST_CASE("a prompt that was never admitted enters as history") {
  chat log;
  log.says("ana", "1", "lost").says("ana", "2", "next");
  live_session session;
  session.add({run_cause_entry("1")});
  CHECK(texts(session.sync(log, top("2"))) == list{"lost"});
}

TEST_CASE("bots speak as attributed lines, never as the assistant") {
  chat log;
  log.bot("1", "deployed", "", "", "deploybot")
    .bot("2", "Stopped.")
    .bot("3", "my answer", "C1");
  auto batch = live_session{}.sync(log);
  CHECK(summarise(batch).texts
        == list{"[2026-05-01 12:00:00+00:00] [deploybot]: deployed",
                "[2026-05-01 12:00:00+00:00] [bot]: Stopped."});
  // The answer is in its session already; the watermark may still name it.
  CHECK(last_id(batch) == "3");
}

TEST_CASE("a lost session is rebuilt with the answers it had") {
  chat log;
  log.says("ana", "1", "question").bot("2", "my answer", "C1");
  CHECK(texts(bootstrap(log)) == list{"question", "my answer"});
}

TEST_CASE("a notice that an old session holds as an answer is not repeated") {
  live_session session{lines(
    {header_line, user_entry("u", "", "[2026-05-01 12:00:00+00:00] [ana]: q"),
     assistant_entry("a", "u", "answer")})};
  chat log;
  log.says("ana", "1", "q").bot("2", "answer").bot("3", "answer");
  // The session holds one such text, the log two such posts.
  CHECK(texts(session.sync(log)) == list{"answer"});
}

TEST_CASE("sessions of old writers are recognised by their words") {
  auto old = lines(
    {header_line, user_entry("u", "", "[2026-05-01 11:59:00+00:00] [ana]: one"),
     entry("custom", "m", "u",
           R"("customType":"mikan.chat_sync","data":{"source":"log.jsonl",)"
           R"("messageCount":1,"lastMessageId":"gone"})"),
     user_entry("p", "m",
                "[2026-05-01 11:59:30+00:00] [ana]: with file"
                "\\n<slack_attachments>\\n/x.png\\n</slack_attachments>"),
     assistant_entry("a", "p", "done")});
  chat log;
  log.says("ana", "1", "one", 60'000)
    .says("ana", "2", "with file", 30'000)
    .bot("3", "done")
    .says("ana", "4", "new");
  live_session session{old};
  auto batch = session.sync(log);
  CHECK(texts(batch) == list{"new"});
  session.take(batch);
  // From now on ids decide, so equal words are new words.
  log.says("ben", "5", "new").says("ben", "6", "one");
  CHECK(texts(session.sync(log)) == list{"new", "one"});
}

TEST_CASE("old words stay known when a new writer goes on with the session") {
  // An old session whose last prompts were never synced: the watermark lies
  // before them, so every sync meets them again.
  auto old = lines(
    {header_line, user_entry("u", "", "[2026-05-01 11:00:00+00:00] [ana]: one"),
     assistant_entry("a", "u", "done"),
     user_entry("v", "a", "[2026-05-01 11:30:00+00:00] [ana]: two"),
     assistant_entry("b", "v", "done")});
  chat log;
  log.says("ana", "1", "one", 3'600'000).says("ana", "2", "two", 1'800'000);
  live_session session{old};
  CHECK(session.sync(log).entries.empty());
  session.add({run_cause_entry("3"), said_by_user("three")});
  log.says("ana", "3", "three")
    .says("ana", "4", "four")
    .says("ana", "5", "one");
  // What is dated after the change of writers is new, whatever it says.
  auto batch = session.sync(log, top("6"));
  CHECK(texts(batch) == list{"four", "one"});
  session.take(batch);
  CHECK(session.sync(log).entries.empty());
}

TEST_CASE("words that are in a session by their id make nobody else known") {
  chat log;
  log.says("alice", "1", "thanks", 1000);
  live_session session;
  session.take(bootstrap(log));
  // Logged late, said at the same time, and not the same message.
  log.says("bob", "2", "thanks", 500);
  CHECK(texts(session.sync(log)) == list{"thanks"});
}

TEST_CASE("nothing from before a reset ever crosses it") {
  chat log;
  log.says("ana", "1", "before", 5000);
  live_session session;
  session.take(bootstrap(log));
  session.add({reset_marker(log.log(), top(), noon - 1000)});
  log.says("ana", "2", "late from before", 2000)
    .undated("ana", "3", "undated")
    .undated("ana", "4", "unreadable date", "yesterday")
    .says("ana", "5", "after", 500);
  auto batch = session.sync(log);
  CHECK(texts(batch) == list{"after"});
  session.take(batch);
  CHECK(session.sync(log).entries.empty());
}

TEST_CASE("a reset marker says when, and up to where") {
  auto data = [](const session_entry& entry) {
    CHECK(entry.custom_type == chat_sync_type);
    return entry.fields.text;
  };
  chat log;
  log.says("ana", "1", "one")
    .says("ana", "2", "/new")
    .in_thread("ana", "3", "9", "t");
  CHECK(data(reset_marker(log.log(), top(), noon))
        == R"({"source":"log.jsonl","messageCount":0,"lastMessageId":"1",)"
           R"("resetAt":"2026-05-01T12:00:00.000Z","messageIds":[]})");
  CHECK(data(reset_marker(log.log(), thread("9"), noon)).find("\"3\"")
        != std::string::npos);
  CHECK(data(reset_marker({}, top(), noon)).find("lastMessageId")
        == std::string::npos);
}

TEST_CASE("a thread starts with its root and replies") {
  chat log;
  log.says("ana", "1", "old talk", 30 * day)
    .says("ana", "10", "root")
    .in_thread("ben", "11", "10", "reply")
    .says("ben", "12", "later channel talk")
    .in_thread("ben", "13", "12", "another thread");
  auto batch = bootstrap(log, thread("10", "99"), {14, 200, 10});
  CHECK(texts(batch) == list{"root", "reply"});
  CHECK(last_id(batch) == "11");
}

TEST_CASE("the talk before a thread seeds it, a little") {
  chat log;
  for (int i = 0; i < 12; ++i)
    log.says("ana", std::to_string(100 + i).c_str(),
             ("talk " + std::to_string(i)).c_str(), 20 - i);
  log.says("ana", "200", "root").in_thread("ben", "201", "200", "reply");
  auto ten = texts(bootstrap(log, thread("200"), {14, 200, 10}));
  REQUIRE(ten.size() == 11);
  CHECK(ten.front() == "talk 3");
  CHECK(ten[9] == "root");
  CHECK(ten[10] == "reply");
  CHECK(texts(bootstrap(log, thread("200"), {14, 200, 0}))
        == list{"root", "reply"});
  // The own message as the root of a new thread: the talk before it.
  CHECK(texts(bootstrap(log, thread("200", "200"), {14, 200, 2}))
        == list{"talk 10", "talk 11"});
}

TEST_CASE("a thread whose root is unknown is seeded by the whole log") {
  chat log;
  log.says("ana", "1", "talk")
    .in_thread("ben", "2", "77", "reply")
    .says("ana", "3", "current");
  CHECK(texts(bootstrap(log, thread("77", "3"))) == list{"talk", "reply"});
  CHECK_FALSE(find_thread_root(log.log(), "77"));
}

TEST_CASE("the root of a thread is its last version") {
  chat log;
  log.says("ana", "10", "v1").bot("11", "x").says("ana", "10", "v2", 1000);
  auto root = find_thread_root(log.log(), "10");
  REQUIRE(root);
  CHECK(root->text == "v2");
  CHECK(root->user_name == "ana");
  CHECK(root->logged_ms == noon - 1000);
  CHECK_FALSE(root->from_bot);
  CHECK(find_thread_root(log.log(), "11")->from_bot);
}

TEST_CASE("scopes do not listen to each other") {
  chat log;
  log.says("ana", "1", "top")
    .in_thread("ana", "2", "1", "in one")
    .in_thread("ana", "3", "9", "in nine");
  CHECK(texts(live_session{}.sync(log)) == list{"top"});
  CHECK(texts(live_session{}.sync(log, thread("1"))) == list{"top", "in one"});
  CHECK(texts(live_session{}.sync(log, thread("9"))) == list{"in nine"});
}

TEST_CASE("a record without an id enters once and is no watermark") {
  chat log;
  log.says("ana", "1", "one").says("ana", "", "no id");
  live_session session;
  auto batch = session.sync(log);
  CHECK(texts(batch) == list{"one", "no id"});
  CHECK(last_id(batch) == "1");
  session.take(batch);
  CHECK(session.sync(log).entries.empty());
  log.says("ana", "", "no id");
  CHECK(texts(session.sync(log)) == list{"no id"});
}

TEST_CASE("records are ordered by date, else by id, else by line") {
  chat log;
  log.undated("a", "1777636800.000300", "third")
    .undated("a", "1777636800.000100", "first")
    .undated("a", "1777636800.000200", "second");
  CHECK(texts(bootstrap(log)) == list{"first", "second", "third"});
  chat lines_only;
  lines_only.undated("a", "x", "first").undated("a", "y", "second");
  CHECK(texts(bootstrap(lines_only)) == list{"first", "second"});
}

TEST_CASE("names fall back to the id, and times need a date") {
  log_record record;
  record.ts = "1777593602.5";
  record.user = "U1";
  record.text = "hi";
  log_contents log;
  log.entries = {{record, 0}};
  auto one = plan_bootstrap(log, top(), {}, at());
  CHECK(summarise(one).texts == list{"[U1]: hi"});
  CHECK(one.entries[0].message.timestamp_ms == 1'777'593'602'500);
  log.entries[0].record.user.clear();
  log.entries[0].record.date = "2026-05-01T00:00:02.000Z";
  log.entries[0].record.user_name = "alice";
  auto two = plan_bootstrap(log, top(), {}, at(noon, 480));
  CHECK(summarise(two).texts
        == list{"[2026-05-01 08:00:02+08:00] [alice]: hi"});
  CHECK(two.entries[0].message.timestamp_ms == 1'777'593'602'000);
  log.entries[0].record.user_name.clear();
  CHECK(summarise(plan_bootstrap(log, top(), {}, at())).texts
        == list{"[2026-05-01 00:00:02+00:00] [unknown]: hi"});
}

TEST_CASE("only plain decimal ids are times") {
  struct row {
    const char* ts;
    std::optional<int64_t> ms;
  };
  const row rows[] = {
    {"1777625980.000100", 1'777'625'980'000},
    {"1746057600.123456", 1'746'057'600'123},
    {"1777625980.999", 1'777'625'980'999},
    {"51", 51'000},
    {"0", 0},
    {"1.5.2", std::nullopt},
    {"rc-7", std::nullopt},
    {"-5", std::nullopt},
    {"", std::nullopt},
    {"12 ", std::nullopt},
    {"1356789012345678901", int64_t{1} << 53},
  };
  for (const auto& [ts, ms] : rows) {
    CAPTURE(ts);
    CHECK(numeric_ts_ms(ts) == ms);
  }
}

TEST_CASE("a whole conversation never repeats or loses a message") {
  // Turns with prompts, chatter, notices and a reset, synced before each turn.
  chat log;
  live_session session;
  session.take(bootstrap(log));
  std::vector<std::string> heard;
  for (int i = 0; i < 60; ++i) {
    auto chatter = "c" + std::to_string(i);
    auto prompt = "p" + std::to_string(i);
    log.says("ben", chatter.c_str(), chatter.c_str());
    log.says("ana", prompt.c_str(), prompt.c_str());
    auto batch = session.sync(log, top(prompt));
    for (auto& text : texts(batch))
      heard.push_back(text);
    session.take(batch);
    // Every fifth prompt fails before it is admitted.
    if (i % 5 == 0) {
      session.add({run_cause_entry(prompt)});
    } else {
      session.add({run_cause_entry(prompt), said_by_user(prompt)});
      log.bot(("b" + std::to_string(i)).c_str(), "answer", "C1");
    }
  }
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    if (i > 0 && (i - 1) % 5 == 0)
      expected.push_back("p" + std::to_string(i - 1));
    expected.push_back("c" + std::to_string(i));
  }
  CHECK(heard == expected);
}
