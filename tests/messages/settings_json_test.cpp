#include "messages/contracts/settings_json.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/errc.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

bj::object object_of(std::string_view text) {
  return json::parse(text).value.as_object();
}

/// Text of a file after a change.
std::string patched(std::optional<std::string_view> current,
                    settings_patch patch) {
  auto result = patched_settings_text(current, patch, "/s.json");
  REQUIRE(result);
  return result->text;
}

} // namespace

TEST_CASE("what a settings file holds") {
  auto missing = parse_settings_json(std::nullopt, "/s.json");
  REQUIRE(missing);
  CHECK(missing->missing);
  CHECK(missing->version.empty());
  CHECK(missing->json.empty());
  auto empty = parse_settings_json("{}", "/s.json");
  REQUIRE(empty);
  CHECK_FALSE(empty->missing);
  CHECK(empty->version
        == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  auto blank = parse_settings_json(" \n", "/s.json");
  REQUIRE(blank);
  CHECK(blank->json.empty());
  CHECK(blank->version != empty->version);
  CHECK(blank->version.size() == 64);
}

TEST_CASE("a settings file that cannot be read names itself") {
  for (auto text : {"[]", "{", "null", "5", "\"x\"", "{} {}", "\xEF\xBB\xBF{}",
                    "{\"a\":\xff}", "{a:1}", "{\"a\":\"\\ud800\"}"}) {
    CAPTURE(text);
    auto parsed = parse_settings_json(text, "/s.json");
    REQUIRE_FALSE(parsed);
    CHECK(code_of(parsed.error()) == errc::bad_config);
    auto sentence = sentence_of(parsed.error());
    CHECK(sentence.starts_with("invalid_json_source: /s.json"));
    CHECK_FALSE(patched_settings_text(text, {}, "/s.json"));
  }
  CHECK(sentence_of(parse_settings_json("{\n \"a\": x", "/s.json").error())
          .find("/s.json:2:7 is no JSON")
        != std::string::npos);
}

TEST_CASE("hostile settings files") {
  auto refused = [](const std::string& text) {
    return !parse_settings_json(text, "/s.json");
  };
  CHECK(refused(std::string(1'000'000, '[')));
  CHECK(
    refused("{\"a\":" + std::string(300, '[') + std::string(300, ']') + "}"));
  CHECK(refused(std::string(max_settings_bytes + 1, ' ')));
  // Twice the same member: the last one counts.
  CHECK(
    json::print(parse_settings_json(R"({"a":1,"b":2,"a":3})", "/s.json")->json)
    == R"({"a":3,"b":2})");
}

TEST_CASE("a change of a file that is not there") {
  auto result =
    patched_settings_text(std::nullopt, {object_of(R"({"a":1})"), {}}, "/s");
  REQUIRE(result);
  CHECK(result->text == "{\n  \"a\": 1\n}\n");
  CHECK(result->version
        == "5e36b6560513586ced65eca0e8b025fe88edbcab82ba2cb67a5fcb2d7b202383");
}

TEST_CASE("objects are merged, everything else replaces") {
  auto result = patched_settings_text(
    R"({"a":{"x":1}})", {object_of(R"({"a":{"y":2}})"), {}}, "/s");
  REQUIRE(result);
  CHECK(object_of(result->text) == object_of(R"({"a":{"x":1,"y":2}})"));
  CHECK(result->version
        == "b3a67bdbe5d38aa388277c7ffdc91ccaaaead34d1b5052050f025e2b30940c06");
  CHECK(patched(R"({"a":{"x":1},"b":[1],"c":3})",
                {object_of(R"({"b":[],"a":null,"d":{"e":{}}})"), {}})
        == "{\n  \"a\": null,\n  \"b\": [],\n  \"c\": 3,\n  \"d\": {\n"
           "    \"e\": {}\n  }\n}\n");
  CHECK(patched(R"({"a":5})", {object_of(R"({"a":{"x":0.5}})"), {}})
        == "{\n  \"a\": {\n    \"x\": 0.5\n  }\n}\n");
}

TEST_CASE("members keep their order") {
  CHECK(patched(R"({"z":1,"m":2,"a":3,"k":4})",
                {object_of(R"({"new":0,"m":5})"), {{"z"}}})
        == "{\n  \"m\": 5,\n  \"a\": 3,\n  \"k\": 4,\n  \"new\": 0\n}\n");
}

TEST_CASE("members go") {
  CHECK(patched(R"({"a":{"x":1}})", {{}, {{"a"}}}) == "{}\n");
  CHECK(patched(R"({"a":{"x":1,"y":2}})", {{}, {{"a", "x"}}})
        == "{\n  \"a\": {\n    \"y\": 2\n  }\n}\n");
  CHECK(patched(R"({"a":1})", {{}, {{}, {"b"}, {"a", "x"}, {"b", "c", "d"}}})
        == "{\n  \"a\": 1\n}\n");
}

TEST_CASE("a change that makes too much of a file is refused") {
  settings_patch patch;
  patch.set["a"] = std::string(max_settings_bytes, 'x');
  CHECK_FALSE(patched_settings_text("{}", patch, "/s"));
  bj::value deep = bj::object{};
  for (size_t i = 0; i < 5000; ++i) {
    bj::object around;
    around["a"] = std::move(deep);
    deep = std::move(around);
  }
  patch.set["a"] = std::move(deep);
  CHECK_FALSE(patched_settings_text("{}", patch, "/s"));
}

TEST_CASE("what is read of a file that is not there, and of one that is") {
  settings_json absent = *parse_settings_json(std::nullopt, "f");
  CHECK(absent.missing);
  CHECK(absent.version.empty());
  CHECK(absent.json.empty());
  settings_json empty = *parse_settings_json("{}", "f");
  CHECK_FALSE(empty.missing);
  CHECK(empty.version
        == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}
