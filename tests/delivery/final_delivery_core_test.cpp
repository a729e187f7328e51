#include "actors/delivery/final_delivery_core.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau::delivery;

namespace {

std::string told(const delivery_step& step) {
  if (auto next = std::get_if<call>(&step)) {
    const auto& what = next->what;
    auto result = what.op == call_op::post ? std::string{"post"}
                  : what.op == call_op::upload
                    ? "upload[" + what.file->name + "]"
                    : "edit[" + what.ref + "]";
    if (!what.continues.empty())
      result += "<" + what.continues + ">";
    return result + (what.content.markdown ? " * " : " ") + what.content.text;
  }
  if (auto pause = std::get_if<wait>(&step))
    return "wait " + std::to_string(pause->ms);
  if (auto fault = std::get_if<delivery_error>(&step))
    return "failed " + std::to_string(fault->attempts) + " "
           + to_string(fault->disposition);
  return "done";
}

call_outcome fine(std::string ref) {
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

delivery_rules rules(int64_t attempts = 1) {
  delivery_rules result;
  result.attempts = attempts;
  return result;
}

} // namespace

TEST_CASE("dispositions of an answer that did not arrive") {
  struct row {
    const char* name;
    call_outcome head;
    call_outcome last_resort;
    const char* want;
  };
  using kind = send_outcome;
  const row rows[] = {
    {"certainly nothing arrived", fails(kind::fatal), fails(kind::fatal),
     "failed 1 permanent"},
    {"it may be tried again", fails(kind::fatal), fails(kind::retry),
     "failed 1 retryable"},
    {"only the last failure may be tried again", fails(kind::retry),
     fails(kind::fatal), "failed 1 permanent"},
    {"something may have arrived", fails(kind::retry),
     fails(kind::retry, false), "failed 1 unknown"},
    {"something may have arrived at first", fails(kind::fatal, false),
     fails(kind::retry), "failed 1 unknown"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    live_message head;
    final_delivery delivery{rules(), text_pieces({"x"})};
    CHECK(told(delivery.start(head)) == "post * x");
    CHECK(told(delivery.answered(head, row.head)) == "post x");
    CHECK(told(delivery.answered(head, row.last_resort)) == row.want);
    CHECK(head.answer_attempted);
  }
}

TEST_CASE("an answer that stands there already needs no call") {
  live_message head;
  head.ref = "m1";
  head.last = shown_text{"x", true, content_kind::answer};
  final_delivery delivery{rules(), text_pieces({"x", "y"})};
  CHECK(told(delivery.start(head)) == "post<m1> * y");
}

TEST_CASE("waits grow to their cap; the transport may name its own") {
  live_message head;
  auto bounded = rules(5);
  bounded.base_delay_ms = 30;
  bounded.delay_cap_ms = 100;
  bounded.asked_cap_ms = 100;
  final_delivery delivery{bounded, text_pieces({"x"})};
  delivery.start(head);
  auto late = fails(send_outcome::retry);
  CHECK(told(delivery.answered(head, late)) == "wait 30");
  CHECK(told(delivery.waited(head)) == "post * x");
  CHECK(told(delivery.answered(head, late)) == "wait 60");
  delivery.waited(head);
  CHECK(told(delivery.answered(head, late)) == "wait 100");
  delivery.waited(head);
  late.retry_after_ms = 7;
  CHECK(told(delivery.answered(head, late)) == "wait 7");
  delivery.waited(head);
  CHECK(told(delivery.answered(head, late)) == "post x");
  late.retry_after_ms = 1'000'000;
  CHECK(told(delivery.answered(head, late)) == "wait 100");
}

TEST_CASE("a message that is gone is replaced by a new one") {
  live_message head;
  head.ref = "m1";
  auto with_status = rules(2);
  with_status.placeholder = "Thinking…";
  final_delivery delivery{with_status, text_pieces({"x"})};
  CHECK(told(delivery.start(head)) == "edit[m1] * x");
  CHECK(told(delivery.answered(head, fails(send_outcome::recreate)))
        == "post * x");
  CHECK(told(delivery.answered(head, fine("m2"))) == "done");
  CHECK(head.ref == "m2");
}

TEST_CASE("the status comes first where nothing stands yet") {
  live_message head;
  auto with_status = rules(2);
  with_status.placeholder = "Thinking…";
  final_delivery delivery{with_status, text_pieces({"x"})};
  CHECK(told(delivery.start(head)) == "post Thinking…");
  SUBCASE("it is no attempt of its own") {
    CHECK(told(delivery.answered(head, fine("m1"))) == "edit[m1] * x");
    CHECK(told(delivery.answered(head, fails(send_outcome::retry)))
          == "wait 500");
  }
  SUBCASE("its failure is one") {
    CHECK(told(delivery.answered(head, fails(send_outcome::retry)))
          == "wait 500");
    CHECK(told(delivery.waited(head)) == "post Thinking…");
    CHECK(told(delivery.answered(head, fails(send_outcome::retry)))
          == "post x");
  }
}

TEST_CASE("an abort ends the delivery without an error") {
  live_message head;
  final_delivery delivery{rules(3), text_pieces({"x", "y"})};
  delivery.start(head);
  SUBCASE("while it waits") {
    delivery.answered(head, fails(send_outcome::retry));
    delivery.abort();
    CHECK(told(delivery.waited(head)) == "done");
  }
  SUBCASE("what arrives arrives, nothing follows it") {
    delivery.abort();
    CHECK(told(delivery.answered(head, fine("m1"))) == "done");
    CHECK(head.ref == "m1");
  }
  SUBCASE("what fails is not repeated") {
    delivery.abort();
    CHECK(told(delivery.answered(head, fails(send_outcome::recreate)))
          == "done");
  }
  SUBCASE("behind the head") {
    delivery.answered(head, fine("m1"));
    delivery.abort();
    CHECK(told(delivery.answered(head, fails(send_outcome::fatal))) == "done");
  }
}

TEST_CASE("the rest of an answer hangs on its head") {
  live_message head;
  final_delivery delivery{rules(2), text_pieces({"x", "y", "z"})};
  delivery.start(head);
  CHECK(told(delivery.answered(head, fine("m1"))) == "post<m1> * y");
  CHECK(told(delivery.answered(head, fails(send_outcome::reformat_plain)))
        == "post<m1> y");
  CHECK(told(delivery.answered(head, fine("m2"))) == "post<m1> * z");
  CHECK(told(delivery.answered(head, fails(send_outcome::fatal)))
        == "failed 2 unknown");
}

TEST_CASE("what was not changed stands there, unless it is new") {
  live_message head;
  head.ref = "m1";
  final_delivery delivery{rules(), text_pieces({"x", "y"})};
  delivery.start(head);
  auto unchanged = fails(send_outcome::not_modified);
  CHECK(told(delivery.answered(head, unchanged)) == "post<m1> * y");
  CHECK(told(delivery.answered(head, unchanged)) == "failed 1 unknown");
}

// -- recorded deliveries ------------------------------------------------------

namespace {

delivery_rules recorded(int64_t attempts = 2) {
  auto result = rules(attempts);
  result.recorded = true;
  return result;
}

answer_piece file(const std::string& name) {
  answer_piece result;
  result.file = bureau::contracts::attachment_part{};
  result.file->name = name;
  result.line = "no " + name;
  return result;
}

} // namespace

TEST_CASE("a recorded post that may have arrived is not repeated") {
  live_message head;
  final_delivery delivery{recorded(), text_pieces({"x", "y"})};
  delivery.start(head);
  SUBCASE("not even once") {
    CHECK(told(delivery.answered(head, fails(send_outcome::retry, false)))
          == "failed 2 unknown");
    CHECK(delivery.piece() == 0);
  }
  SUBCASE("nor as a last resort") {
    CHECK(told(delivery.answered(head, fails(send_outcome::fatal, false)))
          == "failed 2 unknown");
  }
  SUBCASE("nor behind the head") {
    delivery.answered(head, fine("m1"));
    CHECK(told(delivery.answered(head, fails(send_outcome::retry, false)))
          == "failed 2 unknown");
    CHECK(delivery.piece() == 1);
  }
}

TEST_CASE("what has no second effect is repeated") {
  live_message head;
  auto patient = recorded(2);
  auto uncertain = fails(send_outcome::fatal, false);
  SUBCASE("an edit") {
    head.ref = "m1";
    final_delivery delivery{patient, text_pieces({"x"})};
    CHECK(told(delivery.start(head)) == "edit[m1] * x");
    CHECK(told(delivery.answered(head, uncertain)) == "wait 500");
    CHECK(told(delivery.waited(head)) == "edit[m1] * x");
    CHECK(told(delivery.answered(head, uncertain)) == "failed 2 retryable");
  }
  SUBCASE("a post where the platform drops a second one") {
    patient.drops_repeats = true;
    final_delivery delivery{patient, text_pieces({"x"})};
    delivery.start(head);
    CHECK(told(delivery.answered(head, uncertain)) == "wait 500");
  }
}

TEST_CASE("a recorded answer that fails for now keeps, at every piece") {
  live_message head;
  final_delivery delivery{recorded(1), text_pieces({"x", "y"})};
  delivery.start(head);
  SUBCASE("the head") {
    CHECK(told(delivery.answered(head, fails(send_outcome::retry)))
          == "failed 1 retryable");
  }
  SUBCASE("the rest") {
    delivery.answered(head, fine("m1"));
    CHECK(told(delivery.answered(head, fails(send_outcome::retry)))
          == "failed 1 retryable");
  }
  SUBCASE("what can never arrive does not") {
    CHECK(told(delivery.answered(head, fails(send_outcome::fatal)))
          == "post x");
    CHECK(told(delivery.answered(head, fails(send_outcome::fatal)))
          == "failed 1 permanent");
  }
}

TEST_CASE("a recorded delivery goes on where another one ended") {
  live_message head;
  head.ref = "m1";
  auto later = recorded();
  later.first = 1;
  final_delivery delivery{later, text_pieces({"x", "y"})};
  CHECK(told(delivery.start(head)) == "post<m1> * y");
  CHECK(told(delivery.answered(head, fine("m2"))) == "done");
  CHECK(delivery.piece() == delivery.pieces());
  CHECK(head.ref == "m1");
}

TEST_CASE("a file that cannot be uploaded becomes a line") {
  live_message head;
  SUBCASE("behind the text") {
    final_delivery delivery{recorded(),
                            {{"x", caf::none, {}}, file("a"), file("b")}};
    delivery.start(head);
    CHECK(told(delivery.answered(head, fine("m1"))) == "upload[a]<m1> * ");
    CHECK(told(delivery.answered(head, fails(send_outcome::fatal)))
          == "post<m1> no a");
    CHECK(told(delivery.answered(head, fine("m2"))) == "upload[b]<m1> * ");
    CHECK(told(delivery.answered(head, fine("m3"))) == "done");
  }
  SUBCASE("alone") {
    final_delivery delivery{recorded(), {file("a")}};
    CHECK(told(delivery.start(head)) == "upload[a] * ");
    CHECK(told(delivery.answered(head, fails(send_outcome::fatal)))
          == "post no a");
    CHECK(told(delivery.answered(head, fine("m1"))) == "done");
    CHECK(head.ref == "m1");
  }
  SUBCASE("for now it only waits") {
    final_delivery delivery{recorded(), {file("a")}};
    delivery.start(head);
    CHECK(told(delivery.answered(head, fails(send_outcome::retry)))
          == "wait 500");
    CHECK(told(delivery.waited(head)) == "upload[a] * ");
    CHECK(told(delivery.answered(head, fails(send_outcome::retry)))
          == "failed 2 retryable");
  }
}

TEST_CASE("a wait that the transport asks for has a bound of its own") {
  live_message head;
  auto patient = recorded(9);
  patient.delay_cap_ms = 1000;
  patient.asked_cap_ms = 5000;
  final_delivery delivery{patient, text_pieces({"x"})};
  delivery.start(head);
  auto late = fails(send_outcome::retry);
  late.retry_after_ms = 4000;
  CHECK(told(delivery.answered(head, late)) == "wait 4000");
  delivery.waited(head);
  late.retry_after_ms = 9000;
  CHECK(told(delivery.answered(head, late)) == "wait 5000");
}

TEST_CASE("pieces of an answer fit as they are rendered") {
  auto escaped = [](std::string_view text) {
    std::string result;
    for (auto c : text)
      result += c == '&' ? "&amp;" : std::string(1, c);
    return result;
  };
  auto all = [](const std::vector<std::string>& chunks) {
    std::string result;
    for (const auto& chunk : chunks)
      result += chunk;
    return result;
  };
  SUBCASE("by proportion") {
    std::string text(400, '&');
    auto chunks = answer_chunks(text, 100, escaped);
    CHECK(all(chunks) == text);
    CHECK(std::all_of(chunks.begin(), chunks.end(), [&](const auto& chunk) {
      return escaped(chunk).size() <= 100;
    }));
  }
  SUBCASE("one character that never fits is sent as it is") {
    auto wide = [](std::string_view text) {
      return text.find('@') == text.npos ? std::string{text}
                                         : std::string(200, 'A');
    };
    auto text = std::string(300, 'x') + "@" + std::string(300, 'y');
    auto chunks = answer_chunks(text, 100, wide);
    CHECK(all(chunks) == text);
    CHECK(
      std::count_if(chunks.begin(), chunks.end(),
                    [&](const auto& chunk) { return wide(chunk).size() > 100; })
      == 1);
  }
  SUBCASE("without a measure") {
    CHECK(answer_chunks(std::string(70, 'x'), 32, nullptr).size() == 3);
  }
  SUBCASE("no piece is blank") {
    auto each = [](std::string_view text) {
      return std::string(text.size() * 40, 'A');
    };
    CHECK(answer_chunks("a b", 32, each) == std::vector<std::string>{"a", "b"});
  }
}
