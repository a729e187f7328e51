#include "actors/system/composition.hpp"

#include "actors/artifacts/artifacts.hpp"
#include "actors/events/events.hpp"
#include "actors/harness/harness.hpp"
#include "actors/harness/tools/ask_tool.hpp"
#include "actors/harness/tools/attach_tool.hpp"
#include "actors/harness/tools/core_tools.hpp"
#include "actors/harness/tools/event_tool.hpp"
#include "actors/harness/tools/jobs_tool.hpp"
#include "actors/interaction/interaction.hpp"
#include "actors/io/directory_watch.hpp"
#include "actors/io/files.hpp"
#include "actors/io/journal.hpp"
#include "actors/jobs/jobs.hpp"
#include "actors/kit/log.hpp"
#include "actors/memory/memory.hpp"
#include "actors/office/offices.hpp"
#include "actors/office/registry.hpp"
#include "actors/office/turn_service.hpp"
#include "actors/runner/responder.hpp"
#include "actors/runner/runner.hpp"
#include "actors/runner/time_zone_core.hpp"
#include "actors/session/session.hpp"
#include "actors/session/session_store.hpp"
#include "actors/settings/settings.hpp"
#include "adapters/console/console.hpp"
#include "adapters/console/frame_responder.hpp"
#include "adapters/models/provider_factory.hpp"
#include "config/os/system_time_zones.hpp"
#include "messages/contracts/bearer.hpp"
#include "messages/limits.hpp"
#include "sandbox/bwrap_core.hpp"
#include "sandbox/probe.hpp"
#include "web/portals/status_portal.hpp"

#include <caf/all.hpp>

#include <future>

namespace bureau::system {

namespace {

sandbox::executor_deps executor_deps_of(const boot_result& boot,
                                        const runtime& parts) {
  return {parts.processes.host, parts.files, parts.metrics, boot.ports.chance};
}

sandbox::probe_report probe_once(caf::actor_system& system,
                                 const boot_result& boot,
                                 const runtime& parts) {
  auto promise = std::make_shared<std::promise<sandbox::probe_report>>();
  auto answer = promise->get_future();
  sandbox::probe_bwrap(system, executor_deps_of(boot, parts),
                       boot.sandbox.bwrap, boot.config->place(),
                       [promise](const sandbox::probe_report& report) {
                         promise->set_value(report);
                       });
  return answer.get();
}

/// No /tmp survives a start of the node.
void empty_tmp(caf::actor_system& system, const boot_result& boot,
               const runtime& parts) {
  caf::scoped_actor self{system};
  for (auto& job : sandbox::boot_tmp_jobs(boot.config->place()))
    self->request(parts.files, limits::disk_timeout, atom::file_v, job)
      .receive([](const file_outcome&) {},
               [](const caf::error& reason) {
                 kit::log::warning("sandbox", "the old /tmp was not emptied: "
                                                + sentence_of(reason));
               });
}

model_factory make_models(const boot_result& boot, const runtime& parts) {
  models::provider_options options;
  options.idle_timeout = boot.config->http_idle_timeout;
  return models::make_model_factory(parts.http.client, options, boot.ports.wall,
                                    boot.ports.chance, parts.metrics);
}

session_store_factory make_stores(const boot_result& boot,
                                  const runtime& parts) {
  session::store_services services;
  services.files = parts.files;
  services.journal = parts.journal;
  services.wall = boot.ports.wall;
  services.chance = boot.ports.chance;
  services.registry = parts.registry;
  // Commands see an office below /workspace, but for the host backend.
  if (boot.sandbox.backend != "host")
    services.cwd = [](const office& place) {
      return "/workspace/" + place.key;
    };
  return session::make_session_store_factory(std::move(services));
}

std::string time_zone_of(const boot_result& boot) {
  return runner::host_time_zone(
    boot.config->variable("TZ"),
    boot.ports.disk->canonical("/etc/localtime").value);
}

/// Platforms that take news of jobs.
std::vector<platform_id> job_channels(const boot_result& boot) {
  std::vector<platform_id> result;
  if (boot.config->console)
    result.push_back(platform_id::console);
  return result;
}

void start_jobs(caf::actor_system& system, const boot_result& boot,
                runtime& parts) {
  jobs::jobs_deps deps;
  deps.ws = boot.config->place();
  deps.files = parts.files;
  deps.settings = parts.settings;
  deps.executors =
    sandbox::make_executor_factory(boot.sandbox, executor_deps_of(boot, parts));
  deps.wall = boot.ports.wall;
  deps.chance = boot.ports.chance;
  deps.time_zone = time_zone_of(boot);
  parts.operator_token =
    secret_text{contracts::generate_bearer_token(*boot.ports.chance)};
  deps.operator_token = parts.operator_token;
  deps.channels = job_channels(boot);
  deps.interaction = parts.interaction;
  deps.metrics = parts.metrics;
  auto handles = jobs::spawn_jobs(system, std::move(deps));
  parts.jobs = std::move(handles.jobs);
  parts.job_operators = std::move(handles.operators);
}

/// Platforms that schedules may name.
std::vector<platform_id> spoken_platforms(const boot_result& boot) {
  std::vector<platform_id> result;
  if (boot.config->console)
    result.push_back(platform_id::console);
  return result;
}

events_actor start_events(caf::actor_system& system, const boot_result& boot,
                          const runtime& parts) {
  events::events_deps deps;
  deps.ws = boot.config->place();
  deps.files = parts.files;
  deps.journal = parts.journal;
  deps.watch = parts.watch;
  deps.metrics = parts.metrics;
  deps.wall = boot.ports.wall;
  deps.zones = std::make_shared<os::system_time_zones>();
  deps.platforms = spoken_platforms(boot);
  deps.catch_up = boot.config->events_catch_up;
  return events::spawn_events(system, std::move(deps));
}

runner_factory make_runners(const boot_result& boot, const runtime& parts) {
  harness::harness_services harness_parts;
  harness_parts.models = make_models(boot, parts);
  harness_parts.clock = boot.ports.wall;
  harness_parts.chance = boot.ports.chance;
  harness_parts.metrics = parts.metrics;
  harness_parts.continuations = parts.jobs;
  runner::runner_deps services;
  services.ws = boot.config->place();
  services.settings = parts.settings;
  services.files = parts.files;
  services.memory = parts.memory;
  services.jobs = parts.jobs;
  services.executors =
    sandbox::make_executor_factory(boot.sandbox, executor_deps_of(boot, parts));
  services.harnesses = harness::make_harness_factory(std::move(harness_parts));
  harness::background_jobs background{parts.jobs, job_channels(boot)};
  services.tools = harness::join_packs(
    {harness::make_core_tools(boot.ports.chance, background),
     harness::make_event_tool(parts.events, boot.ports.wall,
                              time_zone_of(boot)),
     harness::make_attach_tool(parts.artifacts),
     harness::make_jobs_tool(background),
     harness::make_ask_tool(parts.interaction)});
  services.responders = runner::make_responder_factory();
  if (boot.config->json)
    services.responders =
      console::make_frame_responders(std::move(services.responders));
  services.metrics = parts.metrics;
  services.wall = boot.ports.wall;
  services.time_zone = time_zone_of(boot);
  return runner::make_runner_factory(std::move(services));
}

session_factory make_sessions(const boot_result& boot, const runtime& parts) {
  session::session_deps deps;
  deps.runners = make_runners(boot, parts);
  deps.stores = make_stores(boot, parts);
  deps.settings = parts.settings;
  deps.metrics = parts.metrics;
  deps.wall = boot.ports.wall;
  deps.chance = boot.ports.chance;
  return session::make_session_factory(std::move(deps));
}

office_services_actor start_offices(caf::actor_system& system,
                                    const boot_result& boot,
                                    const runtime& parts) {
  offices::offices_args args;
  args.deps.place = boot.config->place();
  args.deps.journal = parts.journal;
  args.deps.files = parts.files;
  args.deps.metrics = parts.metrics;
  args.deps.sessions = make_sessions(boot, parts);
  args.deps.settings = parts.settings;
  args.deps.stores = make_stores(boot, parts);
  args.deps.wall = boot.ports.wall;
  args.deps.intake = {boot.config->intake_max_age,
                      boot.config->intake_max_text_bytes};
  if (boot.sandbox.backend == "bwrap")
    args.deps.sleep_job = [ws = boot.config->place()](const office& place) {
      return sandbox::empty_tmp_job(ws, place.key);
    };
  args.registry = parts.registry;
  args.resume_keys = boot.resume_keys;
  args.cached_sessions = boot.config->sessions_max_cached;
  return offices::spawn_offices(system, std::move(args));
}

adapter_plan plan_console(const boot_result& boot, runtime& parts) {
  console::console_options options;
  options.json = boot.config->json;
  options.interactive = boot.machine.stdin_is_terminal && !options.json;
  options.first_name = boot.config->console_name;
  options.user = boot.machine.login.empty() ? "user" : boot.machine.login;
  options.home = boot.machine.home;
  options.working_dir = boot.machine.working_dir;
  options.banner = console_banner(boot);
  options.log_tee = boot.log_tee;
  parts.interactive = options.interactive;
  adapter_plan plan;
  plan.platform = platform_id::console;
  plan.spawn = [&boot, &parts, options](caf::actor_system& system,
                                        const node_actor& node,
                                        const channel_link& link) {
    console::console_deps deps;
    deps.offices = parts.offices;
    deps.host = link.host;
    deps.generation = link.generation;
    deps.node = node;
    deps.jobs = parts.jobs;
    deps.interaction = parts.interaction;
    deps.artifacts = parts.artifacts;
    deps.files = parts.files;
    deps.ws = boot.config->place();
    deps.wall = boot.ports.wall;
    deps.metrics = parts.metrics;
    auto console = console::spawn_console(system, std::move(deps), options);
    caf::anon_send(parts.jobs, atom::attach_v, platform_id::console,
                   console.transport);
    caf::anon_send(parts.events, atom::attach_v, platform_id::console);
    parts.console_interrupt =
      std::make_shared<std::function<bool()>>(console.interrupt);
    return console.service;
  };
  return plan;
}

/// What the configuration says of every channel (agent contracts, rule 68).
std::vector<channel_plan> plan_channels(const config::boot_config& boot) {
  std::vector<channel_plan> result;
  channel_plan console;
  if (!boot.console)
    console.disabled = "The console is off.";
  result.push_back(std::move(console));
  for (const auto& platform : boot.platforms) {
    channel_plan plan;
    plan.platform = platform.id;
    std::string missing;
    for (const auto& name : platform.missing)
      missing += (missing.empty() ? "" : ", ") + name;
    if (!platform.enabled)
      plan.disabled = "It is not configured.";
    else if (!platform.adapter)
      plan.disabled = "This version cannot speak it.";
    else if (!platform.credentials)
      plan.waiting = missing + " not set.";
    result.push_back(std::move(plan));
  }
  return result;
}

} // namespace

std::string console_banner(const boot_result& boot) {
  auto chosen = config::choose_model(config::choice_inputs_of(
    *boot.config, boot.files, nullptr, {}, boot.ports.wall->now_ms()));
  std::string model = chosen ? chosen.choice.model.provider + "/"
                                 + chosen.choice.model.id + ": "
                                 + chosen.choice.reason
                             : "none: " + chosen.sentence;
  return "Bureau. Model " + model
         + ".\nType a message; stop ends a running turn, /help tells more.\n";
}

bool runtime::interrupt_console() {
  auto action = console_interrupt.load();
  return action && (*action)();
}

void runtime::end() {
  // Owners first: nobody below may see a request from somebody above who is
  // already gone.
  for (auto handle :
       {caf::actor_cast<caf::actor>(portal), caf::actor_cast<caf::actor>(turns),
        caf::actor_cast<caf::actor>(jobs), caf::actor_cast<caf::actor>(events),
        caf::actor_cast<caf::actor>(offices),
        caf::actor_cast<caf::actor>(registry),
        caf::actor_cast<caf::actor>(settings),
        caf::actor_cast<caf::actor>(interaction),
        caf::actor_cast<caf::actor>(memory),
        caf::actor_cast<caf::actor>(artifacts),
        caf::actor_cast<caf::actor>(journal),
        caf::actor_cast<caf::actor>(files),
        caf::actor_cast<caf::actor>(http.client),
        caf::actor_cast<caf::actor>(watch),
        caf::actor_cast<caf::actor>(processes.host),
        caf::actor_cast<caf::actor>(metrics)})
    if (handle)
      caf::anon_send_exit(handle, caf::exit_reason::user_shutdown);
  portal = nullptr;
  turns = nullptr;
  jobs = nullptr;
  job_operators = nullptr;
  events = nullptr;
  offices = nullptr;
  registry = nullptr;
  settings = nullptr;
  interaction = nullptr;
  memory = nullptr;
  artifacts = nullptr;
  journal = nullptr;
  files = nullptr;
  metrics = nullptr;
  http.client = nullptr;
  watch = nullptr;
  processes.host = nullptr;
  http.loop.reset();
  processes.loop.reset();
}

void start_io(caf::actor_system& system, const boot_result& boot,
              runtime& parts) {
  const auto& config = *boot.config;
  parts.files =
    io::spawn_files(system, boot.ports.disk, boot.ports.chance, parts.metrics);
  parts.journal = io::spawn_journal(system, boot.ports.disk, config.state_dir,
                                    config.workspace_root, parts.metrics);
  io::http_options options;
  options.http_proxy = config.proxies.http.reveal();
  options.https_proxy = config.proxies.https.reveal();
  options.no_proxy = config.proxies.none_for;
  parts.http = io::start_http(system, options, parts.metrics);
  parts.processes =
    io::start_processes(system, parts.metrics, boot.reaper.get());
  parts.watch = io::spawn_directory_watch(system, parts.processes);
}

std::string check_sandbox(caf::actor_system& system, const boot_result& boot,
                          const runtime& parts) {
  if (boot.sandbox.backend != "bwrap")
    return {};
  // A machine that is busy just now may be slow to answer; a broken one says
  // the same thing every time.
  constexpr auto attempts = 3;
  sandbox::probe_report report;
  for (auto i = 0; i < attempts && !report.ok; ++i)
    report = probe_once(system, boot, parts);
  if (!report.ok)
    return report.failure;
  kit::log::info("sandbox",
                 "bubblewrap " + report.version + "; " + report.limits);
  empty_tmp(system, boot, parts);
  return {};
}

node_plan compose(caf::actor_system& system, const boot_result& boot,
                  runtime& parts, const node_actor& node) {
  offices::registry_args registry;
  registry.place = boot.config->place();
  registry.state = boot.registry;
  registry.files = parts.files;
  registry.wall = boot.ports.wall;
  parts.registry = offices::spawn_registry(system, std::move(registry));
  settings::settings_args settings_parts;
  settings_parts.files = parts.files;
  settings_parts.boot = boot.config;
  settings_parts.initial = boot.files;
  settings_parts.wall = boot.ports.wall;
  settings_parts.node = node;
  parts.settings = settings::spawn_settings(system, std::move(settings_parts));
  parts.artifacts =
    artifacts::spawn_artifacts(system, {boot.config->state_dir, parts.files,
                                        boot.ports.wall, boot.ports.chance});
  parts.memory = memory::spawn_memory(
    system, {boot.config->place(), parts.files, boot.ports.wall});
  parts.interaction = interaction::spawn_interaction(
    system, {boot.ports.wall, boot.ports.chance});
  start_jobs(system, boot, parts);
  parts.events = start_events(system, boot, parts);
  parts.offices = start_offices(system, boot, parts);
  caf::anon_send(parts.jobs, atom::start_v, job_desk_actor{parts.offices});
  caf::anon_send(parts.events, atom::start_v, event_desk_actor{parts.offices});
  caf::anon_send(parts.memory, atom::start_v, memory_desk_actor{parts.offices});
  parts.turns = offices::spawn_turn_service(
    system, {parts.offices, parts.registry, parts.artifacts, boot.ports.wall,
             boot.ports.chance});
  node_plan plan;
  plan.critical = {
    {"files", parts.files},         {"journal", parts.journal},
    {"http", parts.http.client},    {"processes", parts.processes.host},
    {"registry", parts.registry},   {"settings", parts.settings},
    {"artifacts", parts.artifacts}, {"offices", parts.offices},
    {"turns", parts.turns},         {"jobs", parts.jobs},
    {"events", parts.events}};
  plan.watched = {
    {"metrics", caf::actor_cast<caf::actor>(parts.metrics)},
    {"interaction", caf::actor_cast<caf::actor>(parts.interaction)},
    {"memory", caf::actor_cast<caf::actor>(parts.memory)},
    {"watch", caf::actor_cast<caf::actor>(parts.watch)}};
  if (boot.config->http.serve) {
    web::exposure reach;
    reach.public_host = boot.config->http.public_host;
    reach.metrics_token = boot.config->http.metrics_token.reveal();
    parts.portal = web::spawn_status_portal(system, node, parts.metrics, reach);
    plan.watched.push_back(
      {"status portal", caf::actor_cast<caf::actor>(parts.portal)});
  }
  plan.offices = parts.offices;
  plan.channels = plan_channels(*boot.config);
  plan.channel_gone = [offices = parts.offices](platform_id platform) {
    caf::anon_send(offices, atom::detach_v, platform);
  };
  plan.closing = {{"jobs", parts.jobs},
                  {"events", parts.events},
                  {"memory", parts.memory},
                  {"http", parts.http.client},
                  {"processes", parts.processes.host},
                  {"artifacts", parts.artifacts},
                  {"journal", parts.journal},
                  {"files", parts.files}};
  plan.sources = {{"events", parts.events}};
  plan.metrics = parts.metrics;
  plan.deadline = boot.config->shutdown_timeout;
  if (boot.config->console)
    plan.adapters.push_back(plan_console(boot, parts));
  return plan;
}

} // namespace bureau::system
