#include "adapters/console/frame_core.hpp"
#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace bureau;
using namespace bureau::console;
using contracts::frame_kind;

namespace {

struct frames {
  frame_core core;
  outbound what;

  frames() {
    what.conversation = {platform_id::console, "local"};
    what.message_id = "m1";
    what.run = "r1";
    core.begin("m1", "local", 3);
  }

  outbound saying(std::string text) const {
    auto result = what;
    result.text = std::move(text);
    return result;
  }

  outbound notice(std::string text) const {
    auto result = saying(std::move(text));
    result.content = outbound_content::notice;
    result.rank = outbound_class::control;
    return result;
  }

  closed_entry closing(std::string outcome) const {
    return {what.conversation, "local", "m1", std::move(outcome)};
  }

  /// Every line is a frame within the bound; answers its objects.
  static std::vector<boost::json::object> read(const std::string& lines) {
    std::vector<boost::json::object> result;
    std::string_view rest = lines;
    while (!rest.empty()) {
      auto end = rest.find('\n');
      REQUIRE(end != std::string_view::npos);
      CHECK(end + 1 <= contracts::frame_line_bytes);
      auto frame = contracts::parse_frame(rest.substr(0, end));
      REQUIRE(frame);
      result.push_back(*frame);
      rest.remove_prefix(end + 1);
    }
    return result;
  }

  static contracts::stream_frame only(const std::string& lines) {
    auto all = read(lines);
    REQUIRE(all.size() == 1);
    return contracts::read_frame(all[0]);
  }
};

} // namespace

TEST_CASE_FIXTURE(frames, "a turn is told in frames that name it") {
  CHECK(core.status(saying("Thinking…"))
        == "{\"kind\":\"status\",\"text\":\"Thinking…\",\"metadata\":{"
           "\"messageId\":\"m1\",\"conversationId\":\"console:local\","
           "\"runId\":\"r1\",\"line\":3}}\n");
  CHECK(only(core.append(saying("Two "))).text.value_or("") == "Two ");
  CHECK(only(core.replace(saying("Three"))).kind == frame_kind::replace);
  contracts::stream_event call;
  call.kind = contracts::stream_event_kind::tool_call_started;
  call.id = "c1";
  call.name = "bash";
  CHECK(only(core.event(what, call)).event.name.value_or("") == "bash");
  auto last = only(core.answer(saying("Three matches.")));
  CHECK(last.kind == frame_kind::finish);
  CHECK(last.text.value_or("") == "Three matches.");
  CHECK(core.closed(closing("sent")).empty());
  CHECK(core.remembered() == 0);
}

TEST_CASE("how a turn ends that has no answer") {
  struct row {
    const char* name;
    const char* notice;
    const char* outcome;
    frame_kind kind;
    const char* text;
    bool cancelled;
  };
  for (const auto& [name, notice, outcome, kind, text, cancelled] : {
         row{"silence", "", "silent", frame_kind::finish, "", false},
         row{"a command", "Fresh session.", "command", frame_kind::finish,
             "Fresh session.", false},
         row{"read by another turn", "", "steered", frame_kind::finish, "",
             false},
         row{"stopped", "_Stopping…_", "stopped", frame_kind::error, "Stopped.",
             true},
         row{"replaced", "", "superseded", frame_kind::error,
             "A later message took the place of this one.", true},
         row{"interrupted", "_I was interrupted._", "interrupted",
             frame_kind::error, "I was interrupted.", false},
         row{"refused", "", "refused", frame_kind::error,
             "This message was not answered: refused.", false},
       }) {
    CAPTURE(std::string{name});
    frames at;
    if (*notice != '\0')
      CHECK(frames::only(*at.core.notice(at.notice(notice))).kind
            == frame_kind::status);
    auto last = frames::only(at.core.closed(at.closing(outcome)));
    CHECK(last.kind == kind);
    CHECK(last.text.value_or("") == text);
    CHECK(last.cancelled.value_or(false) == cancelled);
  }
}

TEST_CASE_FIXTURE(frames, "a turn ends once") {
  CHECK_FALSE(core.answer(saying("4")).empty());
  CHECK(core.answer(saying("4")).empty());
  CHECK(core.append(saying("late")).empty());
  CHECK(core.status(saying("late")).empty());
  CHECK_FALSE(core.notice(notice("late")));
  CHECK(core.closed(closing("stopped")).empty());
  CHECK_FALSE(core.notice(notice("later")));
}

TEST_CASE_FIXTURE(frames, "a message that was never open ends as well") {
  CHECK(only(core.settled("m1", "stopped", {})).kind == frame_kind::finish);
  core.begin("m2", "local", 4);
  auto refused = only(core.settled("m2", "denied", "Nobody knows you."));
  CHECK(refused.kind == frame_kind::error);
  CHECK(refused.code.value_or("") == "denied");
  CHECK(refused.text.value_or("") == "Nobody knows you.");
  CHECK(core.remembered() == 0);
}

TEST_CASE_FIXTURE(frames, "an answer in parts is one frame") {
  auto first = saying("one");
  first.parts = 2;
  CHECK(core.answer(first).empty());
  auto second = saying("two");
  second.part = 1;
  second.parts = 2;
  CHECK(only(core.answer(second)).text.value_or("") == "one\ntwo");
}

TEST_CASE_FIXTURE(frames, "what a program cannot be shown is beside the text") {
  auto last = saying("here it is");
  contracts::attachment_part file;
  file.id = "p1";
  file.artifact_id = std::string(32, 'a');
  file.name = "a.txt";
  file.media_type = "text/plain";
  file.size_bytes = 5;
  file.integrity_id = "sha256:" + std::string(64, '0');
  last.attached = {file};
  last.outcomes = contracts::unsupported_outcomes(last.attached);
  auto lines = core.answer(last);
  auto told = only(lines);
  CHECK(told.text.value_or("") == "here it is");
  CHECK(told.parts == last.attached);
  auto frame = read(lines)[0];
  auto outcomes =
    json::member(frame["metadata"].as_object(), "replyPartOutcomes");
  REQUIRE(outcomes != nullptr);
  CHECK(contracts::is_outcomes(*outcomes));
  CHECK(contracts::sanitize_outcomes(*outcomes) == last.outcomes);
}

TEST_CASE_FIXTURE(frames, "another attempt begins the text anew") {
  core.append(saying("first"));
  what.run = "r2";
  CHECK(only(core.append(saying("sec"))).kind == frame_kind::replace);
  CHECK(only(core.append(saying("ond"))).kind == frame_kind::append);
}

TEST_CASE_FIXTURE(frames, "no line is too long, and no delta is lost") {
  std::string text;
  while (text.size() < 300'000)
    text += "\x01é\xF0\x9F\x98\x80";
  auto joined = [](const std::string& lines) {
    std::string result;
    for (const auto& frame : read(lines))
      result += *contracts::read_frame(frame).text;
    return result;
  };
  CHECK(joined(core.append(saying(text))) == text);
  auto replaced = core.replace(saying(text));
  CHECK(joined(replaced) == text);
  CHECK(contracts::read_frame(read(replaced)[0]).kind == frame_kind::replace);
  CHECK(contracts::read_frame(read(replaced)[1]).kind == frame_kind::append);
  CHECK(only(core.status(saying(text))).text->ends_with("… [truncated]"));
  contracts::stream_event call;
  call.kind = contracts::stream_event_kind::tool_call_started;
  call.id = "c1";
  call.name = "write";
  call.arguments = json_text{json::print(boost::json::value(text))};
  auto told = only(core.event(what, call)).event;
  CHECK(told.id == "c1");
  CHECK(told.metadata.text == R"({"truncated":true})");
  call.arguments = {};
  call.content = json_text{json::print(boost::json::value(text))};
  call.kind = contracts::stream_event_kind::tool_call_completed;
  auto cut = only(core.event(what, call)).event;
  CHECK(cut.id == "c1");
  CHECK(cut.content.text.size() > 100'000);
  CHECK(cut.metadata.text == R"({"truncated":true})");
  contracts::stream_event telemetry;
  telemetry.kind = contracts::stream_event_kind::runtime_telemetry;
  telemetry.telemetry_kind = "run_ended";
  telemetry.data = json_text{json::print(boost::json::value(text))};
  CHECK(only(core.event(what, telemetry)).event.telemetry_kind
        == "oversized_event");
  auto last = core.answer(saying(text));
  CHECK(only(last).text->ends_with("… [truncated]"));
  CHECK(only(last).text->size() > 100'000);
  auto frame = read(last)[0];
  auto metadata = json::member(frame, "metadata");
  REQUIRE(metadata != nullptr);
  CHECK(json::text_or_empty(metadata->get_object(), "messageId") == "m1");
}

TEST_CASE_FIXTURE(frames, "turns are forgotten in the end, the oldest first") {
  for (auto i = 0; i < 3000; ++i)
    core.begin("x" + std::to_string(i), "local", 1);
  CHECK(core.remembered() == frame_turns);
}
