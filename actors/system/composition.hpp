#pragma once

#include "actors/io/http_client.hpp"
#include "actors/io/process_host.hpp"
#include "actors/system/boot.hpp"
#include "actors/system/node.hpp"
#include "messages/interfaces/artifacts.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/interaction.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/journal.hpp"
#include "messages/interfaces/memory.hpp"
#include "messages/interfaces/settings.hpp"
#include "messages/interfaces/turn_service.hpp"

#include <atomic>
#include <functional>
#include <memory>

/// The one place where all rooms meet: which actor gets which handle.
namespace bureau::system {

/// Handles and threads that main keeps until the node has ended.
struct runtime {
  metrics_actor metrics;
  files_actor files;
  journal_actor journal;
  artifacts_actor artifacts;
  interaction_actor interaction;
  memory_actor memory;
  io::http_service http;
  io::process_service processes;
  registry_actor registry;
  settings_actor settings;
  jobs_actor jobs;
  /// The owner's side of the jobs, and what shows that one is the owner: made
  /// at the start, held in memory alone.
  job_operator_actor job_operators;
  secret_text operator_token;
  directory_watch_actor watch;
  events_actor events;
  office_services_actor offices;
  turn_service_actor turns;
  /// Empty without an HTTP server.
  portal_actor portal;
  /// ^C for a console; empty without one.
  std::atomic<std::shared_ptr<std::function<bool()>>> console_interrupt;
  bool interactive = false;

  /// Hands ^C to the console; false when there is none that takes it.
  bool interrupt_console();
  /// Ends what is left, joins the loops.
  void end();
};

/// Starts the services that reach disk, network and processes.
void start_io(caf::actor_system& system, const boot_result& boot,
              runtime& parts);

/// Tries the sandbox once; the sentence that ends the boot, or empty.
std::string check_sandbox(caf::actor_system& system, const boot_result& boot,
                          const runtime& parts);

/// Greeting of a terminal: the model, why it was chosen, how to stop.
std::string console_banner(const boot_result& boot);

/// Spawns everything above io and lists it for the node. Runs inside the node.
node_plan compose(caf::actor_system& system, const boot_result& boot,
                  runtime& parts, const node_actor& node);

} // namespace bureau::system
