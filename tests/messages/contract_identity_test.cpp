#include "messages/contracts/identity.hpp"

#include "messages/errc.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;
using namespace bureau::contracts;

TEST_CASE("conversation ids of sessions") {
  struct row {
    platform_id platform;
    const char* conversation;
    const char* key;
    const char* id;
  };
  const row rows[] = {
    {platform_id::telegram, "-5", "-5:7", "telegram:-5:7"},
    {platform_id::slack, "C1", "C1", "slack:C1"},
    {platform_id::discord, "a#b", "a#b:c", "discord:a#b:c"},
  };
  for (const auto& row : rows) {
    contract_conversation conversation{{row.platform, row.conversation},
                                       row.key};
    CHECK(contract_id(conversation.address, conversation.session_key)
          == row.id);
    auto parsed = parse_contract_id(row.id);
    REQUIRE(parsed);
    CHECK(*parsed == conversation);
  }
}

TEST_CASE("what is no conversation id") {
  using namespace std::string_literals;
  for (const auto& id :
       {""s, "slack"s, ":x"s, "slack:"s, "Slack:C1"s, "irc:C1"s, "slack:.."s,
        "slack:a/b"s, "slack:a\0b"s, "slack:\xff"s, "slack::x"s, "slack:C1:"s,
        "slack:"s + std::string(10'000, 'x')}) {
    CAPTURE(id);
    auto parsed = parse_contract_id(id);
    REQUIRE_FALSE(parsed);
    CHECK(code_of(parsed.error()) == errc::bad_identity);
  }
}

TEST_CASE("what can be delivered") {
  CHECK(is_deliverable_conversation("slack:C1", {"discord", "slack"}));
  CHECK_FALSE(is_deliverable_conversation("slack", {"slack"}));
  CHECK_FALSE(is_deliverable_conversation(":x", {""}));
  CHECK_FALSE(is_deliverable_conversation("slack:C1", {}));
  CHECK_FALSE(is_deliverable_conversation("Slack:C1", {"slack"}));
}
