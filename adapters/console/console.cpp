#include "adapters/console/console.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "adapters/console/attach_core.hpp"
#include "adapters/console/console_core.hpp"
#include "adapters/console/console_thread.hpp"
#include "adapters/console/frame_core.hpp"
#include "adapters/console/frame_responder.hpp"
#include "adapters/console/save_core.hpp"
#include "adapters/console/screen_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/codec/log_record.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/text/harmless.hpp"

#include <caf/all.hpp>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace bureau::console {

namespace {

namespace log = kit::log;

/// Adapter, transport, and what the streams tell.
using console_actor = adapter_service_actor::extend_with<transport_actor>::
  extend_with<frame_sink_actor>::extend_with<interaction_sink_actor>::extend<
    caf::reacts_to<atom::read, std::string, bool>, caf::reacts_to<atom::close>,
    caf::reacts_to<atom::cancel>, caf::reacts_to<atom::write, uint64_t, bool>,
    caf::reacts_to<atom::done>>;

/// Handlers:
///   (start)               → ok => on_start
///   (drain)               → ok => on_drain
///   (stop)                → ok => on_stop
///   (status)              → status_line => status
///   (deliver, outbound)   → delivered => on_deliver
///   (drop, run)           => on_drop
///   (fetch, attachment_fetch) → size => on_fetch
///   (closed, entry)       => on_closed
///   (config)              → transport_info => config
///   (status | append | replace, outbound)  => tell  (what runs do)
///   (event, outbound, stream_event)        => tell
///   (present, ask_presentation) → ok => on_present
///   (replace, ask_presentation)      => ask_changed
///   (notice, status_post)            => on_posted
///   (read, bytes, cut)    => on_line      (internal: the streams)
///   (close)               => on_end_of_input
///   (cancel)              => on_interrupt
///   (write, token, fine)  => on_written
///   (done)                => on_port_ended
///
/// The shell of console_core and screen_core. Child of the node.
class console_state {
public:
  using pointer = console_actor::stateful_pointer<console_state>;

  static inline const char* name = "console";

  explicit console_state(pointer self) : self_(self) {}

  ~console_state() {
    if (options_.alive)
      *options_.alive = false;
    release_log();
    if (deps_.port && started_)
      deps_.port->stop();
  }

  void init(console_deps deps, console_options options) {
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

  console_actor::behavior_type make_behavior() {
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
      [this](atom::replace, const outbound& x) {
        tell(x, &frame_core::replace);
      },
      [this](atom::event, const outbound& x,
             const contracts::stream_event& event) {
        if (frames_ && !is_dropped(x))
          write_frames(0, frames_->event(x, event));
      },
      [this](atom::present, const ask_presentation& x) {
        return on_present(x);
      },
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
      [this](atom::write, uint64_t token, bool fine) {
        on_written(token, fine);
      },
      [this](atom::done) { on_port_ended(); },
    };
  }

private:
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;
  using delivery_promise = caf::typed_response_promise<delivered>;
  using size_promise = caf::typed_response_promise<uint64_t>;

  /// How often the end of the input looks whether everything is answered.
  static constexpr auto settle_interval = std::chrono::milliseconds{50};

  /// A write under way.
  struct open_write {
    uint64_t promise = 0;
    std::string ref;
  };

  // -- life cycle -------------------------------------------------------------

  ok_promise on_start() {
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

  /// In a pipe nobody is there to answer.
  void become_sink() {
    if (!deps_.interaction || !options_.interactive)
      return;
    interaction_sink_actor sink = handle();
    self_->send(deps_.interaction, atom::attach_v, platform_id::console, sink);
  }

  caf::ok_atom on_drain() {
    carry_out(core_->drain(now()));
    deps_.port->hurry();
    return caf::ok_atom_v;
  }

  ok_promise on_stop() {
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

  void on_port_ended() {
    stop_timer_.cancel();
    if (!std::exchange(port_ended_, true) && stops_.empty())
      tell_host(channel_event::failed, "Its streams have ended.");
    release_log();
    for (auto& [token, entry] : std::exchange(writes_, {}))
      conclude(entry.promise, failed("The console has ended."));
    stops_.deliver_all(caf::ok_atom_v);
  }

  status_line status() const {
    auto state = !started_ ? "idle" : port_ended_ ? "stopping" : "ok";
    return {"adapter/console", state,
            std::to_string(core_->load()) + " messages open"};
  }

  transport_info config() const {
    transport_info result;
    result.platform = platform_id::console;
    result.streaming = options_.interactive;
    result.activity = activity_style::ledger;
    // What was printed stays.
    result.removes = false;
    result.length_unit = "bytes";
    // A person is told of a file and may keep it.
    result.uploads = options_.interactive && deps_.artifacts;
    return result;
  }

  void greet() {
    if (!options_.interactive)
      return;
    auto text = options_.banner + (options_.banner.empty() ? "" : "\n")
                + "^C ends a running turn, a second one or ^D ends the "
                  "program.";
    print(0, screen_->own(text));
  }

  console_events events() {
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

  // -- inbound ----------------------------------------------------------------

  void carry_out(console_effects effects) {
    for (auto& item : effects)
      std::visit([this](auto& effect) { apply(effect); }, item);
  }

  void apply(effect::read_log& item) {
    screen_->meet(item.name);
    auto place = make_office(deps_.ws, {platform_id::console, item.name});
    file_job job;
    job.reason = "console";
    job.op = file_op::stat;
    job.root = deps_.ws.root;
    job.path = place.key + "/log.jsonl";
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         job)
      .then(
        [this, name = item.name, job](const file_outcome& found) {
          if (found.kind == file_kind::regular)
            read_tail(name, job, found.size);
          else
            carry_out(core_->log_read(name, {}, now()));
        },
        [this, name = item.name](caf::error& reason) {
          log_unread(name, reason);
        });
  }

  void read_tail(const std::string& conversation, file_job job, uint64_t size) {
    job.op = file_op::read_range;
    job.length = limits::console_log_tail_bytes;
    job.offset = size > job.length ? size - job.length : 0;
    auto whole = job.offset == 0;
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [this, conversation, whole](const file_outcome& found) {
          carry_out(core_->log_read(conversation,
                                    log_tail_ids(found.bytes, whole), now()));
        },
        [this, conversation](caf::error& reason) {
          log_unread(conversation, reason);
        });
  }

  void log_unread(const std::string& conversation, const caf::error& reason) {
    log::warning("console", "the chat log was not read, message ids go by the "
                            "clock alone: "
                              + sentence_of(reason));
    carry_out(core_->log_read(conversation, {}, now()));
  }

  void apply(effect::submit& item) {
    if (frames_)
      frames_->begin(item.id, item.name, item.line);
    intake_request request;
    auto& event = request.event;
    event.address = {platform_id::console, item.name};
    event.session_key = item.name;
    event.message_id = item.id;
    event.user = options_.user;
    event.user_name = options_.user;
    event.text = std::move(item.text);
    if (!item.file.empty())
      event.attachments.push_back(
        {file_name_of(item.file), {}, make_file_ref(item.file), {}});
    event.target = json_text{"{}"};
    event.sent_ms = now();
    request.display_name = options_.user;
    kit::bounded_request(self_, deps_.offices, limits::disk_timeout,
                         atom::intake_v, std::move(request))
      .then(
        [this, name = item.name, id = item.id](const intake_reply& reply) {
          carry_out(core_->taken(name, id, reply.outcome, now()));
        },
        [this, name = item.name, id = item.id](caf::error& reason) {
          carry_out(
            core_->not_taken(name, id, code_of(reason), sentence_of(reason)));
        });
  }

  void apply(effect::settled& item) {
    if (!frames_)
      return;
    if (item.line > 0)
      frames_->begin(item.id, item.name, item.line);
    write_frames(0, frames_->settled(item.id, item.outcome, item.fault));
  }

  // -- questions --------------------------------------------------------------

  caf::result<caf::ok_atom> on_present(const ask_presentation& what) {
    auto place = contracts::parse_contract_id(what.conversation_id);
    if (!place)
      return place.error();
    if (!started_ || port_ended_ || output_lost_ || !core_->takes_lines())
      return make_failure(errc::not_ready, "The console is not open.");
    carry_out(core_->asked(place->address.conversation_id, what.ask));
    return caf::ok_atom_v;
  }

  /// What was printed stays: each post is a line of its own.
  void on_posted(const status_post& what) {
    auto place = contracts::parse_contract_id(what.conversation_id);
    if (!place || !started_ || port_ended_ || output_lost_)
      return;
    outbound line;
    line.rank = outbound_class::control;
    line.content = outbound_content::notice;
    line.conversation = place->address;
    line.message_id = what.key;
    line.text = "_" + what.text + "_";
    core_->met(line.conversation.conversation_id);
    print(0, screen_->show(line, core_->next_id(now())));
  }

  void apply(effect::cancel_ask& item) {
    self_->send(deps_.interaction, atom::cancel_v, item.conversation_id);
  }

  void apply(effect::answer& item) {
    kit::bounded_request(self_, deps_.interaction, limits::mailbox_timeout,
                         atom::submit_v, std::move(item.submission))
      .then(
        [this,
         name = item.name](const contracts::ask_submission_result& result) {
          if (result.refusal)
            carry_out(core_->answer_refused(name, result));
        },
        [this, name = item.name](caf::error&) { look_at_question(name); });
  }

  /// Nobody said what became of an answer: the hub knows whether the question is
  /// open still.
  void look_at_question(const std::string& asked) {
    kit::bounded_request(
      self_, deps_.interaction, limits::mailbox_timeout, atom::read_v,
      contracts::contract_id({platform_id::console, asked}, asked))
      .then(
        [this, asked](const pending_ask& open) {
          contracts::ask_submission_result result;
          result.snapshot = open.ask;
          carry_out(core_->answer_refused(asked, result));
        },
        [this, asked](caf::error&) {
          carry_out(core_->answer_refused(asked, {}));
        });
  }

  // -- the end ----------------------------------------------------------------

  void apply(effect::stop_any& item) { ask_to_stop(std::move(item.names)); }

  void ask_to_stop(std::vector<std::string> names) {
    if (names.empty()) {
      carry_out(core_->stop_answered({}));
      return;
    }
    stop_request request;
    request.conversation = {platform_id::console, names.front()};
    request.target = json_text{"{}"};
    names.erase(names.begin());
    kit::bounded_request(self_, deps_.offices, limits::mailbox_timeout,
                         atom::stop_v, std::move(request))
      .then(
        [this, names](const stop_report& report) {
          if (report.found)
            carry_out(core_->stop_answered(report.message_id));
          else
            ask_to_stop(names);
        },
        [this, names](caf::error&) { ask_to_stop(names); });
  }

  void apply(effect::retry& item) {
    retries_[item.name].arm(
      self_, std::chrono::milliseconds{item.delay_ms},
      [this, name = item.name] { carry_out(core_->retry_due(name, now())); });
  }

  void apply(effect::say& item) { print(0, screen_->own(item.text)); }

  void apply(effect::allow& item) { deps_.port->allow(item.bytes); }

  void apply(effect::prompt& item) {
    deps_.port->prompt(item.name + "> ");
    tell_summary();
  }

  // -- as a channel -----------------------------------------------------------

  void tell_host(channel_event what, std::string reason,
                 json_text summary = {}) {
    if (deps_.host)
      self_->send(deps_.host, atom::notice_v,
                  channel_news{platform_id::console, deps_.generation, what,
                               std::move(reason), std::move(summary)});
  }

  void tell_summary() {
    boost::json::object summary{
      {"conversation", core_->current()},
      {"mode", options_.interactive ? "terminal"
               : options_.json      ? "frames"
                                    : "pipe"}};
    tell_host(channel_event::summary_changed, {},
              json_text{json::print(summary)});
  }

  void apply(effect::shutdown& item) {
    if (item.when_settled)
      end_when_settled(item.reason);
    else
      end_node(item.reason);
  }

  void end_node(const std::string& reason) {
    self_->send(deps_.node, atom::shutdown_v, "console: " + reason);
  }

  /// Work that an earlier run left over is answered here as well: the node ends
  /// when nothing accepted is open any more, and no job is left that could wake
  /// anybody.
  void end_when_settled(const std::string& reason) {
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

  /// A turn that ended meanwhile may have left a job.
  void end_unless_busier(const std::string& reason, const job_outlook& before) {
    with_outlook([this, reason, before](const job_outlook& after) {
      if (after == before)
        end_node(reason);
      else
        look_again(reason);
    });
  }

  void look_again(const std::string& reason) {
    settle_timer_.arm(self_, settle_interval,
                      [this, reason] { end_when_settled(reason); });
  }

  template <class Then>
  void with_outlook(Then then) {
    if (!deps_.jobs) {
      then(job_outlook{});
      return;
    }
    kit::bounded_request(self_, deps_.jobs, limits::mailbox_timeout,
                         atom::describe_v, platform_id::console)
      .then(then, [then](caf::error&) { then(job_outlook{}); });
  }

  // -- files ------------------------------------------------------------------

  void apply(effect::look& item) {
    auto path = resolve_path(item.path, options_.home, options_.working_dir);
    if (path.empty()) {
      carry_out(core_->looked(item.number, {},
                              "It is not known where " + item.path
                                + " is; give the whole path.",
                              now()));
      return;
    }
    if (auto why = private_place(path, deps_.ws); !why.empty()) {
      carry_out(core_->looked(item.number, path, why, now()));
      return;
    }
    ask_files(
      file_of_user(file_op::stat, path, 0),
      [this, number = item.number, path](const file_outcome& found) {
        auto refusal = refusal_of(path, found);
        if (refusal.empty())
          try_reading(number, path);
        else
          carry_out(core_->looked(number, path, refusal, now()));
      },
      [this, number = item.number, path](const caf::error& reason) {
        carry_out(
          core_->looked(number, path, sentence_of(reason) + ".", now()));
      });
  }

  void try_reading(uint64_t number, const std::string& path) {
    ask_files(
      file_of_user(file_op::read_range, path, 1),
      [this, number, path](const file_outcome&) {
        carry_out(core_->looked(number, path, {}, now()));
      },
      [this, number, path](const caf::error& reason) {
        carry_out(
          core_->looked(number, path, sentence_of(reason) + ".", now()));
      });
  }

  // The ledger keeps the reference over a restart, so that nothing else tells
  // whether the console made it.
  size_promise on_fetch(const attachment_fetch& what) {
    auto promise = self_->make_response_promise<size_promise>();
    auto id = fetches_.keep(promise);
    auto path = path_of_ref(what.ref);
    if (!path || what.conversation.platform != platform_id::console) {
      fetches_.fail(id,
                    make_failure(errc::denied, "the console has no such file"));
      return promise;
    }
    if (!started_ || port_ended_) {
      fetches_.fail(
        id, make_failure(errc::shutting_down, "the console is not open"));
      return promise;
    }
    auto fail = [this, id](const caf::error& reason) {
      fetches_.fail(id, reason);
    };
    ask_files(
      file_of_user(file_op::read, *path, what.max_bytes),
      [this, id, what, fail](file_outcome& found) {
        file_job job;
        job.reason = "console";
        job.op = file_op::write_atomic;
        job.root = what.root;
        job.path = what.path;
        job.bytes = std::move(found.bytes);
        auto size = uint64_t{job.bytes.size()};
        ask_files(
          std::move(job),
          [this, id, size](const file_outcome&) { fetches_.deliver(id, size); },
          fail);
      },
      fail);
    return promise;
  }

  static file_job file_of_user(file_op op, const std::string& path,
                               uint64_t length) {
    file_job job;
    job.reason = "console";
    job.op = op;
    job.path = path;
    job.length = length;
    return job;
  }

  template <class Found, class Failed>
  void ask_files(file_job job, Found found, Failed fault) {
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(std::move(found),
            [fault = std::move(fault)](caf::error& reason) { fault(reason); });
  }

  // -- files of answers -------------------------------------------------------

  /// A file on its way from the artifacts to its place.
  struct saving {
    std::string token;
    std::string path;
    std::string bytes;
  };

  void apply(effect::save& item) {
    const auto* offered = offered_.find(item.number);
    if (offered == nullptr || !deps_.artifacts) {
      say("There is no file " + std::to_string(item.number) + " here.");
      return;
    }
    auto typed = item.path.empty() ? std::string{}
                                   : resolve_path(item.path, options_.home,
                                                  options_.working_dir);
    auto path = item.path.empty() || !typed.empty()
                  ? target_of(typed, offered->file.name, options_.working_dir)
                  : std::string{};
    if (path.empty()) {
      say("It is not known where " + item.path + " is; give the whole path.");
      return;
    }
    contracts::artifact_open_request request;
    request.conversation_id = offered->conversation_id;
    request.artifact_id = offered->file.artifact_id;
    request.expected_integrity_id = offered->file.integrity_id;
    // What is there already stays.
    ask_files(
      file_of_user(file_op::stat, path, 0),
      [this, path, request](const file_outcome& found) {
        if (found.kind == file_kind::absent)
          open_artifact(path, request);
        else
          say(path + " exists already; name another place.");
      },
      [this](const caf::error& reason) { not_saved(reason); });
  }

  void open_artifact(const std::string& path,
                     const contracts::artifact_open_request& request) {
    kit::bounded_request(self_, deps_.artifacts, limits::disk_timeout,
                         atom::open_v, request)
      .then(
        [this, path](const artifact_opened& opened) {
          if (opened.fault)
            say(sentence_of_fault(*opened.fault));
          else
            read_artifact(
              std::make_shared<saving>(saving{opened.token, path, {}}));
        },
        [this](caf::error& reason) { not_saved(reason); });
  }

  void read_artifact(const std::shared_ptr<saving>& file) {
    kit::bounded_request(self_, deps_.artifacts, limits::disk_timeout,
                         atom::read_v,
                         artifact_read{file->token, file->bytes.size(),
                                       limits::artifact_read_bytes})
      .then(
        [this, file](const artifact_slice& slice) {
          if (slice.fault) {
            close_artifact(*file);
            say(sentence_of_fault(*slice.fault));
            return;
          }
          file->bytes += slice.bytes;
          if (slice.eof)
            write_artifact(file);
          else
            read_artifact(file);
        },
        [this, file](caf::error& reason) {
          close_artifact(*file);
          not_saved(reason);
        });
  }

  void write_artifact(const std::shared_ptr<saving>& file) {
    close_artifact(*file);
    file_job job;
    job.reason = "console";
    job.op = file_op::write_atomic;
    job.path = file->path;
    job.bytes = std::move(file->bytes);
    job.mode = 0644;
    auto size = job.bytes.size();
    ask_files(
      std::move(job),
      [this, file, size](const file_outcome&) {
        say("Saved " + file->path + " (" + std::to_string(size) + " bytes).");
      },
      [this](const caf::error& reason) { not_saved(reason); });
  }

  void close_artifact(const saving& file) {
    self_->send(deps_.artifacts, atom::close_v, file.token);
  }

  void not_saved(const caf::error& reason) {
    say(sentence_of(reason) + ". Nothing was saved.");
  }

  void say(const std::string& text) {
    effect::say line{text};
    apply(line);
  }

  // -- outbound ---------------------------------------------------------------

  delivery_promise on_deliver(const outbound& operation) {
    auto promise = self_->make_response_promise<delivery_promise>();
    auto id = deliveries_.keep(promise);
    pending(1);
    if (output_lost_) {
      conclude(id, lost());
      return promise;
    }
    if (!started_ || port_ended_) {
      conclude(id, failed("The console is not open."));
      return promise;
    }
    // A final that comes after the drop was sent in spite of it: the gate
    // knows.
    if (operation.rank != outbound_class::final_answer
        && is_dropped(operation)) {
      conclude(id, dropped());
      return promise;
    }
    switch (operation.op) {
    case outbound_op::post:
    case outbound_op::edit:
      if (operation.rank == outbound_class::final_answer)
        ask_gate(id, operation);
      else
        show(id, operation);
      return promise;
    case outbound_op::remove:
      // What was printed stays; it only cannot be continued any more.
      screen_->forget(operation.ref);
      conclude(id, delivered{});
      return promise;
    case outbound_op::typing:
    case outbound_op::react:
      conclude(id, delivered{});
      return promise;
    case outbound_op::upload:
      if (operation.file && config().uploads) {
        ask_gate(id, operation);
      } else {
        auto outcome = failed("The console cannot show files.");
        outcome.fault = delivery_fault::permanent;
        conclude(id, std::move(outcome));
      }
      return promise;
    }
    return promise;
  }

  /// Answers an operation, and counts what became of it.
  void conclude(uint64_t id, delivered outcome) {
    auto word = outcome.fault == delivery_fault::none      ? "sent"
                : outcome.fault == delivery_fault::dropped ? "dropped"
                                                           : "failed";
    pending(-1);
    count(metric::outbound, {"console", word}, 1);
    deliveries_.deliver(id, std::move(outcome));
  }

  void pending(int64_t change) {
    count(metric::outbox_pending, {"console"}, change);
  }

  void count(metric id, std::vector<std::string> labels, int64_t value) {
    if (deps_.metrics)
      self_->send(deps_.metrics, atom::add_v,
                  metric_sample{id, std::move(labels), value});
  }

  void ask_gate(uint64_t id, const outbound& operation) {
    delivery_key key;
    key.conversation = operation.conversation;
    key.message_id = operation.message_id;
    key.run = operation.run;
    key.part = operation.part;
    key.op = operation.op;
    key.ref = operation.ref;
    at_gate_.emplace(id, operation.run);
    kit::bounded_request(self_, deps_.offices, limits::disk_timeout,
                         atom::may_send_v, std::move(key))
      .then(
        [this, id, operation](caf::ok_atom) {
          if (at_gate_.erase(id) > 0)
            show(id, operation);
          else
            conclude(id, dropped());
        },
        [this, id](caf::error& reason) {
          auto stopped =
            at_gate_.erase(id) == 0 || code_of(reason) == errc::aborted;
          conclude(id, stopped ? dropped() : failed(sentence_of(reason)));
        });
  }

  void show(uint64_t id, const outbound& operation) {
    if (operation.op == outbound_op::upload) {
      tell_file(id, operation);
      return;
    }
    auto ref = operation.op == outbound_op::edit && !operation.ref.empty()
                 ? operation.ref
                 : core_->next_id(now());
    std::string preface;
    if (operation.rank == outbound_class::final_answer)
      preface = core_->preface_of(operation.message_id);
    core_->met(operation.conversation.conversation_id);
    auto lines = frames_ ? frames_of(operation, ref, preface)
                         : screen_->show(operation, ref, preface);
    if (lines.empty() || port_ended_) {
      delivered outcome;
      outcome.ref = std::move(ref);
      conclude(id, port_ended_ ? failed("The console has ended.") : outcome);
      return;
    }
    auto token = ++last_token_;
    writes_[token] = {id, std::move(ref)};
    print(token, std::move(lines));
  }

  /// A file is a line that tells how to keep it.
  void tell_file(uint64_t id, const outbound& operation) {
    const auto& place = operation.conversation;
    auto number = offered_.add(
      contracts::contract_id(place, place.conversation_id), *operation.file);
    outbound line = operation;
    line.op = outbound_op::post;
    line.file = caf::none;
    line.text = file_line(*offered_.find(number));
    show(id, line);
  }

  /// What runs tell comes through their responders.
  printed frames_of(const outbound& operation, const std::string& ref,
                    const std::string& preface) {
    printed result;
    if (operation.content == outbound_content::notice) {
      auto frame = frames_->notice(operation);
      if (!frame)
        return screen_->show(operation, ref);
      result.out = safe_frames(std::move(*frame));
    } else if (operation.rank == outbound_class::final_answer) {
      std::string lines;
      if (!preface.empty())
        lines = frames_->warning(operation, preface);
      lines += frames_->answer(operation);
      result.out = safe_frames(std::move(lines));
    }
    return result;
  }

  void tell(const outbound& what,
            std::string (frame_core::*verb)(const outbound&)) {
    if (frames_ && !is_dropped(what))
      write_frames(0, (*frames_.*verb)(what));
  }

  void write_frames(uint64_t token, std::string lines) {
    if (!lines.empty() && !port_ended_ && !output_lost_)
      print(token, {safe_frames(std::move(lines)), {}});
  }

  /// Frames as they may go to a terminal, if that is where they go.
  std::string safe_frames(std::string lines) const {
    if (!options_.output_is_terminal)
      return lines;
    std::string result;
    std::string_view rest = lines;
    while (!rest.empty()) {
      auto end = rest.find('\n');
      result += text::harmless(rest.substr(0, end)) + '\n';
      rest.remove_prefix(end + 1);
    }
    return result;
  }

  void print(uint64_t token, printed lines) {
    deps_.port->write(token, std::move(lines.out), std::move(lines.err));
  }

  void on_written(uint64_t token, bool fine) {
    auto entry = writes_.extract(token);
    if (!entry.empty()) {
      delivered outcome;
      outcome.ref = std::move(entry.mapped().ref);
      conclude(entry.mapped().promise, fine ? outcome : lost());
    }
    if (fine || std::exchange(output_lost_, true))
      return;
    tell_host(channel_event::degraded, "Standard output is closed.");
    carry_out(core_->output_lost());
  }

  void on_drop(const std::string& run) {
    if (run.empty())
      return;
    screen_->forget_run(run);
    std::erase_if(at_gate_,
                  [&](const auto& item) { return item.second == run; });
    dropped_runs_.push_back(run);
    if (dropped_runs_.size() > limits::console_visible_messages)
      dropped_runs_.pop_front();
  }

  bool is_dropped(const outbound& operation) const {
    return operation.rank != outbound_class::control && !operation.run.empty()
           && std::find(dropped_runs_.begin(), dropped_runs_.end(),
                        operation.run)
                != dropped_runs_.end();
  }

  static delivered dropped() {
    delivered result;
    result.fault = delivery_fault::dropped;
    return result;
  }

  /// Nothing was printed; the answer keeps until the console is open again.
  static delivered failed(std::string why) {
    delivered result;
    result.fault = delivery_fault::retryable;
    result.detail = std::move(why);
    return result;
  }

  /// Nobody will read it before the program is started again.
  static delivered lost() {
    auto result = failed("Standard output is closed.");
    result.retry_after_ms =
      std::chrono::milliseconds{limits::delivery_give_up}.count();
    return result;
  }

  // -- log --------------------------------------------------------------------

  void take_log() {
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

  /// Gives the log back: to its file, or to the terminal.
  void release_log() {
    if (!std::exchange(log_taken_, false))
      return;
    if (options_.log_tee)
      log::to_sink(options_.log_tee);
    else
      log::to_stderr();
  }

  // -- helpers ----------------------------------------------------------------

  console_actor handle() const { return console_actor{self_}; }
  int64_t now() const { return deps_.wall->now_ms(); }

  pointer self_;
  console_deps deps_;
  console_options options_;
  std::optional<console_core> core_;
  std::optional<screen_core> screen_;
  /// Of a console that prints frames.
  std::optional<frame_core> frames_;
  bool started_ = false;
  bool port_ended_ = false;
  bool output_lost_ = false;
  bool log_taken_ = false;
  kit::promise_guard<caf::ok_atom> starts_;
  kit::promise_guard<caf::ok_atom> stops_;
  kit::promise_guard<delivered> deliveries_;
  kit::promise_guard<uint64_t> fetches_;
  /// Finals that wait for their gate, with their runs.
  std::map<uint64_t, std::string> at_gate_;
  std::map<uint64_t, open_write> writes_;
  uint64_t last_token_ = 0;
  /// Files of answers that the user was told of.
  offered_files offered_;
  std::deque<std::string> dropped_runs_;
  std::map<std::string, kit::generation_timer> retries_;
  kit::generation_timer stop_timer_;
  kit::generation_timer settle_timer_;
};

} // namespace

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
