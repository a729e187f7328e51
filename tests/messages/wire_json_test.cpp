#include "messages/contracts/wire_json.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/closed_object.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace bureau;
using namespace bureau::contracts;

TEST_CASE("numbers look as the peers print them") {
  struct row {
    double number;
    const char* expected;
  };
  const row rows[] = {
    {0.0, "0"},
    {-0.0, "0"},
    {0.5, "0.5"},
    {-0.25, "-0.25"},
    {1500, "1500"},
    {123.456, "123.456"},
    {1e20, "100000000000000000000"},
    {1e21, "1e+21"},
    {1.5e300, "1.5e+300"},
    {1e-6, "0.000001"},
    {1e-7, "1e-7"},
    {1.25e-9, "1.25e-9"},
    {5e-324, "5e-324"},
    {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
    {std::numeric_limits<double>::infinity(), "null"},
    {std::numeric_limits<double>::quiet_NaN(), "null"},
  };
  for (const auto& row : rows)
    CHECK(wire_number(row.number) == row.expected);
}

TEST_CASE("text is escaped as little as possible") {
  std::string out;
  append_wire_text(out,
                   std::string_view{"\b\f\n\r\t\"\\/\x1f\x7f\0é\u2028😀", 20});
  CHECK(out == "\"\\b\\f\\n\\r\\t\\\"\\\\/\\u001f\x7f\\u0000é\u2028😀\"");
  out.clear();
  append_wire_text(out, "a\xff\xed\xa0\x80");
  CHECK(out == "\"a\uFFFD\uFFFD\uFFFD\uFFFD\"");
}

TEST_CASE("the width of a character is what it takes") {
  for (char32_t c : {U'a', U'"', U'\\', U'\n', U'\x01', U'\x7f', U'é', U'日',
                     U'😀', U'\u2028', U'/'}) {
    std::string text;
    if (c < 0x80)
      text = static_cast<char>(c);
    else if (c == U'é')
      text = "é";
    else if (c == U'日')
      text = "日";
    else if (c == U'😀')
      text = "😀";
    else
      text = "\u2028";
    std::string out;
    append_wire_text(out, text);
    CHECK(out.size() == wire_width(c) + 2);
  }
}

TEST_CASE("printing stops at its limit") {
  bj::value value = bj::object{{"a", bj::array{1, 0.5, true, nullptr, "x"}},
                               {"e", bj::object{}}};
  auto text = print_wire(value, 1000);
  REQUIRE(text);
  CHECK(*text == R"({"a":[1,0.5,true,null,"x"],"e":{}})");
  CHECK(print_wire(value, text->size()));
  for (size_t limit = 0; limit < text->size(); ++limit)
    CHECK_FALSE(print_wire(value, limit));
  CHECK(*print_wire_pretty(value, 1000)
        == "{\n  \"a\": [\n    1,\n    0.5,\n    true,\n    null,\n    \"x\"\n"
           "  ],\n  \"e\": {}\n}");
}

TEST_CASE("printing stops at its depth") {
  bj::value value;
  for (size_t i = 0; i < 10'000; ++i)
    value = bj::array{std::move(value)};
  CHECK_FALSE(print_wire(value, 1'000'000));
  bj::value shallow;
  for (size_t i = 0; i < wire_depth; ++i)
    shallow = bj::array{std::move(shallow)};
  CHECK(print_wire(shallow, 1'000'000));
  CHECK(json::parse(*print_wire(shallow, 1'000'000)));
  shallow = bj::array{std::move(shallow)};
  CHECK_FALSE(print_wire(shallow, 1'000'000));
}

TEST_CASE("an instant has one form") {
  for (auto good :
       {"2026-01-02T03:04:05.000Z", "2024-02-29T23:59:59.999Z",
        "0000-01-01T00:00:00.000Z", "+010000-01-01T00:00:00.000Z",
        "-000001-12-31T00:00:00.000Z", "+275760-09-13T00:00:00.000Z",
        "-271821-04-20T00:00:00.000Z"})
    CHECK_MESSAGE(is_instant(good), good);
  for (auto bad : {"",
                   "2026-01-02",
                   "2026-01-02T03:04:05Z",
                   "2026-01-02T03:04:05.00Z",
                   "2026-01-02T03:04:05.0000Z",
                   "2026-01-02T03:04:05.000+00:00",
                   "2026-02-30T00:00:00.000Z",
                   "2025-02-29T00:00:00.000Z",
                   "2026-01-02T24:00:00.000Z",
                   "2026-01-02T03:60:05.000Z",
                   "2026-01-02T03:04:60.000Z",
                   "2026-13-02T03:04:05.000Z",
                   "2026-00-02T03:04:05.000Z",
                   "2026-01-02t03:04:05.000Z",
                   "2026-01-02T03:04:05.000z",
                   " 2026-01-02T03:04:05.000Z",
                   "2026-01-02T03:04:05.000Z ",
                   "+002026-01-02T03:04:05.000Z",
                   "-000000-01-01T00:00:00.000Z",
                   "+275760-09-13T00:00:00.001Z",
                   "-271821-04-19T23:59:59.999Z",
                   "+999999-01-01T00:00:00.000Z"})
    CHECK_FALSE_MESSAGE(is_instant(bad), bad);
}

TEST_CASE("a closed object takes exactly its members") {
  const bj::value value = bj::object{{"a", "x"}, {"n", 2.0}, {"z", nullptr}};
  SUBCASE("all of them") {
    closed_object reader{value};
    CHECK(reader.text("a", {3}) == "x");
    CHECK(reader.integer("n", 0, 5) == 2);
    CHECK_FALSE(reader.nullable_text("z", {3}));
    CHECK(reader.done());
  }
  SUBCASE("one is left") {
    closed_object reader{value};
    reader.text("a", {3});
    reader.integer("n", 0, 5);
    CHECK_FALSE(reader.done());
  }
  SUBCASE("null is not absent") {
    closed_object reader{value};
    reader.text("a", {3});
    reader.integer("n", 0, 5);
    reader.optional_text("z", {3});
    CHECK_FALSE(reader.done());
  }
  SUBCASE("no object") {
    closed_object reader{bj::value("x")};
    CHECK(reader.text("a", {3}).empty());
    CHECK_FALSE(reader.done());
  }
}

TEST_CASE("safe integers") {
  CHECK(safe_integer(bj::value(9007199254740991)) == 9007199254740991);
  CHECK(safe_integer(bj::value(-9007199254740991.0)) == -9007199254740991);
  CHECK_FALSE(safe_integer(bj::value(9007199254740992)));
  CHECK_FALSE(safe_integer(bj::value(1.5)));
  CHECK_FALSE(safe_integer(bj::value(uint64_t{1} << 63)));
  CHECK_FALSE(safe_integer(bj::value("1")));
  CHECK_FALSE(safe_integer(bj::value(true)));
}
