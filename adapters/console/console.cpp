#include "adapters/console/console.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "adapters/console/console_state.hpp"
#include "adapters/console/console_thread.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/identity.hpp"

#include <caf/all.hpp>

#include <unistd.h>

namespace bureau::console {

namespace log = kit::log;

console_state::~console_state() {
  if (options_.alive)
    *options_.alive = false;
  release_log();
  if (deps_.port && started_)
    deps_.port->stop();
}

void console_state::init(console_deps deps, console_options options) {
  deps_ = std::move(deps);
  options_ = std::move(options);
  if (options_.json)
    frames_.emplace();
  core_.emplace(options_.interactive, options_.first_name);
  screen_.emplace(
    options_.interactive,
    terminals{options_.interactive || options_.output_is_terminal,
              options_.interactive || options_.error_is_terminal});
}

console_actor::behavior_type console_state::make_behavior() {
  return {
    [this](atom::start) { return on_start(); },
    [this](atom::drain) { return on_drain(); },
    [this](atom::stop) { return on_stop(); },
    [this](atom::status) { return status(); },
    [this](atom::deliver, const outbound& x) { return on_deliver(x); },
    [this](atom::drop, const std::string& run) { on_drop(run); },
    [this](atom::fetch, const attachment_fetch& x) { return on_fetch(x); },
    [this](atom::closed, const closed_entry& x) {
      if (frames_)
        write_frames(0, frames_->closed(x));
      carry_out(core_->closed(x.message_id, now()));
    },
    [this](atom::config) { return config(); },
    [this](atom::status, const outbound& x) { tell(x, &frame_core::status); },
    [this](atom::append, const outbound& x) { tell(x, &frame_core::append); },
    [this](atom::replace, const outbound& x) { tell(x, &frame_core::replace); },
    [this](atom::event, const outbound& x,
           const contracts::stream_event& event) {
      if (frames_ && !is_dropped(x))
        write_frames(0, frames_->event(x, event));
    },
    [this](atom::present, const ask_presentation& x) { return on_present(x); },
    [this](atom::replace, const ask_presentation& x) {
      if (auto place = contracts::parse_contract_id(x.conversation_id))
        carry_out(core_->ask_changed(place->address.conversation_id, x.ask));
    },
    [this](atom::notice, const status_post& x) { on_posted(x); },
    [this](atom::read, std::string& bytes, bool cut) {
      carry_out(core_->line({std::move(bytes), cut}, now()));
    },
    [this](atom::close) { carry_out(core_->end_of_input()); },
    [this](atom::cancel) { carry_out(core_->interrupt(now())); },
    [this](atom::write, uint64_t token, bool fine) { on_written(token, fine); },
    [this](atom::done) { on_port_ended(); },
  };
}

console_state::ok_promise console_state::on_start() {
  auto promise = self_->make_response_promise<ok_promise>();
  if (started_) {
    promise.deliver(make_failure(errc::busy, "The console runs already."));
    return promise;
  }
  if (auto fault = deps_.port->start(events())) {
    promise.deliver(make_failure(errc::not_ready, *fault));
    return promise;
  }
  started_ = true;
  auto id = starts_.keep(promise);
  transport_actor transport = handle();
  kit::bounded_request(self_, deps_.offices, limits::disk_timeout,
                       atom::attach_v, platform_id::console, transport)
    .then(
      [this, id](caf::ok_atom) {
        take_log();
        greet();
        carry_out(core_->start());
        become_sink();
        starts_.deliver(id, caf::ok_atom_v);
        tell_summary();
      },
      [this, id](caf::error& reason) {
        deps_.port->stop();
        starts_.fail(id, std::move(reason));
      });
  return promise;
}

void console_state::become_sink() {
  if (!deps_.interaction || !options_.interactive)
    return;
  interaction_sink_actor sink = handle();
  self_->send(deps_.interaction, atom::attach_v, platform_id::console, sink);
}

caf::ok_atom console_state::on_drain() {
  carry_out(core_->drain(now()));
  deps_.port->hurry();
  return caf::ok_atom_v;
}

console_state::ok_promise console_state::on_stop() {
  auto promise = self_->make_response_promise<ok_promise>();
  if (!started_ || port_ended_) {
    promise.deliver(caf::ok_atom_v);
    return promise;
  }
  stops_.keep(promise);
  carry_out(core_->drain(now()));
  release_log();
  deps_.port->stop();
  // A reader that is stuck must not hold the shutdown up.
  stop_timer_.arm(self_, limits::abort_settle_timeout,
                  [this] { on_port_ended(); });
  return promise;
}

void console_state::on_port_ended() {
  stop_timer_.cancel();
  if (!std::exchange(port_ended_, true) && stops_.empty())
    tell_host(channel_event::failed, "Its streams have ended.");
  release_log();
  for (auto& [token, entry] : std::exchange(writes_, {}))
    conclude(entry.promise, failed("The console has ended."));
  stops_.deliver_all(caf::ok_atom_v);
}

status_line console_state::status() const {
  auto state = !started_ ? "idle" : port_ended_ ? "stopping" : "ok";
  return {"adapter/console", state,
          std::to_string(core_->load()) + " messages open"};
}

transport_info console_state::config() const {
  transport_info result;
  result.platform = platform_id::console;
  result.streaming = options_.interactive;
  result.activity = activity_style::ledger;
  // What was printed stays.
  result.removes = false;
  result.length_unit = "bytes";
  // A person is told of a file and may keep it.
  result.uploads = options_.interactive && deps_.artifacts;
  if (frames_) {
    // The frames of the run tell everything besides its answer.
    result.activity = activity_style::none;
    result.fallback = contracts::unsupported_part_fallback::none;
  }
  return result;
}

void console_state::greet() {
  if (!options_.interactive)
    return;
  auto text = options_.banner + (options_.banner.empty() ? "" : "\n")
              + "^C ends a running turn, a second one or ^D ends the "
                "program.";
  print(0, screen_->own(text));
}

console_events console_state::events() {
  console_events result;
  auto me = handle();
  result.line = [me](std::string bytes, bool cut) {
    caf::anon_send(me, atom::read_v, std::move(bytes), cut);
  };
  result.end_of_input = [me] {
    caf::anon_send(me, atom::close_v);
  };
  result.interrupt = [me] {
    caf::anon_send(me, atom::cancel_v);
  };
  result.written = [me](uint64_t token, bool fine) {
    caf::anon_send(me, atom::write_v, token, fine);
  };
  result.ended = [me] {
    caf::anon_send(me, atom::done_v);
  };
  return result;
}

void console_state::tell_host(channel_event what, std::string reason,
                              json_text summary) {
  if (deps_.host)
    self_->send(deps_.host, atom::notice_v,
                channel_news{platform_id::console, deps_.generation, what,
                             std::move(reason), std::move(summary)});
}

void console_state::tell_summary() {
  boost::json::object summary{{"conversation", core_->current()},
                              {"mode", options_.interactive ? "terminal"
                                       : options_.json      ? "frames"
                                                            : "pipe"}};
  tell_host(channel_event::summary_changed, {},
            json_text{json::print(summary)});
}

void console_state::apply(effect::shutdown& item) {
  if (item.when_settled)
    end_when_settled(item.reason);
  else
    end_node(item.reason);
}

void console_state::end_node(const std::string& reason) {
  self_->send(deps_.node, atom::shutdown_v, "console: " + reason);
}

void console_state::end_when_settled(const std::string& reason) {
  with_outlook([this, reason](const job_outlook& before) {
    kit::bounded_request(self_, deps_.offices, limits::mailbox_timeout,
                         atom::describe_v)
      .then(
        [this, reason, before](const runtime_snapshot& now) {
          if (now.open_entries == 0 && before.open == 0)
            end_unless_busier(reason, before);
          else
            look_again(reason);
        },
        [this, reason](caf::error&) { end_node(reason); });
  });
}

void console_state::end_unless_busier(const std::string& reason,
                                      const job_outlook& before) {
  with_outlook([this, reason, before](const job_outlook& after) {
    if (after == before)
      end_node(reason);
    else
      look_again(reason);
  });
}

void console_state::look_again(const std::string& reason) {
  settle_timer_.arm(self_, settle_interval,
                    [this, reason] { end_when_settled(reason); });
}

void console_state::take_log() {
  if (!options_.interactive || !options_.show_warnings)
    return;
  log_taken_ = true;
  log::to_sink([port = deps_.port, tee = options_.log_tee](
                 log::level severity, std::string_view line) {
    if (tee)
      tee(severity, line);
    if (severity >= log::level::warning)
      port->write(0, std::string{line} + "\n", {});
  });
}

void console_state::release_log() {
  if (!std::exchange(log_taken_, false))
    return;
  if (options_.log_tee)
    log::to_sink(options_.log_tee);
  else
    log::to_stderr();
}

console_handle spawn_console(caf::actor_system& system, console_deps deps,
                             console_options options) {
  if (!deps.port) {
    // Output that goes to a file or a pipe wants no line editing.
    options.output_is_terminal = isatty(options.output_fd) != 0;
    options.error_is_terminal = isatty(options.error_fd) != 0;
    options.interactive = options.interactive && !options.json
                          && isatty(options.input_fd) != 0
                          && options.output_is_terminal;
    deps.port = make_console_thread({options.interactive, options.input_fd,
                                     options.output_fd, options.error_fd});
  }
  auto alive = std::make_shared<std::atomic<bool>>(true);
  options.alive = alive;
  auto actor = kit::spawn_stateful<console_actor, console_state>(
    system, std::move(deps), std::move(options));
  return {actor, actor, [actor, alive] {
            if (!*alive)
              return false;
            caf::anon_send(actor, atom::cancel_v);
            return true;
          }};
}

} // namespace bureau::console
