#include "messages/codec/json_support.hpp"
#include "tests/conformance/cases.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace bureau;
using namespace bureau::conformance;

namespace {

bj::value decoded(std::string_view text) {
  auto parsed = json::parse(text);
  REQUIRE(parsed);
  return decode(parsed.value);
}

const registration test_functions[] = {
  {"testEcho",
   [](const bj::array& args) {
     return has_argument(args, 0) ? answer(args[0]) : nothing();
   }},
  {"testFail",
   [](const bj::array&) {
     return failure("some_class");
   }},
  {"testThrow",
   [](const bj::array&) -> outcome {
     throw std::runtime_error{"broken"};
   }},
};

report run(std::string_view text, const deviations& known = {}) {
  report result;
  check("cases", text, known, result);
  return result;
}

} // namespace

TEST_CASE("tags of the case files decode to the values they stand for") {
  CHECK(decoded(R"({"$":"str","unit":"ab","times":3})") == "ababab");
  CHECK(decoded(R"({"$":"cat","parts":["a",{"$":"str","unit":"b","times":2}]})")
        == "abb");
  CHECK(decoded(R"({"$":"repeat","count":2,"value":{"x":1}})")
        == decoded(R"([{"x":1},{"x":1}])"));
  CHECK(decoded(R"({"$":"sparse","length":3,"items":{"1":"b"}})")
        == decoded(R"([null,"b",null])"));
  CHECK(decoded(R"({"a":{"$":"undefined"},"b":{"$":"accessor"}})")
        == decoded(R"({"b":null})"));
  CHECK(decoded(R"({"$":"bytes","hex":"00ff"})")
        == bj::string{std::string_view{"\0\xff", 2}});
  CHECK(decoded(R"([{"$":"bigint","v":"4"}])").get_array()[0].is_object());
  CHECK(is_undefined(decoded(R"([{"$":"undefined"}])").get_array()[0]));
  CHECK(decoded(R"({"$":"num","v":"-Infinity"})").get_double() < 0);
}

TEST_CASE("values agree as the comparison rules say") {
  CHECK(agree(decoded("1"), decoded("1.0")));
  CHECK(agree(decoded(R"({"$":"num","v":"NaN"})"),
              decoded(R"({"$":"num","v":"NaN"})")));
  CHECK(agree(decoded(R"({"a":1,"b":2})"), decoded(R"({"b":2,"a":1})")));
  CHECK_FALSE(agree(decoded(R"({"a":null})"), decoded("{}")));
  CHECK_FALSE(agree(decoded("[1,2]"), decoded("[2,1]")));
  CHECK_FALSE(agree(decoded("\"1\""), decoded("1")));
  CHECK_FALSE(agree(decoded("true"), decoded("1")));
}

TEST_CASE("cases are counted as passed, failed and skipped") {
  auto result = run(R"({"id":"t/1","fn":"testEcho","args":[7],"want":7}
{"id":"t/2","fn":"testEcho","args":[7],"want":8}

{"id":"t/3","fn":"testFail","args":[],"throws":"some_class"}
{"id":"t/4","fn":"testFail","args":[],"throws":"other_class"}
{"id":"t/5","fn":"testEcho","args":[{"$":"undefined"}],"want":{"$":"undefined"}}
{"id":"t/6","fn":"testNobody","args":[],"want":1}
{"id":"t/7","fn":"testEcho","args":[1],"want":2,"deviates":true}
{"id":"t/8","fn":"testThrow","args":[],"want":2}
)");
  CHECK(result.passed == 3);
  CHECK(result.failed == 3);
  CHECK(result.skipped == 2);
  CHECK(result.unknown.at("testNobody") == 1);
  REQUIRE(result.failures.size() == 3);
  CHECK(result.failures[0] == "t/2 testEcho: wanted 8, got 7");
  CHECK(result.failures[2].find("broken") != std::string::npos);
}

TEST_CASE("a line that is no case fails and is named") {
  auto result = run("{\"id\":\"t/1\"\n[]\n{\"id\":\"t/2\",\"fn\":\"x\"}\n");
  CHECK(result.failed == 3);
  CHECK(result.failures[0] == "cases:1: not a JSON object");
  CHECK(result.failures[2] == "cases:3: not a case (id, fn, args)");
}

TEST_CASE("a deviation is skipped while it deviates and fails once it agrees") {
  auto differs = R"({"id":"t/1","fn":"testEcho","args":[7],"want":8})";
  auto agrees = R"({"id":"t/1","fn":"testEcho","args":[8],"want":8})";
  CHECK(run(differs, {{"t/1", "ours"}}).skipped == 1);
  CHECK(run(agrees, {{"t/1", "ours"}}).failed == 1);
}

TEST_CASE("the deviations file is checked") {
  struct row {
    const char* name;
    const char* text;
    bool good;
  };
  const row rows[] = {
    {"empty list", R"({"cases":[]})", true},
    {"one entry", R"({"cases":[{"id":"a/1","reason":"r"}]})", true},
    {"no reason", R"({"cases":[{"id":"a/1"}]})", false},
    {"twice", R"({"cases":[{"id":"a","reason":"r"},{"id":"a","reason":"r"}]})",
     false},
    {"not a list", R"({"cases":{}})", false},
    {"not JSON", "{", false},
  };
  for (auto& row : rows) {
    CAPTURE(row.name);
    deviations known;
    CHECK(read_deviations(row.text, known).empty() == row.good);
  }
}
