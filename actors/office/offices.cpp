#include "actors/office/offices.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/office/session_cache_core.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace bureau::offices {

namespace {

/// Offices that open at one time: each needs a few jobs of the file pool.
constexpr size_t openings_at_once = 32;

constexpr int64_t restart_window_ms = 60'000;

enum class row_phase : uint8_t {
  /// Waits for its turn to open.
  queued,
  /// The registry records it, or it reads its files.
  opening,
  awake,
  /// Asked whether it may sleep; what comes meanwhile waits.
  sleeping,
};

/// Handlers:
///   (intake, intake_request)        → intake_reply     => on_intake
///   (may_send, delivery_key)        → ok               => on_may_send
///   (stop, stop_request)            → stop_report      => on_stop
///   (renew, office_address)         → sessions told    => on_renew
///   (renew)                         → sessions told    => on_renew_all
///   (attach, platform_id, transport) → ok              => on_attach
///   (describe)                      → runtime_snapshot => on_describe
///   (drain, drain_phase)            → drain_report     => on_drain
///   (status)                        → status_line      => status
///   (settled, office_address, open)                    => on_open_count
///   (settled, office_address, session_snapshot)        => on_session
///   (settled, entry_query)          → entry_end        => on_await
///   (locate, session_query)         → session_snapshot => on_locate
///   (exists, platform_id)           → bool             (attached)
///   (detach, platform_id)                              => on_detach
///   (hold, office_address)          → ok               => on_hold
///   (release, office_address)                          => on_release
///   (exists, office_mark)           → bool             => on_exists
///   (mark, office_mark)             → ok               => on_mark
class offices_state {
public:
  using pointer = offices_parent_actor::stateful_pointer<offices_state>;

  static inline const char* name = "offices";

  explicit offices_state(pointer self) : self_(self) {}

  ~offices_state() {
    for (auto& [address, row] : rows_)
      if (row.handle)
        caf::anon_send_exit(row.handle, caf::exit_reason::user_shutdown);
  }

  void init(offices_args args) {
    args_ = std::move(args);
    args_.deps.registry = args_.registry;
    cache_ = session_cache{args_.cached_sessions};
    self_->set_down_handler(
      [this](caf::scheduled_actor*, caf::down_msg& down) { on_down(down); });
    find_unfinished();
    arm_sweep();
  }

  offices_parent_actor::behavior_type make_behavior() {
    return {
      [this](atom::intake, const intake_request& request) {
        return on_intake(request);
      },
      [this](atom::may_send, const delivery_key& key) {
        return on_may_send(key);
      },
      [this](atom::stop, const stop_request& request) {
        return on_stop(request);
      },
      [this](atom::renew, const office_address& address) {
        return on_renew(address);
      },
      [this](atom::renew) { return on_renew_all(); },
      [this](atom::attach, platform_id platform,
             const transport_actor& transport) {
        return on_attach(platform, transport);
      },
      [this](atom::describe) { return on_describe(); },
      [this](atom::drain, drain_phase phase) { return on_drain(phase); },
      [this](atom::status) { return status(); },
      [this](atom::settled, const office_address& address, uint64_t open) {
        on_open_count(address, open);
      },
      [this](atom::settled, const office_address& address,
             const session_snapshot& seen) { on_session(address, seen); },
      [this](atom::settled, const entry_query& query) {
        return on_await(query);
      },
      [this](atom::locate, const session_query& query) {
        return on_locate(query);
      },
      [this](atom::exists, platform_id platform) {
        return transports_.count(platform) > 0;
      },
      [this](atom::detach, platform_id platform) {
        transports_.erase(platform);
      },
      [this](atom::hold, const office_address& address) {
        return on_hold(address);
      },
      [this](atom::release, const office_address& address) {
        on_release(address);
      },
      [this](atom::exists, const office_mark& mark) { return on_exists(mark); },
      [this](atom::mark, const office_mark& mark) { return on_mark(mark); },
    };
  }

private:
  using reply_promise = caf::typed_response_promise<intake_reply>;
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;
  using report_promise = caf::typed_response_promise<drain_report>;
  using snapshot_promise = caf::typed_response_promise<runtime_snapshot>;
  using stop_promise = caf::typed_response_promise<stop_report>;
  using count_promise = caf::typed_response_promise<uint64_t>;

  /// A request that waits for its office.
  struct waiting {
    std::function<void(const office_child_actor&)> forward;
    std::function<void(const caf::error&)> fail;
  };

  struct row_state {
    row_phase phase = row_phase::queued;
    office_child_actor handle;
    std::deque<waiting> waiting_for_it;
    int64_t used_ms = 0;
    /// Instants of restarts within the window.
    std::deque<int64_t> restarts;
  };

  int64_t clock_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
             self_->clock().now().time_since_epoch())
      .count();
  }

  // -- requests for one office ------------------------------------------------

  caf::result<intake_reply> on_intake(const intake_request& request) {
    const auto& address = request.event.address;
    // Before anything of the office is made (office note, section 8.2).
    if (auto fault = identity_fault(request, address); !fault.empty())
      return refused(address, fault);
    if (holding_)
      return ending();
    if (auto handle = awake(address))
      return self_->delegate(handle, atom::intake_v, request);
    auto answer = self_->make_response_promise<reply_promise>();
    auto id = replies_.keep(answer);
    // A request instead of a delegation: the guard must keep the promise.
    wait_for(
      address,
      {[this, request, id](const office_child_actor& handle) {
         kit::bounded_request(self_, handle, limits::disk_timeout,
                              atom::intake_v, request)
           .then([this, id](
                   const intake_reply& reply) { replies_.deliver(id, reply); },
                 [this, id](caf::error& reason) { replies_.fail(id, reason); });
       },
       [this, id](const caf::error& reason) {
         replies_.fail(id, reason);
       }});
    return answer;
  }

  caf::error refused(const office_address& address, const std::string& fault) {
    kit::log::warning(name, "refused a message: " + fault);
    if (args_.deps.metrics)
      self_->send(args_.deps.metrics, atom::add_v,
                  metric_sample{metric::intake,
                                {to_string(address.platform), "refused"},
                                1});
    return make_failure(errc::bad_identity, fault);
  }

  caf::result<caf::ok_atom> on_may_send(const delivery_key& key) {
    if (auto handle = awake(key.conversation))
      return self_->delegate(handle, atom::may_send_v, key);
    // Whoever sleeps or is opening has asked no transport for anything.
    return make_failure(errc::aborted, "the answer is not to be sent");
  }

  // An office that is not awake runs no turn; what it left over a restart
  // begins when it wakes, so a stop then waits for it.
  caf::result<stop_report> on_stop(const stop_request& request) {
    if (auto handle = awake(request.conversation))
      return self_->delegate(handle, atom::stop_v, request);
    if (holding_ || rows_.count(request.conversation) == 0)
      return stop_report{};
    auto answer = self_->make_response_promise<stop_promise>();
    auto id = stops_.keep(answer);
    wait_for(
      request.conversation,
      {[this, request, id](const office_child_actor& handle) {
         kit::bounded_request(self_, handle, limits::disk_timeout, atom::stop_v,
                              request)
           .then([this, id](
                   const stop_report& report) { stops_.deliver(id, report); },
                 [this, id](caf::error& reason) { stops_.fail(id, reason); });
       },
       [this, id](const caf::error& reason) {
         stops_.fail(id, reason);
       }});
    return answer;
  }

  // One that sleeps has no open entry.
  caf::result<entry_end> on_await(const entry_query& query) {
    if (auto handle = awake(query.conversation))
      return self_->delegate(handle, atom::settled_v, query);
    return make_failure(errc::not_found,
                        "the message " + query.message_id + " is not open");
  }

  caf::result<session_snapshot> on_locate(const session_query& query) {
    if (auto handle = awake(query.conversation))
      return self_->delegate(handle, atom::locate_v, query);
    session_snapshot none;
    none.session_key = query.session_key;
    none.state = "absent";
    return none;
  }

  // -- for work outside of turns ----------------------------------------------

  caf::result<caf::ok_atom> on_hold(const office_address& address) {
    if (holding_)
      return ending();
    ++held_[address];
    auto row = rows_.find(address);
    if (row == rows_.end() || row->second.phase != row_phase::sleeping)
      return caf::ok_atom_v;
    // What it tidies up before it sleeps is not to be ours.
    auto answer = self_->make_response_promise<ok_promise>();
    auto id = oks_.keep(answer);
    wait_for(address, {[this, id](const office_child_actor&) {
                         oks_.deliver(id, caf::ok_atom_v);
                       },
                       [this, id, address](const caf::error& reason) {
                         on_release(address);
                         oks_.fail(id, reason);
                       }});
    return answer;
  }

  void on_release(const office_address& address) {
    auto held = held_.find(address);
    if (held != held_.end() && --held->second == 0)
      held_.erase(held);
  }

  caf::result<bool> on_exists(const office_mark& mark) {
    auto answer =
      self_->make_response_promise<caf::typed_response_promise<bool>>();
    auto id = bools_.keep(answer);
    if (auto fault = fault_of(mark))
      bools_.fail(id, fault);
    else
      wait_for(mark.conversation,
               {[this, id, mark](const office_child_actor& handle) {
                  kit::bounded_request(self_, handle, limits::disk_timeout,
                                       atom::exists_v, mark.id)
                    .then(
                      [this, id](bool known) { bools_.deliver(id, known); },
                      [this, id](caf::error& why) { bools_.fail(id, why); });
                },
                [this, id](const caf::error& why) {
                  bools_.fail(id, why);
                }});
    return answer;
  }

  caf::result<caf::ok_atom> on_mark(const office_mark& mark) {
    auto answer = self_->make_response_promise<ok_promise>();
    auto id = oks_.keep(answer);
    if (auto fault = fault_of(mark))
      oks_.fail(id, fault);
    else
      wait_for(mark.conversation,
               {[this, id, mark](const office_child_actor& handle) {
                  kit::bounded_request(self_, handle, limits::disk_timeout,
                                       atom::mark_v, mark.id)
                    .then([this, id](
                            caf::ok_atom) { oks_.deliver(id, caf::ok_atom_v); },
                          [this, id](caf::error& why) { oks_.fail(id, why); });
                },
                [this, id](const caf::error& why) {
                  oks_.fail(id, why);
                }});
    return answer;
  }

  caf::error fault_of(const office_mark& mark) const {
    if (check_conversation_id(mark.conversation.conversation_id)
        != address_fault::none)
      return make_failure(errc::bad_identity,
                          "the mark has no valid conversation id");
    return holding_ ? ending() : caf::error{};
  }

  // Who sleeps or is opening makes its runners when they are needed.
  caf::result<uint64_t> on_renew(const office_address& address) {
    if (auto handle = awake(address))
      return self_->delegate(handle, atom::renew_v);
    return uint64_t{0};
  }

  count_promise on_renew_all() {
    auto answer = self_->make_response_promise<count_promise>();
    auto id = counts_.keep(answer);
    auto total = std::make_shared<uint64_t>(0);
    ask_all<uint64_t>(
      limits::mailbox_timeout, [total](uint64_t told) { *total += told; },
      [this, id, total] { counts_.deliver(id, *total); }, atom::renew_v);
    return answer;
  }

  /// The handle of an office that may be talked to at once.
  office_child_actor awake(const office_address& address) {
    auto found = rows_.find(address);
    if (found == rows_.end() || found->second.phase != row_phase::awake)
      return {};
    found->second.used_ms = clock_ms();
    return found->second.handle;
  }

  void wait_for(const office_address& address, waiting item) {
    auto& row = open_office(address);
    row.used_ms = clock_ms();
    if (row.waiting_for_it.size() >= limits::office_waiting) {
      item.fail(make_failure(errc::queue_full,
                             "too many messages wait for this conversation"));
      return;
    }
    if (row.phase == row_phase::awake)
      item.forward(row.handle);
    else
      row.waiting_for_it.push_back(std::move(item));
  }

  // -- opening ----------------------------------------------------------------

  row_state& open_office(const office_address& address) {
    auto [found, fresh] = rows_.try_emplace(address);
    if (fresh) {
      found->second.used_ms = clock_ms();
      queue_.push_back(address);
      open_next();
    }
    return rows_.at(address);
  }

  void open_next() {
    while (!holding_ && openings_ < openings_at_once && !queue_.empty()) {
      auto address = std::move(queue_.front());
      queue_.pop_front();
      auto found = rows_.find(address);
      if (found == rows_.end())
        continue;
      found->second.phase = row_phase::opening;
      ++openings_;
      kit::bounded_request(self_, args_.registry, limits::disk_timeout,
                           atom::ensure_v, address)
        .then(
          [this, address](const office& place) { recorded(address, place); },
          [this, address](caf::error& reason) {
            --openings_;
            not_opened(address, reason);
            open_next();
          });
    }
  }

  void recorded(const office_address& address, const office& place) {
    if (holding_) {
      // The drain has asked everybody; a newcomer would start its turns.
      --openings_;
      not_opened(address, ending());
      return;
    }
    auto& row = rows_.at(address);
    auto transport = transports_.find(address.platform);
    row.handle = spawn_office(
      self_->home_system(), args_.deps, place,
      transport == transports_.end() ? transport_actor{} : transport->second,
      offices_parent_actor{self_});
    self_->monitor(row.handle);
    row.phase = row_phase::awake;
    row.used_ms = clock_ms();
    serve(row);
    // It answers this once its files are read.
    auto opened = [this] {
      --openings_;
      open_next();
    };
    kit::bounded_request(self_, row.handle, limits::disk_timeout,
                         atom::describe_v)
      .then([opened](const runtime_snapshot&) { opened(); },
            [opened](caf::error&) { opened(); });
  }

  void serve(row_state& row) {
    auto handle = row.handle;
    for (auto& item : std::exchange(row.waiting_for_it, {}))
      item.forward(handle);
  }

  static caf::error ending() {
    return make_failure(errc::shutting_down,
                        "the node is ending; the message was not taken");
  }

  void not_opened(const office_address& address, const caf::error& reason) {
    kit::log::warning(name, "the conversation " + office_key(address)
                              + " was not opened: " + sentence_of(reason));
    auto row = rows_.extract(address);
    if (!row.empty())
      for (auto& item : row.mapped().waiting_for_it)
        item.fail(reason);
  }

  // -- sleep and death --------------------------------------------------------

  void arm_sweep() {
    sweep_timer_.arm(self_,
                     std::chrono::duration_cast<std::chrono::milliseconds>(
                       limits::office_sweep_interval),
                     [this] {
                       sweep();
                       arm_sweep();
                     });
  }

  void sweep() {
    constexpr int64_t idle_ms =
      std::chrono::milliseconds{limits::office_idle_timeout}.count();
    if (holding_)
      return;
    for (auto& [address, row] : rows_)
      if (row.phase == row_phase::awake && !unfinished_.contains(address)
          && !held_.contains(address) && clock_ms() - row.used_ms >= idle_ms)
        put_to_sleep(address, row);
  }

  void put_to_sleep(const office_address& address, row_state& row) {
    row.phase = row_phase::sleeping;
    auto stays = [this, address] {
      auto found = rows_.find(address);
      if (found == rows_.end() || found->second.phase != row_phase::sleeping)
        return;
      found->second.phase = row_phase::awake;
      serve(found->second);
    };
    kit::bounded_request(self_, row.handle, limits::runner_dispose_timeout * 2,
                         atom::dispose_v)
      .then(
        [stays](bool slept) {
          // When it sleeps, its end is what the row waits for.
          if (!slept)
            stays();
        },
        [stays](caf::error&) { stays(); });
  }

  void on_down(const caf::down_msg& down) {
    auto found = std::find_if(rows_.begin(), rows_.end(), [&](auto& entry) {
      return entry.second.handle
             && entry.second.handle.address() == down.source;
    });
    if (found == rows_.end())
      return;
    auto address = found->first;
    auto& row = found->second;
    row.handle = nullptr;
    cache_.forget(address);
    auto asleep = row.phase == row_phase::sleeping;
    if (!asleep)
      kit::log::error(name,
                      "the office " + office_key(address)
                        + " ended unexpectedly: " + sentence_of(down.reason));
    auto wanted =
      !row.waiting_for_it.empty() || (!asleep && unfinished_.contains(address));
    if (holding_ || !wanted || (!asleep && !may_restart(row))) {
      auto items = std::move(row.waiting_for_it);
      rows_.erase(found);
      for (auto& item : items)
        item.fail(down.reason ? down.reason
                              : make_failure(errc::not_ready,
                                             "the conversation is closed"));
      return;
    }
    if (!asleep && args_.deps.metrics)
      self_->send(args_.deps.metrics, atom::add_v,
                  metric_sample{metric::actor_restarts, {"office"}, 1});
    row.phase = row_phase::queued;
    queue_.push_back(address);
    open_next();
  }

  bool may_restart(row_state& row) {
    auto now = clock_ms();
    auto& restarts = row.restarts;
    while (!restarts.empty() && restarts.front() < now - restart_window_ms)
      restarts.pop_front();
    if (restarts.size() >= limits::office_restarts)
      return false;
    restarts.push_back(now);
    return true;
  }

  // -- cached sessions --------------------------------------------------------

  void on_session(const office_address& address, const session_snapshot& seen) {
    for (const auto& key : cache_.update(address, seen)) {
      auto found = rows_.find(key.office);
      if (found != rows_.end() && found->second.handle)
        self_->send(found->second.handle, atom::dispose_v, key.session);
    }
  }

  // -- unfinished work --------------------------------------------------------

  /// Turns the keys of the last run into addresses.
  void find_unfinished() {
    if (args_.resume_keys.empty())
      return;
    for (const auto& key : args_.resume_keys) {
      unresolved_.insert(key);
      // Until its office says how it is.
      self_->send(args_.deps.journal, atom::mark_v, key, true);
    }
    kit::bounded_request(self_, args_.registry, limits::disk_timeout,
                         atom::list_v)
      .then(
        [this](const office_inventory& inventory) {
          for (const auto& record : inventory.offices)
            if (unresolved_.erase(office_key(record.address)) > 0)
              unfinished_.insert(record.address);
          for (const auto& key : std::exchange(unresolved_, {})) {
            kit::log::warning(name, "no office is registered for the "
                                    "unfinished work of "
                                      + key);
            self_->send(args_.deps.journal, atom::mark_v, key, false);
          }
          for (const auto& entry : transports_)
            resume(entry.first);
        },
        [](caf::error& reason) {
          kit::log::error(name, "the inventory could not be read: "
                                  + sentence_of(reason));
        });
  }

  void resume(platform_id platform) {
    for (const auto& address : unfinished_)
      if (address.platform == platform)
        open_office(address);
  }

  void on_open_count(const office_address& address, uint64_t open) {
    if (open > 0)
      unfinished_.insert(address);
    else
      unfinished_.erase(address);
  }

  // -- transports -------------------------------------------------------------

  caf::ok_atom on_attach(platform_id platform,
                         const transport_actor& transport) {
    transports_[platform] = transport;
    for (auto& [address, row] : rows_)
      if (address.platform == platform && row.handle)
        self_->send(row.handle, atom::attach_v, transport);
    if (!holding_)
      resume(platform);
    return caf::ok_atom_v;
  }

  // -- everything at once -----------------------------------------------------

  snapshot_promise on_describe() {
    auto answer = self_->make_response_promise<snapshot_promise>();
    auto id = snapshots_.keep(answer);
    auto total = std::make_shared<runtime_snapshot>();
    auto add = [total](const runtime_snapshot& part) {
      total->offices_active += part.offices_active;
      total->open_entries += part.open_entries;
      total->sessions.insert(total->sessions.end(), part.sessions.begin(),
                             part.sessions.end());
    };
    auto ask = [this, id, total, add] {
      // An office that is being opened may hold unfinished work.
      total->open_entries = queue_.size() + openings_;
      ask_all<runtime_snapshot>(
        limits::mailbox_timeout, add,
        [this, id, total] { snapshots_.deliver(id, *total); },
        atom::describe_v);
    };
    kit::bounded_request(self_, args_.registry, limits::mailbox_timeout,
                         atom::list_v)
      .then(
        [total, ask](const office_inventory& inventory) {
          total->offices_known = inventory.offices.size();
          ask();
        },
        [ask](caf::error&) { ask(); });
    return answer;
  }

  report_promise on_drain(drain_phase phase) {
    auto answer = self_->make_response_promise<report_promise>();
    auto id = reports_.keep(answer);
    holding_ = true;
    for (const auto& address : std::exchange(queue_, {}))
      not_opened(address, ending());
    auto total = std::make_shared<drain_report>();
    auto add = [total](const drain_report& part) {
      total->running += part.running;
      total->open_entries += part.open_entries;
      total->sending += part.sending;
      total->undelivered += part.undelivered;
      total->delivering += part.delivering;
    };
    ask_all<drain_report>(
      limits::runner_dispose_timeout + limits::mailbox_timeout, add,
      [this, id, total] { reports_.deliver(id, *total); }, atom::drain_v,
      phase);
    return answer;
  }

  /// Asks every office; `done` runs when all of them answered or failed.
  template <class Part, class Limit, class... Args>
  void ask_all(Limit limit, std::function<void(const Part&)> add,
               std::function<void()> done, const Args&... args) {
    auto left = std::make_shared<size_t>(1);
    auto one_done = [left, done] {
      if (--*left == 0)
        done();
    };
    for (auto& [address, row] : rows_) {
      if (!row.handle)
        continue;
      ++*left;
      kit::bounded_request(self_, row.handle, limit, args...)
        .then(
          [add, one_done](const Part& part) {
            add(part);
            one_done();
          },
          [one_done](caf::error&) { one_done(); });
    }
    one_done();
  }

  status_line status() const {
    return {name, holding_ ? "stopping" : "ok",
            "awake " + std::to_string(rows_.size()) + ", opening "
              + std::to_string(openings_ + queue_.size()) + ", unfinished "
              + std::to_string(unfinished_.size())};
  }

  pointer self_;
  offices_args args_;
  std::unordered_map<office_address, row_state> rows_;
  std::deque<office_address> queue_;
  size_t openings_ = 0;
  session_cache cache_{0};
  std::map<platform_id, transport_actor> transports_;
  /// Offices with open entries, and keys whose address is not known yet.
  std::set<office_address> unfinished_;
  std::set<std::string> unresolved_;
  /// How often the environment of an office is in use outside of turns.
  std::map<office_address, size_t> held_;
  bool holding_ = false;
  kit::generation_timer sweep_timer_;
  kit::promise_guard<intake_reply> replies_;
  kit::promise_guard<drain_report> reports_;
  kit::promise_guard<runtime_snapshot> snapshots_;
  kit::promise_guard<stop_report> stops_;
  kit::promise_guard<uint64_t> counts_;
  kit::promise_guard<caf::ok_atom> oks_;
  kit::promise_guard<bool> bools_;
};

} // namespace

office_services_actor spawn_offices(caf::actor_system& system,
                                    offices_args args) {
  return kit::spawn_stateful<offices_parent_actor, offices_state>(
    system, std::move(args));
}

} // namespace bureau::offices
