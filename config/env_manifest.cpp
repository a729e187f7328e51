#include "config/env_manifest.hpp"

#include "messages/product.hpp"

#include <algorithm>
#include <array>

namespace bureau::config {

namespace {

using enum env_group;
constexpr auto required = env_need::required;
constexpr auto any_of = env_need::any_of;
constexpr auto opt = env_need::optional;

constexpr std::array manifest = {
  env_variable{"SLACK_APP_TOKEN", slack, required, true,
               "platforms.slack.appToken", "app-level token (xapp-)"},
  env_variable{"SLACK_BOT_TOKEN", slack, required, true,
               "platforms.slack.botToken", "bot token (xoxb-)"},
  env_variable{"SLACK_API_ROOT", slack, opt, false, "platforms.slack.apiRoot",
               "base URL of the Slack API"},
  env_variable{"SLACK_ALLOW_FROM", slack, opt, false,
               "platforms.slack.allowFrom", "user ids that may write, or *"},
  env_variable{"TELEGRAM_BOT_TOKEN", telegram, required, true,
               "platforms.telegram.token", "bot token from BotFather"},
  env_variable{"TELEGRAM_API_ROOT", telegram, opt, false,
               "platforms.telegram.apiRoot", "base URL of the Bot API"},
  env_variable{"TELEGRAM_ALLOW_FROM", telegram, opt, false,
               "platforms.telegram.allowFrom", "user ids that may write, or *"},
  env_variable{"DISCORD_BOT_TOKEN", discord, required, true,
               "platforms.discord.token", "bot token"},
  env_variable{"DISCORD_API_ROOT", discord, opt, false,
               "platforms.discord.apiRoot", "base URL of the Discord API"},
  env_variable{"DISCORD_ALLOW_FROM", discord, opt, false,
               "platforms.discord.allowFrom", "user ids that may write, or *"},
  env_variable{"GITHUB_APP_ID", github, required, false,
               "platforms.github.appId", "id of the GitHub App"},
  env_variable{"GITHUB_INSTALLATION_ID", github, required, false,
               "platforms.github.installationId", "installation to serve"},
  env_variable{"GITHUB_APP_PRIVATE_KEY", github, any_of, true,
               "platforms.github.privateKey", "private key; \\n is a newline"},
  env_variable{"GITHUB_APP_PRIVATE_KEY_PATH", github, any_of, false,
               "platforms.github.privateKeyPath",
               "file with the private key; wins over the key itself"},
  env_variable{"GITHUB_REPOS", github, opt, false, "platforms.github.repos",
               "comma list of owner/name; default: all installed"},
  env_variable{"GITHUB_POLL_INTERVAL", github, opt, false,
               "platforms.github.pollInterval", "seconds, default 60"},
  env_variable{"GITHUB_WEBHOOK_SECRET", github, opt, true,
               "platforms.github.webhookSecret", "secret of the webhook"},
  env_variable{"GITHUB_API_ROOT", github, opt, false,
               "platforms.github.apiRoot", "base URL of the GitHub API"},
  env_variable{"GITHUB_ALLOW_FROM", github, opt, false,
               "platforms.github.allowFrom", "logins that may write, or *"},
  env_variable{"ANTHROPIC_OAUTH_TOKEN", llm, opt, true,
               "llm.oauthTokens.anthropic", "Claude subscription token"},
  env_variable{"ANTHROPIC_API_KEY", llm, opt, true, "llm.apiKeys.anthropic",
               "Anthropic API key"},
  env_variable{"OPENAI_API_KEY", llm, opt, true, "llm.apiKeys.openai",
               "OpenAI API key"},
  env_variable{"GEMINI_API_KEY", llm, opt, true, "llm.apiKeys.google",
               "Google Gemini API key"},
  env_variable{"OPENROUTER_API_KEY", llm, opt, true, "llm.apiKeys.openrouter",
               "OpenRouter API key"},
  env_variable{"GROQ_API_KEY", llm, opt, true, "llm.apiKeys.groq",
               "Groq API key"},
  env_variable{"MISTRAL_API_KEY", llm, opt, true, "llm.apiKeys.mistral",
               "Mistral API key"},
  env_variable{"XAI_API_KEY", llm, opt, true, "llm.apiKeys.xai", "xAI API key"},
  env_variable{"DEEPSEEK_API_KEY", llm, opt, true, "llm.apiKeys.deepseek",
               "DeepSeek API key"},
  env_variable{"COPILOT_GITHUB_TOKEN", llm, opt, true,
               "llm.apiKeys.github-copilot", "GitHub Copilot token"},
  env_variable{"LINK_URL", link, opt, false, "web.url",
               "public https base of the portals"},
  env_variable{"LINK_PORT", link, opt, false, "web.port",
               "port of the portals; 0 = any free one"},
  env_variable{"LINK_HOST", link, opt, false, "web.host",
               "address to bind; other than loopback needs an https LINK_URL"},
  env_variable{"METRICS_TOKEN", link, opt, true, "web.metricsToken",
               "bearer of /metrics and /ready"},
  env_variable{"AGENT_EVENTS_TOKEN", link, opt, true, "web.agentEventsToken",
               "bearer of the agent event stream"},
  env_variable{"OAUTH_SERVICES_JSON", link, opt, false, "web.oauth.services",
               "further OAuth services, a JSON list"},
  env_variable{"GITHUB_OAUTH_CLIENT_ID", link, opt, false,
               "web.oauth.github.clientId", "OAuth client of GitHub"},
  env_variable{"GITHUB_OAUTH_CLIENT_SECRET", link, opt, true,
               "web.oauth.github.clientSecret", "its secret"},
  env_variable{"GITHUB_OAUTH_SCOPES", link, opt, false,
               "web.oauth.github.scopes", "scopes instead of the defaults"},
  env_variable{"GOOGLE_WORKSPACE_CLI_CLIENT_ID", link, opt, false,
               "web.oauth.googleWorkspaceCli.clientId",
               "OAuth client of Google Workspace"},
  env_variable{"GOOGLE_WORKSPACE_CLI_CLIENT_SECRET", link, opt, true,
               "web.oauth.googleWorkspaceCli.clientSecret", "its secret"},
  env_variable{"GOOGLE_WORKSPACE_CLI_OAUTH_SCOPES", link, opt, false,
               "web.oauth.googleWorkspaceCli.scopes",
               "scopes instead of the defaults"},
  env_variable{"GOOGLE_CLOUD_SDK_CLIENT_ID", link, opt, false,
               "web.oauth.googleCloudSdk.clientId",
               "OAuth client of the Google Cloud SDK"},
  env_variable{"GOOGLE_CLOUD_SDK_CLIENT_SECRET", link, opt, true,
               "web.oauth.googleCloudSdk.clientSecret", "its secret"},
  env_variable{"GOOGLE_CLOUD_SDK_OAUTH_SCOPES", link, opt, false,
               "web.oauth.googleCloudSdk.scopes",
               "scopes instead of the defaults"},
  env_variable{"CONTAINER_ENGINE", sandbox, opt, false,
               "sandbox.containerEngine", "docker or podman"},
  env_variable{"CLOUDFLARE_SANDBOX_URL", sandbox, opt, false,
               "sandbox.cloudflare.url", "bridge of the Cloudflare sandbox"},
  env_variable{"CLOUDFLARE_SANDBOX_TOKEN", sandbox, opt, true,
               "sandbox.cloudflare.token", "its token"},
  env_variable{"SENTRY_DSN", observability, opt, true, "sentry.dsn",
               "where error reports go; unset: nowhere"},
  env_variable{"SENTRY_ENVIRONMENT", observability, opt, false,
               "sentry.environment", "default production"},
  env_variable{"SENTRY_ENABLED", observability, opt, false, "sentry.enabled",
               "false switches error reports off"},
  env_variable{"HTTP_PROXY", network, opt, true, "http.proxy",
               "proxy of http requests"},
  env_variable{"HTTPS_PROXY", network, opt, true, "http.httpsProxy",
               "proxy of https requests"},
  env_variable{"NO_PROXY", network, opt, false, "http.noProxy",
               "comma list of hosts without proxy"},
  env_variable{"HTTP_IDLE_TIMEOUT", network, opt, false, "http.idleTimeoutMs",
               "ms of silence that end a model stream; 0 = never"},
  env_variable{"STATE_DIR", runtime, opt, false, "",
               "state directory, default ~/.bureau"},
  env_variable{"OPERATORS", runtime, opt, false, "operators",
               "comma list of platform:userId with operator rights"},
};

struct group_row {
  env_group group;
  std::string_view title;
  std::optional<platform_id> platform;
  std::string_view doc;
};

constexpr std::array groups = {
  group_row{slack, "Slack", platform_id::slack, ""},
  group_row{telegram, "Telegram", platform_id::telegram, ""},
  group_row{discord, "Discord", platform_id::discord, ""},
  group_row{github, "GitHub", platform_id::github, ""},
  group_row{llm, "Models", std::nullopt,
            "keys of the built-in providers; auth.json comes first"},
  group_row{link, "Portals", std::nullopt,
            "the web server runs when LINK_URL or LINK_PORT is set"},
  group_row{sandbox, "Sandbox", std::nullopt, ""},
  group_row{observability, "Observability", std::nullopt, ""},
  group_row{network, "Outbound HTTP", std::nullopt, ""},
  group_row{runtime, "Runtime", std::nullopt, ""},
};

/// Chat platforms with an adapter in this version; it has none yet.
constexpr std::array<platform_id, 0> spoken = {};

std::string padded(std::string_view text, size_t width) {
  std::string result{text};
  if (result.size() < width)
    result.resize(width, ' ');
  return result;
}

std::string attributes(const env_variable& row) {
  std::string words;
  if (row.need == required)
    words = "required";
  else if (row.need == any_of)
    words = "one of these";
  if (row.secret)
    words += words.empty() ? "secret" : ", secret";
  return words.empty() ? std::string{} : " [" + words + ']';
}

} // namespace

std::span<const env_variable> env_manifest() {
  return manifest;
}

const env_variable* find_env(std::string_view name) {
  for (const auto& row : manifest)
    if (row.name == name)
      return &row;
  return nullptr;
}

std::vector<std::string_view> env_names() {
  std::vector<std::string_view> result;
  for (const auto& row : manifest)
    result.push_back(row.name);
  return result;
}

std::optional<env_group> group_of(platform_id platform) {
  for (const auto& row : groups)
    if (row.platform == platform)
      return row.group;
  return std::nullopt;
}

std::vector<std::string> missing_credentials(platform_id platform,
                                             const env_presence& is_set) {
  std::vector<std::string> result;
  auto group = group_of(platform);
  std::string choices;
  auto chosen = false;
  for (const auto& row : manifest) {
    if (!group || row.group != *group)
      continue;
    if (row.need == required && !is_set(row.name))
      result.emplace_back(row.name);
    if (row.need == any_of) {
      choices += (choices.empty() ? "" : " | ") + std::string{row.name};
      chosen = chosen || is_set(row.name);
    }
  }
  if (!choices.empty() && !chosen)
    result.push_back(choices);
  return result;
}

bool has_any_credential(platform_id platform, const env_presence& is_set) {
  auto group = group_of(platform);
  for (const auto& row : manifest)
    if (group && row.group == *group && row.need != opt && is_set(row.name))
      return true;
  return false;
}

std::string env_report(const env_presence& is_set) {
  std::string result;
  for (const auto& group : groups) {
    result += group.title;
    if (group.platform && !is_spoken(*group.platform))
      result += " — not spoken by this version";
    else if (group.platform)
      result += missing_credentials(*group.platform, is_set).empty()
                  ? " — active"
                  : " — inactive";
    if (!group.doc.empty())
      result += " · " + std::string{group.doc};
    result += '\n';
    for (const auto& row : manifest)
      if (row.group == group.group)
        result += "  " + padded(row.name, 36) + ' '
                  + padded(is_set(row.name) ? "set" : "unset", 6)
                  + attributes(row) + "  " + std::string{row.doc} + '\n';
    result += '\n';
  }
  result += std::string{"Each name is also read with the prefix "}
            + product::env_prefix + ", and with " + product::legacy_env_prefix
            + " for compatibility.\n";
  return result;
}

std::string platform_recipe() {
  std::string result = "No platform tokens found. Set one of:\n";
  for (const auto& group : groups) {
    if (!group.platform)
      continue;
    std::string names;
    auto none = [](std::string_view) {
      return false;
    };
    for (const auto& name : missing_credentials(*group.platform, none))
      names += (names.empty() ? "" : " + ") + name;
    result += "  " + std::string{group.title} + ": " + names + '\n';
  }
  return result;
}

bool is_spoken(platform_id platform) {
  return std::find(spoken.begin(), spoken.end(), platform) != spoken.end();
}

std::string platform_title(platform_id platform) {
  for (const auto& row : groups)
    if (row.platform == platform)
      return std::string{row.title};
  return "Console";
}

} // namespace bureau::config
