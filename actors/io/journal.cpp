#include "actors/io/journal.hpp"

#include "actors/io/event_loop.hpp"
#include "actors/io/journal_core.hpp"
#include "actors/io/journal_writer.hpp"
#include "actors/kit/generation_timer.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace bureau::io {

namespace {

// Loop-backs: `flush` commits what the mailbox held when the first append of a
// batch came, `tick` goes on with a checkpoint between batches.
using journal_interface = journal_actor::extend<caf::reacts_to<atom::flush>,
                                                caf::reacts_to<atom::tick>>;

/// Open answers of the appends that wait. CAF never answers a promise that is
/// dropped: those that are left when the journal ends are failed.
template <class T>
class open_answers {
public:
  using promise = caf::typed_response_promise<T>;

  open_answers() = default;
  open_answers(const open_answers&) = delete;
  open_answers& operator=(const open_answers&) = delete;

  ~open_answers() {
    for (auto& answer : open_)
      answer.deliver(
        make_failure(errc::shutting_down, "the component is ending"));
  }

  /// @return its number until clear()
  uint64_t keep(promise answer) {
    open_.push_back(std::move(answer));
    return open_.size() - 1;
  }

  /// Answers with a value or an error.
  template <class X>
  void deliver(uint64_t number, X&& value) {
    open_[static_cast<size_t>(number)].deliver(std::forward<X>(value));
  }

  /// All have been answered.
  void clear() { open_.clear(); }

private:
  std::vector<promise> open_;
};

/// Targets that are synced before appends get their turn again.
constexpr size_t targets_per_step = 4;

// (append, journal_record) → offset    ⇒ append
// (append, journal_batch) → offsets  ⇒ append_group
// (seal, journal_root, path) → ok      ⇒ seal
// (mark, key, unfinished)              ⇒ mark
// (status) → status_line               ⇒ status
// (stop) → ok                          ⇒ stop
// (flush)                              ⇒ flush
// (tick)                               ⇒ step
class journal_state {
public:
  using pointer = journal_interface::stateful_pointer<journal_state>;
  static inline const char* name = "journal";

  explicit journal_state(pointer self) : self_(self) {}

  void init(std::shared_ptr<file_system> fs, std::string state_dir,
            std::string workspace_root, metrics_actor metrics, bool gathers) {
    gathers_ = gathers;
    writer_ = std::make_unique<journal_writer>(
      std::move(fs), std::move(state_dir), std::move(workspace_root));
    metrics_ = std::move(metrics);
  }

  journal_interface::behavior_type make_behavior() {
    return {
      // A message that nobody else holds is not copied.
      [this](atom::append, journal_record& record) { return append(record); },
      [this](atom::append, journal_batch& records) {
        return append_group(records);
      },
      [this](atom::seal, journal_root root, const std::string& path) {
        return seal({root, path});
      },
      [this](atom::mark, const std::string& key, bool unfinished) {
        mark(key, unfinished);
      },
      [this](atom::status) { return status(); },
      [this](atom::stop) { return stop(); },
      [this](atom::flush) { flush(); },
      [this](atom::tick) { step(); },
    };
  }

private:
  caf::result<uint64_t> append(journal_record& record) {
    if (closed_)
      return make_failure(errc::shutting_down, "the journal has ended");
    if (auto fault = record_fault(record); !fault.empty())
      return make_failure(errc::bad_request, fault);
    make_room(1, size_of(record));
    auto answer = self_->make_response_promise<uint64_t>();
    add(record, answers_.keep(answer), 0);
    flush_later();
    return answer;
  }

  caf::result<std::vector<uint64_t>> append_group(journal_batch& records) {
    if (closed_)
      return make_failure(errc::shutting_down, "the journal has ended");
    size_t bytes = 0;
    size_t encoded = 0;
    for (const auto& record : records) {
      if (auto fault = record_fault(record); !fault.empty())
        return make_failure(errc::bad_request, fault);
      bytes += record.bytes.size();
      encoded += size_of(record);
    }
    if (records.empty() || records.size() > journal_writer::most_appends
        || bytes > limits::journal_record_bytes)
      return make_failure(errc::bad_request,
                          "a group of records must fit into one frame of "
                            + std::to_string(limits::journal_record_bytes)
                            + " bytes");
    make_room(records.size(), encoded);
    auto answer = self_->make_response_promise<std::vector<uint64_t>>();
    auto promise = group_answers_.keep(answer);
    ++last_group_;
    for (auto& record : records)
      add(record, promise, last_group_);
    flush_later();
    return answer;
  }

  static size_t size_of(const journal_record& record) {
    return encoded_size({record.root, record.path}, record.bytes);
  }

  /// Commits what waits unless so much more fits into the same frame. What is
  /// larger than that is alone in the next one.
  void make_room(size_t records, size_t bytes) {
    if (waiting_bytes_ + bytes > limits::journal_frame_bytes
        || waiting_.size() + records > journal_writer::most_appends)
      commit();
  }

  void add(journal_record& record, uint64_t promise, uint64_t group) {
    waiting_bytes_ += size_of(record);
    waiting_.push_back({std::move(record), promise, group, 0, {}});
  }

  /// The message to ourselves lines up behind all who wait already.
  void flush_later() {
    if (!std::exchange(flush_sent_, true))
      self_->send(journal_interface{self_}, atom::flush_v);
  }

  void flush() {
    flush_sent_ = false;
    if (gathers_ && gather_.waits(waiting_.size(), event_loop::now())) {
      std::this_thread::yield();
      flush_later();
      return;
    }
    commit();
  }

  void commit() {
    if (waiting_.empty())
      return;
    auto began = event_loop::now();
    auto frames = writer_->frames();
    writer_->commit(waiting_);
    records_ += waiting_.size();
    gather_.committed(waiting_.size(), !self_->mailbox().empty(), began,
                      event_loop::now());
    answer_all();
    report(waiting_.size(), writer_->frames() > frames, began);
    waiting_.clear();
    waiting_bytes_ = 0;
    forget_ended();
    note_trouble();
    if (writer_->segment_full())
      begin_checkpoint();
    else if (!timer_.armed() && writer_->has_unsynced())
      arm_timer();
  }

  template <class T>
  static void answer(open_answers<T>& answers, journal_append& append,
                     T value) {
    if (append.failure)
      answers.deliver(append.promise, std::move(append.failure));
    else
      answers.deliver(append.promise, std::move(value));
  }

  void answer_all() {
    std::vector<uint64_t> offsets;
    for (size_t index = 0; index < waiting_.size(); ++index) {
      auto& append = waiting_[index];
      if (append.group == 0) {
        answer(answers_, append, append.offset);
        continue;
      }
      offsets.push_back(append.offset);
      if (index + 1 < waiting_.size()
          && waiting_[index + 1].group == append.group)
        continue;
      answer(group_answers_, append, std::exchange(offsets, {}));
    }
    answers_.clear();
    group_answers_.clear();
  }

  caf::result<caf::ok_atom> seal(const journal_path& path) {
    if (closed_)
      return make_failure(errc::shutting_down, "the journal has ended");
    if (!is_journal_path(path.path))
      return make_failure(errc::bad_request,
                          "a sealed path must be plain and relative");
    // What was asked before the seal belongs before it.
    commit();
    auto failure = writer_->seal(path);
    note_trouble();
    if (failure)
      return failure;
    return caf::ok_atom_v;
  }

  // Work that begins counts at once, work that ended not before the lines that
  // say so, which may still wait.
  void mark(const std::string& key, bool unfinished) {
    if (unfinished) {
      ended_.erase(key);
      writer_->mark(key, true);
      return;
    }
    ended_.insert(key);
    if (waiting_.empty())
      forget_ended();
  }

  void forget_ended() {
    for (const auto& key : ended_)
      writer_->mark(key, false);
    ended_.clear();
  }

  caf::result<caf::ok_atom> stop() {
    commit();
    closed_ = true;
    timer_.cancel();
    retry_timer_.cancel();
    auto failure = writer_->close();
    note_trouble();
    if (failure)
      return failure;
    return caf::ok_atom_v;
  }

  // -- checkpoints ------------------------------------------------------------

  void arm_timer() {
    timer_.arm(self_, limits::journal_checkpoint_interval,
               [this] { begin_checkpoint(); });
  }

  void begin_checkpoint() {
    timer_.cancel();
    if (closed_)
      return;
    writer_->begin_checkpoint();
    send_step();
  }

  void send_step() {
    if (step_sent_)
      return;
    step_sent_ = true;
    self_->send(journal_interface{self_}, atom::tick_v);
  }

  void step() {
    step_sent_ = false;
    if (closed_)
      return;
    if (writer_->checkpoint_step(targets_per_step)) {
      send_step();
      return;
    }
    note_trouble();
    if (writer_->has_unsynced() && !timer_.armed())
      arm_timer();
  }

  // -- what others see --------------------------------------------------------

  status_line status() const {
    status_line line{"journal", "ok", {}};
    if (closed_)
      line.state = "stopping";
    else if (!writer_->trouble().empty())
      line.state = "degraded";
    line.detail = std::to_string(records_) + " records, "
                  + std::to_string(writer_->frames()) + " commits, "
                  + std::to_string(writer_->segment_bytes())
                  + " bytes in the segment";
    if (!writer_->trouble().empty())
      line.detail += "; " + writer_->trouble();
    return line;
  }

  /// Tells when trouble begins and when it ends, not how it changes.
  void note_trouble() {
    const auto& trouble = writer_->trouble();
    if (!trouble.empty() && !closed_ && !retry_timer_.armed())
      retry_timer_.arm(self_, journal_retry_interval, [this] { retry(); });
    if (trouble.empty() == !in_trouble_)
      return;
    in_trouble_ = !trouble.empty();
    if (in_trouble_)
      kit::log::error("journal", trouble);
    else
      kit::log::info("journal", "writing works again");
  }

  void retry() {
    if (closed_ || writer_->trouble().empty())
      return;
    writer_->retry();
    note_trouble();
  }

  void report(size_t count, bool synced, event_loop::time_point began) {
    if (!metrics_)
      return;
    self_->send(
      metrics_, atom::add_v,
      metric_sample{metric::journal_records, {}, static_cast<int64_t>(count)});
    if (!synced)
      return;
    auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      event_loop::now() - began);
    self_->send(metrics_, atom::observe_v,
                metric_sample{metric::journal_commit, {}, took.count()});
  }

  pointer self_;
  std::unique_ptr<journal_writer> writer_;
  metrics_actor metrics_;
  std::vector<journal_append> waiting_;
  size_t waiting_bytes_ = 0;
  open_answers<uint64_t> answers_;
  open_answers<std::vector<uint64_t>> group_answers_;
  uint64_t last_group_ = 0;
  /// Offices whose work ended with lines that may still wait.
  std::set<std::string> ended_;
  kit::generation_timer timer_;
  uint64_t records_ = 0;
  kit::generation_timer retry_timer_;
  /// A journal with a thread of its own may keep it waiting for a moment.
  bool gathers_ = false;
  group_gatherer gather_;
  bool in_trouble_ = false;
  bool flush_sent_ = false;
  bool step_sent_ = false;
  bool closed_ = false;
};

} // namespace

journal_actor spawn_scheduled_journal(caf::actor_system& system,
                                      std::shared_ptr<file_system> fs,
                                      std::string state_dir,
                                      std::string workspace_root,
                                      metrics_actor metrics) {
  return kit::spawn_stateful<journal_interface, journal_state>(
    system, std::move(fs), std::move(state_dir), std::move(workspace_root),
    std::move(metrics), false);
}

journal_actor spawn_journal(caf::actor_system& system,
                            std::shared_ptr<file_system> fs,
                            std::string state_dir, std::string workspace_root,
                            metrics_actor metrics) {
  return kit::spawn_stateful<journal_interface, journal_state, caf::detached>(
    system, std::move(fs), std::move(state_dir), std::move(workspace_root),
    std::move(metrics), true);
}

} // namespace bureau::io
