#pragma once

#include "actors/events/events.hpp"
#include "actors/events/run_view_core.hpp"
#include "actors/events/schedule_core.hpp"
#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "messages/limits.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace bureau::events {

/// Handlers:
///   (write, event_write)      → event_stored  => on_write
///   (list, event_query)       → event_list    => on_list
///   (read, event_query)       → event_entry   => on_read
///   (drop, event_query)       → bool          => on_drop
///   (describe)                → cron_overview => on_describe
///   (list, event_run_query)   → cron_run_page => on_page
///   (read, event_run_query)   → cron_run      => on_run
///   (start, event_desk)                        => on_start
///   (attach, platform)                        => on_attach
///   (changed, directory_change)               => on_changed
///   (drain)                   → ok            => on_drain
///   (status)                  → status_line   => status
///   (stop)                    → ok            => on_stop
///
/// The shell of schedule_core.
class events_state {
public:
  using pointer = events_actor::stateful_pointer<events_state>;

  static inline const char* name = "events";

  explicit events_state(pointer self) : self_(self) {}

  void init(events_deps deps);
  events_actor::behavior_type make_behavior();

private:
  /// A line on its way into the record.
  struct appended {
    std::string text;
    durability level = durability::lazy;
    std::function<void(const caf::error&)> then;
  };

  // -- life (events.cpp) ------------------------------------------------------

  void on_start(const event_desk_actor& desk);
  void on_attach(platform_id platform);
  void on_changed(const directory_change& change);
  caf::result<caf::ok_atom> on_drain();
  caf::result<caf::ok_atom> on_stop();
  void hold();
  void finish_stop();
  status_line status() const;
  void carry_out(schedule_effects effects);
  void perform(schedule_effect effect);
  void arm();
  void report();
  void count(const std::string& outcome);
  /// Runs now, or when the directory has been read and nothing is being read
  /// in it.
  void when_ready(std::function<void(const caf::error&)> action);
  bool is_ready() const;
  void release_held();
  instants now() const;

  // -- files (events_files.cpp) -----------------------------------------------

  void load_record();
  void record_read(const std::string& content);
  void scan();
  void scanned(const caf::error& reason);
  void watch();
  void look(const schedule_effect& effect);
  void read(const schedule_effect& effect);
  void remove(const schedule_effect& effect);
  /// One of the few looks at the disk that are open at one time.
  void queue_disk(std::function<void()> begin);
  void disk_done();
  file_job event_job(file_op op, const std::string& file) const;

  template <class Good, class Bad>
  void ask_files(file_job job, Good good, Bad bad) {
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(std::move(good), std::move(bad));
  }

  // -- the record and turns (events_turns.cpp) --------------------------------

  void append(std::string text, durability level,
              std::function<void(const caf::error&)> then);
  void send(appended next);
  void compact_if_long();
  void rewrite();
  void rewritten(uint64_t size, const caf::error& reason);
  void dispatch(const schedule_effect& effect);
  void follow(const std::string& file, const std::string& occurrence,
              const event_target& target);
  void follow_again();

  // -- the store and the read model (events_store.cpp) ------------------------

  caf::result<event_stored> on_write(const event_write& request);
  void write(const event_write& request, uint64_t promise);
  void put(const event_write& request, std::string content, uint64_t promise);
  /// Why a file may not be written; nothing: it may.
  caf::error refusal(const event_write& request) const;
  caf::result<event_list> on_list(const event_query& query);
  caf::result<event_entry> on_read(const event_query& query);
  caf::result<bool> on_drop(const event_query& query);
  caf::result<contracts::cron_overview> on_describe();
  caf::result<contracts::cron_run_page> on_page(const event_run_query& query);
  caf::result<contracts::cron_run> on_run(const event_run_query& query);
  bool belongs(const event_entry& entry, const office_address& office) const;
  /// Asks the offices which of the newest runs are at work.
  void ask_active(const std::string& job,
                  std::function<void(const active_runs&)> then);

  pointer self_;
  events_deps deps_;
  event_desk_actor desk_;
  schedule_core core_;
  /// The record has been read: what fired is known.
  bool loaded_ = false;
  bool scanned_ = false;
  bool scanning_ = false;
  bool watched_ = false;
  bool stopping_ = false;
  /// Why the record, or the directory, cannot be used.
  std::string record_trouble_;
  std::string trouble_;
  std::deque<std::function<void(const caf::error&)>> held_;
  bool impatient_ = false;
  std::deque<std::function<void()>> disk_waiting_;
  size_t disk_open_ = 0;
  /// Files that the store is writing.
  std::multiset<std::string> writing_;
  // -- the record -------------------------------------------------------------
  bool torn_ = false;
  bool rewriting_ = false;
  uint64_t record_size_ = 0;
  uint64_t rewrite_at_ = limits::event_log_bytes;
  size_t appending_ = 0;
  std::deque<appended> waiting_lines_;
  /// Ends of turns that could not be asked for.
  std::map<std::pair<std::string, std::string>, event_target> unfollowed_;
  std::map<event_state, size_t> reported_;
  kit::generation_timer timer_;
  kit::generation_timer scan_timer_;
  kit::generation_timer patience_timer_;
  kit::generation_timer rewrite_timer_;
  kit::promise_guard<event_stored> stores_;
  kit::promise_guard<event_list> lists_;
  kit::promise_guard<event_entry> reads_;
  kit::promise_guard<bool> drops_;
  kit::promise_guard<contracts::cron_overview> overviews_;
  kit::promise_guard<contracts::cron_run_page> pages_;
  kit::promise_guard<contracts::cron_run> runs_;
  kit::promise_guard<caf::ok_atom> stops_;
};

} // namespace bureau::events
