#include "messages/codec/json_support.hpp"
#include "messages/contracts/settings_json.hpp"

#include <doctest/doctest.h>

#include <charconv>
#include <cstdint>
#include <string>

using namespace bureau;

TEST_CASE("a fraction is read as the nearest number there is") {
  auto read = [](const char* text) {
    auto parsed = json::parse(text);
    REQUIRE(parsed);
    REQUIRE(parsed.value.is_double());
    return parsed.value.get_double();
  };
  CHECK(read("-5E71") == -5e71);
  CHECK(read("0.2172839461E58") == 0.2172839461e58);
  CHECK(read("0.30000000000000004") == 0.30000000000000004);
  CHECK(read("10000000000018000000000000180000000000000000000")
        == 1.0000000000018e46);
  CHECK(read("2.0") == 2.0);
  CHECK(json::parse("1e400").fault.has_value()
        == json::parse("[1e400]").fault.has_value());
}

TEST_CASE("numbers survive printing and reading") {
  uint64_t state = 1;
  size_t changed = 0;
  for (size_t i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto number = static_cast<double>(state >> 11) / 9007199254740992.0;
    if (i % 2 == 1)
      number *= 1e30;
    char buffer[40];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
    auto parsed =
      json::parse(std::string_view{buffer, static_cast<size_t>(end - buffer)});
    REQUIRE(parsed);
    auto again = json::parse(json::print(parsed.value));
    changed += !parsed.value.is_double() || parsed.value.get_double() != number
                   || again.value != parsed.value
                 ? 1
                 : 0;
  }
  CHECK(changed == 0);
}

TEST_CASE("a change of settings changes no other number") {
  contracts::settings_patch patch;
  patch.set["x"] = "x";
  auto written =
    contracts::patched_settings_text(R"({"que":-5E71})", patch, "/s");
  REQUIRE(written);
  auto reread = contracts::parse_settings_json(written->text, "/s");
  REQUIRE(reread);
  CHECK(reread->json.at("que").as_double() == -5e71);
}

TEST_CASE("what has no text in JSON is printed as null") {
  auto value = json::parse(R"({"a":[1e400,-1e400,1]})").value;
  REQUIRE(value.is_object());
  CHECK(json::print(value) == R"({"a":[null,null,1]})");
  CHECK(json::parse(json::print_pretty(value)));
}
