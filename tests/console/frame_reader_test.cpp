#include "adapters/console/frame_reader_core.hpp"

#include <doctest/doctest.h>

using namespace bureau::console;

namespace {

std::string about(const std::string& members, const std::string& id = "m1") {
  return "{" + members + R"(,"metadata":{"messageId":")" + id + "\"}}\n";
}

} // namespace

TEST_CASE("frames become the answer that they carry") {
  frame_reader reader;
  CHECK(reader.feed(about(R"("kind":"status","text":"Thinking…")"))
        == "· Thinking…\n");
  CHECK(reader.feed(about(R"("kind":"append","delta":"Two ")")).empty());
  CHECK(reader.feed(about(R"("kind":"append","delta":"matches.")")).empty());
  CHECK(reader.feed(about(R"("kind":"finish")")) == "Two matches.\n");
  CHECK(reader.finish().empty());
  CHECK_FALSE(reader.failed());
}

TEST_CASE("a final text takes the place of what came before") {
  frame_reader reader;
  reader.feed(about(R"("kind":"append","delta":"draft")"));
  reader.feed(about(R"("kind":"replace","text":"better")"));
  CHECK(reader.feed(about(R"("kind":"finish","finalText":"one\ntwo")"))
        == "one\ntwo\n");
}

TEST_CASE("messages are kept apart, and lines may come in pieces") {
  frame_reader reader;
  reader.feed(about(R"("kind":"append","delta":"a")", "m1"));
  auto line = about(R"("kind":"append","delta":"b")", "m2");
  for (auto c : line)
    CHECK(reader.feed({&c, 1}).empty());
  CHECK(reader.feed(about(R"("kind":"finish")", "m2")) == "b\n");
  CHECK(reader.feed(about(R"("kind":"finish")", "m1")) == "a\n");
}

TEST_CASE("failures are told and remembered") {
  frame_reader reader;
  CHECK(reader.feed(about(R"("kind":"error","message":"stopped")"))
        == "error: stopped\n");
  CHECK(reader.failed());
  frame_reader other;
  CHECK(other.feed("{nope\n").find("invalid_frame") != std::string::npos);
  CHECK(other.failed());
}

TEST_CASE("a stream that ends too soon is a failed turn") {
  frame_reader reader;
  reader.feed(about(R"("kind":"append","delta":"half")"));
  CHECK(reader.finish()
        == "half\nerror: the stream ended before the turn did (m1)\n");
  CHECK(reader.failed());
}

TEST_CASE("what a later version sends is passed over") {
  frame_reader reader;
  CHECK(reader.feed("{\"kind\":\"heartbeat\",\"at\":1}\n\n").empty());
  CHECK(reader.finish().empty());
  CHECK_FALSE(reader.failed());
}

TEST_CASE("answers cannot steer a terminal") {
  frame_reader reader;
  CHECK(reader.feed(about(R"("kind":"finish","finalText":"a\u001b[2Jb")"))
        == "a\uFFFD[2Jb\n");
}

TEST_CASE("a line that never ends costs a bounded amount of memory") {
  frame_reader reader;
  std::string much(1u << 20, 'x');
  for (auto i = 0; i < 10; ++i)
    CHECK(reader.feed(much).empty());
  CHECK(reader.feed("\n").find("too long") != std::string::npos);
  CHECK(reader.failed());
}
