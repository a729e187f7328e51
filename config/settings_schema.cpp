#include "config/settings_schema.hpp"

#include "messages/limits.hpp"

#include <array>
#include <limits>

namespace bureau::config {

namespace {

using enum value_kind;
using enum lifecycle;
constexpr auto both = setting_scope::both;
constexpr auto global = setting_scope::global;
constexpr auto any_size = std::numeric_limits<int64_t>::max();

constexpr setting_spec secret_text_of(std::string_view path) {
  return {path, text, global, next_process, {}, {}, 0, 0, true};
}

constexpr setting_spec process_text(std::string_view path,
                                    std::string_view standard = {}) {
  return {path, text, global, next_process, standard};
}

constexpr setting_spec whole(std::string_view path, setting_scope scope,
                             lifecycle takes_effect, std::string_view standard,
                             int64_t min, int64_t max) {
  return {path, integer, scope, takes_effect, standard, {}, min, max};
}

/// A setting that this version accepts and does nothing with.
constexpr setting_spec inert(setting_spec spec, std::string_view actual = {}) {
  spec.inert = true;
  spec.actual = actual;
  return spec;
}

constexpr auto thinking_words = "off|minimal|low|medium|high|xhigh|max";

constexpr std::array schema = {
  // -- models
  // ------------------------------------------------------------------
  setting_spec{"llm.provider", text, both, runner_cache},
  setting_spec{"llm.model", text, both, runner_cache},
  setting_spec{"llm.thinkingLevel", choice, both, runner_cache, "off",
               thinking_words},
  inert(setting_spec{"llm.autoReply.provider", text, both, next_use}),
  inert(setting_spec{"llm.autoReply.model", text, both, next_use}),
  inert(setting_spec{"llm.fallbacks", object_list, both, runner_cache}),
  setting_spec{
    "llm.apiKeys", text_map, global, next_process, {}, {}, 0, 0, true},
  setting_spec{
    "llm.oauthTokens", text_map, global, next_process, {}, {}, 0, 0, true},
  // -- sandbox
  // -----------------------------------------------------------------
  process_text("sandbox.default", "bwrap:default"),
  setting_spec{"sandbox.network", choice, both, next_use, "none",
               "none|internet|host"},
  inert(setting_spec{"sandbox.cpus", text, both, next_use}),
  inert(setting_spec{"sandbox.memory", text, both, next_use}),
  inert(setting_spec{"sandbox.boost.cpus", text, both, next_use}),
  inert(setting_spec{"sandbox.boost.memory", text, both, next_use}),
  setting_spec{"sandbox.workspace.doorPolicy",
               choice,
               both,
               next_use,
               {},
               "isolated|trusted"},
  setting_spec{"sandbox.workspace.layout",
               choice,
               both,
               next_use,
               {},
               "conversation|shared-support|full"},
  setting_spec{
    "sandbox.image.workspaceMount", choice, both, next_use, {}, "private|full"},
  inert(setting_spec{"sandbox.defaultSharedVault", text, both, next_use}),
  setting_spec{"sandbox.bwrap.readOnly", text_list, global, next_process},
  inert(process_text("sandbox.gondolin.kernel")),
  inert(setting_spec{"sandbox.gondolin.accel", choice, global, next_process,
                     "tcg", "tcg|kvm"}),
  inert(process_text("sandbox.gondolin.memory")),
  inert(process_text("sandbox.containerEngine")),
  inert(process_text("sandbox.cloudflare.url")),
  inert(secret_text_of("sandbox.cloudflare.token")),
  // -- conversations
  // -----------------------------------------------------------
  setting_spec{"queue.mode", choice, both, next_use, "follow-up",
               "follow-up|steer|collect|interrupt|reject"},
  whole("queue.cap", both, next_use, "20", 1, 1000),
  setting_spec{"queue.overflow", choice, both, next_use, "refuse",
               "refuse|collect"},
  setting_spec{"output.mode", choice, both, next_use, "stream", "stream|final"},
  inert(setting_spec{"output.toolResults", choice, both, next_use, "none",
                     "none|full"},
        "none"),
  inert(setting_spec{"autoReply.enabled", boolean, both, next_use, "false"},
        "false"),
  inert(setting_spec{"autoReply.rules", text_list, both, next_use}),
  whole("history.recentDays", both, next_use, "14", 1, 3650),
  whole("history.maxTopLevelMessages", both, next_use, "200", 1, 100'000),
  whole("history.threadSeedTopLevel", both, next_use, "10", 0, 10'000),
  inert(setting_spec{"slack.replyMode", choice, both, next_use, "top-level",
                     "top-level|thread"}),
  inert(setting_spec{"packages", text_list, both, next_harness}),
  inert(setting_spec{"mcp.servers", object_map, both, next_harness}),
  // -- budgets
  // -----------------------------------------------------------------
  whole("budget.run.maxTokens", both, next_use, {}, 1, any_size),
  setting_spec{"budget.run.maxCostUsd", number, both, next_use},
  whole("budget.run.maxDurationMs", both, next_use, {}, 1, any_size),
  whole("budget.run.maxLlmCalls", both, next_use, {}, 1, any_size),
  whole("budget.event.maxTokens", both, next_use, {}, 1, any_size),
  setting_spec{"budget.event.maxCostUsd", number, both, next_use},
  whole("budget.event.maxDurationMs", both, next_use, {}, 1, any_size),
  whole("budget.event.maxLlmCalls", both, next_use, {}, 1, any_size),
  inert(whole("budget.officeDaily.maxTokens", both, next_use, {}, 1, any_size)),
  inert(setting_spec{"budget.officeDaily.maxCostUsd", number, both, next_use}),
  // -- process
  // -----------------------------------------------------------------
  whole("sessions.maxCached", global, next_process, "500", 1, 1'000'000),
  inert(whole("sessions.idleTimeoutMs", global, next_process, "3600000", 1000,
              86'400'000)),
  whole("shutdown.timeoutMs", global, next_process, "30000", 1000, 3'600'000),
  whole("intake.maxAgeHours", global, next_process, "24", 1, 8760),
  whole("intake.maxTextBytes", global, next_process, "262144", 1024,
        limits::journal_frame_bytes / 2),
  whole("events.catchUpHours", global, next_process, "24", 0, 8760),
  inert(setting_spec{"outbox.pacing", boolean, global, next_process, "true"}),
  inert(setting_spec{"observer.enabled", boolean, global, next_process, "true"},
        "false"),
  inert(setting_spec{"observer.always", boolean, global, next_process, "false"},
        "false"),
  inert(process_text("observer.bind", "127.0.0.1")),
  inert(whole("observer.port", global, next_process, "0", 0, 65535)),
  inert(process_text("observer.tls.ca")),
  inert(process_text("observer.tls.cert")),
  inert(process_text("observer.tls.key")),
  inert(setting_spec{"operators", text_list, global, next_process}),
  process_text("log.file"),
  setting_spec{"log.level", choice, global, next_process, "info",
               "debug|info|warning|error"},
  setting_spec{"console.headless", boolean, global, next_process, "false"},
  process_text("console.conversation"),
  process_text("workspace.dir"),
  inert(setting_spec{"sentry.dsn", text, both, next_process}),
  inert(process_text("sentry.environment", "production")),
  inert(setting_spec{"sentry.enabled", boolean, global, next_process, "true"},
        "false"),
  // -- outbound HTTP
  // -----------------------------------------------------------
  secret_text_of("http.proxy"),
  secret_text_of("http.httpsProxy"),
  process_text("http.noProxy"),
  whole("http.idleTimeoutMs", global, next_process, "300000", 0, 86'400'000),
  // -- portals
  // -----------------------------------------------------------------
  process_text("web.url"),
  whole("web.port", global, next_process, {}, 0, 65535),
  process_text("web.host"),
  secret_text_of("web.metricsToken"),
  inert(secret_text_of("web.agentEventsToken")),
  inert(setting_spec{"web.oauth.services", object_list, global, next_process}),
  inert(process_text("web.oauth.github.clientId")),
  inert(secret_text_of("web.oauth.github.clientSecret")),
  inert(process_text("web.oauth.github.scopes")),
  inert(process_text("web.oauth.googleWorkspaceCli.clientId")),
  inert(secret_text_of("web.oauth.googleWorkspaceCli.clientSecret")),
  inert(process_text("web.oauth.googleWorkspaceCli.scopes")),
  inert(process_text("web.oauth.googleCloudSdk.clientId")),
  inert(secret_text_of("web.oauth.googleCloudSdk.clientSecret")),
  inert(process_text("web.oauth.googleCloudSdk.scopes")),
  // -- platforms
  // ---------------------------------------------------------------
  secret_text_of("platforms.slack.appToken"),
  secret_text_of("platforms.slack.botToken"),
  process_text("platforms.slack.apiRoot"),
  setting_spec{"platforms.slack.allowFrom", id_list, global, next_process},
  setting_spec{"platforms.slack.enabled", boolean, global, next_process},
  secret_text_of("platforms.discord.token"),
  process_text("platforms.discord.apiRoot"),
  setting_spec{"platforms.discord.allowFrom", id_list, global, next_process},
  setting_spec{"platforms.discord.enabled", boolean, global, next_process},
  secret_text_of("platforms.telegram.token"),
  process_text("platforms.telegram.apiRoot"),
  setting_spec{"platforms.telegram.allowFrom", id_list, global, next_process},
  setting_spec{"platforms.telegram.groups", id_list, global, next_process},
  setting_spec{"platforms.telegram.access", choice, global, next_process,
               "pairing", "pairing|allowlist"},
  setting_spec{"platforms.telegram.enabled", boolean, global, next_process},
  process_text("platforms.github.appId"),
  process_text("platforms.github.installationId"),
  secret_text_of("platforms.github.privateKey"),
  process_text("platforms.github.privateKeyPath"),
  setting_spec{"platforms.github.repos", text_list, global, next_process},
  whole("platforms.github.pollInterval", global, next_process, "60", 1, 86'400),
  secret_text_of("platforms.github.webhookSecret"),
  process_text("platforms.github.apiRoot"),
  setting_spec{"platforms.github.allowFrom", id_list, global, next_process},
  setting_spec{"platforms.github.enabled", boolean, global, next_process},
};

bool is_map(value_kind kind) {
  return kind == text_map || kind == object_map;
}

bool lies_below(std::string_view path, std::string_view group) {
  return path.size() > group.size() && path.starts_with(group)
         && path[group.size()] == '.';
}

} // namespace

std::span<const setting_spec> settings_schema() {
  return schema;
}

const setting_spec* find_setting(std::string_view path) {
  for (const auto& spec : schema)
    if (spec.path == path || (is_map(spec.kind) && lies_below(path, spec.path)))
      return &spec;
  return nullptr;
}

bool is_settings_group(std::string_view path) {
  for (const auto& spec : schema)
    if (lies_below(spec.path, path))
      return true;
  return false;
}

} // namespace bureau::config
