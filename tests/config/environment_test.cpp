#include "config/env_manifest.hpp"
#include "config/environment.hpp"
#include "config/models_file.hpp"
#include "config/settings_schema.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace bureau;
using namespace bureau::config;

namespace {

env_presence set_of(std::set<std::string, std::less<>> names) {
  return [names = std::move(names)](std::string_view name) {
    return names.contains(name);
  };
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> result(1);
  for (auto c : text) {
    if (c == '\n')
      result.emplace_back();
    else
      result.back() += c;
  }
  return result;
}

} // namespace

TEST_CASE("a variable is read trimmed, in three spellings, blank is unset") {
  environment env{{{"A", "  plain "},
                   {"BUREAU_A", "prefixed"},
                   {"B", " \t "},
                   {"BUREAU_B", "ours"},
                   {"MIKAN_B", "theirs"},
                   {"MIKAN_C", "old"},
                   {"D", ""}}};
  CHECK(env.text("A") == "plain");
  CHECK(env.text("B") == "ours");
  CHECK(env.text("C") == "old");
  CHECK_FALSE(env.find("D"));
  CHECK_FALSE(env.find("E"));
  CHECK(env.legacy_warnings({"A", "B", "C", "D"})
        == std::vector<std::string>{
          "MIKAN_C is read for compatibility; rename it to BUREAU_C."});
}

TEST_CASE("proxies are also read in lower case, after all other spellings") {
  environment env{{{"https_proxy", "http://low"}, {"state_dir", "/x"}}};
  CHECK(env.text("HTTPS_PROXY") == "http://low");
  CHECK_FALSE(env.find("STATE_DIR"));
  environment both{{{"http_proxy", "low"}, {"BUREAU_HTTP_PROXY", "up"}}};
  CHECK(both.text("HTTP_PROXY") == "up");
}

TEST_CASE("the process environment is copied entry by entry") {
  const char* entries[] = {"A=1", "B=x=y", "=odd", "novalue", "C=", nullptr};
  auto env = environment::capture(entries);
  CHECK(env.text("A") == "1");
  CHECK(env.text("B") == "x=y");
  CHECK_FALSE(env.find("novalue"));
  CHECK_FALSE(environment::capture(nullptr).find("A"));
}

TEST_CASE("every variable is declared once and has its setting") {
  std::set<std::string_view> seen;
  for (const auto& row : env_manifest()) {
    CAPTURE(std::string{row.name});
    CHECK(seen.insert(row.name).second);
    CHECK_FALSE(row.doc.empty());
    if (row.setting.empty()) {
      // The state directory is where the settings are.
      CHECK(row.name == "STATE_DIR");
      continue;
    }
    auto spec = find_setting(row.setting);
    REQUIRE(spec != nullptr);
    CHECK(spec->secret == (row.secret && row.name != "SENTRY_DSN"));
  }
  for (const auto& provider : builtin_models().file.providers)
    for (const auto& name : provider.env) {
      CAPTURE(std::string{name});
      CHECK(find_env(name) != nullptr);
      CHECK(find_env(name)->secret);
    }
  for (auto name : {"LINK_HOST", "METRICS_TOKEN", "AGENT_EVENTS_TOKEN",
                    "OAUTH_SERVICES_JSON", "CONTAINER_ENGINE", "OPERATORS",
                    "SLACK_API_ROOT", "GITHUB_WEBHOOK_SECRET", "HTTPS_PROXY",
                    "TELEGRAM_ALLOW_FROM", "COPILOT_GITHUB_TOKEN"}) {
    CAPTURE(std::string{name});
    CHECK(find_env(name) != nullptr);
  }
}

TEST_CASE("a platform needs all required variables and one of a choice") {
  auto github = platform_id::github;
  using names = std::vector<std::string>;
  CHECK(missing_credentials(platform_id::slack, set_of({"SLACK_APP_TOKEN"}))
        == names{"SLACK_BOT_TOKEN"});
  CHECK(missing_credentials(platform_id::slack,
                            set_of({"SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"}))
          .empty());
  CHECK(missing_credentials(github,
                            set_of({"GITHUB_APP_ID", "GITHUB_INSTALLATION_ID"}))
        == names{"GITHUB_APP_PRIVATE_KEY | GITHUB_APP_PRIVATE_KEY_PATH"});
  CHECK(missing_credentials(github,
                            set_of({"GITHUB_APP_ID", "GITHUB_INSTALLATION_ID",
                                    "GITHUB_APP_PRIVATE_KEY_PATH"}))
          .empty());
  CHECK(has_any_credential(github, set_of({"GITHUB_APP_ID"})));
  CHECK_FALSE(has_any_credential(github, set_of({"GITHUB_REPOS"})));
}

TEST_CASE("the report lists every variable and never a value") {
  auto text = env_report(set_of({"TELEGRAM_BOT_TOKEN", "OPENAI_API_KEY"}));
  auto lines = lines_of(text);
  auto has = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(has("Telegram — not spoken by this version"));
  CHECK(has("  TELEGRAM_BOT_TOKEN                   set    [required, secret]  "
            "bot token from BotFather"));
  CHECK(has("  SLACK_APP_TOKEN                      unset  [required, secret]  "
            "app-level token (xapp-)"));
  CHECK(has("  STATE_DIR                            unset   state directory, "
            "default ~/.bureau"));
  for (auto name : env_names())
    CHECK(text.find("  " + std::string{name} + ' ') != std::string::npos);
  CHECK(lines.at(lines.size() - 2).find("BUREAU_") != std::string::npos);
}

TEST_CASE("without a platform the recipe names what to set") {
  auto lines = lines_of(platform_recipe());
  CHECK(lines.at(0) == "No platform tokens found. Set one of:");
  CHECK(lines.at(1) == "  Slack: SLACK_APP_TOKEN + SLACK_BOT_TOKEN");
  CHECK(lines.at(2) == "  Telegram: TELEGRAM_BOT_TOKEN");
  CHECK(lines.at(4)
        == "  GitHub: GITHUB_APP_ID + GITHUB_INSTALLATION_ID + "
           "GITHUB_APP_PRIVATE_KEY | GITHUB_APP_PRIVATE_KEY_PATH");
}
