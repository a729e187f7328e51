#include "messages/contracts/bearer.hpp"

#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

struct counting_entropy : entropy {
  uint64_t value = 0;
  uint64_t next() override { return ++value; }
};

} // namespace

TEST_CASE("a token is 32 bytes of chance") {
  counting_entropy source;
  CHECK(generate_bearer_token(source)
        == "0000000000000001000000000000000200000000000000030000000000000004");
  CHECK(source.value == 4);
}

TEST_CASE("tokens are equal byte by byte") {
  CHECK(bearer_tokens_equal("", ""));
  CHECK(bearer_tokens_equal("日本", "日本"));
  CHECK_FALSE(bearer_tokens_equal("abc", "abd"));
  CHECK_FALSE(bearer_tokens_equal("abc", "ABC"));
  CHECK_FALSE(bearer_tokens_equal("abc", "abcabc"));
  CHECK_FALSE(bearer_tokens_equal("abé", "abc"));
  using namespace std::string_literals;
  CHECK_FALSE(bearer_tokens_equal("a\0b"s, "a\0c"s));
}

TEST_CASE("the token of a header") {
  struct row {
    const char* value;
    std::optional<std::string> expected;
  };
  const row rows[] = {
    {"Bearer xyz", "xyz"},
    {"bearer  xyz ", "xyz"},
    {"BEARER a b", "a b"},
    {"Bearer \tx\n", "x"},
    {"bearer\txyz", {}},
    {" Bearer x", {}},
    {"Bearer   ", {}},
    {"Bearer", {}},
    {"", {}},
    {"Basic x", {}},
    {"Bearer: x", {}},
    {"Bearerx", {}},
    {"bearer Bearer x", "Bearer x"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.value);
    CHECK(read_authorization_bearer(row.value) == row.expected);
  }
  CHECK_FALSE(read_authorization_bearer(std::nullopt));
}

TEST_CASE("credentials are not handed on") {
  boost::json::object headers{{"Authorization", "a"},
                              {"COOKIE", "b"},
                              {"set-cookie", boost::json::array{"c", "d"}},
                              {"Proxy-Authorization", "e"},
                              {"X-Api-Key", "f"},
                              {"X-Trace", "g"},
                              {"x-api-key ", "kept"},
                              {"Accept", boost::json::array{"h", "i"}}};
  CHECK(json::print(sanitize_inbound_http_headers(headers))
        == R"({"X-Trace":"g","x-api-key ":"kept","Accept":["h","i"]})");
}
