#include "adapters/models/lenient_json_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"
#include "tests/models/model_support.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace bureau;
using models::lenient_arguments;

namespace {

struct row {
  const char* name;
  std::string text;
  std::string value;
};

const row rows[] = {
  {"nothing", "", "{}"},
  {"white space", " \n\t", "{}"},
  {"strict", R"({"a":1,"b":[true,null]})", R"({"a":1,"b":[true,null]})"},
  {"strict with space around", " {\"a\":1}\n", R"({"a":1})"},
  {"a key that is cut", R"({"path":"a.txt","con)", R"({"path":"a.txt"})"},
  {"a key without its value", R"({"path":"a.txt","con":)",
   R"({"path":"a.txt"})"},
  {"a key without its colon", R"({"path":"a.txt","con")",
   R"({"path":"a.txt"})"},
  {"a trailing comma at the end", R"({"a":1,)", R"({"a":1})"},
  {"true is completed", R"({"a":tru)", R"({"a":true})"},
  {"false is completed", R"({"a":f)", R"({"a":false})"},
  {"null is completed", R"([n)", R"([null])"},
  {"an invalid escape", R"({"a":"C:\q"})", R"({"a":"C:\\q"})"},
  {"no JSON", "nonsense", "{}"},
  {"open containers", R"({"a":{"b":[1,{"c":"d)",
   R"({"a":{"b":[1,{"c":"d"}]}})"},
  {"an open string", R"({"a":"hel)", R"({"a":"hel"})"},
  {"an open string in an array", R"(["x","y)", R"(["x","y"])"},
  {"an escape that is cut", R"({"a":"x\)", R"({"a":"x"})"},
  {"a \\u that is cut", R"({"a":"x\u00)", R"({"a":"x"})"},
  {"half a pair that is cut", R"({"a":"x\ud83d)", R"({"a":"x"})"},
  {"a pair whose second half is cut", R"({"a":"x\ud83d\ude)", R"({"a":"x"})"},
  {"a whole pair", R"({"a":"x\ud83d\ude00)", R"({"a":"x😀"})"},
  {"a number that is cut", R"({"a":12)", R"({"a":12})"},
  {"a fraction that is cut", R"({"a":12.)", R"({"a":12})"},
  {"an exponent that is cut", R"({"a":1.5e)", R"({"a":1.5})"},
  {"a signed exponent that is cut", R"({"a":1.5e-)", R"({"a":1.5})"},
  {"a lone minus", R"({"b":1,"a":-)", R"({"b":1})"},
  {"an empty object that is cut", "{", "{}"},
  {"an empty array that is cut", R"({"a":[)", R"({"a":[]})"},
  {"a raw line feed in a string", "{\"a\":\"x\ny\"}", R"({"a":"x\ny"})"},
  {"a raw tab in an open string", "{\"a\":\"x\ty", R"({"a":"x\ty"})"},
  {"an invalid \\u", R"({"a":"\u12zz"})", R"({"a":"\\u12zz"})"},
  {"half a pair in a whole string", R"({"a":"\ud83d!"})", R"({"a":"�!"})"},
  {"a backslash before the end", R"({"a":"C:\)", R"({"a":"C:"})"},
  {"text after the value", R"({"a":1} and so on)", R"({"a":1})"},
  {"two values", R"({"a":1}{"a":2})", R"({"a":1})"},
  {"a comma too many", R"({"a":1,,"b":2})", "{}"},
  {"a colon missing", R"({"a" 1})", "{}"},
  {"the wrong bracket", R"({"a":[1})", "{}"},
  {"single quotes", "{'a':1}", "{}"},
  {"not an object", "5", "5"},
  {"not an object, open", R"("ab)", R"("ab")"},
  {"a wrong literal", R"({"a":tru})", "{}"},
};

std::string deep(size_t depth, std::string_view open) {
  std::string result;
  for (size_t i = 0; i < depth; ++i)
    result += open;
  return result;
}

} // namespace

TEST_CASE("arguments of every kind become one JSON value") {
  for (const auto& x : rows) {
    CAPTURE(x.name);
    CAPTURE(x.text);
    auto result = lenient_arguments(x.text).text;
    CAPTURE(result);
    CHECK(test::same_json(result, x.value));
  }
}

TEST_CASE("every prefix of arguments is completed, and grows") {
  const std::string whole =
    R"({"path":"ä/😀.txt","edits":[{"old":"a\nb","new":"\"\\"},{"n":-1.5e3,)"
    R"("t":true,"z":null}],"flag":false})";
  size_t longest = 0;
  for (size_t size = 0; size <= whole.size(); ++size) {
    auto prefix = text::utf8_stream{}.feed(whole.substr(0, size));
    auto result = json::parse(lenient_arguments(prefix).text);
    CAPTURE(prefix);
    REQUIRE(result);
    CHECK(result.value.is_object());
    longest = std::max(longest, json::print(result.value).size());
  }
  CHECK(test::same_json(lenient_arguments(whole).text, whole));
  CHECK(longest >= json::print(json::parse(whole).value).size());
}

TEST_CASE("nesting without end is no argument") {
  CHECK(lenient_arguments(deep(100'000, "[")).text == "{}");
  CHECK(lenient_arguments(deep(100'000, "{\"a\":")).text == "{}");
  CHECK(json::parse(lenient_arguments(deep(200, "[")).text));
}

TEST_CASE("a megabyte of broken text ends long before the suite's deadline") {
  // A square law would need an hour for it.
  std::string text = R"({"a":")";
  while (text.size() < (1u << 20))
    text += "\\qx\ny\\u12";
  CHECK(lenient_arguments(text).text.size() > text.size());
  std::string nested;
  while (nested.size() < (1u << 20))
    nested += "[1,[2,[3]],";
  CHECK(lenient_arguments(nested).text == "{}");
}

TEST_CASE("random damage never yields anything but JSON") {
  test::seeded_entropy chance{7};
  const std::string whole =
    R"({"a":"x\"y\u00e9","b":[1,2.5,{"c":null}],"d":true})";
  for (int round = 0; round < 3000; ++round) {
    auto text = whole;
    for (auto edits = chance.next() % 4 + 1; edits > 0; --edits) {
      auto at = chance.next() % text.size();
      if (chance.next() % 3 == 0)
        text.erase(at, 1);
      else
        text[at] = static_cast<char>(chance.next());
      if (text.empty())
        break;
    }
    CAPTURE(text);
    CHECK(json::parse(lenient_arguments(text).text));
  }
}
