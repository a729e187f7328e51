#include "config/config_view.hpp"
#include "messages/contracts/config_readers.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::config;
using contracts::config_source;
using contracts::config_view_field;

namespace {

settings_document settings(const std::string& text) {
  auto file = parse_settings(text, "settings.json", settings_file_kind::global);
  REQUIRE(file.fault == "");
  return file.value;
}

config_view_field field(const std::vector<config_view_section>& sections,
                        const std::string& id) {
  for (const auto& section : sections)
    for (const auto& item : section.fields)
      if (item.id == id)
        return item;
  FAIL("no field " << id);
  return {};
}

bool active(const std::vector<config_view_section>& sections,
            const std::string& id) {
  for (const auto& section : sections)
    if (section.id == id)
      return section.active;
  FAIL("no section " << id);
  return false;
}

} // namespace

TEST_CASE("a value comes from the environment, the file or the default") {
  auto view = config_view(environment{{{"BUREAU_LINK_PORT", "9000"}}},
                          settings(R"({"web":{"port":1,"host":"localhost"}})"));
  auto port = field(view, "web.port");
  CHECK(port.value == "9000");
  CHECK(port.source == config_source::env);
  CHECK(port.env_key == std::string{"LINK_PORT"});
  CHECK_FALSE(port.redacted);
  auto host = field(view, "web.host");
  CHECK(host.value == "localhost");
  CHECK(host.source == config_source::json);
  auto mode = field(view, "queue.mode");
  CHECK(mode.value == "follow-up");
  CHECK(mode.source == config_source::fallback);
  CHECK_FALSE(mode.env_key);
  CHECK(field(view, "web.url").value.empty());
}

TEST_CASE("of a secret nothing is told but whether it is set") {
  auto view =
    config_view(environment{{{"OPENAI_API_KEY", "TOPSECRET"}}},
                settings(R"({"platforms":{"telegram":{"token":"TOPSECRET"}},
                             "llm":{"apiKeys":{"lab":"TOPSECRET"}}})"));
  for (auto id :
       {"llm.apiKeys.openai", "platforms.telegram.token", "llm.apiKeys.lab"}) {
    CAPTURE(id);
    auto told = field(view, id);
    CHECK(told.value == "set");
    CHECK(told.redacted);
  }
  CHECK(field(view, "web.metricsToken").value == "unset");
  CHECK(config_text(view).find("TOPSECRET") == std::string::npos);
  CHECK(config_json(view).find("TOPSECRET") == std::string::npos);
}

TEST_CASE("a secret that is set to nothing is not set") {
  using contracts::redacted_secret_value;
  CHECK(contracts::redacted_secret("x") == redacted_secret_value{true});
  CHECK(contracts::redacted_secret("") == redacted_secret_value{false});
  CHECK(contracts::redacted_secret({}) == redacted_secret_value{false});
}

TEST_CASE("sections are active or not") {
  auto view = config_view(environment{{}}, settings("{}"));
  CHECK(active(view, "queue"));
  CHECK_FALSE(active(view, "web"));
  // Nothing in this build can speak it.
  CHECK_FALSE(active(view, "platforms.slack"));
  CHECK(active(config_view(environment{{{"LINK_PORT", "0"}}}, settings("{}")),
               "web"));
  auto text = config_text(view);
  CHECK(text.find("Slack [platforms.slack] — inactive\n") != std::string::npos);
  CHECK(text.find("  queue.cap ") != std::string::npos);
}
