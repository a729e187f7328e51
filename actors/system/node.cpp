#include "actors/system/node.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/kit/supervisor.hpp"
#include "actors/system/shutdown_core.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

namespace bureau::system {

namespace {

using namespace std::chrono_literals;

/// How often a waiting phase looks again.
constexpr auto poll_interval = 50ms;
/// How often the gauge of the parts that are up is brought up to date.
constexpr auto look_interval = 15s;
/// Patience with a service that is asked how it is.
constexpr auto status_timeout = 1s;

/// The node as its channels see it, too.
using node_host_actor = node_control_actor::extend_with<channel_host_actor>;

enum class phase : uint8_t { booting, ready, stopping, ended };

/// One health answer in the making.
struct health_collection {
  uint64_t promise = 0;
  size_t missing = 0;
  health_report report;
  bool journal_works = true;
};

/// One report in the making; its lists have their final length.
struct report_collection {
  uint64_t promise = 0;
  size_t missing = 0;
  node_report report;
};

// (health) -> health_report  => collect_health
// (degrade, degraded_part)   => mark
// (shutdown, text)           => begin_shutdown
// (status) -> status_line    => describe
// (describe) -> node_report  => collect_report
// (shutdown, text, int64)    => begin_shutdown
// (notice, channel_news)     => channel_told
struct node_state {
  node_host_actor::stateful_pointer<node_state> self;
  node_plan plan;
  kit::supervisor adapters;
  std::map<std::string, adapter_service_actor> running_adapters;
  std::map<std::string, std::string> degraded;
  std::map<platform_id, channel_core> channels;
  kit::promise_guard<health_report> open_health;
  kit::promise_guard<node_report> open_reports;
  kit::generation_timer poll;
  kit::generation_timer look;
  phase stage = phase::booting;
  size_t adapters_starting = 0;
  caf::actor_clock::time_point stop_began;
  int exit_code = 0;
  static inline const char* name = "node";

  explicit node_state(node_host_actor::stateful_pointer<node_state> me)
    : self(me) {}

  // -- boot -----------------------------------------------------------------

  void init(const node_builder& build) {
    plan = build(node_control_actor{self});
    adapters.install(
      self,
      [this](const std::string& label, const caf::error& reason) {
        give_up(label, reason);
      },
      [this](const std::string& label) { adapter_restarted(label); },
      [this](const caf::actor_addr& source, const caf::error& reason) {
        service_died(source, reason);
      });
    for (const auto& service : plan.critical)
      self->monitor(service.handle);
    for (const auto& actor : plan.watched)
      self->monitor(actor.handle);
    auto wanted = configure_channels();
    adapters_starting = wanted.size();
    if (adapters_starting == 0)
      become_ready();
    for (const auto& adapter : wanted)
      add_adapter(adapter);
  }

  /// Adapters whose channels are to be started (agent contracts, rule 68).
  std::vector<adapter_plan> configure_channels() {
    std::vector<adapter_plan> wanted;
    for (const auto& item : plan.channels) {
      auto& channel = channel_of(item.platform);
      channel.configured(item);
      for (const auto& issue : item.issues)
        kit::log::warning(label_of(item.platform), issue);
    }
    for (const auto& adapter : plan.adapters) {
      channel_plan said{adapter.platform, {}, {}, {}};
      for (const auto& item : plan.channels)
        if (item.platform == adapter.platform)
          said = item;
      if (channel_of(adapter.platform).configured(said))
        wanted.push_back(adapter);
    }
    return wanted;
  }

  channel_core& channel_of(platform_id platform) {
    return channels.try_emplace(platform, platform).first->second;
  }

  static std::string label_of(platform_id platform) {
    return "adapter/" + to_string(platform);
  }

  void add_adapter(const adapter_plan& adapter) {
    auto label = label_of(adapter.platform);
    kit::child_spec spec;
    spec.label = label;
    spec.start = [this, label, adapter] {
      auto generation = channel_of(adapter.platform).start();
      auto service =
        adapter.spawn(self->home_system(), node_actor{self},
                      channel_link{channel_host_actor{self}, generation});
      running_adapters[label] = service;
      return caf::actor_cast<caf::actor>(service);
    };
    adapters.add(std::move(spec));
    start_adapter(adapter.platform, true);
  }

  void start_adapter(platform_id platform, bool at_boot) {
    auto label = label_of(platform);
    auto generation = channel_of(platform).generation();
    kit::bounded_request(self, running_adapters[label], limits::disk_timeout,
                         atom::start_v)
      .then(
        [this, platform, label, generation, at_boot](caf::ok_atom) {
          if (channel_of(platform).started(generation))
            mark({label, ""});
          adapter_done(at_boot);
        },
        [this, platform, label, generation, at_boot](const caf::error& err) {
          kit::log::error(label, "did not start: " + sentence_of(err));
          channel_of(platform).failed(generation, sentence_of(err));
          mark({label, sentence_of(err)});
          adapter_done(at_boot);
        });
  }

  // -- channels (agent contracts, rule 69)
  // -------------------------------------

  void channel_told(const channel_news& news) {
    auto found = channels.find(news.platform);
    if (found == channels.end() || !found->second.tell(news))
      return;
    auto label = label_of(news.platform);
    switch (news.what) {
    case channel_event::failed:
      kit::log::error(label, "failed: " + news.reason);
      mark({label, news.reason});
      drop_channel(news.platform);
      break;
    case channel_event::degraded:
      kit::log::warning(label, "is degraded: " + news.reason);
      mark({label, news.reason});
      break;
    case channel_event::recovered:
      kit::log::info(label, "works again");
      mark({label, ""});
      break;
    case channel_event::summary_changed:
      break;
    }
  }

  /// Its transport is dead: whoever answers through it is told first, because
  /// the transport may wait for them at its own end.
  void drop_channel(platform_id platform) {
    auto found = running_adapters.find(label_of(platform));
    if (plan.channel_gone)
      plan.channel_gone(platform);
    if (found == running_adapters.end())
      return;
    auto service = found->second;
    running_adapters.erase(found);
    adapters.release(service.address());
    auto end = [this, service] {
      self->send_exit(service, caf::exit_reason::user_shutdown);
    };
    kit::bounded_request(self, service, limits::mailbox_timeout, atom::stop_v)
      .then([end](caf::ok_atom) { end(); },
            [end](const caf::error&) { end(); });
  }

  void adapter_done(bool at_boot) {
    if (at_boot && --adapters_starting == 0)
      become_ready();
  }

  void become_ready() {
    if (stage != phase::booting)
      return;
    stage = phase::ready;
    plan.tell_main(main_event::ready);
    look_at_parts();
  }

  // -- metrics ----------------------------------------------------------------

  /// Asks every service and adapter how it is, for the gauge alone.
  void look_at_parts() {
    if (!plan.metrics || stage != phase::ready)
      return;
    for (const auto& service : plan.critical)
      look_at(service.label, service.handle);
    for (const auto& entry : running_adapters)
      look_at(entry.first, entry.second);
    look.arm(self, look_interval, [this] { look_at_parts(); });
  }

  void look_at(const std::string& label, const status_actor& part) {
    kit::bounded_request(self, part, status_timeout, atom::status_v)
      .then(
        [this, label](const status_line& line) {
          gauge(label, line.state != "degraded" && !degraded.count(label));
        },
        [this, label](const caf::error&) { gauge(label, false); });
  }

  void gauge(const std::string& component, bool up) {
    if (plan.metrics)
      self->send(plan.metrics, atom::gauge_v,
                 metric_sample{metric::component_up, {component}, up ? 1 : 0});
  }

  // -- failures ---------------------------------------------------------------

  void adapter_restarted(const std::string& label) {
    count_restart("adapter");
    for (const auto& adapter : plan.adapters)
      if (label_of(adapter.platform) == label)
        start_adapter(adapter.platform, false);
  }

  void give_up(const std::string& label, const caf::error& reason) {
    running_adapters.erase(label);
    auto why = "disabled after repeated failures: " + sentence_of(reason);
    mark({label, why});
    for (auto& [platform, channel] : channels)
      if (label_of(platform) == label) {
        channel.failed(channel.generation(), why);
        if (plan.channel_gone)
          plan.channel_gone(platform);
      }
  }

  void service_died(const caf::actor_addr& source, const caf::error& reason) {
    if (stage == phase::stopping || stage == phase::ended)
      return;
    std::string label;
    for (const auto& service : plan.critical)
      if (service.handle.address() == source)
        label = service.label;
    for (const auto& actor : plan.watched)
      if (actor.handle.address() == source)
        label = actor.label;
    if (label.empty())
      return;
    kit::log::error("node", label + " ended (" + sentence_of(reason)
                              + "); the node shuts down");
    exit_code = 1;
    begin_shutdown("failure of " + label);
  }

  void count_restart(const std::string& role) {
    if (plan.metrics)
      self->send(plan.metrics, atom::add_v,
                 metric_sample{metric::actor_restarts, {role}, 1});
  }

  // -- health -----------------------------------------------------------------

  void mark(const degraded_part& part) {
    if (part.reason.empty())
      degraded.erase(part.component);
    else
      degraded[part.component] = part.reason;
    gauge(part.component, part.reason.empty());
  }

  caf::typed_response_promise<health_report> collect_health() {
    auto promise = self->make_response_promise<health_report>();
    auto collection = std::make_shared<health_collection>();
    collection->promise = open_health.keep(promise);
    collection->missing = plan.critical.size();
    for (const auto& entry : degraded)
      collection->report.degraded.push_back({entry.first, entry.second});
    if (collection->missing == 0)
      answer_health(*collection);
    for (const auto& service : plan.critical)
      kit::bounded_request(self, service.handle, status_timeout, atom::status_v)
        .then(
          [this, collection, label = service.label](const status_line& line) {
            if (line.state == "degraded")
              note_degraded(*collection, label, line.detail);
            one_answered(*collection);
          },
          [this, collection, label = service.label](const caf::error& err) {
            note_degraded(*collection, label, sentence_of(err));
            one_answered(*collection);
          });
    return promise;
  }

  static void note_degraded(health_collection& collection,
                            const std::string& label, std::string reason) {
    collection.report.degraded.push_back({label, std::move(reason)});
    if (label == "journal")
      collection.journal_works = false;
  }

  void one_answered(health_collection& collection) {
    if (--collection.missing == 0)
      answer_health(collection);
  }

  void answer_health(health_collection& collection) {
    // Without the journal nothing can be accepted: not ready (decision B4).
    collection.report.ready = stage == phase::ready && collection.journal_works;
    open_health.deliver(collection.promise, collection.report);
  }

  caf::typed_response_promise<node_report> collect_report() {
    auto promise = self->make_response_promise<node_report>();
    auto collection = std::make_shared<report_collection>();
    collection->promise = open_reports.keep(promise);
    auto& report = collection->report;
    report.node = describe();
    for (const auto& entry : degraded)
      report.degraded.push_back({entry.first, entry.second});
    for (const auto& entry : channels)
      report.channels.push_back(entry.second.report());
    for (const auto& service : plan.critical)
      report.services.push_back({service.label, "silent", ""});
    for (const auto& entry : running_adapters)
      report.adapters.push_back({entry.first, "silent", ""});
    // One more than there are lines, so that none of them is the last too soon.
    collection->missing = report.services.size() + report.adapters.size() + 1;
    auto line = report.services.begin();
    for (const auto& service : plan.critical)
      ask_line(collection, *line++, service.handle);
    line = report.adapters.begin();
    for (const auto& entry : running_adapters)
      ask_line(collection, *line++, entry.second);
    line_told(*collection);
    return promise;
  }

  /// Puts the answer of a part into its line, under the label it has here.
  void ask_line(const std::shared_ptr<report_collection>& collection,
                status_line& into, const status_actor& part) {
    kit::bounded_request(self, part, status_timeout, atom::status_v)
      .then(
        [this, collection, &into](const status_line& told) {
          into.state = told.state;
          into.detail = told.detail;
          line_told(*collection);
        },
        [this, collection, &into](const caf::error& err) {
          into.detail = sentence_of(err);
          line_told(*collection);
        });
  }

  void line_told(report_collection& collection) {
    if (--collection.missing > 0)
      return;
    auto& report = collection.report;
    auto unwell = [](const status_line& line) {
      return line.state == "degraded" || line.state == "silent";
    };
    if (report.node.state == "ok"
        && (std::any_of(report.services.begin(), report.services.end(), unwell)
            || std::any_of(report.adapters.begin(), report.adapters.end(),
                           unwell)))
      report.node.state = "degraded";
    open_reports.deliver(collection.promise, report);
  }

  status_line describe() const {
    constexpr const char* words[] = {"starting", "ok", "stopping", "stopped"};
    std::string state = words[static_cast<size_t>(stage)];
    if (stage == phase::ready && !degraded.empty())
      state = "degraded";
    return {"node", state,
            std::to_string(running_adapters.size()) + " adapters"};
  }

  // -- shutdown (decision A14)
  // --------------------------------------------------

  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
      self->clock().now() - stop_began);
  }

  /// @param turn_time what running turns get, instead of the configured time
  void begin_shutdown(const std::string& why,
                      std::optional<std::chrono::milliseconds> turn_time = {}) {
    auto deadline = turn_time;
    if (deadline)
      *deadline += limits::shutdown_abort_reserve;
    if (stage == phase::ended)
      return;
    if (stage == phase::stopping) {
      if (deadline)
        plan.deadline = std::min(plan.deadline, elapsed() + *deadline);
      return;
    }
    if (deadline)
      plan.deadline = *deadline;
    kit::log::info("node", "shutting down: " + why);
    stage = phase::stopping;
    look.cancel();
    stop_began = self->clock().now();
    plan.tell_main(main_event::stopping);
    close_intake();
  }

  /// A failing step is reported and never skips the next one.
  void step_failed(const std::string& what, const caf::error& err) {
    kit::log::warning("node", what + ": " + sentence_of(err));
    exit_code = 1;
  }

  /// Calls `next` when all of `count` answers are in.
  std::function<void()> after(size_t count, std::function<void()> next) {
    auto missing = std::make_shared<size_t>(count);
    return [missing, next = std::move(next)] {
      if (--*missing == 0)
        next();
    };
  }

  /// Asks every adapter for one step, then goes on.
  template <class Verb>
  void ask_adapters(Verb verb, const std::string& what,
                    std::function<void()> next) {
    if (running_adapters.empty()) {
      next();
      return;
    }
    auto done = after(running_adapters.size(), std::move(next));
    for (const auto& entry : running_adapters)
      kit::bounded_request(self, entry.second, limits::mailbox_timeout, verb)
        .then([done](caf::ok_atom) { done(); },
              [this, done, what, label = entry.first](const caf::error& err) {
                step_failed(label + " " + what, err);
                done();
              });
  }

  void close_intake() {
    ask_adapters(atom::drain_v, "did not close its intake",
                 [this] { close_sources(); });
  }

  void close_sources() {
    // One more than there are, so that none of them is the last too soon.
    auto done = after(plan.sources.size() + 1, [this] { hold_turns(); });
    for (const auto& source : plan.sources)
      kit::bounded_request(self, source.handle, limits::mailbox_timeout,
                           atom::drain_v)
        .then([done](caf::ok_atom) { done(); },
              [this, done, label = source.label](const caf::error& err) {
                step_failed(label + " did not close", err);
                done();
              });
    done();
  }

  void hold_turns() {
    drain(drain_phase::hold, [this](const drain_report& report) {
      if (turns_are_over({elapsed(), plan.deadline, report.running, 0}))
        abort_turns(report.running);
      else
        poll.arm(self, poll_interval, [this] { hold_turns(); });
    });
  }

  void abort_turns(uint64_t running) {
    if (running == 0) {
      await_deliveries();
      return;
    }
    kit::log::warning("node", "aborting " + std::to_string(running)
                                + " turns that did not end in time");
    drain(drain_phase::abort,
          [this](const drain_report&) { await_deliveries(); });
  }

  void await_deliveries() {
    drain(drain_phase::hold, [this](const drain_report& report) {
      if (!deliveries_are_over(
            {elapsed(), plan.deadline, 0, report.delivering})) {
        poll.arm(self, poll_interval, [this] { await_deliveries(); });
        return;
      }
      if (report.sending > 0) {
        kit::log::warning("node",
                          std::to_string(report.sending)
                            + " answers may or may not have been delivered; "
                              "the next start settles them");
        exit_code = 1;
      } else if (report.undelivered > 0) {
        kit::log::warning("node", std::to_string(report.undelivered)
                                    + " answers were not delivered; the next "
                                      "start sends them");
        exit_code = 1;
      }
      disconnect();
    });
  }

  void disconnect() {
    for (auto& entry : channels)
      entry.second.stopped(true);
    ask_adapters(atom::stop_v, "did not disconnect",
                 [this] { close_offices(); });
  }

  void close_offices() {
    drain(drain_phase::close,
          [this](const drain_report&) { close_services(0); });
  }

  void drain(drain_phase step, std::function<void(const drain_report&)> next) {
    kit::bounded_request(self, plan.offices, limits::disk_timeout,
                         atom::drain_v, step)
      .then([next](const drain_report& report) { next(report); },
            [this, next, step](const caf::error& err) {
              step_failed("offices, phase " + to_string(step), err);
              next({});
            });
  }

  void close_services(size_t index) {
    if (index >= plan.closing.size()) {
      finish();
      return;
    }
    kit::bounded_request(self, plan.closing[index].handle,
                         limits::mailbox_timeout, atom::stop_v)
      .then([this, index](caf::ok_atom) { close_services(index + 1); },
            [this, index](const caf::error& err) {
              step_failed(plan.closing[index].label + " did not stop", err);
              close_services(index + 1);
            });
  }

  void finish() {
    stage = phase::ended;
    for (const auto& entry : running_adapters) {
      adapters.release(entry.second.address());
      self->send_exit(entry.second, caf::exit_reason::user_shutdown);
    }
    running_adapters.clear();
    plan.set_exit_code(exit_code);
    plan.tell_main(main_event::finished);
  }

  // -- behaviour
  // ----------------------------------------------------------------

  node_host_actor::behavior_type make_behavior() {
    return {
      [this](atom::health) { return collect_health(); },
      [this](atom::degrade, const degraded_part& part) { mark(part); },
      [this](atom::shutdown, const std::string& why) { begin_shutdown(why); },
      [this](atom::status) { return describe(); },
      [this](atom::describe) { return collect_report(); },
      [this](atom::shutdown, const std::string& why, int64_t deadline_ms) {
        begin_shutdown(
          why, std::chrono::milliseconds{std::max<int64_t>(deadline_ms, 0)});
      },
      [this](atom::notice, const channel_news& news) { channel_told(news); },
    };
  }
};

} // namespace

node_control_actor spawn_node(caf::actor_system& system, node_builder build) {
  return kit::spawn_stateful<node_host_actor, node_state>(system,
                                                          std::move(build));
}

} // namespace bureau::system
