#include "actors/runner/resilient_stream_core.hpp"

#include "actors/runner/buffered_stream_core.hpp"
#include "tests/runner/stream_events.hpp"
#include "tests/support/whole_stream.hpp"

#include "messages/text/utf8.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::runner;
using namespace bureau::test;

namespace {

struct effect_name {
  std::string operator()(const stream::send& x) {
    auto op = x.what.op == call_op::post   ? "post"
              : x.what.op == call_op::edit ? "edit"
                                           : "delete";
    auto ref = x.what.ref.empty() ? "" : "[" + x.what.ref + "]";
    const auto& text = x.what.content.text;
    return (x.activity ? "activity " : "") + std::string{op} + ref
           + (text.empty() ? "" : " " + text);
  }
  std::string operator()(const stream::indicate&) { return "indicate"; }
  std::string operator()(const stream::arm_debounce& x) {
    return "arm " + std::to_string(x.ms);
  }
  std::string operator()(const stream::cancel_debounce&) { return "cancel"; }
  std::string operator()(const delivery::wait& x) {
    return "wait " + std::to_string(x.ms);
  }
  std::string operator()(const stream::closed&) { return "closed"; }
  std::string operator()(const stream::arm_settle&) { return "await"; }
  std::string operator()(const stream::write_failed&) { return "unwritten"; }
  std::string operator()(const stream::produce& x) {
    return "produce '" + x.text + "' over '" + x.provisional + "'"
           + (x.silent ? " silently" : "");
  }
  std::string operator()(const stream::finished&) { return "finished"; }
  std::string operator()(const delivery::delivery_error& x) {
    return "failed " + to_string(x.disposition);
  }
  std::string operator()(const stream::linger&) { return "linger"; }
  std::string operator()(const stream::end&) { return "end"; }
  std::string operator()(const stream_effect& x) {
    return std::visit(*this, x);
  }
};

template <class Effects>
std::string told(const Effects& effects) {
  std::string result;
  for (const auto& item : effects)
    result += (result.empty() ? "" : "; ") + std::visit(effect_name{}, item);
  return result;
}

call_outcome fine(std::string ref = {}) {
  call_outcome result;
  result.ref = std::move(ref);
  return result;
}

call_outcome fails(send_outcome kind, bool not_delivered = true) {
  call_outcome result;
  result.kind = kind;
  result.not_delivered = not_delivered;
  return result;
}

/// A core whose calls are answered by hand; calls count from 1.
template <class Core>
class basic_subject {
public:
  template <class... Ts>
  explicit basic_subject(stream_options options, Ts... args)
    : core{std::move(options), std::move(args)...} {}

  std::string append(const std::string& text) {
    return told(core.append(text, now));
  }
  std::string event(const contracts::stream_event& event) {
    return told(core.event(event, now));
  }
  std::string read(const std::string& path) {
    return event(tool_started("c", "Read", R"({"path":")" + path + R"("})"));
  }
  std::string answered(const call_outcome& outcome) {
    return told(core.answered(++calls, outcome, now));
  }
  std::string finish(std::string text) {
    stream_end end;
    end.text = std::move(text);
    return told(core.finish(std::move(end)));
  }

  Core core;
  int64_t now = 0;
  uint64_t calls = 0;
};

/// A stream as the contracts describe it, and the output of a turn.
class subject : public basic_subject<whole_stream> {
public:
  explicit subject(stream_options options, delivery::delivery_rules rules = {})
    : basic_subject{std::move(options), std::move(rules)} {}
};
using turn_subject = basic_subject<resilient_stream_core>;

stream_options hints() {
  stream_options result;
  result.edit_debounce_ms = 0;
  return result;
}

stream_options final_only() {
  auto result = hints();
  result.final_only = true;
  return result;
}

stream_options handed_over(stream_options options) {
  options.hand_over = true;
  return options;
}

stream_options beside() {
  auto result = handed_over(hints());
  result.activity = activity_view::ledger;
  return result;
}

contracts::reply_part broken_part() {
  contracts::failed_part part;
  part.id = "p";
  part.code = contracts::part_failure_code::artifact_missing;
  part.message = "gone";
  return part;
}

} // namespace

TEST_CASE("options have ranges") {
  CHECK(is_valid({}));
  auto off = [](auto change) {
    stream_options options;
    change(options);
    return !is_valid(options);
  };
  CHECK(off([](auto& x) { x.edit_debounce_ms = -1; }));
  CHECK(off([](auto& x) { x.max_message_chars = 31; }));
}

// -- one call at a time -------------------------------------------------------

TEST_CASE("while a call is under way only the latest text is kept") {
  subject it{hints()};
  CHECK(it.append("a") == "post Thinking…");
  CHECK(it.append("b").empty());
  CHECK(it.answered(fine("m1")) == "edit[m1] ab");
  CHECK(it.append("c").empty());
  CHECK(told(it.core.replace("xyz", 0)).empty());
  CHECK(it.answered(fine()) == "edit[m1] xyz");
  CHECK(it.answered(fine()).empty());
}

TEST_CASE("an edit may change the reference") {
  subject it{hints()};
  it.append("a");
  it.answered(fine("m1"));
  it.answered(fine("m2"));
  CHECK(it.append("b") == "edit[m2] ab");
}

TEST_CASE("an answer to another call is passed over") {
  subject it{hints()};
  it.append("a");
  CHECK(told(it.core.answered(7, fine("m9"), 0)).empty());
  CHECK(it.answered(fine("m1")) == "edit[m1] a");
}

TEST_CASE("the debounce waits for a pause") {
  auto slow = hints();
  slow.edit_debounce_ms = 1000;
  subject it{slow};
  CHECK(it.append("a") == "arm 1000; post Thinking…");
  CHECK(it.append("b") == "arm 1000");
  it.answered(fine("m1"));
  CHECK(it.append("c") == "arm 1000");
  CHECK(told(it.core.debounce_due()) == "edit[m1] abc");
  CHECK(told(it.core.debounce_due()).empty());
  CHECK(it.append("d") == "arm 1000");
  CHECK(told(it.core.finish({})) == "cancel");
  CHECK(it.answered(fine()) == "edit[m1] abcd");
}

// -- hints --------------------------------------------------------------------

TEST_CASE("hints stand until the first answer text") {
  subject it{hints()};
  CHECK(it.read("x") == "post Reading files…");
  it.answered(fine("m1"));
  CHECK(it.event(retrying("lab/x")) == "edit[m1] ⏳ Retrying lab/x — attempt 2");
  it.answered(fine());
  CHECK(it.event(steered("↪️ Steered")) == "edit[m1] ↪️ Steered");
  it.answered(fine());
  CHECK(told(it.core.status("Almost there  ", 0)) == "edit[m1] Almost there");
  it.answered(fine());
  CHECK(it.append("4") == "edit[m1] 4");
  it.answered(fine());
  CHECK(it.read("y").empty());
  CHECK(told(it.core.status("late", 0)).empty());
}

TEST_CASE("what says nothing shows nothing") {
  subject it{hints()};
  contracts::stream_event thought;
  thought.kind = contracts::stream_event_kind::assistant_thought;
  thought.text = "hm";
  CHECK(it.event(thought).empty());
  CHECK(it.event(launched("a", 5)).empty());
  CHECK(it.append("").empty());
}

TEST_CASE("a first post that fails is repeated by the next write") {
  subject it{hints()};
  CHECK(it.append("a") == "post Thinking…");
  CHECK(it.answered(fails(send_outcome::fatal)) == "unwritten");
  CHECK(it.append("b") == "post Thinking…");
  CHECK(it.append("c").empty());
  CHECK(it.answered(fails(send_outcome::fatal)) == "unwritten; post Thinking…");
  CHECK(it.answered(fine("m1")) == "edit[m1] abc");
}

TEST_CASE("a message that is gone is posted again by the next write") {
  subject it{hints()};
  it.append("a");
  it.answered(fine("m1"));
  CHECK(it.answered(fails(send_outcome::recreate)).empty());
  CHECK(it.append("b") == "post Thinking…");
  CHECK(it.answered(fine("m2")) == "edit[m2] ab");
}

// -- ledger -------------------------------------------------------------------

TEST_CASE("the first post of a ledger is bounded like its edits") {
  auto narrow = final_only();
  narrow.max_message_chars = 32;
  subject it{narrow};
  CHECK(it.read("0123456789012345678901234567")
        == "post …\ng 0123456789012345678901234567");
  it.answered(fine("m1"));
  CHECK(it.event(steered("↪️ Steered")) == "delete[m1]");
  CHECK(it.answered(fine()) == "post …\n9012345678901234567\n↪️ Steered");
}

TEST_CASE("a ledger under way takes up what comes meanwhile") {
  subject it{final_only()};
  CHECK(it.read("a") == "post 📖 Reading a");
  CHECK(it.read("b").empty());
  CHECK(it.read("c").empty());
  CHECK(it.answered(fine("m1"))
        == "edit[m1] 📖 Reading a\n📖 Reading b\n📖 Reading c");
}

TEST_CASE("the end of a subagent never makes a message") {
  subject it{final_only()};
  it.event(launch("a"));
  CHECK(it.answered(fails(send_outcome::fatal)) == "indicate");
  CHECK(it.event(launched("a", 5)).empty());
  CHECK(it.read("x")
        == "post 🤖 Agent \"a\" · 0 tool calls · 5ms\n📖 Reading x");
}

TEST_CASE("the indicator rests four seconds") {
  subject it{final_only()};
  CHECK(it.append("a") == "indicate");
  it.now = 3999;
  CHECK(it.append("b").empty());
  it.now = 4000;
  CHECK(told(it.core.status("x", it.now)) == "indicate");
  it.now = 9000;
  it.read("x");
  CHECK(it.append("c").empty());
}

TEST_CASE("a message to the run takes the ledger below it") {
  subject it{final_only()};
  it.read("a");
  SUBCASE("once its post has come") {
    CHECK(it.event(steered("↪️ Steered")).empty());
    CHECK(it.answered(fine("m1")) == "delete[m1]");
    CHECK(it.read("b").empty());
    CHECK(it.answered(fine())
          == "post 📖 Reading a\n↪️ Steered\n📖 Reading b");
  }
  SUBCASE("a post that failed is forgotten") {
    it.event(steered("↪️ Steered"));
    CHECK(it.answered(fails(send_outcome::fatal))
          == "indicate; post 📖 Reading a\n↪️ Steered");
  }
  SUBCASE("where it cannot be removed it stays") {
    it.answered(fine("m1"));
    CHECK(it.event(steered("↪️ Steered")) == "delete[m1]");
    CHECK(it.answered(fails(send_outcome::fatal))
          == "edit[m1] 📖 Reading a\n↪️ Steered");
    it.answered(fine());
    CHECK(it.finish("done") == "edit[m1] done");
  }
  SUBCASE("the answer does not wait for it for long") {
    it.answered(fine("m1"));
    it.event(steered("↪️ Steered"));
    CHECK(it.finish("done").empty());
    CHECK(it.answered(fine()) == "post done");
  }
}

TEST_CASE("where removal fails late, the debounce goes on") {
  auto slow = final_only();
  slow.edit_debounce_ms = 750;
  subject it{slow};
  it.read("a");
  it.answered(fine("m1"));
  CHECK(it.read("b") == "arm 750");
  CHECK(it.event(steered("↪️ Steered")) == "cancel; delete[m1]");
  CHECK(it.answered(fails(send_outcome::fatal)) == "arm 750");
  CHECK(told(it.core.debounce_due())
        == "edit[m1] 📖 Reading a\n📖 Reading b\n↪️ Steered");
}

TEST_CASE("a message to a run that may not tell of itself") {
  auto quiet = final_only();
  quiet.show_hints = false;
  subject it{quiet};
  CHECK(it.read("a") == "indicate");
  it.now = 5000;
  CHECK(it.event(steered("↪️ Steered")) == "indicate");
  CHECK(it.event(retrying("m")).empty());
}

// -- the end, delivered -------------------------------------------------------

TEST_CASE("the end waits for what is under way") {
  subject it{hints()};
  it.append("a");
  CHECK(it.finish("all").empty());
  CHECK_FALSE(it.core.is_open());
  CHECK(it.answered(fine("m1")) == "edit[m1] all");
  CHECK(it.answered(fine()) == "finished; end");
  CHECK(it.finish("again").empty());
}

TEST_CASE("parts without a text do not cost what was streamed") {
  subject it{hints()};
  it.append("half");
  it.answered(fine("m1"));
  it.answered(fine());
  stream_end end;
  end.options.parts.push_back(broken_part());
  CHECK(
    told(it.core.finish(end))
    == "edit[m1] half\n\n⚠️ Reply part failed (artifact_missing): gone");
  buffered_stream_core buffered;
  buffered.append("half");
  buffered.finish(end);
  CHECK(buffered.text()
        == "half\n\n⚠️ Reply part failed (artifact_missing): gone");
}

TEST_CASE("an answer that cannot be delivered is an error of delivery") {
  delivery::delivery_rules hasty;
  hasty.attempts = 1;
  subject it{final_only(), hasty};
  CHECK(it.finish("x") == "post x");
  CHECK(it.answered(fails(send_outcome::fatal)) == "post x");
  CHECK(it.answered(fails(send_outcome::retry)) == "failed retryable; end");
}

TEST_CASE("an abort wakes a delivery that waits") {
  subject it{final_only()};
  it.finish("x");
  CHECK(it.answered(fails(send_outcome::retry)) == "wait 500");
  CHECK(told(it.core.abort()) == "finished; end");
  CHECK(told(it.core.wait_over()).empty());
}

// -- dismissal ----------------------------------------------------------------

TEST_CASE("a dismissal removes a status, never what could be an answer") {
  SUBCASE("a status") {
    subject it{hints()};
    it.read("x");
    it.answered(fine("m1"));
    CHECK(told(it.core.dismiss()) == "delete[m1]; end");
    CHECK(told(it.core.dismiss()).empty());
    CHECK(it.append("late") == "closed");
  }
  SUBCASE("a status whose post is under way") {
    subject it{hints()};
    it.read("x");
    CHECK(told(it.core.dismiss()).empty());
    CHECK(it.answered(fine("m1")) == "delete[m1]; end");
  }
  SUBCASE("answer text, even when its edit failed") {
    subject it{hints()};
    it.append("a");
    it.answered(fine("m1"));
    it.answered(fails(send_outcome::retry, false));
    CHECK(told(it.core.dismiss()) == "end");
  }
  SUBCASE("an answer on its way") {
    subject it{final_only()};
    it.finish("x");
    CHECK(told(it.core.dismiss()).empty());
    CHECK(it.answered(fine("m1")) == "finished; end");
  }
  SUBCASE("where nothing can be removed") {
    auto lasting = hints();
    lasting.can_remove = false;
    subject it{lasting};
    it.read("x");
    it.answered(fine("m1"));
    CHECK(told(it.core.dismiss()) == "end");
  }
  SUBCASE("a debounce that runs") {
    auto slow = hints();
    slow.edit_debounce_ms = 750;
    subject it{slow};
    it.append("a");
    it.answered(fine("m1"));
    CHECK(told(it.core.dismiss()) == "cancel; delete[m1]; end");
  }
}

// -- handed over --------------------------------------------------------------

TEST_CASE("beside a ledger the answer is posted at once") {
  turn_subject it{beside()};
  CHECK(it.append(" \n").empty());
  CHECK(it.append("Hel") == "post  \nHel");
  CHECK(it.read("x").empty());
  it.append("lo");
  CHECK(it.answered(fine("a1")) == "activity post 📖 Reading x");
  CHECK(it.read("y").empty());
  CHECK(it.answered(fine("t1")) == "edit[a1]  \nHello");
  CHECK(it.answered(fine()) == "activity edit[t1] 📖 Reading x\n📖 Reading y");
  it.answered(fine());
  CHECK(it.finish("Hello") == "produce 'Hello' over 'a1'");
  CHECK(told(it.core.recorded()) == "finished; activity delete[t1]; end");
  CHECK(it.append("late") == "closed");
  CHECK(told(it.core.status("late", 0)) == "closed");
  CHECK(told(it.core.replace("late", 0)) == "closed");
  CHECK(it.read("late") == "closed");
}

TEST_CASE("a preview that somebody deleted is posted anew") {
  turn_subject it{beside()};
  it.append("a");
  it.answered(fine("a1"));
  CHECK(it.append("b") == "edit[a1] ab");
  CHECK(it.answered(fails(send_outcome::recreate)).empty());
  CHECK(it.append("c") == "post abc");
  it.answered(fine("a2"));
  CHECK(it.finish("done") == "produce 'done' over 'a2'");
}

TEST_CASE("a draft is measured in the unit of its platform") {
  auto narrow = beside();
  narrow.max_message_chars = 32;
  narrow.length = text::utf16_length;
  turn_subject it{narrow};
  std::string faces;
  for (auto i = 0; i < 20; ++i)
    faces += "😀";
  CHECK(it.append(faces) == "post …\n" + faces.substr(0, size_t{15} * 4));
}

TEST_CASE("previews that fail are passed over") {
  struct row {
    const char* name;
    call_outcome outcome;
    const char* next;
  };
  const row rows[] = {
    {"the next change posts", fails(send_outcome::retry), "post ab"},
    {"never again", fails(send_outcome::fatal), ""},
    {"perhaps visible: not posted twice", fails(send_outcome::retry, false),
     ""},
    {"no reference: it cannot be edited", fine(), ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    turn_subject it{beside()};
    it.append("a");
    it.answered(row.outcome);
    CHECK(it.append("b") == row.next);
    it.answered(fine("a1"));
    std::string over = row.next[0] != 0 ? "a1" : "";
    CHECK(it.finish("done") == "produce 'done' over '" + over + "'");
  }
}

TEST_CASE("the end of a turn takes over what stands there") {
  SUBCASE("the status") {
    turn_subject it{handed_over(hints())};
    it.read("x");
    it.answered(fine("m1"));
    CHECK(it.finish("done") == "produce 'done' over 'm1'");
    CHECK(told(it.core.recorded()) == "finished; end");
  }
  SUBCASE("the ledger") {
    turn_subject it{handed_over(final_only())};
    it.read("x");
    it.answered(fine("m1"));
    CHECK(it.finish("done") == "produce 'done' over 'm1'");
    CHECK(told(it.core.recorded()) == "finished; end");
  }
  SUBCASE("the message of an earlier attempt") {
    auto again = handed_over(hints());
    again.provisional = "p1";
    turn_subject it{again};
    CHECK(it.append("again") == "edit[p1] again");
    it.answered(fine());
    CHECK(it.finish("done") == "produce 'done' over 'p1'");
  }
}

TEST_CASE("parts of an answer that is handed over go with it") {
  turn_subject it{handed_over(hints())};
  stream_end end;
  end.text = "see there";
  end.options.parts.push_back(broken_part());
  auto effects = it.core.finish(end);
  REQUIRE(effects.size() == 1);
  const auto& fact = std::get<stream::produce>(effects.front());
  CHECK(fact.text == "see there");
  CHECK(fact.options.parts == end.options.parts);
}

TEST_CASE("an end that is handed over waits for what is under way") {
  SUBCASE("it comes: the answer takes its place") {
    turn_subject it{beside()};
    it.append("a");
    CHECK(it.finish("all") == "await");
    CHECK(it.answered(fine("a1")) == "produce 'all' over 'a1'");
    CHECK(told(it.core.settle_timeout()).empty());
  }
  SUBCASE("it comes too late: it is removed") {
    turn_subject it{beside()};
    it.append("a");
    it.finish("all");
    CHECK(told(it.core.settle_timeout()) == "produce 'all' over ''");
    CHECK(told(it.core.recorded()) == "finished; linger");
    CHECK(it.answered(fine("a1")) == "delete[a1]; end");
  }
  SUBCASE("it comes while the ledger writes: it is removed") {
    turn_subject it{beside()};
    it.append("a");
    it.finish("all");
    it.core.settle_timeout();
    CHECK(it.answered(fine("a1")).empty());
    CHECK(told(it.core.recorded()) == "finished; delete[a1]; end");
  }
  SUBCASE("a late edit leaves the message alone") {
    auto again = beside();
    again.provisional = "p1";
    turn_subject it{again};
    it.append("a");
    it.finish("all");
    CHECK(told(it.core.settle_timeout()) == "produce 'all' over 'p1'");
    CHECK(told(it.core.recorded()) == "finished; linger");
    CHECK(it.answered(fine("p1")) == "end");
  }
}

TEST_CASE("silence removes what was shown") {
  turn_subject it{beside()};
  it.append("half");
  it.answered(fine("a1"));
  CHECK(told(it.core.finish_silently()) == "produce '' over '' silently");
  CHECK(told(it.core.recorded()) == "finished; delete[a1]; end");
}

TEST_CASE("an answer that was not recorded leaves the screen alone") {
  turn_subject it{beside()};
  it.append("half");
  it.answered(fine("a1"));
  it.finish("all");
  CHECK(told(it.core.not_recorded()) == "end");
}

TEST_CASE("the dismissal of a turn removes its previews, too") {
  SUBCASE("what is visible") {
    turn_subject it{beside()};
    it.append("half");
    it.answered(fine("a1"));
    it.read("x");
    it.answered(fine("t1"));
    CHECK(told(it.core.dismiss()) == "delete[a1]; activity delete[t1]; end");
    CHECK(told(it.core.dismiss()).empty());
  }
  SUBCASE("a post under way is removed when it shows") {
    turn_subject it{beside()};
    it.append("half");
    CHECK(told(it.core.dismiss()) == "linger");
    CHECK(it.answered(fine("a1")) == "delete[a1]; end");
  }
  SUBCASE("a post that was dropped leaves nothing") {
    turn_subject it{beside()};
    it.append("half");
    it.core.dismiss();
    CHECK(it.answered(fails(send_outcome::fatal)) == "end");
  }
  SUBCASE("while the owner writes the answer down") {
    turn_subject it{beside()};
    it.append("half");
    it.answered(fine("a1"));
    it.finish("all");
    CHECK(told(it.core.dismiss()) == "delete[a1]; end");
    CHECK(told(it.core.recorded()).empty());
  }
}
