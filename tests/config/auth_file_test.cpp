#include "config/auth_file.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::config;

namespace {

reading<auth_file> read(const std::string& text) {
  return parse_auth(text, "/s/auth.json");
}

} // namespace

TEST_CASE("keys, variables and sign-ins are read") {
  auto result = read(R"({
    "a":{"type":"api_key","key":" sk-1 "},
    "b":{"type":"api_key","env":{"B_KEY":"v","EMPTY":" "}},
    "c":{"type":"oauth","access":"acc","refresh":"ref","expires":1700000000000,
         "accountId":"x"}})");
  INFO(result.fault);
  REQUIRE(result);
  CHECK(result.warnings.empty());
  CHECK(result.value.find("a")->kind == credential_kind::api_key);
  CHECK(result.value.find("a")->key.reveal() == "sk-1");
  CHECK(result.value.find("b")->env.at("B_KEY").reveal() == "v");
  CHECK(result.value.find("b")->env.size() == 1);
  CHECK(result.value.find("c")->kind == credential_kind::oauth);
  CHECK(result.value.find("c")->access.reveal() == "acc");
  CHECK(result.value.find("c")->expires_ms == 1'700'000'000'000);
  CHECK(result.value.find("d") == nullptr);
}

TEST_CASE("a file that is no object is a fault") {
  CHECK(read("{\"a\":").fault.starts_with("/s/auth.json:1:6: Malformed"));
  CHECK(read("[]").fault.find("expected a JSON object") != std::string::npos);
}

TEST_CASE("entries of another kind are ignored with a warning") {
  for (auto entry : {"1", "{}", R"({"type":"magic"})", R"({"type":5})"}) {
    CAPTURE(std::string{entry});
    auto result = read(std::string{"{\"a\":"} + entry + '}');
    REQUIRE(result);
    CHECK(result.value.find("a") == nullptr);
    REQUIRE(result.warnings.size() == 1);
    CHECK(result.warnings[0].starts_with("/s/auth.json:1:6: the entry /a is "
                                         "ignored"));
  }
}

TEST_CASE(
  "a malformed credential still owns its provider and tells no secret") {
  for (auto entry :
       {R"({"type":"api_key","key":5,"x":"SECRET"})",
        R"({"type":"api_key","x":"SECRET"})", R"({"type":"api_key","key":" "})",
        R"({"type":"api_key","key":"SEC\nRET"})",
        R"({"type":"api_key","key":"SECRET","env":{"A":"SEC\rRET"}})",
        R"({"type":"oauth","access":"SECR\u0000ET","expires":1})",
        R"({"type":"api_key","key":"SECRET","env":[]})",
        R"({"type":"api_key","key":"SECRET","env":{"A":1}})",
        R"({"type":"oauth","access":"SECRET"})",
        R"({"type":"oauth","access":"SECRET","expires":"SECRET"})",
        R"({"type":"oauth","refresh":"SECRET","expires":1})"}) {
    CAPTURE(std::string{entry});
    auto result = read(std::string{"{\"p\":"} + entry + '}');
    REQUIRE(result);
    REQUIRE(result.value.find("p") != nullptr);
    CHECK(result.value.find("p")->kind == credential_kind::broken);
    CHECK(result.value.find("p")->key.empty());
    CHECK(result.value.find("p")->access.empty());
    REQUIRE_FALSE(result.warnings.empty());
    CHECK(result.warnings.back().find("the credential of p is not used: /p")
          != std::string::npos);
    for (const auto& warning : result.warnings)
      CHECK(warning.find("SECRET") == std::string::npos);
  }
}

TEST_CASE("an unknown key of an API key is warned about") {
  auto result = read(R"({"p":{"type":"api_key","key":"k",
    "baseUrl":"SECRET"}})");
  REQUIRE(result.warnings.size() == 1);
  CHECK(
    result.warnings[0]
    == "/s/auth.json:2:15: the key /p/baseUrl is unknown and has no effect. "
       "Correct its spelling or remove it.");
  CHECK(result.value.find("p")->key.reveal() == "k");
}
