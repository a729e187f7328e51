#include "adapters/models/sse_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using models::sse_decoder;
using models::sse_event;

namespace {

std::vector<sse_event> decode(std::string_view bytes, size_t cut) {
  sse_decoder decoder;
  std::vector<sse_event> result;
  REQUIRE(decoder.feed(bytes.substr(0, cut), result));
  REQUIRE(decoder.feed(bytes.substr(cut), result));
  REQUIRE(decoder.finish(result));
  return result;
}

struct row {
  const char* name;
  std::string bytes;
  std::vector<sse_event> events;
};

const row rows[] = {
  {"a plain event", "data: x\n\n", {{"", "x", false}}},
  {"a named event", "event: ping\ndata: 1\n\n", {{"ping", "1", false}}},
  {"data without the space", "data:x\n\n", {{"", "x", false}}},
  {"one leading space is dropped, not two",
   "data:  x\n\n",
   {{"", " x", false}}},
  {"data lines are joined", "data: a\ndata: b\n\n", {{"", "a\nb", false}}},
  {"an empty data line counts", "data\ndata: b\n\n", {{"", "\nb", false}}},
  {"a comment is no event", ": hello\n\ndata: x\n\n", {{"", "x", false}}},
  {"unknown fields are ignored",
   "id: 3\nretry: 10\nfoo: y\ndata: x\n\n",
   {{"", "x", false}}},
  {"a name without data is no event", "event: ping\n\n", {}},
  {"a name does not outlive its event",
   "event: a\n\ndata: x\n\n",
   {{"", "x", false}}},
  {"CR LF ends lines",
   "data: a\r\n\r\ndata: b\r\n\r\n",
   {{"", "a", false}, {"", "b", false}}},
  {"CR ends lines",
   "data: a\r\rdata: b\r\r",
   {{"", "a", false}, {"", "b", false}}},
  {"mixed line ends",
   "data: a\r\ndata: b\r\n\ndata: c\n\r",
   {{"", "a\nb", false}, {"", "c", false}}},
  {"an event that the end cuts", "data: a\n", {{"", "a", true}}},
  {"a line that the end cuts", "data: a", {{"", "a", true}}},
  {"characters of several bytes", "data: añ€😀\n\n", {{"", "añ€😀", false}}},
  {"ill-formed bytes become U+FFFD",
   "data: a\xff\n\n",
   {{"", "a\xEF\xBF\xBD", false}}},
  {"a byte order mark is skipped",
   "\xEF\xBB\xBF"
   "data: x\n\n",
   {{"", "x", false}}},
  {"colons in the value stay", "data: a: b\n\n", {{"", "a: b", false}}},
  {"nothing at all", "", {}},
};

} // namespace

TEST_CASE("events are decoded the same wherever the bytes are cut") {
  for (const auto& x : rows) {
    CAPTURE(x.name);
    for (size_t cut = 0; cut <= x.bytes.size(); ++cut) {
      CAPTURE(cut);
      CHECK(decode(x.bytes, cut) == x.events);
    }
  }
}

TEST_CASE("an event longer than the bound stops the decoder") {
  std::vector<sse_event> events;
  SUBCASE("one line") {
    sse_decoder decoder{16};
    CHECK(decoder.feed("data: 1234567890", events));
    CHECK_FALSE(decoder.feed("x", events));
    CHECK_FALSE(decoder.feed("\n\n", events));
    CHECK_FALSE(decoder.finish(events));
  }
  SUBCASE("many lines") {
    sse_decoder decoder{16};
    CHECK(decoder.feed("data: 1234567\ndata: 1234567\n", events));
    CHECK_FALSE(decoder.feed("data: 1\n\n", events));
  }
  SUBCASE("the bound itself fits") {
    sse_decoder decoder{16};
    CHECK(decoder.feed("data: 1234567890\n\n", events));
    CHECK(events.size() == 1);
    return;
  }
  CHECK(events.empty());
}
