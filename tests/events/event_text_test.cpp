#include "actors/events/event_text_core.hpp"
#include "messages/errc.hpp"
#include "messages/identity/session_key.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::events;

namespace {

event_payload payload(const char* conversation,
                      caf::optional<std::string> platform = caf::none) {
  event_payload result;
  result.conversation_id = conversation;
  result.platform = std::move(platform);
  result.text = "look";
  return result;
}

conversation_kind kind_of(platform_id platform, const char* conversation) {
  auto target = target_of(payload(conversation), {platform});
  REQUIRE(target);
  return target->kind;
}

} // namespace

TEST_SUITE("texts and targets of events") {

  TEST_CASE("a platform is one of those in use") {
    std::vector<platform_id> one = {platform_id::slack};
    std::vector<platform_id> two = {platform_id::slack, platform_id::console};
    CHECK(target_of(payload("C1"), one)->conversation
          == office_address{platform_id::slack, "C1"});
    CHECK(target_of(payload("C1", std::string{" Slack "}), two)
            ->conversation.platform
          == platform_id::slack);
    CHECK_FALSE(target_of(payload("C1"), two));
    CHECK_FALSE(target_of(payload("C1"), {}));
    CHECK_FALSE(target_of(payload("C1", std::string{"irc"}), two));
    CHECK_FALSE(target_of(payload("a/b"), one));
    auto refused = target_of(payload("C1", std::string{"discord"}), one);
    CHECK(sentence_of(refused.error()).find("slack") != std::string::npos);
  }

  TEST_CASE("a kind that is not given shows in the id") {
    using enum conversation_kind;
    CHECK(kind_of(platform_id::slack, "D1") == direct);
    CHECK(kind_of(platform_id::slack, "C1") == shared);
    CHECK(kind_of(platform_id::telegram, "-5") == shared);
    CHECK(kind_of(platform_id::telegram, "5") == direct);
    CHECK(kind_of(platform_id::discord, "DM1") == direct);
    CHECK(kind_of(platform_id::discord, "99") == shared);
    CHECK(kind_of(platform_id::github, "x") == shared);
    auto told = payload("C1");
    told.kind = direct;
    CHECK(target_of(told, {platform_id::slack})->kind == direct);
  }

  TEST_CASE("a prompt says what kind of turn it is") {
    auto event = payload("C1");
    CHECK(prompt_of(event, {}).ends_with("\n\nEvent: look"));
    event.type = event_type::periodic;
    CHECK(prompt_of(event, {}).ends_with("\n\nTask: look"));
    CHECK(prompt_of(event, {}).find("[SILENT]") != std::string::npos);
    CHECK(prompt_of(event, {3, true})
            .ends_with("look\n\n(3 earlier runs were skipped.)"));
    event.type = event_type::one_shot;
    event.at = "2027-05-01T09:30:00+02:00";
    CHECK(prompt_of(event, {}).ends_with("\n\nReminder: look"));
    CHECK(prompt_of(event, {0, true})
            .starts_with("This reminder is late: it was due at "
                         "2027-05-01T09:30:00+02:00."));
  }

  TEST_CASE("a schedule has a session of its own") {
    office_address place{platform_id::slack, "C1"};
    CHECK(session_key_of(place, "daily.json") == "C1:event:daily");
    auto same = std::string(240, 'x');
    auto one = session_key_of(place, same + "1.json");
    auto two = session_key_of(place, same + "2.json");
    CHECK(one != two);
    CHECK(check_belongs(one, "C1") == key_fault::none);
    CHECK(check_belongs(session_key_of(place, "a:b\\c.json"), "C1")
          == key_fault::none);
  }
}
