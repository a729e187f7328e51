#include "actors/office/delivery_core.hpp"
#include "messages/limits.hpp"
#include "tests/office/first_operation.hpp"
#include "tests/office/story.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau;
using namespace bureau::test;
using namespace bureau::offices;
using namespace std::chrono_literals;

namespace {

using texts = std::vector<std::string>;

const std::string label =
  "(sent again after a restart; you may see this twice)";

contracts::reply_part file(const std::string& name) {
  contracts::attachment_part part;
  part.id = name;
  part.artifact_id = std::string(32, 'a');
  part.name = name;
  part.media_type = "text/plain";
  part.size_bytes = 5;
  part.integrity_id = "sha256:" + std::string(64, '0');
  return part;
}

contracts::reply_part failure() {
  contracts::failed_part part;
  part.id = "f";
  part.code = contracts::part_failure_code::artifact_too_large;
  part.message = "big is too large.";
  return part;
}

std::string line_about(const std::string& name) {
  return "⚠️ Attachment not delivered on this destination: " + name
         + " (text/plain, 5 bytes).";
}

const std::string line_about_failure =
  "⚠️ Reply part failed (artifact_too_large): big is too large.";

ledger_entry answer_with(std::vector<contracts::reply_part> parts,
                         std::string text = "here") {
  ledger_entry entry;
  entry.id = "7";
  entry.state = ledger_state::produced;
  entry.run = "r1";
  entry.text = std::move(text);
  entry.parts = std::move(parts);
  entry.produced_ms = 1;
  return entry;
}

/// The session of `local` answers m1 with parts.
void answer(office_node& node, std::vector<contracts::reply_part> parts,
            const std::string& text = "here", const std::string& prov = {}) {
  node.say("m1");
  node.run("m1", "r1");
  turn_produced fact;
  fact.session_key = "local";
  fact.message_id = "m1";
  fact.run = "r1";
  fact.text = text;
  fact.provisional = prov;
  fact.parts = std::move(parts);
  node.ask(
    node.sessions->owner, [](caf::ok_atom) {},
    [](const caf::error& reason) { FAIL(sentence_of(reason)); },
    atom::produced_v, fact);
}

void uploads(gate_script& gate) {
  gate.uploads = true;
}

delivered fault_of(delivery_fault fault,
                   failure_certainty certainty = failure_certainty::definite) {
  delivered result;
  result.fault = fault;
  result.certainty = certainty;
  result.detail = "no";
  return result;
}

/// Texts of the bot's lines in the chat log.
texts said(const office_world& world) {
  texts result;
  for (const auto& line : world.log())
    if (line.user == "bot")
      result.push_back(line.text);
  return result;
}

} // namespace

TEST_CASE("how an answer with files is laid out") {
  auto entry = answer_with({file("a"), failure(), file("b")});
  SUBCASE("one text where files cannot be uploaded") {
    auto plan = first_operation(entry, {}, true, false);
    CHECK(plan.parts == 1);
    CHECK(plan.text
          == "here\n\n" + line_about("a") + "\n" + line_about_failure + "\n"
               + line_about("b"));
    CHECK(plan.attached == entry.parts);
    CHECK(plan.outcomes.size() == 3);
  }
  SUBCASE("the text, then every file") {
    auto plan = first_operation(entry, {}, true, true);
    CHECK(plan.part == 0);
    CHECK(plan.parts == 3);
    CHECK(plan.op == outbound_op::post);
    CHECK(plan.text == "here\n\n" + line_about_failure);
    CHECK_FALSE(plan.file);
    entry.state = ledger_state::sent;
    entry.of = 3;
    plan = first_operation(entry, {}, true, true);
    CHECK(plan.part == 1);
    CHECK(plan.op == outbound_op::upload);
    CHECK(contracts::reply_part{*plan.file} == file("a"));
    CHECK(plan.text.empty());
    CHECK(plan.attached.empty());
    entry.part = 1;
    plan = first_operation(entry, {}, true, true);
    CHECK(plan.part == 2);
    CHECK(plan.attached == std::vector<contracts::reply_part>{failure()});
  }
  SUBCASE("a file alone needs no text") {
    entry = answer_with({file("a")}, "");
    auto plan = first_operation(entry, {}, true, true);
    CHECK(plan.op == outbound_op::upload);
    CHECK(plan.parts == 1);
    // But what is shown of the run is to become something.
    entry.provisional = "p1";
    plan = first_operation(entry, {}, true, true);
    CHECK(plan.op == outbound_op::edit);
    CHECK(plan.parts == 2);
    CHECK(plan.text == "a");
  }
  SUBCASE("a program reads the text as it is") {
    transport_info info;
    info.fallback = contracts::unsupported_part_fallback::none;
    auto plan = first_operation(entry, {}, info);
    CHECK(plan.text == "here");
    CHECK(plan.attached == entry.parts);
    CHECK(plan.outcomes == contracts::unsupported_outcomes(entry.parts));
  }
  SUBCASE("what began as several parts goes on so") {
    entry.state = ledger_state::sent;
    entry.of = 3;
    auto plan = first_operation(entry, {}, true, false);
    CHECK(plan.part == 1);
    CHECK(plan.parts == 3);
    CHECK(plan.op == outbound_op::post);
    CHECK(plan.text == line_about("a"));
  }
  SUBCASE("a line that is uncertain is said again, with the label") {
    entry.state = ledger_state::ambiguous;
    entry.part = 1;
    entry.of = 3;
    entry.op = outbound_op::post;
    auto plan = first_operation(entry, {}, true, true);
    CHECK(plan.op == outbound_op::post);
    CHECK(plan.text
          == "(sent again; you may see this twice)\n\n" + line_about("a"));
    entry.op = outbound_op::upload;
    plan = first_operation(entry, {}, true, true);
    CHECK(plan.op == outbound_op::upload);
    CHECK(plan.text == "(sent again; you may see this twice)");
  }
}

TEST_CASE("a transport that takes no files gets a line for each") {
  office_world world;
  office_node node{world};
  answer(node, {file("a")});
  CHECK(world.shown == texts{"here\n\n" + line_about("a")});
  CHECK(said(world) == texts{"here"});
  CHECK(node.drain(drain_phase::hold).open_entries == 0);
}

TEST_CASE("a transport that takes files gets text and files, each once") {
  office_world world;
  office_node node{world, uploads};
  answer(node, {file("a"), file("b")}, "here", "p1");
  CHECK(world.shown == texts{"edit[p1] here", "file[a]", "file[b]"});
  CHECK(said(world) == texts{"here"});
  CHECK(world.log().back().ts == "p1");
  CHECK(world.ledger().back() == "m1 sent");
  // The next answer waits for all of them, and only for them.
  node.say("m2");
  node.run("m2", "r2");
  node.produce("m2", "r2", "more");
  CHECK(world.shown.back() == "more");
  CHECK(node.drain(drain_phase::hold).open_entries == 0);
}

TEST_CASE("a file that the platform refuses becomes a line") {
  office_world world;
  office_node node{world, uploads};
  node.gate->outcomes = {delivered{}, fault_of(delivery_fault::permanent)};
  answer(node, {file("a"), file("b")});
  CHECK(world.shown == texts{"here", line_about("a"), "file[b]"});
  CHECK(said(world) == texts{"here"});
}

TEST_CASE("what a reader did not get is kept in the ledger") {
  office_world world;
  auto kept = [&] {
    auto text = get_file(world.ledger_path());
    std::vector<contracts::delivery_outcome> result;
    for (const auto& line : read_ledger(text).records)
      if (!line.outcomes.empty())
        result = line.outcomes;
    return result;
  };
  SUBCASE("because nothing can be uploaded") {
    office_node node{world};
    answer(node, {file("a"), failure()});
    REQUIRE(kept().size() == 2);
    CHECK(kept()[0].type == contracts::delivery_part_type::attachment);
    CHECK(kept()[1].code == contracts::part_failure_code::artifact_too_large);
  }
  SUBCASE("because the platform refused a file") {
    office_node node{world, uploads};
    node.gate->outcomes = {delivered{}, fault_of(delivery_fault::permanent)};
    answer(node, {file("a"), file("b")});
    REQUIRE(kept().size() == 1);
    CHECK(kept()[0].type == contracts::delivery_part_type::attachment);
  }
  SUBCASE("which is nothing when all arrived") {
    office_node node{world, uploads};
    answer(node, {file("a")});
    CHECK(kept().empty());
  }
}

TEST_CASE("a file that the platform cannot take now is tried again") {
  office_world world;
  office_node node{world, uploads};
  node.gate->outcomes = {delivered{}, fault_of(delivery_fault::retryable)};
  answer(node, {file("a")});
  CHECK(world.shown == texts{"here"});
  node.advance(2s);
  CHECK(world.shown == texts{"here", "file[a]"});
}

TEST_CASE("a file whose upload is uncertain twice becomes a line") {
  office_world world;
  office_node node{world, uploads};
  auto uncertain =
    fault_of(delivery_fault::retryable, failure_certainty::unknown);
  node.gate->outcomes = {delivered{}, uncertain, uncertain};
  answer(node, {file("a")});
  node.advance(5s);
  CHECK(world.shown == texts{"here", line_about("a")});
  CHECK(node.drain(drain_phase::hold).open_entries == 0);
}

TEST_CASE("an answer goes on at its next part after a restart") {
  office_world world;
  {
    office_node node{world, uploads};
    node.gate->outcomes = {delivered{}, fault_of(delivery_fault::retryable)};
    answer(node, {file("a"), file("b")});
    CHECK(world.shown == texts{"here"});
    node.cut();
  }
  SUBCASE("with the files") {
    office_node node{world, uploads};
    CHECK(world.shown == texts{"here", "file[a]", "file[b]"});
  }
  SUBCASE("or with lines, when they are not taken any more") {
    office_node node{world};
    CHECK(world.shown == texts{"here", line_about("a"), line_about("b")});
  }
  CHECK(said(world) == texts{"here"});
}

TEST_CASE("an upload that was under way is done again with a label") {
  office_world world;
  {
    office_node node{world, uploads};
    answer(node, {});
    node.gate->stall_after_gate = true;
    node.say("m2");
    node.run("m2", "r2");
    turn_produced fact;
    fact.session_key = "local";
    fact.message_id = "m2";
    fact.run = "r2";
    fact.parts = {file("a")};
    node.ask(
      node.sessions->owner, [](caf::ok_atom) {}, [](const caf::error&) {},
      atom::produced_v, fact);
    CHECK(world.shown == texts{"here"});
    node.cut();
  }
  {
    office_node node{world, uploads};
    CHECK(world.shown == texts{"here", "file[a]" + label});
  }
}

TEST_CASE("an upload that stays uncertain over restarts leaves a line") {
  office_world world;
  auto stalls = [](gate_script& gate) {
    gate.uploads = true;
    gate.stall_after_gate = true;
  };
  {
    office_node node{world, stalls};
    answer(node, {file("a")}, "");
    node.cut();
  }
  {
    office_node node{world, stalls};
    CHECK(world.shown.empty());
    node.cut();
  }
  office_node node{world, uploads};
  CHECK(world.shown == texts{line_about("a")});
  CHECK(node.drain(drain_phase::hold).open_entries == 0);
}

TEST_CASE("every cut of the disk leaves an answer of which nothing is lost") {
  // Operations of the disk that an answer takes, found by the first round.
  for (size_t n = 1;; ++n) {
    office_world world;
    bool reached = false;
    {
      office_node node{world, uploads};
      node.say("m1");
      node.run("m1", "r1");
      world.recorded.insert("m1");
      world.worked.insert("m1");
      node.disk->fail_from(n, EIO);
      turn_produced fact;
      fact.session_key = "local";
      fact.message_id = "m1";
      fact.run = "r1";
      fact.text = "here";
      fact.parts = {file("a"), file("b")};
      node.ask(
        node.sessions->owner, [](caf::ok_atom) {}, [](const caf::error&) {},
        atom::produced_v, fact);
      reached = node.disk->operations().size() >= n;
      node.cut();
    }
    office_node node{world, uploads};
    CAPTURE(n);
    auto has = [&](const std::string& part) {
      return std::any_of(world.shown.begin(), world.shown.end(),
                         [&](const std::string& text) {
                           return text.find(part) != std::string::npos;
                         });
    };
    auto told = has("I was interrupted by a restart");
    CHECK((told || (has("here") && has("file[a]") && has("file[b]"))));
    CHECK(node.drain(drain_phase::hold).open_entries == 0);
    if (!reached)
      break;
  }
}
