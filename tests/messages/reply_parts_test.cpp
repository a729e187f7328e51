#include "messages/contracts/reply_parts.hpp"

#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

namespace {

bj::value value_of(std::string_view text) {
  auto parsed = json::parse(text);
  REQUIRE(parsed);
  return parsed.value;
}

const std::string file_json =
  R"({"type":"attachment","id":"p1","reference":{"scheme":"mono-agent-artifact","id":"a1"},)"
  R"("name":"r.pdf","mediaType":"application/pdf","sizeBytes":12,"integrityId":"sha256:)"
  + std::string(64, '0') + R"("})";

const std::string failure_json =
  R"({"type":"failure","id":"p3","code":"artifact_missing","message":"gone"})";

std::vector<delivery_outcome> failures(size_t count) {
  return {count,
          {delivery_part_type::failure, part_failure_code::artifact_missing}};
}

} // namespace

TEST_CASE("a part survives the wire") {
  for (
    const auto& text :
    {file_json, failure_json,
     std::string{
       R"({"type":"mcp_app","id":"p","invocationId":"i","connectionId":"c","serverName":"s",)"
       R"("toolName":"t","resourceUri":"ui://x","mediaType":"text/html;profile=mcp-app",)"
       R"("protocolVersion":"2025-11-21","title":"T","expiresAt":"2026-01-02T03:04:05.000Z"})"},
     std::string{R"({"type":"future","id":"x","any":[1,{"deep":null}]})"},
     std::string{"5"}}) {
    CAPTURE(text);
    CHECK(to_json(parse_reply_part(value_of(text))) == value_of(text));
  }
  auto part = parse_reply_part(value_of(file_json));
  CHECK(caf::get_if<attachment_part>(&part) != nullptr);
}

TEST_CASE("a malformed part of a known type is an unknown one") {
  for (auto [from, to] : {std::pair{"\"p1\"", "\"\""},
                          {"\"p1\"", "7"},
                          {"mono-agent-artifact", "file"},
                          {"\"a1\"", "null"},
                          {":12", ":-1"},
                          {":12", ":1.5"},
                          {":12", ":\"12\""},
                          {"sha256:0", "sha256:G"},
                          {"sha256:0", "sha256:"},
                          {"\"name\"", "\"Name\""}}) {
    CAPTURE(from);
    CAPTURE(to);
    auto text = file_json;
    text.replace(text.find(from), std::string_view{from}.size(), to);
    auto part = parse_reply_part(value_of(text));
    CHECK(caf::get_if<unknown_part>(&part) != nullptr);
    CHECK(unsupported_outcomes(std::vector{part}).front()
          == delivery_outcome{});
  }
}

TEST_CASE("an unknown failure code stays a failure") {
  auto part =
    parse_reply_part(value_of(R"({"type":"failure","id":"p","code":"new"})"));
  auto failed = caf::get_if<failed_part>(&part);
  REQUIRE(failed != nullptr);
  CHECK(failed->code == part_failure_code::unsupported_destination);
}

TEST_CASE("a part that is too large keeps its place only") {
  bj::object huge{{"type", "future"}, {"text", std::string(3u << 20, 'x')}};
  auto part = parse_reply_part(huge);
  CHECK(to_json(part).is_null());
}

TEST_CASE("lines for what was not delivered") {
  using strings = std::vector<std::string>;
  struct row {
    caf::optional<std::string> text;
    strings parts;
    caf::optional<std::string> expected;
  };
  std::string failed = "⚠️ Reply part failed (artifact_missing): gone";
  const row rows[] = {
    {std::string{"hi"}, {}, std::string{"hi"}},
    {caf::none, {}, caf::none},
    {std::string{}, {failure_json}, failed},
    {caf::none, {failure_json}, failed},
    {std::string{"hi"},
     {failure_json, failure_json},
     "hi\n\n" + failed + "\n" + failed},
    {std::string{"hi"},
     {R"({"type":"future"})"},
     std::string{"hi\n\n⚠️ A part of this reply cannot be shown on this "
                 "destination."}},
  };
  for (const auto& row : rows) {
    std::vector<reply_part> parts;
    for (const auto& text : row.parts)
      parts.push_back(parse_reply_part(value_of(text)));
    CHECK(append_reply_part_fallback(row.text, parts) == row.expected);
    CHECK(append_reply_part_fallback(row.text, parts,
                                     unsupported_part_fallback::none)
          == row.text);
  }
}

TEST_CASE("outcomes are bounded") {
  for (size_t count : {1u, 19u, 20u})
    CHECK(sanitize_outcomes(to_json(failures(count))) == failures(count));
  auto many = sanitize_outcomes(to_json(failures(27)));
  REQUIRE(many.size() == 20);
  CHECK(many.back().affected_parts == 8);
  CHECK(message_of(many.back())
        == "Additional reply parts exceeded the bounded delivery outcome "
           "limit.");
  CHECK(sanitize_outcomes(to_json(many)) == many);
  CHECK(is_outcomes(to_json(many)));
}

TEST_CASE("a huge list of outcomes costs twenty looks") {
  bj::array list(5'000'000, bj::value());
  auto outcomes = sanitize_outcomes(list);
  REQUIRE(outcomes.size() == 20);
  CHECK(outcomes.back().affected_parts == 4'999'981);
  CHECK(unsupported_outcomes(bj::value(list)) == outcomes);
  CHECK_FALSE(is_outcomes(list));
}

TEST_CASE("only exact outcomes are outcomes") {
  auto good = to_json(failures(1));
  CHECK(is_outcomes(good));
  auto with = [&good](const char* name, bj::value value) {
    auto list = good;
    list[0].as_object()[name] = std::move(value);
    return list;
  };
  CHECK(is_outcomes(with("partIndex", 0.0)));
  CHECK_FALSE(is_outcomes(with("partIndex", 1)));
  CHECK_FALSE(is_outcomes(with("partIndex", "0")));
  CHECK_FALSE(is_outcomes(with("partIndex", nullptr)));
  CHECK_FALSE(is_outcomes(with("extra", 1)));
  CHECK_FALSE(is_outcomes(with("status", "Failed")));
  CHECK_FALSE(is_outcomes(with("code", "future_code")));
  CHECK_FALSE(is_outcomes(with("message", bj::array{})));
  CHECK_FALSE(is_outcomes(with("affectedPartCount", 4)));
}

TEST_CASE("the stored form of outcomes") {
  CHECK(
    json::print(outcome_envelope(failures(1)))
    == R"({"schemaVersion":1,"replyPartOutcomes":[{"partIndex":0,"partType":"failure",)"
       R"("status":"failed","code":"artifact_missing",)"
       R"("message":"Reply part failed before destination delivery."}]})");
}
