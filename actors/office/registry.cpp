#include "actors/office/registry.hpp"

#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/office/registry_core.hpp"
#include "messages/codec/conversation_names.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <caf/all.hpp>

#include <deque>
#include <map>
#include <unordered_set>
#include <utility>

namespace bureau::offices {

namespace {

/// Claims that wait at one time; people make them.
constexpr size_t claims_at_once = 16;

/// Directory jobs at one time: the file pool serves others as well.
constexpr size_t directories_at_once = 32;

/// Handlers:
///   (ensure, office_address) → office        => ensure
///   (list)                   → office_inventory => inventory
///   (claim, office_address)  → ok            => claim
///   (status)                 → status_line   => status
///
/// Child of the node. After a write that failed, memory is what the file is;
/// whoever asked for one of its offices asks again, and the file is written
/// again before that office is made.
class registry_actor_state {
public:
  using pointer = registry_actor::stateful_pointer<registry_actor_state>;

  static inline const char* name = "registry";

  explicit registry_actor_state(pointer self) : self_(self) {}

  void init(registry_args args) {
    args_ = std::move(args);
    for (const auto& record : args_.state.offices)
      known_.insert(record.address);
  }

  registry_actor::behavior_type make_behavior() {
    return {
      [this](atom::ensure, const office_address& address) {
        return ensure(address);
      },
      [this](atom::list) { return inventory(); },
      [this](atom::claim, const office_address& address) {
        return claim(address);
      },
      [this](atom::status) { return status(); },
    };
  }

private:
  using office_promise = caf::typed_response_promise<office>;
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;

  struct request {
    office_address address;
    uint64_t promise = 0;
  };

  /// A claim and what is at its paths.
  struct claim_request {
    office_address address;
    uint64_t promise = 0;
    std::map<std::string, path_facts> seen;
    /// What it came to, once it is in the state that is written.
    std::string fault;
  };

  office_promise ensure(const office_address& address) {
    auto answer = self_->make_response_promise<office_promise>();
    auto fault = check_conversation_id(address.conversation_id);
    if (fault != address_fault::none) {
      answer.deliver(
        make_failure(errc::bad_identity,
                     bureau::sentence_of(fault, to_string(address.platform),
                                         address.conversation_id)));
      return answer;
    }
    request item{address, promises_.keep(answer)};
    if (known_.contains(address)) {
      make_directory(std::move(item));
      return answer;
    }
    unrecorded_.push_back(std::move(item));
    if (!is_writing_)
      write();
    return answer;
  }

  // -- claims -----------------------------------------------------------------

  ok_promise claim(const office_address& address) {
    auto answer = self_->make_response_promise<ok_promise>();
    auto fault = check_conversation_id(address.conversation_id);
    if (fault != address_fault::none) {
      answer.deliver(
        make_failure(errc::bad_identity,
                     bureau::sentence_of(fault, to_string(address.platform),
                                         address.conversation_id)));
      return answer;
    }
    if (claims_open_ >= claims_at_once) {
      answer.deliver(make_failure(errc::queue_full,
                                  "too many claims wait; try again later"));
      return answer;
    }
    ++claims_open_;
    look_at({address, claims_.keep(answer), {}, {}},
            paths_of_claim(address, args_.place.root));
    return answer;
  }

  /// Asks about one path after the other, then lines the claim up.
  void look_at(claim_request item, std::vector<std::string> paths) {
    if (paths.empty()) {
      unclaimed_.push_back(std::move(item));
      if (!is_writing_)
        write();
      return;
    }
    file_job job;
    job.reason = "registry";
    job.op = file_op::stat;
    job.path = std::move(paths.back());
    paths.pop_back();
    auto path = job.path;
    kit::bounded_request(self_, args_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [this, item, paths, path](const file_outcome& found) mutable {
          item.seen[path] = {found.kind, {}};
          look_at(std::move(item), std::move(paths));
        },
        [this, item](caf::error& reason) {
          --claims_open_;
          claims_.fail(item.promise, reason);
        });
  }

  /// Brings the claims that wait into the state that is written.
  bool take_claims(const std::string& now) {
    auto changed = false;
    claiming_ = std::exchange(unclaimed_, {});
    for (auto& item : claiming_) {
      auto kind_of = [&item](const std::string& path) {
        return item.seen[path];
      };
      auto result =
        claim_directory(next_, item.address, args_.place.root, kind_of, now);
      item.fault = std::move(result.fault);
      changed = changed || result.changed;
    }
    return changed;
  }

  void answer_claims() {
    for (auto& item : std::exchange(claiming_, {})) {
      --claims_open_;
      if (item.fault.empty())
        claims_.deliver(item.promise, caf::ok_atom_v);
      else
        claims_.fail(item.promise, make_failure(errc::denied, item.fault));
    }
  }

  // -- writing ----------------------------------------------------------------

  /// Writes the file once for everybody who waits.
  void write() {
    is_writing_ = true;
    writing_ = std::exchange(unrecorded_, {});
    next_ = args_.state;
    auto now = text::iso_utc(args_.wall->now_ms());
    auto changed = take_claims(now);
    std::unordered_set<office_address> fresh;
    for (const auto& item : writing_)
      if (fresh.insert(item.address).second
          && find_office(next_, item.address) == nullptr) {
        next_.offices.push_back({item.address, now});
        changed = true;
      }
    if (!changed && writing_.empty()) {
      // A refused claim is no reason to write.
      next_ = {};
      answer_claims();
      go_on();
      return;
    }
    file_job job;
    job.reason = "registry";
    job.op = file_op::write_atomic;
    job.path = join_path(args_.place.state_dir, registry_file_name);
    job.bytes = print_registry(next_);
    kit::bounded_request(self_, args_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then([this](const file_outcome&) { written(); },
            [this](caf::error& reason) { refused(reason); });
  }

  void written() {
    ++writes_;
    args_.state = std::exchange(next_, {});
    answer_claims();
    for (auto& item : std::exchange(writing_, {})) {
      known_.insert(item.address);
      make_directory(std::move(item));
    }
    // Others asked for the same offices while the write was under way.
    for (auto& item : std::exchange(unrecorded_, {})) {
      if (known_.contains(item.address))
        make_directory(std::move(item));
      else
        unrecorded_.push_back(std::move(item));
    }
    go_on();
  }

  void go_on() {
    is_writing_ = false;
    if (!unrecorded_.empty() || !unclaimed_.empty())
      write();
  }

  /// The file may be replaced all the same, and only its name not durable.
  void refused(const caf::error& reason) {
    file_job job;
    job.reason = "registry";
    job.op = file_op::read;
    job.path = join_path(args_.place.state_dir, registry_file_name);
    job.length = limits::registry_file_bytes;
    kit::bounded_request(self_, args_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [this, reason](const file_outcome& found) {
          if (found.bytes == print_registry(next_))
            args_.state = std::move(next_);
          fail_writing(reason);
        },
        [this, reason](caf::error&) { fail_writing(reason); });
  }

  void fail_writing(const caf::error& reason) {
    next_ = {};
    auto failure =
      make_failure(errc::disk, "the office registry cannot be written: "
                                 + sentence_of(reason));
    kit::log::warning(name, sentence_of(failure));
    for (auto& item : std::exchange(writing_, {}))
      promises_.fail(item.promise, failure);
    for (auto& item : std::exchange(claiming_, {})) {
      --claims_open_;
      claims_.fail(item.promise, failure);
    }
    go_on();
  }

  void make_directory(request item) {
    if (directories_ >= directories_at_once) {
      undone_.push_back(std::move(item));
      return;
    }
    ++directories_;
    auto place = make_office(args_.place, item.address);
    file_job job;
    job.reason = "registry";
    job.op = file_op::ensure_directory;
    job.path = place.dir;
    job.mode = 0700;
    auto promise = item.promise;
    kit::bounded_request(self_, args_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then(
        [this, promise, place](const file_outcome&) {
          promises_.deliver(promise, place);
          next_directory();
        },
        [this, promise, dir = place.dir](caf::error& reason) {
          promises_.fail(promise, directory_failure(dir, reason));
          next_directory();
        });
  }

  void next_directory() {
    --directories_;
    if (undone_.empty())
      return;
    auto item = std::move(undone_.front());
    undone_.pop_front();
    make_directory(std::move(item));
  }

  static caf::error directory_failure(const std::string& dir,
                                      const caf::error& reason) {
    auto code = code_of(reason);
    if (code != errc::denied)
      return make_failure(code, "the office directory " + dir
                                  + " cannot be made: " + sentence_of(reason));
    return make_failure(errc::denied,
                        "the office directory " + dir
                          + " must be a regular non-symlink directory: "
                          + sentence_of(reason));
  }

  office_inventory inventory() const {
    return {args_.state.enabled_platforms, args_.state.offices};
  }

  status_line status() const {
    return {name, is_writing_ ? "busy" : "idle",
            "offices " + std::to_string(known_.size()) + ", writes "
              + std::to_string(writes_) + ", waiting "
              + std::to_string(unrecorded_.size() + undone_.size())};
  }

  pointer self_;
  registry_args args_;
  /// Recorded on disk.
  std::unordered_set<office_address> known_;
  /// Wait for the next write, and for the one under way.
  std::vector<request> unrecorded_;
  std::vector<request> writing_;
  bool is_writing_ = false;
  /// Likewise for claims; `claims_open_` counts those that are looked into too.
  std::vector<claim_request> unclaimed_;
  std::vector<claim_request> claiming_;
  size_t claims_open_ = 0;
  registry_state next_;
  /// Wait for a directory job.
  std::deque<request> undone_;
  size_t directories_ = 0;
  uint64_t writes_ = 0;
  kit::promise_guard<office> promises_;
  kit::promise_guard<caf::ok_atom> claims_;
};

} // namespace

registry_actor spawn_registry(caf::actor_system& system, registry_args args) {
  return kit::spawn_stateful<registry_actor, registry_actor_state>(
    system, std::move(args));
}

} // namespace bureau::offices
