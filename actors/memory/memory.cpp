#include "actors/memory/memory.hpp"

#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/memory/memory_core.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <caf/all.hpp>

#include <deque>
#include <map>
#include <utility>

namespace bureau::memory {

namespace {

/// Entries that wait for the disk, in all offices.
constexpr size_t entries_waiting = 256;

/// Handlers:
///   (load, memory_query)            → memory_found => load
///   (append, memory_summary)        → memory_write_result => append
///   (submit, memory_completed_turn) → memory_admission => submit
///   (flush)                         → ok => flush
///   (start, memory_desk_actor)      => desk_
///   (stop)                          → ok => stop
///   (status)                        → status_line => status
///
/// Child of the node. Reads and writes through the file pool.
class memory_state {
public:
  using pointer = memory_actor::stateful_pointer<memory_state>;

  static inline const char* name = "memory";

  explicit memory_state(pointer self) : self_(self) {}

  void init(memory_args args) { args_ = std::move(args); }

  memory_actor::behavior_type make_behavior() {
    return {
      [this](atom::load, const contracts::memory_query& query) {
        return load(query);
      },
      [this](atom::append, const memory_summary& what) { return append(what); },
      [this](atom::submit, const contracts::memory_completed_turn& turn) {
        return submit(turn);
      },
      [this](atom::flush) { return flush(); },
      [this](atom::start, const memory_desk_actor& desk) { desk_ = desk; },
      [this](atom::stop) {
        stopping_ = true;
        return flush();
      },
      [this](atom::status) {
        return status_line{name, stopping_ ? "stopping" : "ok",
                           std::to_string(waiting_) + " entries waiting"};
      },
    };
  }

private:
  using found_promise = caf::typed_response_promise<memory_found>;
  using write_promise =
    caf::typed_response_promise<contracts::memory_write_result>;
  using admission_promise =
    caf::typed_response_promise<contracts::memory_admission>;
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;

  /// An entry on its way to the disk.
  struct entry {
    std::string conversation_id;
    office_address address;
    std::string text;
    /// Empty: it belongs to no turn.
    std::string run;
    uint64_t promise = 0;
  };

  static office_mark mark_of(const entry& what) {
    return {what.address, "memory:" + what.run};
  }

  caf::expected<office> place_of(const std::string& conversation_id) const {
    auto place = contracts::parse_contract_id(conversation_id);
    if (!place)
      return place.error();
    return make_office(args_.ws, place->address);
  }

  file_job job_of(file_op op, const std::string& key) const {
    file_job job;
    job.reason = name;
    job.op = op;
    job.root = args_.ws.root;
    job.path = key + "/MEMORY.md";
    return job;
  }

  // -- reading ----------------------------------------------------------------

  caf::result<memory_found> load(const contracts::memory_query& query) {
    auto place = place_of(query.conversation_id);
    if (!place)
      return place.error();
    auto promise = self_->make_response_promise<found_promise>();
    auto id = loads_.keep(promise);
    auto job = job_of(file_op::read_range, place->key);
    job.length = limits::memory_load_bytes;
    kit::bounded_request(self_, args_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [this, id](const file_outcome& file) {
          memory_found found;
          found.block = block_of(file.bytes, file.size);
          loads_.deliver(id, found);
        },
        [this, id](const caf::error& reason) {
          if (code_of(reason) == errc::not_found)
            loads_.deliver(id, memory_found{});
          else
            loads_.fail(id, reason);
        });
    return promise;
  }

  // -- writing ----------------------------------------------------------------

  caf::result<contracts::memory_write_result>
  append(const memory_summary& what) {
    auto place = place_of(what.conversation_id);
    if (!place)
      return place.error();
    entry next{
      what.conversation_id, place->address, entry_text(what.summary), {}, 0};
    if (auto fault = fault_of(next))
      return fault;
    auto promise = self_->make_response_promise<write_promise>();
    next.promise = writes_.keep(promise);
    enqueue(place->key, std::move(next));
    return promise;
  }

  caf::result<contracts::memory_admission>
  submit(const contracts::memory_completed_turn& turn) {
    auto place = place_of(turn.conversation_id);
    if (!place)
      return place.error();
    if (!is_run_id(turn.run_id))
      return make_failure(errc::bad_request, "The id of the run is malformed.");
    if (!desk_)
      return make_failure(errc::not_ready, "The offices are not open yet.");
    entry next{turn.conversation_id, place->address, entry_text(turn.summary),
               turn.run_id, 0};
    if (auto fault = fault_of(next))
      return fault;
    auto promise = self_->make_response_promise<admission_promise>();
    next.promise = admissions_.keep(promise);
    enqueue(place->key, std::move(next));
    return promise;
  }

  caf::error fault_of(const entry& next) const {
    if (stopping_)
      return make_failure(errc::shutting_down, "The memory is closing.");
    if (next.text.empty())
      return make_failure(errc::bad_request, "There is nothing to remember.");
    if (waiting_ >= entries_waiting)
      return make_failure(errc::queue_full,
                          "Too much is waiting to be remembered; try later.");
    return {};
  }

  void enqueue(const std::string& key, entry next) {
    ++waiting_;
    auto& line = lines_[key];
    line.push_back(std::move(next));
    if (line.size() == 1)
      begin(key);
  }

  /// The ledger of the office knows which runs are remembered.
  void begin(const std::string& key) {
    const auto& next = lines_.at(key).front();
    if (next.run.empty()) {
      read_file(key);
      return;
    }
    kit::bounded_request(self_, desk_, limits::disk_timeout, atom::exists_v,
                         mark_of(next))
      .then(
        [this, key](bool known) {
          if (known)
            end(key, 0, true, {});
          else
            read_file(key);
        },
        [this, key](const caf::error& reason) { end(key, 0, false, reason); });
  }

  /// Reads the file anew for every entry: commands of the office change it too.
  void read_file(const std::string& key) {
    auto job = job_of(file_op::read, key);
    job.length = file_bytes;
    kit::bounded_request(self_, args_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then([this, key](const file_outcome& file) { write(key, file.bytes); },
            [this, key](const caf::error& reason) {
              if (code_of(reason) == errc::not_found)
                write(key, {});
              else
                end(key, 0, false, reason);
            });
  }

  void write(const std::string& key, const std::string& file) {
    const auto& next = lines_.at(key).front();
    // A run that was cut between entry and mark is offered again.
    if (!next.run.empty() && has_entry(file, next.text)) {
      mark(key, 0);
      return;
    }
    auto day = text::iso_utc(args_.wall->now_ms()).substr(0, 10);
    auto job = job_of(file_op::write_atomic, key);
    job.bytes = with_entry(file, day, next.text);
    if (job.bytes.size() > file_bytes) {
      end(key, 0, false,
          make_failure(errc::too_large, "MEMORY.md is full; shorten it."));
      return;
    }
    auto added = static_cast<int64_t>(job.bytes.size() - file.size());
    kit::bounded_request(self_, args_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [this, key, added](const file_outcome&) { mark(key, added); },
        [this, key](const caf::error& reason) { end(key, 0, false, reason); });
  }

  void mark(const std::string& key, int64_t added) {
    const auto& next = lines_.at(key).front();
    if (next.run.empty()) {
      end(key, added, false, {});
      return;
    }
    kit::bounded_request(self_, desk_, limits::disk_timeout, atom::mark_v,
                         mark_of(next))
      .then(
        [this, key, added](caf::ok_atom) { end(key, added, false, {}); },
        [this, key](const caf::error& reason) { end(key, 0, false, reason); });
  }

  void end(const std::string& key, int64_t added, bool duplicate,
           const caf::error& fault) {
    auto& line = lines_.at(key);
    auto done = std::move(line.front());
    line.pop_front();
    --waiting_;
    if (line.empty())
      lines_.erase(key);
    else
      begin(key);
    if (!done.run.empty()) {
      contracts::memory_admission result;
      result.id = key + ":" + done.run;
      result.run_id = done.run;
      result.conversation_id = done.conversation_id;
      result.source = "MEMORY.md";
      result.bytes_written = added;
      result.duplicate = duplicate;
      if (fault)
        admissions_.fail(done.promise, fault);
      else
        admissions_.deliver(done.promise, std::move(result));
    } else if (fault) {
      writes_.fail(done.promise, fault);
    } else {
      contracts::memory_write_result result;
      result.conversation_id = done.conversation_id;
      result.source = "MEMORY.md";
      result.bytes_written = added;
      writes_.deliver(done.promise, std::move(result));
    }
    if (waiting_ == 0)
      flushes_.deliver_all(caf::ok_atom_v);
  }

  caf::result<caf::ok_atom> flush() {
    if (waiting_ == 0)
      return caf::ok_atom_v;
    auto promise = self_->make_response_promise<ok_promise>();
    flushes_.keep(promise);
    return promise;
  }

  pointer self_;
  memory_args args_;
  memory_desk_actor desk_;
  bool stopping_ = false;
  /// Entries by office; the first one of each is under way.
  std::map<std::string, std::deque<entry>> lines_;
  size_t waiting_ = 0;
  kit::promise_guard<memory_found> loads_;
  kit::promise_guard<contracts::memory_write_result> writes_;
  kit::promise_guard<contracts::memory_admission> admissions_;
  kit::promise_guard<caf::ok_atom> flushes_;
};

} // namespace

memory_actor spawn_memory(caf::actor_system& system, memory_args args) {
  return kit::spawn_stateful<memory_actor, memory_state>(system,
                                                         std::move(args));
}

} // namespace bureau::memory
