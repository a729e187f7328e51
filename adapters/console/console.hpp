#pragma once

#include "actors/kit/log.hpp"
#include "adapters/console/console_port.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/interfaces/artifacts.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/interaction.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/node.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/ports/wall_clock.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace bureau::console {

/// How the console runs (decisions A10, B5).
struct console_options {
  /// A terminal: line editing, streamed answers, activity. Otherwise, and when
  /// input or output is no terminal, a pipe: one message a line, final answers
  /// on the output, all else on the error stream.
  bool interactive = false;
  /// A pipe whose output is frames: NDJSON on the output, one finish or error
  /// for every message (agent contracts, 3.8). Runs tell what they do through
  /// make_frame_responders.
  bool json = false;
  /// Name of the first conversation, 1 to 32 of [a-z0-9-].
  std::string first_name = "local";
  int input_fd = 0;
  int output_fd = 1;
  int error_fd = 2;
  /// Which of the two outputs are terminals, where control characters of an
  /// answer would do something. Found out when the console makes its own port.
  bool output_is_terminal = false;
  bool error_is_terminal = false;
  /// Login name of the person at the console.
  std::string user = "user";
  /// What `~` and a relative path mean in /attach; empty: they are refused.
  std::string home;
  std::string working_dir;
  /// First line on a terminal: product, model and why it was chosen.
  std::string banner;
  /// On a terminal: take the log of the process over while running and show
  /// warnings and errors above the prompt.
  bool show_warnings = true;
  /// Gets every log line while `show_warnings` holds; may be empty.
  kit::log::line_sink log_tee;
  /// Set by spawn_console; false once the console has ended.
  std::shared_ptr<std::atomic<bool>> alive;
};

/// What the console stands on.
struct console_deps {
  offices_actor offices;
  node_actor node;
  /// The end of the input waits for jobs, too. Empty: there are none.
  jobs_actor jobs;
  /// On a terminal agents may ask through it. Empty: they cannot.
  interaction_actor interaction;
  files_actor files;
  /// Where files of answers can be had. Empty: nowhere.
  artifacts_actor artifacts{};
  workspace ws;
  std::shared_ptr<const wall_clock> wall;
  /// Empty: nothing is counted.
  metrics_actor metrics;
  /// Hears how the console is as a channel, under the number of its start.
  /// Empty: nobody does.
  channel_host_actor host;
  uint64_t generation = 0;
  /// Streams; empty = the descriptors of the options and a thread of its own.
  std::shared_ptr<console_port> port;
};

/// A running console.
struct console_handle {
  adapter_service_actor service;
  /// The same actor as a platform's outbox.
  transport_actor transport;
  /// What SIGINT means here: ends the running turn, or else begins the
  /// shutdown. May be called from any thread; false after the console's end.
  /// Drop it before the actor system.
  std::function<bool()> interrupt;
};

/// Spawns the adapter and transport of the console platform. Start it through
/// the service: it attaches itself to the offices. The end of its input begins
/// the shutdown of the node.
console_handle spawn_console(caf::actor_system& system, console_deps deps,
                             console_options options);

} // namespace bureau::console
