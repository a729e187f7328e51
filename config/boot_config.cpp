#include "config/boot_config.hpp"

#include "config/host_safety.hpp"
#include "config/os/durable.hpp"
#include "config/readers.hpp"
#include "messages/contracts/config_readers.hpp"
#include "messages/errc.hpp"
#include "messages/product.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>

namespace bureau::config {

namespace {

constexpr std::array chat_platforms = {
  platform_id::slack,
  platform_id::discord,
  platform_id::telegram,
  platform_id::github,
};

constexpr int default_web_port = 8181;

std::string absolute(std::string_view base, std::string_view path) {
  return path.starts_with('/') ? join_path(path, "") : join_path(base, path);
}

/// Fills a boot_config step by step; the first fault stays.
class boot_builder {
public:
  boot_builder(const cli_plan& plan, const std::string& state_dir,
               const environment& env, const settings_document& settings,
               const os::machine_facts& machine)
    : plan_(plan), env_(env), settings_(settings), machine_(machine),
      layered_(settings, nullptr), boot_(std::make_shared<boot_config>()) {
    boot_->state_dir = state_dir;
  }

  reading<std::shared_ptr<const boot_config>> run() {
    warnings_ = env_.legacy_warnings(env_names());
    boot_->process_environment = env_;
    read_variables();
    read_places();
    read_sandbox();
    read_platforms();
    read_console();
    read_http();
    read_outbound();
    read_observer();
    read_operators();
    read_limits();
    if (machine_.euid == 0)
      warn(std::string{product::name}
           + " runs as root; give it a user of its own.");
    reading<std::shared_ptr<const boot_config>> result;
    result.warnings = std::move(warnings_);
    result.fault = std::move(fault_);
    if (result)
      result.value = std::move(boot_);
    return result;
  }

private:
  void refuse(std::string sentence) {
    if (fault_.empty())
      fault_ = std::move(sentence);
  }

  /// A value that is wrong: told with the name of its variable when that set
  /// it, else with its place in the settings.
  /// @param what goes on from the name: "is 'x'"
  /// @param to_do begins small, without the full stop
  /// @param below pointer into the setting
  void refuse_value(std::string_view variable, std::string_view setting,
                    const std::string& what, std::string to_do,
                    std::string_view below = {}) {
    auto found = variable.empty() ? std::nullopt : env_.find(variable);
    if (found)
      return refuse(found->spelling + ' ' + what + "; " + to_do + '.');
    if (!to_do.empty() && to_do.front() >= 'a' && to_do.front() <= 'z')
      to_do.front() = static_cast<char>(to_do.front() - 'a' + 'A');
    refuse(settings_.fault(setting, what, to_do, below));
  }

  /// Words what is wrong with a variable as this file does.
  /// @param text its value
  contracts::config_error_factory complaint(std::string text,
                                            std::string to_do) {
    return [this, text = std::move(text), to_do = std::move(to_do)](
             std::string sentence, const contracts::config_fault& fault) {
      refuse_value(fault.env, "is '" + text + "'", to_do);
      return make_failure(errc::bad_config, std::move(sentence));
    };
  }

  /// refuse_value of a declared variable.
  void refuse_value(std::string_view variable, const std::string& what,
                    std::string to_do) {
    refuse_value(variable, find_env(variable)->setting, what, std::move(to_do));
  }

  void warn(std::string sentence) { warnings_.push_back(std::move(sentence)); }

  void read_variables() {
    for (const auto& row : env_manifest()) {
      auto found = env_.find(row.name);
      auto spec = row.setting.empty() ? nullptr : find_setting(row.setting);
      if (found && spec != nullptr && spec->inert)
        warn(found->spelling
             + " is set but has no effect in this version; do not rely on it.");
      if (found)
        boot_->variables.emplace(row.name, secret_text{found->text});
      else if (!row.setting.empty())
        if (auto text = settings_.as_variable(row.setting))
          boot_->variables.emplace(row.name, secret_text{std::move(*text)});
    }
  }

  std::string value(std::string_view name) const {
    return boot_->variable(name);
  }

  /// How a value is named in a message: as the operator wrote it.
  std::string name_of(std::string_view name) const {
    if (auto found = env_.find(name))
      return found->spelling;
    auto row = find_env(name);
    return "the setting " + std::string{row != nullptr ? row->setting : name};
  }

  /// A bounded whole number of a variable, or nothing when it is unset.
  std::optional<int64_t> number(std::string_view name, int64_t min,
                                int64_t max) {
    auto text = value(name);
    if (text.empty())
      return std::nullopt;
    auto read = contracts::read_integer(
      text, name, min,
      complaint(text, "it must be a whole number from " + std::to_string(min)
                        + " to " + std::to_string(max)),
      {{min}, {max}});
    return read ? std::optional{*read} : std::nullopt;
  }

  void read_places() {
    auto given = plan_.workspace;
    if (given) {
      boot_->workspace_root = absolute(machine_.working_dir, *given);
    } else if (auto setting = settings_.text("workspace.dir")) {
      boot_->workspace_root = absolute(boot_->state_dir, *setting);
    } else {
      boot_->workspace_root = join_path(boot_->state_dir, "workspace");
      return refuse_placement();
    }
    boot_->workspace_explicit = true;
    refuse_placement();
  }

  void refuse_placement() {
    if (auto fault = check_placement(boot_->state_dir, boot_->workspace_root);
        !fault.empty())
      refuse(std::move(fault));
  }

  void read_sandbox() {
    constexpr auto possible = "use bwrap (the default) or host";
    auto value = plan_.run.sandbox;
    if (!value) {
      auto text = layered_.text("sandbox.default");
      auto parsed = parse_sandbox_value(text);
      if (!parsed)
        return refuse_value({}, "sandbox.default",
                            "is '" + text + "', which is no sandbox", possible);
      value = std::move(parsed.value);
    }
    auto able = capabilities_of(value->type);
    if (!able.available && plan_.run.sandbox)
      refuse("The sandbox " + to_string(*value)
             + " cannot run in this version; " + possible + '.');
    else if (!able.available)
      refuse_value({}, "sandbox.default",
                   "is " + to_string(*value)
                     + ", which cannot run in this version",
                   possible);
    if (!able.managed_projection)
      warn("The sandbox " + to_string(*value)
           + " is no boundary: commands of the agent run as this user, so a"
             " conversation runs only behind a trusted door"
             " (sandbox.workspace.doorPolicy).");
    boot_->sandbox = std::move(*value);
    boot_->sandbox_read_only = layered_.list("sandbox.bwrap.readOnly");
    for (size_t i = 0; i < boot_->sandbox_read_only.size(); ++i) {
      const auto& path = boot_->sandbox_read_only[i];
      if (!path.starts_with('/') || join_path(path, "") == "/")
        refuse_value({}, "sandbox.bwrap.readOnly", "holds '" + path + "'",
                     "give absolute paths below /", element(i));
    }
    boot_->container_engine = value_or("CONTAINER_ENGINE", "docker");
  }

  /// Pointer to an element of a list.
  static std::string element(size_t index) {
    return pointer_token(std::to_string(index));
  }

  std::string value_or(std::string_view name, std::string_view standard) {
    return contracts::read_string(value(name), standard);
  }

  /// Ids of a list; `*` must stand alone and no item may be blank (A19).
  access_list read_access(std::string_view variable, std::string_view path) {
    access_list result;
    std::vector<std::string> items;
    if (auto found = variable.empty() ? std::nullopt : env_.find(variable)) {
      std::string_view rest = found->text;
      for (size_t pos = 0; pos <= rest.size();) {
        auto end = std::min(rest.find(',', pos), rest.size());
        items.push_back(normalize_optional(rest.substr(pos, end - pos))
                          .value_or(std::string{}));
        pos = end + 1;
      }
    } else {
      items = layered_.list(path);
    }
    for (size_t i = 0; i < items.size(); ++i) {
      auto& item = items[i];
      if (item.empty())
        refuse_value(variable, path, "has a blank entry",
                     "remove it or write the id", element(i));
      else if (item == "*" && items.size() > 1)
        refuse_value(variable, path, "has * beside other entries",
                     "* alone lets everybody in, so remove one or the other",
                     element(i));
      else if (item == "*")
        result.everybody = true;
      else
        result.ids.push_back(std::move(item));
    }
    return result;
  }

  void read_platforms() {
    for (auto id : chat_platforms)
      read_platform(id);
  }

  void read_platform(platform_id id) {
    platform_config result;
    result.id = id;
    result.adapter = is_spoken(id);
    auto name = to_string(id);
    auto title = platform_title(id);
    auto is_set = [this](std::string_view variable) {
      return !value(variable).empty();
    };
    auto prefix = "platforms." + name + '.';
    std::string upper;
    for (auto c : name)
      upper += static_cast<char>(c - 'a' + 'A');
    result.missing = missing_credentials(id, is_set);
    result.credentials = result.missing.empty();
    auto switched = settings_.boolean(prefix + "enabled");
    result.enabled = switched.value_or(result.credentials);
    result.api_root = value(upper + "_API_ROOT");
    while (!result.api_root.empty() && result.api_root.back() == '/')
      result.api_root.pop_back();
    if (!result.api_root.empty() && !parse_url(result.api_root))
      refuse_value(upper + "_API_ROOT",
                   "is no URL: " + parse_url(result.api_root).fault,
                   "write one like https://api.example.com");
    result.allow_from =
      read_access(upper + "_ALLOW_FROM", prefix + "allowFrom");
    if (id == platform_id::telegram) {
      result.groups = read_access({}, prefix + "groups");
      result.access = layered_.text(prefix + "access");
    }
    auto wanted = switched.value_or(has_any_credential(id, is_set));
    if (!result.adapter
        && (wanted || (!switched && has_settings("platforms", name)))) {
      warn(title
           + " is configured, but this version cannot speak it: its "
             "conversations keep their files and get no answer.");
    } else if (wanted && !result.credentials) {
      std::string names;
      for (const auto& missing : result.missing)
        names += (names.empty() ? "" : ", ") + missing;
      warn(title + " waits for its configuration: " + names + " not set.");
    }
    boot_->platforms.push_back(std::move(result));
  }

  /// Whether the settings have members of a group.
  bool has_settings(std::string_view outer, std::string_view inner) const {
    const auto& group = contracts::read_json_section(settings_.root(), outer);
    return !contracts::read_json_section(group, inner).empty();
  }

  bool any_platform_active() const {
    return std::any_of(boot_->platforms.begin(), boot_->platforms.end(),
                       [](const platform_config& x) {
                         return x.adapter && x.enabled && x.credentials;
                       });
  }

  void read_console() {
    boot_->headless = plan_.run.headless
                      || (!plan_.run.console && !plan_.run.json
                          && layered_.boolean("console.headless"));
    boot_->json = plan_.run.json;
    auto named = plan_.run.console;
    if (!named) {
      named = settings_.text("console.conversation");
      if (named && !is_console_name(*named))
        refuse_value({}, "console.conversation", "is '" + *named + "'",
                     "use 1 to 32 characters of a-z, 0-9 and '-'");
    }
    boot_->console_name = named.value_or("local");
    boot_->console =
      !boot_->headless
      && (machine_.stdin_is_terminal || plan_.run.console.has_value()
          || plan_.run.json || !any_platform_active());
    if (boot_->headless && !any_platform_active())
      warn(
        "No chat platform is active and the console is off, so nobody can "
        "write to this node; "
        + std::string{plan_.run.headless ? "leave --headless out"
                                         : "remove console.headless from "
                                           "settings.json"}
        + (std::any_of(chat_platforms.begin(), chat_platforms.end(), is_spoken)
             ? " or set a platform token (see `" + std::string{product::name}
                 + " env`)."
             : std::string{"."}));
  }

  void read_http() {
    auto& http = boot_->http;
    http.metrics_token = secret_text{value("METRICS_TOKEN")};
    http.agent_events_token = secret_text{value("AGENT_EVENTS_TOKEN")};
    auto port = number("LINK_PORT", 0, 65535);
    auto url = value("LINK_URL");
    http.serve = !value("LINK_PORT").empty() || !url.empty();
    http.port = static_cast<int>(port.value_or(default_web_port));
    auto secure = false;
    if (!url.empty()) {
      auto parts = parse_url(url);
      if (!parts)
        return refuse_value("LINK_URL", "is no URL: " + parts.fault,
                            "write one like https://bot.example.com");
      if ((parts.scheme != "https" && parts.scheme != "http") || parts.has_user
          || parts.has_query)
        return refuse_value("LINK_URL",
                            "must look like https://bot.example.com",
                            "write it without user, query or fragment");
      secure = parts.scheme == "https";
      http.public_host = parts.host;
      http.public_url =
        parts.scheme + "://" + host_for_url(parts.host)
        + (parts.port != 0 ? ':' + std::to_string(parts.port) : std::string{})
        + parts.path;
    }
    http.other_machines = secure;
    auto host = value("LINK_HOST");
    if (host.empty())
      return;
    http.bind_host = normalize_host_for_bind(host);
    if (!is_safe_bind(http.bind_host, secure))
      refuse_value(
        "LINK_HOST",
        "is " + http.bind_host + ", which other machines can reach",
        "that needs LINK_URL (web.url) with https, or bind 127.0.0.1");
    if (!http.serve)
      warn(name_of("LINK_HOST")
           + " has no effect, because neither LINK_PORT nor LINK_URL is set.");
  }

  secret_text read_proxy(std::string_view name) {
    auto text = value(name);
    if (text.empty())
      return {};
    // curl takes a bare host:port too.
    auto parts = parse_url(
      text.find("://") == std::string::npos ? "http://" + text : text);
    static constexpr std::array<std::string_view, 5> schemes = {
      "http", "https", "socks4", "socks5", "socks5h"};
    if (!parts)
      refuse_value(name, "is no proxy URL: " + parts.fault,
                   "write one like http://proxy.example.com:3128");
    else if (std::find(schemes.begin(), schemes.end(), parts.scheme)
             == schemes.end())
      refuse_value(name, "is a proxy of an unknown kind",
                   "it must begin with http://, https:// or socks5://");
    return secret_text{std::move(text)};
  }

  void read_outbound() {
    boot_->proxies.http = read_proxy("HTTP_PROXY");
    boot_->proxies.https = read_proxy("HTTPS_PROXY");
    boot_->proxies.none_for = value("NO_PROXY");
    constexpr int64_t day_ms = 86'400'000;
    auto idle = value("HTTP_IDLE_TIMEOUT");
    if (idle == "disabled")
      boot_->http_idle_timeout = {};
    else
      boot_->http_idle_timeout = std::chrono::milliseconds{
        number("HTTP_IDLE_TIMEOUT", 0, day_ms)
          .value_or(limits::http_idle_timeout.count())};
  }

  void read_observer() {
    auto& observer = boot_->observer;
    observer.enabled = layered_.boolean("observer.enabled");
    observer.always = layered_.boolean("observer.always");
    observer.bind = normalize_host_for_bind(layered_.text("observer.bind"));
    observer.port =
      static_cast<int>(layered_.integer("observer.port").value_or(0));
    observer.tls_ca = layered_.text("observer.tls.ca");
    observer.tls_cert = layered_.text("observer.tls.cert");
    observer.tls_key = layered_.text("observer.tls.key");
    auto complete = !observer.tls_ca.empty() && !observer.tls_cert.empty()
                    && !observer.tls_key.empty();
    if (observer.enabled && !is_safe_bind(observer.bind, complete))
      refuse_value({}, "observer.bind",
                   "is " + observer.bind + ", which other machines can reach",
                   "that needs observer.tls.ca, .cert and .key, or bind "
                   "127.0.0.1");
  }

  void read_operators() {
    auto found = env_.find("OPERATORS");
    boot_->operators =
      found ? read_csv(found->text) : layered_.list("operators");
    for (size_t i = 0; i < boot_->operators.size(); ++i) {
      const auto& entry = boot_->operators[i];
      auto colon = entry.find(':');
      auto platform = parse_platform(entry.substr(0, colon));
      if (colon == std::string::npos || colon + 1 == entry.size() || !platform)
        refuse_value("OPERATORS", "operators", "has the entry '" + entry + "'",
                     "write <platform>:<userId>, for example telegram:4711",
                     element(i));
    }
  }

  int64_t whole(std::string_view path) {
    return layered_.integer(path).value_or(0);
  }

  void read_limits() {
    using std::chrono::hours;
    using std::chrono::milliseconds;
    auto& boot = *boot_;
    boot.log_file = plan_.run.log_file
                      ? absolute(machine_.working_dir, *plan_.run.log_file)
                      : layered_.text("log.file");
    if (!boot.log_file.empty())
      boot.log_file = absolute(boot.state_dir, boot.log_file);
    boot.log_level = layered_.text("log.level");
    boot.shutdown_timeout = milliseconds{whole("shutdown.timeoutMs")};
    boot.session_idle_timeout = milliseconds{whole("sessions.idleTimeoutMs")};
    boot.sessions_max_cached = static_cast<size_t>(whole("sessions.maxCached"));
    boot.intake_max_age = hours{whole("intake.maxAgeHours")};
    boot.intake_max_text_bytes =
      static_cast<size_t>(whole("intake.maxTextBytes"));
    boot.events_catch_up = hours{whole("events.catchUpHours")};
    boot.outbox_pacing = layered_.boolean("outbox.pacing");
  }

  const cli_plan& plan_;
  const environment& env_;
  const settings_document& settings_;
  const os::machine_facts& machine_;
  layered_settings layered_;
  std::shared_ptr<boot_config> boot_;
  std::vector<std::string> warnings_;
  std::string fault_;
};

/// The canonical form of the part of a path that exists, with the rest added.
std::string canonical_as_far_as_it_exists(file_system& fs,
                                          const std::string& path) {
  std::string missing;
  auto existing = path;
  for (;;) {
    auto real = fs.canonical(existing);
    if (real)
      return missing.empty() ? real.value : join_path(real.value, missing);
    auto slash = existing.rfind('/');
    if (slash == std::string::npos || existing == "/")
      return path;
    missing = missing.empty() ? existing.substr(slash + 1)
                              : existing.substr(slash + 1) + '/' + missing;
    existing = slash == 0 ? "/" : existing.substr(0, slash);
  }
}

} // namespace

std::string boot_config::variable(std::string_view name) const {
  auto found = variables.find(name);
  if (found != variables.end())
    return found->second.reveal();
  return find_env(name) == nullptr ? process_environment.text(name)
                                   : std::string{};
}

const platform_config* boot_config::platform(platform_id id) const {
  for (const auto& entry : platforms)
    if (entry.id == id)
      return &entry;
  return nullptr;
}

std::string settings_path(const std::string& state_dir) {
  return join_path(state_dir, "settings.json");
}

std::string models_path(const std::string& state_dir) {
  return join_path(state_dir, "models.json");
}

std::string auth_path(const std::string& state_dir) {
  return join_path(state_dir, "auth.json");
}

std::string conversation_settings_path(const office& place) {
  return join_path(place.state_dir, "settings.json");
}

reading<config_snapshot> load_snapshot(file_system& fs,
                                       const std::string& state_dir) {
  reading<config_snapshot> result;
  auto& files = result.value;
  // Looked at before it is read: a change in between is seen as one later.
  files.settings_signature = signature_of(fs, settings_path(state_dir));
  files.models_signature = signature_of(fs, models_path(state_dir));
  files.auth_signature = signature_of(fs, auth_path(state_dir));
  auto take = [&result](auto read, auto& into) {
    using value_type = decltype(read.value);
    for (auto& warning : read.warnings)
      result.warnings.push_back(std::move(warning));
    if (!read && result.fault.empty())
      result.fault = std::move(read.fault);
    into = std::make_shared<const value_type>(std::move(read.value));
  };
  take(load_settings(fs, settings_path(state_dir), settings_file_kind::global),
       files.settings);
  take(load_models(fs, models_path(state_dir)), files.models);
  take(load_auth(fs, auth_path(state_dir)), files.auth);
  return result;
}

std::string check_conversations(file_system& fs, const std::string& state_dir) {
  auto root = join_path(state_dir, "conversations");
  auto names = fs.list(root).value;
  std::sort(names.begin(), names.end());
  for (const auto& name : names) {
    auto path = join_path(root, name) + "/settings.json";
    if (!signature_of(fs, path).present)
      continue;
    auto file = load_settings(fs, path, settings_file_kind::conversation);
    if (!file)
      return file.fault;
  }
  return {};
}

std::string resolve_state_dir(const cli_plan& plan, const environment& env,
                              const os::machine_facts& machine,
                              std::string& fault) {
  if (plan.state_dir)
    return absolute(machine.working_dir, *plan.state_dir);
  if (auto given = env.text("STATE_DIR"); !given.empty())
    return absolute(machine.working_dir, given);
  auto named = env.text("HOME");
  auto no_home = [](std::string, const contracts::config_fault& unset) {
    return make_failure(errc::bad_config,
                        "There is no home directory to keep the state in: "
                          + unset.env
                          + " is unset and the user database names none. "
                            "Choose a directory with --state-dir.");
  };
  auto home = contracts::read_required(named.empty() ? machine.home : named,
                                       "HOME", no_home);
  if (home && !home->starts_with('/'))
    home = no_home({}, {"HOME", {}});
  if (!home) {
    fault = sentence_of(home.error());
    return {};
  }
  return join_path(*home, product::state_dir_name);
}

reading<std::shared_ptr<const boot_config>> make_boot_config(
  const cli_plan& plan, const std::string& state_dir, const environment& env,
  const settings_document& settings, const os::machine_facts& machine) {
  return boot_builder{plan, state_dir, env, settings, machine}.run();
}

std::string check_placement(const std::string& state_dir,
                            const std::string& workspace_root) {
  if (!is_path_inside(state_dir, workspace_root))
    return {};
  return "The state directory " + state_dir + " lies inside the workspace "
         + workspace_root
         + ", where the agent could change its own settings and credentials; "
           "move one of them.";
}

std::string check_placement_on_disk(file_system& fs,
                                    const std::string& state_dir,
                                    const std::string& workspace_root) {
  return check_placement(canonical_as_far_as_it_exists(fs, state_dir),
                         canonical_as_far_as_it_exists(fs, workspace_root));
}

std::string prepare_workspace(file_system& fs, const boot_config& boot) {
  const auto& root = boot.workspace_root;
  if (!boot.workspace_explicit) {
    auto fault = os::ensure_directory(fs, root, 0755);
    return fault ? "The workspace cannot be made: " + os::describe(fault) + '.'
                 : std::string{};
  }
  auto opened = fs.open(root, O_RDONLY | O_DIRECTORY, 0);
  if (!opened)
    return "The workspace " + root
           + " cannot be used: " + os::errno_text(opened.error)
           + ". Make the directory or name another one.";
  fs.close(opened.value);
  return {};
}

choice_inputs choice_inputs_of(const boot_config& boot,
                               const config_snapshot& files,
                               const settings_document* conversation,
                               std::string conversation_file, int64_t now_ms) {
  choice_inputs result;
  if (conversation != nullptr)
    result.conversation = model_of(*conversation);
  result.conversation_file = std::move(conversation_file);
  result.global = model_of(*files.settings);
  result.global_file = settings_path(boot.state_dir);
  result.thinking_level =
    layered_settings{*files.settings, conversation}.text("llm.thinkingLevel");
  result.models = files.models.get();
  result.models_path = models_path(boot.state_dir);
  result.builtin = &builtin_models().file;
  result.auth = files.auth.get();
  result.auth_path = auth_path(boot.state_dir);
  result.variable = [&boot](std::string_view name) {
    return boot.variable(name);
  };
  result.now_ms = now_ms;
  return result;
}

std::string env_report_of(const environment& env,
                          const settings_document& settings) {
  return env_report([&](std::string_view name) {
    if (env.find(name))
      return true;
    auto row = find_env(name);
    return row != nullptr && !row->setting.empty()
           && settings.as_variable(row->setting).has_value();
  });
}

} // namespace bureau::config
