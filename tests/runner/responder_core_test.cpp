#include "actors/runner/responder_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::runner;

namespace {

struct effect_name {
  std::string operator()(const output::send& x) {
    auto kind = x.content == outbound_content::activity ? "activity " : "";
    auto ref = x.ref.empty() ? "" : "[" + x.ref + "]";
    return kind + to_string(x.op) + ref + (x.text.empty() ? "" : " " + x.text);
  }
  std::string operator()(const output::arm_settle&) { return "wait"; }
  std::string operator()(const output::produce& x) {
    return "produce '" + x.text + "' over '" + x.provisional + "'"
           + (x.silent ? " silently" : "");
  }
  std::string operator()(const output::answer_finish&) { return "finished"; }
  std::string operator()(const output::linger&) { return "linger"; }
  std::string operator()(const output::end&) { return "end"; }
};

std::string told(const output_effects& effects) {
  std::string result;
  for (const auto& item : effects)
    result += (result.empty() ? "" : "; ") + std::visit(effect_name{}, item);
  return result;
}

delivered fine(std::string ref) {
  delivered result;
  result.ref = std::move(ref);
  return result;
}

delivered fails(delivery_fault fault,
                failure_certainty certainty = failure_certainty::definite) {
  delivered result;
  result.fault = fault;
  result.certainty = certainty;
  return result;
}

} // namespace

TEST_CASE("the first text posts, the next edits") {
  responder_core core{{}};
  CHECK(told(core.append("Hel")) == "post Hel");
  CHECK(told(core.delivered_op(1, fine("a1"))).empty());
  CHECK(told(core.append("lo")) == "edit[a1] Hello");
}

TEST_CASE("while an operation is under way only the latest text is kept") {
  responder_core core{{}};
  core.append("a");
  CHECK(core.append("b").empty());
  CHECK(core.append("c").empty());
  CHECK(core.replace("xyz").empty());
  CHECK(told(core.delivered_op(1, fine("a1"))) == "edit[a1] xyz");
  CHECK(core.delivered_op(2, fine("a1")).empty());
}

TEST_CASE("an edit may change the reference") {
  responder_core core{{}};
  core.append("a");
  core.delivered_op(1, fine("a1"));
  core.append("b");
  core.delivered_op(2, fine("a2"));
  CHECK(told(core.append("c")) == "edit[a2] abc");
}

TEST_CASE("blank text is not shown") {
  responder_core core{{}};
  CHECK(core.append(" \n").empty());
  CHECK(told(core.append("x")) == "post  \nx");
}

TEST_CASE("activity is a message of its own and grows by lines") {
  responder_core core{{}};
  CHECK(told(core.activity("• one")) == "activity post • one");
  CHECK(core.activity("✓ one").empty());
  CHECK(told(core.delivered_op(1, fine("t1")))
        == "activity edit[t1] • one\n✓ one");
  CHECK(core.append("text").empty());
  CHECK(told(core.delivered_op(2, fine("t1"))) == "post text");
}

TEST_CASE("neither answer nor activity starves the other") {
  responder_core core{{}};
  core.append("a");
  core.activity("• one");
  core.append("b");
  CHECK(told(core.delivered_op(1, fine("a1"))) == "activity post • one");
  core.activity("• two");
  CHECK(told(core.delivered_op(2, fine("t1"))) == "edit[a1] ab");
}

TEST_CASE("the oldest activity lines give way") {
  responder_core core{{}};
  std::string last;
  for (size_t i = 0; i <= limits::activity_lines; ++i) {
    auto effects = core.activity("line " + std::to_string(i));
    if (i == 0)
      core.delivered_op(1, fine("t1"));
    else
      core.delivered_op(i + 1, fine("t1"));
    last = std::get<output::send>(effects.front()).text;
  }
  CHECK(last.starts_with("line 1\n"));
  CHECK(last.ends_with("line " + std::to_string(limits::activity_lines)));
}

TEST_CASE("what a style shows before the end") {
  struct row {
    const char* name;
    bool streaming;
    bool activity;
    const char* answer;
    const char* line;
  };
  const row rows[] = {
    {"all", true, true, "post x", "activity post • x"},
    {"no activity", true, false, "post x", ""},
    {"final only", false, true, "", "activity post • x"},
    {"nothing", false, false, "", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(told(responder_core{{row.streaming, row.activity, ""}}.append("x"))
          == row.answer);
    CHECK(
      told(responder_core{{row.streaming, row.activity, ""}}.activity("• x"))
      == row.line);
  }
}

TEST_CASE("failures of interim operations are passed over") {
  struct row {
    const char* name;
    delivered outcome;
    const char* next;
  };
  const row rows[] = {
    {"retryable: the next change posts", fails(delivery_fault::retryable),
     "post ab"},
    {"dropped", fails(delivery_fault::dropped), "post ab"},
    {"permanent: no more previews", fails(delivery_fault::permanent), ""},
    {"perhaps visible: not posted twice",
     fails(delivery_fault::retryable, failure_certainty::unknown), ""},
    {"no reference: it cannot be edited", fine(""), ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    responder_core core{{}};
    core.append("a");
    CHECK(core.delivered_op(1, row.outcome).empty());
    CHECK(told(core.append("b")) == row.next);
    core.delivered_op(2, fine("a1"));
    auto over = row.next[0] != 0 ? "a1" : "";
    CHECK(told(core.finish("done", false))
          == std::string{"produce 'done' over '"} + over + "'");
  }
}

TEST_CASE("the end replaces the answer and takes the activity back") {
  responder_core core{{}};
  core.append("par");
  core.delivered_op(1, fine("a1"));
  core.activity("• x");
  core.delivered_op(2, fine("t1"));
  CHECK(told(core.finish("partial", false)) == "produce 'partial' over 'a1'");
  CHECK(told(core.recorded()) == "finished; activity delete[t1]; end");
  CHECK(core.append("late").empty());
  CHECK(core.finish("again", false).empty());
}

TEST_CASE("the end waits for what is under way") {
  SUBCASE("it comes: the answer takes its place") {
    responder_core core{{}};
    core.append("a");
    CHECK(told(core.finish("all", false)) == "wait");
    CHECK(told(core.delivered_op(1, fine("a1"))) == "produce 'all' over 'a1'");
    CHECK(core.settle_timeout().empty());
  }
  SUBCASE("it comes too late: it is removed") {
    responder_core core{{}};
    core.append("a");
    core.finish("all", false);
    CHECK(told(core.settle_timeout()) == "produce 'all' over ''");
    CHECK(told(core.recorded()) == "finished; linger");
    CHECK(told(core.delivered_op(1, fine("a1"))) == "delete[a1]; end");
  }
  SUBCASE("it comes while the ledger writes: it is removed") {
    responder_core core{{}};
    core.append("a");
    core.finish("all", false);
    core.settle_timeout();
    CHECK(core.delivered_op(1, fine("a1")).empty());
    CHECK(told(core.recorded()) == "finished; delete[a1]; end");
  }
  SUBCASE("a late edit leaves the message alone") {
    responder_core core{{true, true, "p1"}};
    core.append("a");
    core.finish("all", false);
    CHECK(told(core.settle_timeout()) == "produce 'all' over 'p1'");
    CHECK(told(core.recorded()) == "finished; linger");
    CHECK(told(core.delivered_op(1, fine("p1"))) == "end");
  }
}

TEST_CASE("silence removes what was shown") {
  responder_core core{{}};
  core.append("half");
  core.delivered_op(1, fine("a1"));
  CHECK(told(core.finish("[SILENT]", true)) == "produce '' over '' silently");
  CHECK(told(core.recorded()) == "finished; delete[a1]; end");
}

TEST_CASE("an answer that was not recorded leaves the screen alone") {
  responder_core core{{}};
  core.append("half");
  core.delivered_op(1, fine("a1"));
  core.finish("all", false);
  CHECK(told(core.not_recorded()) == "end");
}

TEST_CASE("dismissal") {
  SUBCASE("takes back what is visible") {
    responder_core core{{}};
    core.append("half");
    core.delivered_op(1, fine("a1"));
    core.activity("• x");
    core.delivered_op(2, fine("t1"));
    CHECK(told(core.dismiss()) == "delete[a1]; activity delete[t1]; end");
    CHECK(core.append("more").empty());
    CHECK(core.dismiss().empty());
  }
  SUBCASE("a post under way is removed when it shows") {
    responder_core core{{}};
    core.append("half");
    CHECK(told(core.dismiss()) == "linger");
    CHECK(told(core.delivered_op(1, fine("a1"))) == "delete[a1]; end");
  }
  SUBCASE("a post that was dropped leaves nothing") {
    responder_core core{{}};
    core.append("half");
    core.dismiss();
    CHECK(told(core.delivered_op(1, fails(delivery_fault::dropped))) == "end");
  }
  SUBCASE("its removals survive the drop of the run") {
    responder_core core{{}};
    core.append("half");
    core.delivered_op(1, fine("a1"));
    auto effects = core.dismiss();
    CHECK(std::get<output::send>(effects.front()).rank
          == outbound_class::control);
  }
}

TEST_CASE("a second attempt goes on in the message of the first") {
  responder_core core{{true, true, "p1"}};
  CHECK(told(core.append("again")) == "edit[p1] again");
  core.delivered_op(1, fine("p1"));
  CHECK(told(core.finish("done", false)) == "produce 'done' over 'p1'");
  responder_core final_only{{false, false, "p1"}};
  CHECK(told(final_only.finish("done", false)) == "produce 'done' over 'p1'");
}
