#include "actors/harness/argument_core.hpp"
#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::harness;

namespace {

boost::json::value value_of(const std::string& text) {
  auto parsed = json::parse(text);
  REQUIRE(parsed);
  return parsed.value;
}

std::string coerced(const std::string& schema, const std::string& text) {
  auto value = value_of(text);
  coerce_arguments(value_of(schema), value);
  return json::print(value);
}

std::string faults(const std::string& schema, const std::string& text) {
  std::string result;
  for (const auto& fault : validate_arguments(value_of(schema), value_of(text)))
    result += (result.empty() ? "" : "; ") + fault.path + ": " + fault.problem;
  return result;
}

} // namespace

TEST_CASE("scalars are converted to the type the schema wants") {
  struct row {
    std::string schema;
    std::string before;
    const char* after;
  };
  const row rows[] = {
    {R"({"type":"integer"})", R"("5")", "5"},
    {R"({"type":"integer"})", R"("5.0")", "5E0"},
    {R"({"type":"integer"})", R"("5.5")", R"("5.5")"},
    {R"({"type":"integer"})", R"(" 5")", R"(" 5")"},
    {R"({"type":"integer"})", R"("")", R"("")"},
    {R"({"type":"integer"})", "true", "1"},
    {R"({"type":"integer"})", "null", "0"},
    {R"({"type":"number"})", R"("5.5")", "5.5E0"},
    {R"({"type":"number"})", R"("-3")", "-3"},
    {R"({"type":"number"})", R"("abc")", R"("abc")"},
    {R"({"type":"number"})", "false", "0"},
    {R"({"type":"boolean"})", R"("true")", "true"},
    {R"({"type":"boolean"})", R"("TRUE")", R"("TRUE")"},
    {R"({"type":"boolean"})", "1", "true"},
    {R"({"type":"boolean"})", "0", "false"},
    {R"({"type":"boolean"})", "2", "2"},
    {R"({"type":"boolean"})", "null", "false"},
    {R"({"type":"string"})", "5", R"("5")"},
    {R"({"type":"string"})", "5.5", R"("5.5")"},
    {R"({"type":"string"})", "5.0", R"("5")"},
    {R"({"type":"string"})", "true", R"("true")"},
    {R"({"type":"string"})", "null", R"("")"},
    {R"({"type":"string"})", "[1]", "[1]"},
    {R"({"type":"null"})", R"("")", "null"},
    {R"({"type":"null"})", "0", "null"},
    {R"({"type":"null"})", "false", "null"},
    {R"({"type":"null"})", R"("x")", R"("x")"},
    {R"({"type":"array"})", R"("a")", R"("a")"},
    {R"({"type":["integer","string"]})", R"("7")", R"("7")"},
    {R"({"type":["integer","null"]})", R"("7")", "7"},
    {R"({"type":["integer","boolean"]})", R"("true")", "true"},
    {R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", R"("7")", "7"},
    {R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", "null", "null"},
    {R"({"oneOf":[{"type":"boolean"},{"type":"integer"}]})", R"("12")", "12"},
    {R"({"anyOf":[{"type":"integer"},{"type":"boolean"}]})", R"("x")",
     R"("x")"},
    {R"({"allOf":[{"type":"integer"},{"minimum":1}]})", R"("3")", "3"},
    {R"({"type":"object","properties":{"a":{"type":"integer"}}})",
     R"({"a":"1","b":"2"})", R"({"a":1,"b":"2"})"},
    {R"({"type":"object","additionalProperties":{"type":"integer"}})",
     R"({"a":"1"})", R"({"a":1})"},
    {R"({"type":"array","items":{"type":"integer"}})", R"(["1",2])", "[1,2]"},
    {R"({"type":"object","properties":{"l":{"type":"array","items":)"
     R"({"type":"object","properties":{"n":{"type":"number"}}}}}})",
     R"({"l":[{"n":"4"}]})", R"({"l":[{"n":4}]})"},
    {"true", R"("x")", R"("x")"},
    {"{}", R"("x")", R"("x")"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.schema);
    CAPTURE(row.before);
    CHECK(coerced(row.schema, row.before) == row.after);
  }
}

TEST_CASE("what is wrong is named by its path") {
  struct row {
    std::string schema;
    std::string value;
    const char* expected;
  };
  const row rows[] = {
    {R"({"type":"object","required":["text"]})", "{}",
     "text: is required but missing"},
    {R"({"type":"object","properties":{"a":{"type":"object","required":)"
     R"(["b"]}}})",
     R"({"a":{}})", "a.b: is required but missing"},
    {R"({"type":"integer"})", "5.5", ": must be integer"},
    {R"({"type":"integer"})", "5.0", ""},
    {R"({"type":["string","null"]})", "5", ": must be string or null"},
    {R"({"type":"boolean"})", "2", ": must be boolean"},
    {R"({"type":"array","items":{"type":"string"}})", R"(["a",1])",
     "[1]: must be string"},
    {R"({"properties":{"l":{"items":{"required":["n"]}}}})",
     R"({"l":[{"n":1},{}]})", "l[1].n: is required but missing"},
    {R"({"properties":{"a":{}},"additionalProperties":false})",
     R"({"a":1,"b":2})", "b: is not a known property"},
    {R"({"additionalProperties":{"type":"string"}})", R"({"b":2})",
     "b: must be string"},
    {R"({"properties":{"a":{}}})", R"({"b":2})", ""},
    {R"({"enum":["a","b"]})", R"("c")", R"(: must be one of "a", "b")"},
    {R"({"enum":["a",1]})", "1.0", ""},
    {R"({"const":"a"})", R"("b")", R"(: must be "a")"},
    {R"({"minimum":1})", "0", ": must be >= 1"},
    {R"({"minimum":1})", "1", ""},
    {R"({"maximum":1.5})", "2", ": must be <= 1.5"},
    {R"({"exclusiveMinimum":1})", "1", ": must be > 1"},
    {R"({"exclusiveMaximum":1})", "1", ": must be < 1"},
    {R"({"minLength":2})", "\"\xC3\xA4\"", ": length must be >= 2"},
    {R"({"maxLength":1})", R"("ab")", ": length must be <= 1"},
    {R"({"minItems":1})", "[]", ": number of items must be >= 1"},
    {R"({"maxItems":1})", "[1,2]", ": number of items must be <= 1"},
    {R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "1",
     ": fits none of the allowed forms"},
    {R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "1",
     ": fits more than one of the allowed forms"},
    {R"({"allOf":[{"type":"number"},{"minimum":3}]})", "1", ": must be >= 3"},
    {R"({"properties":{"a":false}})", R"({"a":1})", "a: must not be given"},
    {R"({"unknownKeyword":7,"pattern":"x"})", R"("y")", ""},
    {R"("no schema")", "1", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.schema);
    CAPTURE(row.value);
    CHECK(faults(row.schema, row.value) == row.expected);
  }
}

TEST_CASE("arguments of a call: absent, broken, of another kind") {
  struct row {
    std::string schema;
    std::string received;
    const char* arguments;
    size_t faults;
  };
  const row rows[] = {
    {R"({"type":"object"})", "", "{}", 0},
    {R"({"type":"object","required":["a"]})", "", "{}", 1},
    {R"({"type":"object"})", R"({"a":)", "", 1},
    {R"({"type":"object"})", "[1]", "", 1},
    {R"({"type":"object"})", R"("text")", "", 1},
    {"", R"({"a":1})", R"({"a":1})", 0},
    {"not a schema", R"({"a":1})", R"({"a":1})", 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.schema);
    CAPTURE(row.received);
    auto checked =
      check_arguments(json_text{row.schema}, json_text{row.received});
    CHECK(checked.arguments.text == row.arguments);
    CHECK(checked.faults.size() == row.faults);
  }
}

TEST_CASE("a schema made to cost time is given up") {
  std::string schema = R"({"type":"null"})";
  for (auto i = 0; i < 14; ++i)
    schema = R"({"anyOf":[)" + schema + "," + schema + "]}";
  auto found = validate_arguments(value_of(schema), value_of("1"));
  REQUIRE_FALSE(found.empty());
  auto value = value_of("1");
  coerce_arguments(value_of(schema), value);
  CHECK(json::print(value) == "1");
}

TEST_CASE("the report lists the faults and what was received") {
  auto text =
    argument_report("echo", {{"text", "is required but missing"}, {{}, "bad"}},
                    json_text{R"({"a":1})"});
  CHECK(text
        == "The arguments of echo are not valid, so it did not run.\n"
           "- text: is required but missing\n"
           "- arguments: bad\n"
           "Received arguments:\n"
           "{\n  \"a\": 1\n}");
  auto raw = argument_report("echo", {}, json_text{"{broken"});
  CHECK(raw.find("{broken") != std::string::npos);
  auto huge = argument_report("echo", {}, json_text{std::string(9000, 'x')});
  CHECK(huge.size() < 4200);
}
