#include "web/http/response_writer.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using namespace bureau::web;
using namespace std::chrono_literals;

namespace {

/// Takes what it is told to take.
class scripted_sink final : public byte_sink {
public:
  outcome push(std::string_view bytes) override {
    if (!steps.empty()) {
      auto next = steps.front();
      steps.pop_front();
      next.count = std::min(next.count, bytes.size());
      text += bytes.substr(0, next.count);
      return next;
    }
    text += bytes;
    return {state::taken, bytes.size(), {}};
  }

  drain await_room(std::chrono::milliseconds patience) override {
    waited.push_back(patience);
    if (gate)
      gate->get_future().wait();
    return answer;
  }

  std::string text;
  std::deque<outcome> steps;
  std::vector<std::chrono::milliseconds> waited;
  drain answer = drain::room;
  /// The wait lasts until this is set.
  std::shared_ptr<std::promise<void>> gate;
};

constexpr byte_sink::outcome full{byte_sink::state::full, 0, {}};

struct writer_fixture {
  scripted_sink sink;
  std::vector<std::string> failures;

  response_writer_options options(size_t bytes = 0,
                                  std::chrono::milliseconds wait = 0ms) {
    response_writer_options result;
    result.max_pending_bytes = bytes;
    result.drain_timeout = wait;
    result.on_failure = [this](const std::string& sentence) {
      failures.push_back(sentence);
    };
    return result;
  }
};

} // namespace

TEST_CASE_FIXTURE(writer_fixture, "what the peer takes goes straight through") {
  response_writer writer{sink, options()};
  CHECK_FALSE(writer.write("one "));
  CHECK_FALSE(writer.write(""));
  CHECK_FALSE(writer.write("two"));
  CHECK(sink.text == "one two");
  CHECK(sink.waited.empty());
  CHECK(writer.pending() == 0);
  CHECK(failures.empty());
}

TEST_CASE_FIXTURE(writer_fixture, "a slow peer is waited for") {
  sink.steps = {{byte_sink::state::taken, 3, {}},
                full,
                {byte_sink::state::taken, 2, {}},
                full};
  response_writer writer{sink, options()};
  CHECK_FALSE(writer.write("slowly"));
  CHECK(sink.text == "slowly");
  REQUIRE(sink.waited.size() == 2);
  CHECK(sink.waited[0] <= response_drain_timeout);
}

TEST_CASE_FIXTURE(writer_fixture, "a peer that does not read ends the writer") {
  sink.steps = {full};
  sink.answer = byte_sink::drain::late;
  response_writer writer{sink, options(0, 7ms)};
  auto fault = writer.write("x");
  REQUIRE(fault);
  CHECK(*fault == "The client did not read for 7 ms.");
  CHECK(sink.waited.front() <= 7ms);
  // The first failure stays, and is told once.
  CHECK(writer.write("y") == fault);
  CHECK(writer.write_all("z") == fault);
  CHECK(failures == std::vector<std::string>{*fault});
  CHECK(sink.text.empty());
}

TEST_CASE_FIXTURE(writer_fixture, "a peer that is gone ends the writer") {
  sink.steps = {{byte_sink::state::broken, 0, "Broken pipe"}};
  response_writer writer{sink, options()};
  CHECK(writer.write("x") == std::optional<std::string>{"Broken pipe"});
  sink.steps = {full};
  sink.answer = byte_sink::drain::broken;
  response_writer other{sink, options()};
  CHECK(other.write("x"));
  CHECK(failures.size() == 2);
}

TEST_CASE_FIXTURE(writer_fixture,
                  "more than may wait fails it, and what waits with it") {
  sink.steps = {full};
  sink.gate = std::make_shared<std::promise<void>>();
  response_writer writer{sink, options(10)};
  auto first = std::async(std::launch::async,
                          [&writer] { return writer.write("123456"); });
  while (writer.pending() < 6)
    std::this_thread::yield();
  auto fault = writer.write("78901");
  REQUIRE(fault);
  CHECK(fault->find("10 bytes") != std::string::npos);
  sink.gate->set_value();
  // It had begun; it ends with the failure all the same.
  CHECK(first.get() == fault);
  CHECK(writer.write("x") == fault);
  CHECK(failures.size() == 1);
  CHECK(writer.pending() == 0);
}

TEST_CASE_FIXTURE(writer_fixture, "one frame may be too large by itself") {
  response_writer writer{sink, options(10)};
  CHECK(writer.write("12345678901"));
  response_writer other{sink, options(10)};
  // In pieces it is not.
  CHECK_FALSE(other.write_all("12345678901"));
  CHECK(sink.text == "12345678901");
}

TEST_CASE_FIXTURE(writer_fixture, "writes keep their order") {
  response_writer writer{sink, options()};
  std::vector<std::future<void>> threads;
  for (auto name : {'a', 'b', 'c'})
    threads.push_back(std::async(std::launch::async, [&writer, name] {
      for (auto i = 0; i < 50; ++i)
        writer.write(std::string(3, name));
    }));
  for (auto& thread : threads)
    thread.get();
  REQUIRE(sink.text.size() == 450);
  // No write was torn apart.
  for (size_t i = 0; i < sink.text.size(); i += 3) {
    CHECK(sink.text[i] == sink.text[i + 1]);
    CHECK(sink.text[i] == sink.text[i + 2]);
  }
}
