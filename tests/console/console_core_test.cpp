#include "adapters/console/console_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::console;

namespace {

constexpr int64_t now = 1'000;

struct effect_name {
  std::string operator()(const effect::read_log& x) { return "log " + x.name; }
  std::string operator()(const effect::submit& x) {
    return "submit " + x.name + " " + x.id + " " + x.text.substr(0, 20)
           + (x.file.empty() ? "" : " with " + x.file);
  }
  std::string operator()(const effect::settled& x) {
    return "settled " + x.id + " " + x.outcome;
  }
  std::string operator()(const effect::answer& x) {
    const auto& given = x.submission.answers.at(0);
    auto result =
      "answer " + x.submission.conversation_id + " " + given.question_id;
    for (const auto& id : given.selected_option_ids)
      result += " " + id;
    return result
           + (given.custom_reply ? " '" + *given.custom_reply + "'" : "");
  }
  std::string operator()(const effect::cancel_ask& x) {
    return "cancel " + x.conversation_id;
  }
  std::string operator()(const effect::look& x) {
    return "look " + std::to_string(x.number) + " " + x.path;
  }
  std::string operator()(const effect::save& x) {
    return "save " + std::to_string(x.number) + " " + x.path;
  }
  std::string operator()(const effect::stop_any& x) {
    std::string result = "stop any of";
    for (const auto& name : x.names)
      result += " " + name;
    return result;
  }
  std::string operator()(const effect::retry& x) {
    return "retry " + x.name + " " + std::to_string(x.delay_ms);
  }
  std::string operator()(const effect::say& x) {
    return "say " + x.text.substr(0, x.text.find_first_of(":\n"));
  }
  std::string operator()(const effect::allow& x) {
    return x.bytes > 0 ? "allow" : "allow nothing";
  }
  std::string operator()(const effect::prompt& x) { return "prompt " + x.name; }
  std::string operator()(const effect::shutdown& x) {
    return "shutdown " + x.reason;
  }
};

std::string told(const console_effects& effects) {
  std::string result;
  for (const auto& item : effects)
    result += (result.empty() ? "" : "; ") + std::visit(effect_name{}, item);
  return result;
}

/// A console whose first log has been read.
console_core ready(bool interactive = false) {
  console_core core{interactive, "local"};
  core.start();
  core.log_read("local", {}, now);
  return core;
}

std::string say(console_core& core, const std::string& text) {
  return told(core.line({text, false}, now));
}

std::string taken(console_core& core, const std::string& id,
                  intake_outcome outcome = intake_outcome::taken) {
  return told(core.taken("local", id, outcome, now));
}

} // namespace

TEST_CASE("lines wait for the log, then become messages in order") {
  console_core core{false, "local"};
  CHECK(told(core.start()) == "log local; prompt local; allow");
  CHECK(say(core, "a").empty());
  CHECK(say(core, "b").empty());
  CHECK(told(core.log_read("local", {"9.000001", "x", "9.000007"}, now))
        == "submit local 9.000008 a");
  CHECK(taken(core, "9.000008") == "allow; submit local 9.000009 b");
  CHECK(core.load() == 2);
}

TEST_CASE("one message is offered at a time") {
  auto core = ready();
  CHECK(say(core, "a") == "submit local 1.000000 a");
  CHECK(say(core, "b").empty());
  CHECK(taken(core, "1.000000") == "allow; submit local 1.000001 b");
}

TEST_CASE("what gives a place in the line back") {
  auto core = ready();
  CHECK(say(core, " ") == "allow");
  CHECK(say(core, "/help")
        == "say /to NAME             talk in the conversation NAME; "
           "allow");
  CHECK(say(core, "/to X")
        == "say /to needs the name of a conversation; "
           "allow");
  CHECK(say(core, "/to lab") == "log lab; prompt lab; allow");
  CHECK(say(core, "/to lab") == "prompt lab; allow");
  core.line({"/to local", false}, now);
  say(core, "stop");
  CHECK(taken(core, "1.000000", intake_outcome::stopped)
        == "settled 1.000000 stopped; allow");
  say(core, "a");
  CHECK(taken(core, "1.000001") == "allow");
  CHECK(core.closed("1.000001", now).empty());
  CHECK(core.closed("1.000001", now).empty());
  CHECK(core.load() == 0);
}

TEST_CASE("an entry that closes before its intake is answered") {
  auto core = ready();
  say(core, "a");
  CHECK(core.closed("1.000000", now).empty());
  CHECK(taken(core, "1.000000") == "allow");
  CHECK(core.load() == 0);
}

TEST_CASE("intake by outcome") {
  struct row {
    const char* name;
    intake_outcome outcome;
    size_t load;
  };
  const row rows[] = {
    {"taken", intake_outcome::taken, 1},
    {"duplicate", intake_outcome::duplicate, 0},
    {"logged", intake_outcome::logged, 0},
    {"stopped", intake_outcome::stopped, 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    auto core = ready();
    say(core, "a");
    taken(core, "1.000000", row.outcome);
    CHECK(core.load() == row.load);
  }
}

TEST_CASE("a message that was not taken is offered again, in its place") {
  auto core = ready();
  say(core, "a");
  say(core, "b");
  CHECK(told(core.not_taken("local", "1.000000", errc::not_ready, "full"))
        == "say Your message is not taken yet, trying again; retry local 1000");
  CHECK(told(core.retry_due("local", now)) == "submit local 1.000000 a");
  CHECK(core.retry_due("local", now).empty());
  CHECK(told(core.not_taken("local", "1.000000", errc::timeout, "late"))
        == "retry local 2000");
  for (int i = 0; i < 6; ++i) {
    core.retry_due("local", now);
    core.not_taken("local", "1.000000", errc::disk, "full");
  }
  core.retry_due("local", now);
  CHECK(told(core.not_taken("local", "1.000000", errc::disk, "full"))
        == "retry local 30000");
  core.retry_due("local", now);
  // The offer that seemed late had arrived: the duplicate is the message.
  CHECK(taken(core, "1.000000", intake_outcome::duplicate)
        == "allow; submit local 1.000001 b");
  CHECK(core.load() == 2);
}

TEST_CASE("a full disk is told once, and that nothing is lost") {
  auto core = ready();
  say(core, "a");
  CHECK(
    told(core.not_taken("local", "1.000000", errc::disk,
                        "cannot append to 'log.jsonl': the disk is full"))
    == "say The disk takes nothing at the moment; your message is not lost, "
       "it waits here and is offered again by itself; retry local 1000");
  core.retry_due("local", now);
  CHECK(told(core.not_taken("local", "1.000000", errc::disk, "full"))
        == "retry local 2000");
}

TEST_CASE("a message that can never be taken is given up") {
  auto core = ready();
  say(core, "a");
  say(core, "b");
  CHECK(told(core.not_taken("local", "1.000000", errc::bad_identity, "no"))
        == "say Your message was not taken; settled 1.000000 bad_identity; "
           "allow; retry local 0");
  CHECK(told(core.retry_due("local", now)) == "submit local 1.000001 b");
}

TEST_CASE("the end of a pipe waits for what is open") {
  SUBCASE("nothing open") {
    auto core = ready();
    CHECK(told(core.end_of_input()) == "shutdown end of input");
    CHECK(core.end_of_input().empty());
  }
  SUBCASE("an open message") {
    auto core = ready();
    say(core, "a");
    CHECK(core.end_of_input().empty());
    taken(core, "1.000000");
    CHECK(told(core.closed("1.000000", now)) == "shutdown end of input");
  }
  SUBCASE("a message whose log is still being read") {
    console_core core{false, "local"};
    core.start();
    say(core, "a");
    CHECK(core.end_of_input().empty());
  }
  SUBCASE("/quit ends a pipe like its end") {
    auto core = ready();
    say(core, "a");
    CHECK(say(core, "/quit").empty());
    taken(core, "1.000000");
    CHECK(told(core.closed("1.000000", now)) == "shutdown end of input");
  }
  SUBCASE("a terminal ends at once") {
    auto core = ready(true);
    say(core, "a");
    CHECK(told(core.end_of_input()) == "shutdown end of input");
  }
}

TEST_CASE("an interrupt stops a running turn, a second one ends the program") {
  auto core = ready(true);
  say(core, "a");
  taken(core, "1.000000");
  CHECK(told(core.interrupt(now)) == "submit local 1.000001 stop");
  CHECK(taken(core, "1.000001", intake_outcome::stopped).empty());
  CHECK(told(core.interrupt(now)) == "shutdown interrupt");
  CHECK(core.interrupt(now).empty());
}

TEST_CASE("an interrupt ends a program that waits for an earlier run's work") {
  auto core = ready(false);
  CHECK(told(core.end_of_input()) == "shutdown end of input");
  CHECK(told(core.interrupt(now)) == "stop any of local");
  CHECK(told(core.stop_answered({})) == "shutdown interrupt");
  CHECK(core.interrupt(now).empty());
}

TEST_CASE("an interrupt stops a turn that a restart resumed") {
  auto core = ready(true);
  core.met("lab");
  CHECK(told(core.interrupt(now)) == "stop any of local lab");
  SUBCASE("a second one ends the program") {
    CHECK(core.stop_answered("m7").empty());
    CHECK(told(core.interrupt(now)) == "shutdown interrupt");
  }
  SUBCASE("a second one does not wait for the answer to the first") {
    CHECK(told(core.interrupt(now)) == "shutdown interrupt");
    CHECK(core.stop_answered({}).empty());
  }
  SUBCASE("once that turn has ended, the next one may be stopped") {
    core.stop_answered("m7");
    core.closed("m7", now);
    CHECK(told(core.interrupt(now)) == "stop any of local lab");
  }
}

TEST_CASE("an interrupt by state") {
  SUBCASE("nothing runs") {
    auto core = ready(true);
    CHECK(told(core.interrupt(now)) == "stop any of local");
    CHECK(told(core.stop_answered({})) == "shutdown interrupt");
  }
  SUBCASE("after the stopped turn has closed, the next one can be stopped") {
    auto core = ready(true);
    say(core, "a");
    taken(core, "1.000000");
    say(core, "b");
    taken(core, "1.000001");
    core.interrupt(now);
    core.closed("1.000000", now);
    CHECK(told(core.interrupt(now)) == "submit local 1.000003 stop");
  }
  SUBCASE("a turn of another conversation") {
    auto core = ready(true);
    say(core, "a");
    taken(core, "1.000000");
    say(core, "/to lab");
    CHECK(told(core.interrupt(now)) == "submit local 1.000001 stop");
  }
  SUBCASE("a message that is being taken counts as running") {
    auto core = ready(true);
    say(core, "a");
    CHECK(told(core.interrupt(now)) == "submit local 1.000001 stop");
  }
}

TEST_CASE("after an early interrupt the next one stops the next turn") {
  auto core = ready(true);
  say(core, "a");
  core.interrupt(now);
  SUBCASE("the turn is stopped before its intake is answered") {
    core.closed("1.000000", now);
    taken(core, "1.000000");
  }
  SUBCASE("the message is refused") {
    core.not_taken("local", "1.000000", errc::denied, "no");
  }
  SUBCASE("the message was there already") {
    taken(core, "1.000000", intake_outcome::duplicate);
  }
  taken(core, "1.000001", intake_outcome::stopped);
  CHECK(core.load() == 0);
  say(core, "b");
  taken(core, "1.000002");
  CHECK(told(core.interrupt(now)) == "submit local 1.000003 stop");
}

namespace {

/// A pipe with as many messages open as there may be.
console_core full() {
  auto core = ready();
  for (size_t i = 0; i < limits::console_open_messages; ++i) {
    core.line({"m", false}, now);
    auto id = "1.0000" + std::string(i < 10 ? "0" : "") + std::to_string(i);
    core.taken("local", id, intake_outcome::taken, now);
  }
  return core;
}

} // namespace

TEST_CASE("a pipe has so many messages open, the others wait") {
  auto core = full();
  CHECK(say(core, "a").empty());
  CHECK(say(core, "/to lab") == "log lab; prompt lab; allow");
  core.log_read("lab", {}, now);
  CHECK(say(core, "b").empty());
  CHECK(say(core, "/to local") == "prompt local; allow");
  CHECK(say(core, "c").empty());
  CHECK(core.load() == limits::console_open_messages + 3);
  // The oldest line is next, whatever its conversation.
  CHECK(told(core.closed("1.000004", now)) == "submit local 1.000020 a");
  CHECK(taken(core, "1.000020") == "allow");
  CHECK(told(core.closed("1.000020", now)) == "submit lab 1.000021 b");
}

TEST_CASE("a stop does not wait until there is room") {
  auto core = full();
  say(core, "a");
  CHECK(say(core, "stop") == "submit local 1.000020 stop");
  CHECK(taken(core, "1.000020", intake_outcome::stopped)
        == "settled 1.000020 stopped; allow");
  CHECK(told(core.closed("1.000000", now)) == "submit local 1.000021 a");
  SUBCASE("but it keeps its place as long as there is") {
    core.closed("1.000001", now);
    core.closed("1.000002", now);
    taken(core, "1.000021");
    say(core, "b");
    CHECK(say(core, "stop").empty());
  }
  SUBCASE("one that is not taken is not tried again") {
    taken(core, "1.000021");
    say(core, "stop");
    CHECK(told(core.not_taken("local", "1.000022", errc::timeout, "late"))
          == "say Your message was not taken; settled 1.000022 timeout; allow");
    CHECK(core.load() == limits::console_open_messages);
  }
}

TEST_CASE("a stop does not wait behind a message that is offered again") {
  auto core = ready();
  say(core, "a");
  core.not_taken("local", "1.000000", errc::disk, "full");
  CHECK(say(core, "stop") == "submit local 1.000001 stop");
  CHECK(told(core.retry_due("local", now)) == "submit local 1.000000 a");
}

TEST_CASE("what may be read is what has left") {
  auto core = ready();
  size_t given = 0;
  auto count = [&given](const console_effects& effects) {
    for (const auto& item : effects)
      if (auto allow = std::get_if<effect::allow>(&item))
        given += allow->bytes;
  };
  size_t taken_in = 0;
  for (std::string text :
       {"hello", " ", "/help", "/to local", "/attach x", "stop"}) {
    taken_in += text.size() + limits::console_line_cost;
    count(core.line({text, false}, now));
  }
  count(core.looked(1, "/h/x", "It is gone.", now));
  count(core.taken("local", "1.000000", intake_outcome::taken, now));
  count(core.taken("local", "1.000002", intake_outcome::stopped, now));
  CHECK(given == taken_in);
}

TEST_CASE("draining takes nothing new and says what is lost") {
  auto core = ready();
  say(core, "a");
  say(core, "b");
  say(core, "c");
  CHECK(told(core.drain(now))
        == "settled 1.000001 shutting_down; settled 1.000002 shutting_down; "
           "say 2 lines were not taken");
  CHECK(core.drain(now).empty());
  CHECK(taken(core, "1.000000").empty());
  CHECK(core.load() == 1);
}

TEST_CASE("lines that come too late are told") {
  auto late = "say Your line was not taken. The program is ending; send it "
              "again later.";
  SUBCASE("every one of a terminal") {
    auto core = ready(true);
    core.drain(now);
    CHECK(say(core, "a")
          == "settled 1.000000 shutting_down; " + std::string{late});
    CHECK(say(core, "/attach b")
          == "settled 1.000001 shutting_down; " + std::string{late});
    CHECK(say(core, "/to lab").empty());
    CHECK(say(core, "").empty());
  }
  SUBCASE("the first one of a pipe") {
    auto core = ready();
    core.drain(now);
    CHECK(say(core, "a")
          == "settled 1.000000 shutting_down; " + std::string{late});
    CHECK(say(core, "b") == "settled 1.000001 shutting_down");
  }
}

TEST_CASE("draining gives up a message that waits for its next offer") {
  auto core = ready();
  say(core, "a");
  core.not_taken("local", "1.000000", errc::disk, "full");
  CHECK(told(core.drain(now))
        == "settled 1.000000 shutting_down; say 1 lines were not taken");
  CHECK(core.retry_due("local", now).empty());
  CHECK(core.load() == 0);
}

TEST_CASE("without an output the program ends") {
  auto core = ready();
  CHECK(told(core.output_lost()) == "shutdown standard output is closed");
}

TEST_CASE("the answer to a cut line says so, once") {
  auto core = ready();
  core.line({std::string(limits::message_text_bytes + 1, 'x'), true}, now);
  taken(core, "1.000000");
  CHECK(core.preface_of("1.000000").starts_with("(Your message was longer"));
  CHECK(core.preface_of("1.000000").empty());
}

TEST_CASE("ids of answers come from the same sequence") {
  auto core = ready();
  say(core, "a");
  CHECK(core.next_id(now) == "1.000001");
}

TEST_CASE("a file is looked at before its message is sent, in order") {
  auto core = ready();
  CHECK(say(core, "/attach a.txt what is this?") == "look 1 a.txt");
  CHECK(say(core, "later") == "");
  CHECK(core.load() == 2);
  CHECK(told(core.looked(1, "/h/a.txt", {}, now))
        == "submit local 1.000000 what is this? with /h/a.txt");
  CHECK(told(core.looked(1, "/h/a.txt", {}, now)) == "");
  CHECK(taken(core, "1.000000") == "allow; submit local 1.000001 later");
}

TEST_CASE("a file that cannot be sent sends nothing, and later lines go on") {
  auto core = ready();
  say(core, "/attach a.txt");
  say(core, "later");
  CHECK(told(core.looked(1, "/h/a.txt", "There is no file /h/a.txt.", now))
        == "say There is no file /h/a.txt. Nothing was sent.; settled 1.000000 "
           "bad_request; allow; submit local 1.000001 later");
}

TEST_CASE("a message that is offered again keeps its file") {
  auto core = ready();
  say(core, "/attach a.txt");
  core.looked(1, "/h/a.txt", {}, now);
  core.not_taken("local", "1.000000", errc::disk, "full");
  CHECK(told(core.retry_due("local", now))
        == "submit local 1.000000  with /h/a.txt");
}

TEST_CASE("the end of a pipe waits for a file that is looked at") {
  auto core = ready();
  say(core, "/attach a.txt");
  CHECK(told(core.end_of_input()) == "");
  CHECK(told(core.looked(1, "/h/a.txt", "It is gone.", now))
        == "say It is gone. Nothing was sent.; settled 1.000000 bad_request; "
           "shutdown end of input");
}

TEST_CASE("what is looked at when the node ends is not sent") {
  auto core = ready();
  say(core, "/attach a.txt");
  CHECK(told(core.drain(now))
        == "settled 1.000000 shutting_down; say 1 lines were not taken");
  CHECK(told(core.looked(1, "/h/a.txt", {}, now)) == "");
}

namespace {

contracts::ask_snapshot two_questions() {
  contracts::ask_snapshot result;
  result.interaction_id = "i1";
  for (auto id : {"q0", "q1"}) {
    contracts::ask_question question;
    question.id = id;
    question.header = id;
    question.question = "Which";
    question.options = {{question.id + "o0", "red", "a"},
                        {question.id + "o1", "blue", "b"}};
    result.questions.push_back(std::move(question));
  }
  return result;
}

} // namespace

TEST_CASE("while a question is open, lines answer it") {
  auto core = ready();
  CHECK(told(core.asked("local", two_questions())) == "say q0");
  CHECK(say(core, "7")
        == "say Type a number from 1 to 2, or your own words.; "
           "allow");
  CHECK(say(core, "2") == "answer console:local q0 q0o1; say q1; allow");
  // The hub tells what is known already.
  auto ask = two_questions();
  take_answers(ask, {{"q0", {"q0o1"}, caf::none}});
  CHECK(core.ask_changed("local", ask).empty());
  CHECK(say(core, "green") == "answer console:local q1 'green'; allow");
  ask.status = contracts::ask_status::answered;
  CHECK(core.ask_changed("local", ask).empty());
  CHECK(say(core, "2") == "submit local 1.000000 2");
}

TEST_CASE("what is no answer, while a question is open") {
  auto core = ready();
  core.asked("local", two_questions());
  CHECK(say(core, "stop") == "submit local 1.000000 stop");
  // Another conversation has its own lines.
  CHECK(say(core, "/to lab") == "log lab; prompt lab; allow");
  core.log_read("lab", {}, now);
  CHECK(say(core, "1") == "submit lab 1.000001 1");
  CHECK(say(core, "/to local") == "prompt local; say q0; allow");
  CHECK(say(core, "1") == "answer console:local q0 q0o0; say q1; allow");
}

TEST_CASE("a question that is closed elsewhere") {
  auto core = ready();
  auto ask = two_questions();
  core.asked("local", ask);
  ask.status = contracts::ask_status::expired;
  ask.interaction_id = "other";
  CHECK(core.ask_changed("local", ask).empty());
  ask.interaction_id = "i1";
  CHECK(told(core.ask_changed("local", ask))
        == "say The question waited too long and is closed.");
  core.asked("local", two_questions());
  say(core, "1");
  contracts::ask_submission_result refused;
  refused.refusal = contracts::ask_refusal::stale;
  CHECK(told(core.answer_refused("local", refused))
        == "say The question is closed; your line answered nothing. Send it "
           "again if it was a message.");
  CHECK(say(core, "hello") == "submit local 1.000000 hello");
  // The hub knows better which question is open.
  refused.refusal = contracts::ask_refusal::invalid_answer;
  refused.snapshot = two_questions();
  CHECK(told(core.answer_refused("local", refused)) == "say q0");
  core.ask_changed("local", ask);
  CHECK(say(core, "/to lab") == "log lab; prompt lab; allow");
  CHECK(told(core.asked("local", two_questions())) == "say [local] q0");
}

TEST_CASE("an open question does not hold the end up") {
  auto core = ready();
  core.asked("local", two_questions());
  CHECK(core.takes_lines());
  CHECK(told(core.drain(now)) == "cancel console:local");
  CHECK_FALSE(core.takes_lines());
}
