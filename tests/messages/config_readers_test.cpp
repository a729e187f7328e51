#include "messages/contracts/config_readers.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/errc.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

/// Remembers what the reader said.
struct refusal {
  std::string sentence;
  config_fault fault;
  config_error_factory factory() {
    return [this](std::string text, const config_fault& what) {
      sentence = std::move(text);
      fault = what;
      return make_failure(errc::bad_config, sentence);
    };
  }
};

} // namespace

TEST_CASE("a variable set to nothing hides the JSON value") {
  std::vector<json_env_mapping> mappings{{"A", bj::value("j"), {}}};
  auto value = [&](const environment& env) {
    auto layered = layer_json_onto_env(env, mappings);
    return read_string(layered.at("A"), "d");
  };
  CHECK(value({{"A", ""}}) == "d");
  CHECK(value({{"A", "e"}}) == "e");
  CHECK(value({}) == "j");
}

TEST_CASE("JSON of a wrong type falls through") {
  std::vector<json_env_mapping> mappings{
    {"A", bj::value(5), env_encode_kind::string},
    {"B", bj::value("5"), env_encode_kind::integer},
    {"C", std::nullopt, {}},
    {"D", bj::value(bj::array{1}), env_encode_kind::csv},
    {"E", bj::value("first"), {}},
    {"E", bj::value(1), {}}};
  CHECK(layer_json_onto_env({{"X", "y"}}, mappings)
        == environment{{"D", ""}, {"E", "first"}, {"X", "y"}});
}

TEST_CASE("integers") {
  refusal refused;
  auto read = [&](const char* text, integer_bounds bounds = {}) {
    return read_integer(text, "N", 10, refused.factory(), bounds);
  };
  CHECK(read_integer(std::nullopt, "N", 10, refused.factory()) == int64_t{10});
  CHECK(read(" ") == int64_t{10});
  CHECK(read(" 007 ") == int64_t{7});
  CHECK(read("9223372036854775807") == INT64_MAX);
  CHECK(read("5", {1, 5}) == int64_t{5});
  for (auto bad : {"-1", "+1", "1.5", "0x1", "1e3", "1_000", "٣", "1 2", "NaN",
                   "9223372036854775808"})
    CHECK_FALSE_MESSAGE(read(bad), bad);
  CHECK_FALSE(read("6", {1, 5}));
  CHECK(refused.sentence == "N must be a whole number from 1 to 5");
  CHECK(refused.fault.env == "N");
  CHECK_FALSE(refused.fault.reason);
  CHECK_FALSE(read(std::string(1'000'000, '9').c_str()));
}

TEST_CASE("words") {
  refusal refused;
  CHECK(read_boolean(" true ", "B", false, refused.factory()) == true);
  CHECK(read_boolean("\uFEFF", "B", true, refused.factory()) == true);
  CHECK_FALSE(read_boolean("TRUE", "B", false, refused.factory()));
  CHECK(refused.fault.reason == "TRUE");
  CHECK(read_choice("b", "M", {"a", "b"}, "a", refused.factory()) == "b");
  CHECK_FALSE(read_choice("B", "M", {"a", "b"}, "a", refused.factory()));
  CHECK(refused.sentence == "M must be one of: a, b");
  CHECK_FALSE(read_required("\u3000", "R", refused.factory()));
  CHECK(refused.fault.env == "R");
  CHECK(read_csv(" a, ,b ") == std::vector<std::string>{"a", "b"});
  CHECK(read_csv(std::nullopt).empty());
  CHECK(read_csv(std::string(1'000'000, ',')).empty());
}

TEST_CASE("JSON values as variables") {
  struct row {
    bj::value value;
    env_encode_kind kind;
    std::optional<std::string> expected;
  };
  using enum env_encode_kind;
  const row rows[] = {
    {"", string, ""},
    {5, string, {}},
    {nullptr, string, {}},
    {false, boolean, "false"},
    {"true", boolean, {}},
    {-5, integer, "-5"},
    {2.0, integer, "2"},
    {1e21, integer, "1e+21"},
    {1.5, integer, {}},
    {std::numeric_limits<double>::infinity(), integer, {}},
    {std::numeric_limits<double>::quiet_NaN(), integer, {}},
    {UINT64_MAX, integer, "18446744073709551615"},
    {bj::array{1, "a"}, csv, "a"},
    {bj::array{"", "a", ""}, csv, ",a,"},
    {bj::array{}, csv, ""},
    {bj::array{bj::array{"a"}}, csv, ""},
    {bj::object{}, csv, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(json::print(row.value));
    CHECK(encode_json_env_value(row.value, row.kind) == row.expected);
  }
}

TEST_CASE("a secret is present or not") {
  CHECK(redacted_secret("x").present);
  CHECK(redacted_secret(" ").present);
  CHECK_FALSE(redacted_secret("").present);
  CHECK_FALSE(redacted_secret(std::nullopt).present);
  CHECK(json::print(to_json(redacted_secret("x")))
        == R"({"present":true,"redacted":true})");
}
