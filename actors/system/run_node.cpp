#include "actors/system/run_node.hpp"

#include "actors/io/files.hpp"
#include "actors/io/http_client.hpp"
#include "actors/io/journal.hpp"
#include "actors/io/process_host.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/system_config.hpp"
#include "actors/metrics/metrics.hpp"
#include "actors/office/migration.hpp"
#include "actors/system/boot.hpp"
#include "actors/system/composition.hpp"
#include "actors/system/control_side.hpp"
#include "actors/system/main_events.hpp"
#include "config/models_file.hpp"
#include "config/os/process_figures.hpp"
#include "web/http/server.hpp"

#include <caf/all.hpp>

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>

namespace bureau::system {

namespace {

/// The web server of a running node, if it is to have one.
class web_side {
public:
  /// Opens the listener. A taken port is not fatal: the node runs, degraded.
  void open(caf::actor_system& system, const config::boot_config& boot,
            const node_actor& node, const portal_actor& portal) {
    if (!boot.http.serve)
      return;
    try {
      web::server_options options;
      options.host = boot.http.bind_host;
      options.port = static_cast<uint16_t>(boot.http.port);
      options.allow_non_loopback = boot.http.other_machines;
      server_ = std::make_unique<web::server>(system, portal, options);
      kit::log::info("web", "listening on http://" + boot.http.bind_host + ":"
                              + std::to_string(server_->port()));
    } catch (const std::runtime_error& ex) {
      kit::log::warning("web", ex.what());
      caf::anon_send(node, atom::degrade_v, degraded_part{"web", ex.what()});
    }
  }

  std::optional<config::listener>
  address(const config::boot_config& boot) const {
    if (!server_)
      return std::nullopt;
    return config::listener{boot.http.bind_host, server_->port()};
  }

  void close() {
    if (server_)
      server_->stop();
  }

  void release() { server_.reset(); }

private:
  std::unique_ptr<web::server> server_;
};

/// Remembers how a terminal was, for an exit without goodbye.
class terminal_memory {
public:
  terminal_memory() : known_(::tcgetattr(0, &before_) == 0) {}
  void restore() const {
    if (known_)
      ::tcsetattr(0, TCSANOW, &before_);
  }

private:
  termios before_{};
  bool known_;
};

bool has_model(const config::models_file& file, const std::string& provider,
               const std::string& model) {
  auto entry = file.find(provider);
  return entry != nullptr
         && std::any_of(entry->models.begin(), entry->models.end(),
                        [&](const auto& known) { return known.id == model; });
}

metrics_actor start_metrics(caf::actor_system& system,
                            const boot_result& boot) {
  auto wall = boot.ports.wall;
  auto figures_of = [wall, started_ms = wall->now_ms()] {
    auto facts = os::read_process_figures();
    metrics::process_figures figures;
    figures.resident_bytes = facts.resident_bytes;
    figures.virtual_bytes = facts.virtual_bytes;
    figures.cpu_micros = facts.cpu_micros;
    figures.open_fds = facts.open_fds;
    figures.max_fds = facts.max_fds;
    figures.start_unix_ms = started_ms;
    figures.now_unix_ms = wall->now_ms();
    return figures;
  };
  auto is_listed = [own = boot.files.models](const std::string& provider,
                                             const std::string& model) {
    return (own && has_model(*own, provider, model))
           || has_model(config::builtin_models().file, provider, model);
  };
  return metrics::spawn_metrics(system, figures_of, is_listed);
}

/// Scheduler threads: one a core, at least two (decision B18).
size_t worker_count() {
  auto cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 2 ? static_cast<size_t>(cores) : size_t{2};
}

/// Waits for the last actors. The system's destructor would wait for ever; an
/// actor that does not end is a fault of ours that must not hold the process.
void await_end(caf::actor_system& system, int code) {
  constexpr auto patience = 3000;
  for (auto waited = 0; system.registry().running() > 0; waited += 2) {
    if (waited >= patience) {
      kit::log::warning("node", std::to_string(system.registry().running())
                                  + " actors did not end");
      std::_Exit(code);
    }
    ::poll(nullptr, 0, 2);
  }
}

/// Serves until the node has ended.
int serve(boot_result& boot) {
  terminal_memory terminal;
  main_events events;
  kit::system_config settings{worker_count()};
  caf::actor_system system{settings};
  std::atomic<int> exit_code{0};
  {
    runtime parts;
    parts.metrics = start_metrics(system, boot);
    start_io(system, boot, parts);
    if (auto refusal = check_sandbox(system, boot, parts); !refusal.empty()) {
      std::fprintf(stderr, "bureau: %s\n", refusal.c_str());
      parts.end();
      return config::exit_failure;
    }
    auto node = spawn_node(system, [&](const node_actor& self) {
      auto plan = compose(system, boot, parts, self);
      plan.tell_main = [&events](main_event event) {
        events.post(event);
      };
      plan.set_exit_code = [&exit_code](int code) {
        exit_code = code;
      };
      return plan;
    });
    web_side web;
    control_side control;
    auto stopping = false;
    for (auto done = false; !done;) {
      switch (events.wait()) {
      case main_event::ready:
        web.open(system, *boot.config, node, parts.portal);
        control.open(system, boot, parts, node);
        if (auto fault =
              boot.lock.publish(*boot.ports.chance, web.address(*boot.config),
                                std::nullopt, false))
          kit::log::warning("node", os::describe(fault));
        kit::log::info("node", "ready");
        break;
      case main_event::interrupt:
        // A console with a running turn takes the first ^C for itself.
        if (!stopping && parts.interrupt_console())
          break;
        [[fallthrough]];
      case main_event::terminate:
        if (stopping) {
          // The ledger is the safety net; nothing is lost by not waiting.
          kit::log::warning("node", "second signal: ending at once");
          terminal.restore();
          std::_Exit(config::exit_failure);
        }
        stopping = true;
        caf::anon_send(node, atom::shutdown_v, std::string{"signal"});
        break;
      case main_event::stopping:
        stopping = true;
        web.close();
        break;
      case main_event::finished:
        done = true;
        break;
      }
    }
    web.close();
    web.release();
    control.close(system);
    caf::anon_send_exit(node, caf::exit_reason::user_shutdown);
    node = nullptr;
    parts.end();
  }
  await_end(system, exit_code);
  return exit_code;
}

} // namespace

int run_node(const config::cli_plan& plan, const config::environment& env) {
  // Signals are blocked before any thread exists, so that all threads inherit
  // it; SIGCHLD belongs to the process loop.
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &children, nullptr);
  // A copy of the node: the smaller it still is, the better.
  boot_result boot;
  boot.reaper = io::process_reaper::start();
  os::ignore_broken_pipes();
  os::raise_descriptor_limit();
  kit::log::to_stderr();
  if (!boot.reaper)
    kit::log::warning("node", "no reaper could be started: sandboxes may "
                              "outlive a node that is killed");
  if (auto refusal = prepare(plan, env, boot); !refusal.empty()) {
    std::fprintf(stderr, "bureau: %s\n", refusal.c_str());
    return config::exit_failure;
  }
  auto code = serve(boot);
  boot.lock.release();
  return code;
}

} // namespace bureau::system
