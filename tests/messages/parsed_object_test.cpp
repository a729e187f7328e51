#include "messages/codec/json_support.hpp"
#include "messages/contracts/stream_frame.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace bureau;
using contracts::parsed_object;

namespace {

std::string nested(const std::string& open, const std::string& close,
                   size_t levels) {
  std::string text = R"({"kind":"x","a":)";
  for (size_t i = 0; i < levels; ++i)
    text += open;
  text += "1";
  for (size_t i = 0; i < levels; ++i)
    text += close;
  return text + "}";
}

} // namespace

TEST_CASE("deep values come whole and end well") {
  for (const auto& [open, close] :
       {std::pair{"[", "]"}, std::pair{"{\"m\":", "}"},
        std::pair{"[0,\"x\",{\"m\":[", "]},1,[[]]]"}}) {
    auto levels = std::string_view{open} == "[" ? size_t{200} : size_t{60};
    auto line = nested(open, close, levels);
    CAPTURE(line);
    auto frame = contracts::parse_frame(line);
    REQUIRE(frame);
    CHECK(json::print(*frame) == line);
    // A copy is one's own.
    auto copy = *frame;
    {
      auto moved = std::move(*frame);
      CHECK(json::print(moved) == line);
    }
    CHECK(json::print(copy) == line);
    // So is what is taken out as a plain object.
    boost::json::object plain = std::move(copy);
    CHECK(json::print(plain) == line);
  }
}

TEST_CASE("shallow values are left to end as they do") {
  auto frame = contracts::parse_frame(R"({"kind":"x","a":[[1],{"b":[]}]})");
  REQUIRE(frame);
  CHECK(frame->size() == 2);
  parsed_object empty{boost::json::object{}};
  CHECK(empty.empty());
}
