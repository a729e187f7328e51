#include "adapters/console/console_adapter.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/codec/log_record.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <set>

namespace bureau::console {

namespace {

using namespace std::chrono_literals;

/// First wait before a message that the disk refused is offered again; doubles
/// up to the second figure.
constexpr auto retry_first = 500ms;
constexpr auto retry_most = 30s;
/// How often the end of the input looks whether all is answered.
constexpr auto settle_poll = 100ms;
/// Part of the log in which the last message id is looked for.
constexpr uint64_t log_tail_bytes = 64u << 10;

/// adapter_service_actor and transport_actor, plus news of the console thread.
using console_actor =
  caf::typed_actor<caf::replies_to<atom::start>::with<caf::ok_atom>,
                   caf::replies_to<atom::drain>::with<caf::ok_atom>,
                   caf::replies_to<atom::stop>::with<caf::ok_atom>,
                   caf::replies_to<atom::status>::with<status_line>,
                   caf::replies_to<atom::deliver, outbound>::with<delivered>,
                   caf::reacts_to<atom::drop, std::string>,
                   caf::reacts_to<atom::closed, closed_entry>,
                   caf::replies_to<atom::config>::with<transport_info>,
                   // A line was typed; whether it was cut.
                   caf::reacts_to<atom::read, std::string, bool>,
                   // The input has ended.
                   caf::reacts_to<atom::close>,
                   // A print is done: ticket, errno.
                   caf::reacts_to<atom::ack, uint64_t, int32_t>,
                   // ^C.
                   caf::reacts_to<atom::abort>>;

/// An operation that waits for the gate or for the thread.
struct pending_operation {
  outbound operation;
  std::string ref;
  uint64_t promise = 0;
  bool dropped = false;
};

// (start) -> ok                   => start
// (drain) -> ok                   => close_intake
// (stop) -> ok                    => stop
// (status) -> status_line         => describe
// (deliver, outbound) -> delivered => deliver
// (drop, run)                     => drop
// (closed, closed_entry)          => entry_closed
// (config) -> transport_info      => info
// (read, line, cut)               => line_read
// (close)                         => input_ended
// (ack, ticket, errno)            => print_done
// (abort)                         => interrupt
struct console_state {
  console_actor::stateful_pointer<console_state> self;
  console_services services;
  console_options options;
  std::shared_ptr<console_io> io;
  printer screen{false, 0};
  id_sequence ids;
  std::string current;
  /// Conversations whose log has been read for the last id.
  std::set<std::string> resumed;
  std::deque<intake_request> waiting;
  bool offering = false;
  std::set<std::string> open;
  /// Closed before the answer to their intake was seen.
  std::set<std::string> closed_early;
  std::map<std::string, std::string> notices;
  std::map<uint64_t, pending_operation> operations;
  uint64_t last_ticket = 0;
  kit::promise_guard<delivered> promises;
  kit::generation_timer retry;
  kit::generation_timer settle;
  std::chrono::milliseconds retry_wait = retry_first;
  bool started = false;
  bool closing = false;
  bool ended = false;
  bool interrupted = false;
  bool broken = false;
  static inline const char* name = "console";

  explicit console_state(console_actor::stateful_pointer<console_state> me)
    : self(me) {}

  ~console_state() {
    if (io)
      io->stop();
  }

  void init(console_services used, console_options wanted,
            std::shared_ptr<std::shared_ptr<console_io>> slot) {
    services = std::move(used);
    options = std::move(wanted);
    current = options.first_conversation;
    io = *slot;
    screen =
      printer{options.io.interactive, options.io.interactive ? io->width() : 0};
    screen.add_conversation(current);
  }

  bool interactive() const { return options.io.interactive; }

  // -- life
  // ---------------------------------------------------------------------

  caf::ok_atom start() {
    started = true;
    if (interactive())
      say(stream::out, options.banner);
    offer_next();
    return caf::ok_atom_v;
  }

  caf::ok_atom close_intake() {
    closing = true;
    retry.cancel();
    settle.cancel();
    return caf::ok_atom_v;
  }

  caf::ok_atom stop() {
    close_intake();
    io->stop();
    return caf::ok_atom_v;
  }

  status_line describe() const {
    return {"adapter/console", closing ? "stopping" : "ok",
            std::to_string(open.size()) + " open messages"};
  }

  void say(stream where, std::string text) {
    if (!text.empty())
      io->print(where, std::move(text), 0);
  }

  // -- input
  // ----------------------------------------------------------------------

  void line_read(const std::string& raw, bool cut) {
    if (closing)
      return;
    interrupted = false;
    auto line = read_line(raw);
    switch (line.kind) {
    case line_kind::empty:
      io->grant(1);
      break;
    case line_kind::help:
      say(interactive() ? stream::out : stream::err, help_text());
      io->grant(1);
      break;
    case line_kind::quit:
      io->grant(1);
      input_ended();
      break;
    case line_kind::select:
      select(line.text);
      io->grant(1);
      break;
    case line_kind::unknown_name:
      say(interactive() ? stream::out : stream::err,
          "A conversation name has 1 to 32 characters of a-z, 0-9 and -.\n");
      io->grant(1);
      break;
    case line_kind::message:
      enqueue(std::move(line.text), cut);
      break;
    }
  }

  void select(const std::string& conversation) {
    current = conversation;
    screen.add_conversation(conversation);
    if (interactive())
      say(stream::out, "Now talking to " + conversation + ".\n");
  }

  void enqueue(std::string text, bool cut) {
    intake_request request;
    auto& event = request.event;
    event.address = {platform_id::console, current};
    event.session_key = current;
    event.kind = conversation_kind::direct;
    event.user = options.user;
    event.user_name = options.user;
    event.text = std::move(text);
    event.target = json_text{json::print({{"console", current}})};
    request.display_name = options.user;
    if (cut)
      notices[current] = cut_notice(options.io.line_limit);
    waiting.push_back(std::move(request));
    offer_next();
  }

  /// Offers one message at a time, so that their order is the typed one.
  void offer_next() {
    if (!started || offering || waiting.empty() || closing)
      return;
    offering = true;
    auto& event = waiting.front().event;
    if (resumed.contains(event.address.conversation_id))
      offer();
    else
      resume_ids(event.address.conversation_id);
  }

  /// Ids go on above the last one of the conversation's log.
  void resume_ids(const std::string& conversation) {
    auto place = make_office(options.ws, {platform_id::console, conversation});
    file_job job;
    job.reason = "console";
    job.op = file_op::stat;
    job.path = place.log_path;
    kit::bounded_request(self, services.files, limits::disk_timeout,
                         atom::file_v, job)
      .then(
        [this, conversation, job](const file_outcome& facts) {
          if (facts.kind != file_kind::regular)
            ids_resumed(conversation, {}, true);
          else
            read_tail(conversation, job, facts.size);
        },
        [this, conversation](const caf::error&) {
          ids_resumed(conversation, {}, true);
        });
  }

  void read_tail(const std::string& conversation, file_job job, uint64_t size) {
    job.op = file_op::read_range;
    job.offset = size > log_tail_bytes ? size - log_tail_bytes : 0;
    job.length = log_tail_bytes;
    auto whole = job.offset == 0;
    kit::bounded_request(self, services.files, limits::disk_timeout,
                         atom::file_v, job)
      .then(
        [this, conversation, whole](const file_outcome& tail) {
          ids_resumed(conversation, tail.bytes, whole);
        },
        [this, conversation](const caf::error&) {
          ids_resumed(conversation, {}, true);
        });
  }

  void ids_resumed(const std::string& conversation, const std::string& tail,
                   bool whole) {
    for (const auto& id : log_tail_ids(tail, whole))
      ids.resume_above(id);
    resumed.insert(conversation);
    offer();
  }

  void offer() {
    auto& event = waiting.front().event;
    // A message that is offered again keeps its id: the office knows it.
    if (event.message_id.empty()) {
      event.sent_ms = services.wall->now_ms();
      event.message_id = ids.next(event.sent_ms);
    }
    kit::bounded_request(self, services.offices, limits::disk_timeout,
                         atom::intake_v, waiting.front())
      .then([this](const intake_reply& reply) { offered(reply); },
            [this](const caf::error& err) { refused(err); });
  }

  void offered(const intake_reply& reply) {
    auto event = std::move(waiting.front().event);
    waiting.pop_front();
    offering = false;
    retry_wait = retry_first;
    if (reply.outcome == intake_outcome::taken)
      note_open(event);
    else
      io->grant(1);
    offer_next();
    if (ended)
      look_whether_settled();
  }

  void note_open(const conversation_event& event) {
    auto notice = notices.extract(event.address.conversation_id);
    if (!notice.empty())
      say(interactive() ? stream::out : stream::err, notice.mapped() + "\n");
    open.insert(event.message_id);
    if (closed_early.contains(event.message_id)) {
      open.erase(event.message_id);
      io->grant(1);
    }
    closed_early.clear();
  }

  void refused(const caf::error& err) {
    auto code = code_of(err);
    auto again = code == errc::disk || code == errc::timeout
                 || code == errc::not_ready || code == errc::queue_full
                 || code == errc::busy;
    if (again && !closing) {
      if (retry_wait == retry_first)
        kit::log::warning("console",
                          "a message was not taken yet: " + sentence_of(err));
      retry.arm(self, retry_wait, [this] { offer(); });
      retry_wait =
        std::min<std::chrono::milliseconds>(retry_wait * 2, retry_most);
      return;
    }
    say(stream::err, "Not accepted: " + sentence_of(err) + "\n");
    waiting.pop_front();
    offering = false;
    io->grant(1);
    offer_next();
    if (ended)
      look_whether_settled();
  }

  void entry_closed(const closed_entry& entry) {
    if (open.erase(entry.message_id) > 0)
      io->grant(1);
    else if (offering)
      closed_early.insert(entry.message_id);
    if (ended)
      look_whether_settled();
  }

  void input_ended() {
    ended = true;
    look_whether_settled();
  }

  /// Ends the node when everything accepted is answered, work resumed from an
  /// earlier run included.
  void look_whether_settled() {
    if (closing || !waiting.empty() || offering || !open.empty()
        || !operations.empty())
      return;
    kit::bounded_request(self, services.offices, limits::mailbox_timeout,
                         atom::describe_v)
      .then(
        [this](const runtime_snapshot& snapshot) {
          if (snapshot.open_entries == 0 && waiting.empty() && !offering)
            end_node("end of input");
          else
            settle.arm(self, settle_poll, [this] { look_whether_settled(); });
        },
        [this](const caf::error&) { end_node("end of input"); });
  }

  void end_node(const std::string& why) {
    if (closing)
      return;
    closing = true;
    self->send(services.node, atom::shutdown_v, why);
  }

  /// ^C: the running turn, or else the node.
  void interrupt() {
    if (closing)
      return;
    if (!interactive() || open.empty() || interrupted) {
      end_node("interrupt");
      return;
    }
    interrupted = true;
    enqueue("stop", false);
  }

  // -- output
  // ----------------------------------------------------------------------

  transport_info info() const {
    transport_info result;
    result.platform = platform_id::console;
    result.streaming = interactive();
    return result;
  }

  caf::typed_response_promise<delivered> deliver(const outbound& operation) {
    auto promise = self->make_response_promise<delivered>();
    auto ticket = ++last_ticket;
    pending_operation entry;
    entry.operation = operation;
    entry.ref = operation.ref;
    if (entry.ref.empty())
      entry.ref = ids.next(services.wall->now_ms());
    entry.promise = promises.keep(promise);
    operations.emplace(ticket, std::move(entry));
    if (operation.rank == outbound_class::final_answer)
      ask_gate(ticket);
    else
      print(ticket);
    return promise;
  }

  void ask_gate(uint64_t ticket) {
    const auto& operation = operations.at(ticket).operation;
    delivery_key key;
    key.conversation = operation.conversation;
    key.message_id = operation.message_id;
    key.run = operation.run;
    key.part = operation.part;
    key.op = operation.op;
    key.ref = operation.ref;
    kit::bounded_request(self, services.offices, limits::disk_timeout,
                         atom::may_send_v, key)
      .then([this, ticket](caf::ok_atom) { print(ticket); },
            [this, ticket](const caf::error& err) {
              delivered outcome;
              outcome.fault = code_of(err) == errc::aborted
                                ? delivery_fault::dropped
                                : delivery_fault::retryable;
              outcome.detail = sentence_of(err);
              finish(ticket, outcome);
            });
  }

  void print(uint64_t ticket) {
    auto& entry = operations.at(ticket);
    auto printable = entry.operation.op == outbound_op::post
                     || entry.operation.op == outbound_op::edit;
    if (entry.dropped || broken || !printable) {
      delivered outcome;
      outcome.ref = entry.ref;
      if (entry.dropped)
        outcome.fault = delivery_fault::dropped;
      else if (broken)
        outcome = {entry.ref, delivery_fault::permanent,
                   failure_certainty::definite, 0, "the output is closed"};
      finish(ticket, outcome);
      return;
    }
    auto lines = screen.show(entry.operation, entry.ref);
    if (lines.text.empty())
      finish(ticket, {entry.ref, {}, {}, 0, {}});
    else
      io->print(lines.where, std::move(lines.text), ticket);
  }

  void print_done(uint64_t ticket, int32_t error) {
    auto entry = operations.find(ticket);
    if (entry == operations.end())
      return;
    delivered outcome;
    outcome.ref = entry->second.ref;
    if (error != 0) {
      outcome.fault = delivery_fault::permanent;
      outcome.detail = "the output is closed";
    }
    finish(ticket, outcome);
    if (error != 0 && !broken) {
      // Nobody reads any more; there is no point in taking more.
      broken = true;
      end_node("the output was closed");
    }
  }

  void finish(uint64_t ticket, const delivered& outcome) {
    auto entry = operations.extract(ticket);
    if (entry.empty())
      return;
    count(outcome);
    promises.deliver(entry.mapped().promise, outcome);
    if (ended)
      look_whether_settled();
  }

  void count(const delivered& outcome) {
    if (!services.metrics)
      return;
    constexpr const char* words[] = {"sent", "retryable", "permanent",
                                     "dropped"};
    self->send(
      services.metrics, atom::add_v,
      metric_sample{metric::outbound,
                    {"console", words[static_cast<size_t>(outcome.fault)]},
                    1});
  }

  void drop(const std::string& run) {
    for (auto& entry : operations)
      if (entry.second.operation.run == run
          && entry.second.operation.rank != outbound_class::control)
        entry.second.dropped = true;
  }

  // -- behaviour
  // ---------------------------------------------------------------------

  console_actor::behavior_type make_behavior() {
    return {
      [this](atom::start) { return start(); },
      [this](atom::drain) { return close_intake(); },
      [this](atom::stop) { return stop(); },
      [this](atom::status) { return describe(); },
      [this](atom::deliver, const outbound& x) { return deliver(x); },
      [this](atom::drop, const std::string& run) { drop(run); },
      [this](atom::closed, const closed_entry& x) { entry_closed(x); },
      [this](atom::config) { return info(); },
      [this](atom::read, const std::string& x, bool cut) { line_read(x, cut); },
      [this](atom::close) { input_ended(); },
      [this](atom::ack, uint64_t x, int32_t error) { print_done(x, error); },
      [this](atom::abort) { interrupt(); },
    };
  }
};

} // namespace

console_parts spawn_console(caf::actor_system& system,
                            console_services services,
                            console_options options) {
  // The thread needs the actor and the actor the thread: the thread learns the
  // handle through a slot that is filled before any line can be read.
  auto slot = std::make_shared<std::shared_ptr<console_io>>();
  auto receiver = std::make_shared<console_actor>();
  auto opened = std::make_shared<std::promise<void>>();
  auto ready = opened->get_future().share();
  io_handlers handlers;
  handlers.line = [receiver, ready](std::string line, bool cut) {
    ready.wait();
    caf::anon_send(*receiver, atom::read_v, std::move(line), cut);
  };
  handlers.end = [receiver, ready] {
    ready.wait();
    caf::anon_send(*receiver, atom::close_v);
  };
  handlers.written = [receiver, ready](uint64_t ticket, int error) {
    ready.wait();
    caf::anon_send(*receiver, atom::ack_v, ticket, int32_t{error});
  };
  *slot = std::make_shared<console_io>(options.io, std::move(handlers));
  *receiver = kit::spawn_stateful<console_actor, console_state>(
    system, std::move(services), std::move(options), slot);
  opened->set_value();
  console_parts result;
  result.service = *receiver;
  result.transport = *receiver;
  result.io = *slot;
  result.interrupt = [target = *receiver] {
    caf::anon_send(target, atom::abort_v);
  };
  return result;
}

} // namespace bureau::console
