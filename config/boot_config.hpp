#pragma once

#include "config/cli.hpp"
#include "config/env_manifest.hpp"
#include "config/environment.hpp"
#include "config/instance_lock.hpp"
#include "config/model_choice_core.hpp"
#include "config/os/machine.hpp"
#include "config/settings_file.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/secret.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What the process was told, read once at boot into an immutable value
/// (decision B10). Nothing reads the environment or the arguments after it.
namespace bureau::config {

/// Where the portals listen (decision B13).
struct http_config {
  /// A server exists at all.
  bool serve = false;
  std::string bind_host = "127.0.0.1";
  /// It may be an address that other machines reach.
  bool other_machines = false;
  /// 0 = any free port.
  int port = 0;
  /// Public base without trailing slash; "" = only this machine.
  std::string public_url;
  /// Host of public_url, lower case.
  std::string public_host;
  secret_text metrics_token;
  secret_text agent_events_token;
};

/// Proxies of outbound requests; the URLs may hold a password.
struct proxy_config {
  secret_text http;
  secret_text https;
  /// Hosts without proxy, as curl takes them: comma separated.
  std::string none_for;
};

/// Who may write on a platform: ids, or everybody.
struct access_list {
  bool everybody = false;
  std::vector<std::string> ids;
};

/// One chat platform as it was configured.
struct platform_config {
  platform_id id = platform_id::slack;
  /// Its credentials are set and it was not switched off, or it was enabled by
  /// name.
  bool enabled = false;
  /// All required credentials are there. For the migration of old directories
  /// that counts, too (decision A28): who is switched off keeps what it owns.
  bool credentials = false;
  /// This build can talk to it.
  bool adapter = false;
  /// Names of what is missing.
  std::vector<std::string> missing;
  std::string api_root;
  access_list allow_from;
  /// Telegram only.
  access_list groups;
  /// Telegram only: pairing | allowlist.
  std::string access = "pairing";
};

/// The observer's listener (decision A18).
struct observer_config {
  bool enabled = true;
  bool always = false;
  std::string bind = "127.0.0.1";
  int port = 0;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
};

struct boot_config {
  std::string state_dir;
  std::string workspace_root;
  /// The operator named it; then it must exist.
  bool workspace_explicit = false;
  sandbox_value sandbox;
  std::vector<std::string> sandbox_read_only;
  std::string container_engine;
  bool headless = false;
  /// A console is to be started (decision B5).
  bool console = false;
  /// It speaks NDJSON frames.
  bool json = false;
  /// Its first conversation.
  std::string console_name = "local";
  http_config http;
  proxy_config proxies;
  /// Silence that ends a model stream; 0 = never.
  std::chrono::milliseconds http_idle_timeout{};
  std::vector<platform_config> platforms;
  observer_config observer;
  /// `<platform>:<userId>`.
  std::vector<std::string> operators;
  /// "" = standard error.
  std::string log_file;
  /// debug | info | warning | error.
  std::string log_level = "info";
  std::chrono::milliseconds shutdown_timeout{};
  std::chrono::milliseconds session_idle_timeout{};
  size_t sessions_max_cached = 0;
  std::chrono::hours intake_max_age{};
  size_t intake_max_text_bytes = 0;
  std::chrono::hours events_catch_up{};
  bool outbox_pacing = true;
  /// Values of all declared variables, from the environment or else the
  /// settings.
  std::map<std::string, secret_text, std::less<>> variables;
  /// The environment itself, for the keys of providers that models.json adds.
  environment process_environment;

  /// A declared variable, or any name in the environment; "" = unset.
  std::string variable(std::string_view name) const;
  const platform_config* platform(platform_id id) const;
  workspace place() const { return make_workspace(workspace_root, state_dir); }
};

/// The three files, checked, and what they looked like on the disk.
struct config_snapshot {
  std::shared_ptr<const settings_document> settings;
  std::shared_ptr<const models_file> models;
  std::shared_ptr<const auth_file> auth;
  file_signature settings_signature{};
  file_signature models_signature{};
  file_signature auth_signature{};
};

/// Paths of the files in the state directory.
std::string settings_path(const std::string& state_dir);
std::string models_path(const std::string& state_dir);
std::string auth_path(const std::string& state_dir);
/// settings.json of one conversation.
std::string conversation_settings_path(const office& place);

/// Reads settings.json, models.json and auth.json; a malformed one is a fault
/// that ends the boot (decision B9).
reading<config_snapshot> load_snapshot(file_system& fs,
                                       const std::string& state_dir);

/// Checks the settings.json of every conversation (decision A11): the first
/// malformed one ends the boot. Their warnings come when the conversation is
/// first used. "" or the sentence.
std::string check_conversations(file_system& fs, const std::string& state_dir);

/// State directory of a plan (decision B10): last flag, then STATE_DIR in its
/// three spellings, then ~/.bureau; absolute. "" and a fault without any home.
std::string resolve_state_dir(const cli_plan& plan, const environment& env,
                              const os::machine_facts& machine,
                              std::string& fault);

/// Makes the configuration. Pure. Warnings are for the log; a fault ends the
/// boot with exit_failure.
/// @param state_dir from resolve_state_dir
reading<std::shared_ptr<const boot_config>> make_boot_config(
  const cli_plan& plan, const std::string& state_dir, const environment& env,
  const settings_document& settings, const os::machine_facts& machine);

/// The state directory must not lie in the workspace, which the agent may
/// write, whatever the sandbox (note 05 C, decision B6). "" or the sentence.
std::string check_placement(const std::string& state_dir,
                            const std::string& workspace_root);

/// check_placement of the canonical paths, with whatever exists of them.
std::string check_placement_on_disk(file_system& fs,
                                    const std::string& state_dir,
                                    const std::string& workspace_root);

/// Makes the default workspace directory, or checks that the named one is
/// there. "" or the sentence.
std::string prepare_workspace(file_system& fs, const boot_config& boot);

/// Inputs of choose_model for a conversation.
/// @param conversation its file, null when there is none
choice_inputs choice_inputs_of(const boot_config& boot,
                               const config_snapshot& files,
                               const settings_document* conversation,
                               std::string conversation_file, int64_t now_ms);

/// The report of `bureau env`.
std::string env_report_of(const environment& env,
                          const settings_document& settings);

} // namespace bureau::config
