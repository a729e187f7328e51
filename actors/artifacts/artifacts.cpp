#include "actors/artifacts/artifacts.hpp"

#include "actors/artifacts/artifact_index_core.hpp"
#include "actors/artifacts/running_hash.hpp"
#include "actors/kit/generation_timer.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace bureau::artifacts {

namespace {

constexpr const char* directory = "artifacts";
constexpr const char* index_path = "artifacts/index.jsonl";
constexpr const char* bytes_path = "artifacts/sha256";

/// Lines of limits::artifacts_kept files with long names of conversations.
constexpr size_t index_bytes = 48u << 20;
/// Publications under way; each may hold limits::artifact_bytes.
constexpr size_t publications_at_once = 8;
/// Requests held while the index is read.
constexpr size_t held_requests = 256;
/// A token that nobody used for so long is void.
constexpr auto token_idle = std::chrono::minutes{10};

constexpr int word_digits = 16;

/// Handlers:
///   (publish, artifact_publish)      → attachment_part  => on_publish
///   (open, artifact_open_request)    → artifact_opened  => on_open
///   (read, artifact_read)            → artifact_slice   => on_read
///   (close, token)                                      => on_close
///   (status)                         → status_line      => status
///   (stop)                           → ok               => on_stop
///
/// Child of the node. Bytes are durable before the index names them, and gone
/// before the index forgets them, so that a crash leaves no name without bytes
/// but of a file whose time is over.
class artifacts_state {
public:
  using pointer = artifacts_actor::stateful_pointer<artifacts_state>;

  static inline const char* name = "artifacts";

  explicit artifacts_state(pointer self) : self_(self) {}

  void init(artifacts_args args) {
    args_ = std::move(args);
    load();
    arm_sweep();
  }

  artifacts_actor::behavior_type make_behavior() {
    return {
      [this](atom::publish, const artifact_publish& request) {
        return on_publish(request);
      },
      [this](atom::open, const contracts::artifact_open_request& request) {
        return on_open(request);
      },
      [this](atom::read, const artifact_read& request) {
        return on_read(request);
      },
      [this](atom::close, const std::string& token) { readers_.erase(token); },
      [this](atom::status) { return status(); },
      [this](atom::stop) { return on_stop(); },
    };
  }

private:
  using part_promise = caf::typed_response_promise<contracts::attachment_part>;
  using opened_promise = caf::typed_response_promise<artifact_opened>;
  using slice_promise = caf::typed_response_promise<artifact_slice>;
  using ok_promise = caf::typed_response_promise<caf::ok_atom>;
  using clock = std::chrono::steady_clock;

  enum class life : uint8_t { unread, loading, ready };

  /// A file on its way to the disk, named by its promise.
  struct publication {
    artifact_record record;
    std::string digest;
    artifact_publish request;
  };

  /// An open artifact.
  struct reader {
    std::string digest;
    uint64_t size = 0;
    running_hash hash;
    /// So much was pulled and hashed.
    uint64_t pulled = 0;
    /// Known at the end.
    std::optional<bool> intact;
    caf::actor_clock::time_point used;
  };

  // -- the index (begin) ------------------------------------------------------

  void load() {
    phase_ = life::loading;
    auto make = job(file_op::ensure_directory, bytes_path);
    make.mode = 0700;
    run(
      std::move(make), [this](const file_outcome&) { read_index(); },
      [this](const caf::error& reason) { cannot_load(reason); });
  }

  void read_index() {
    auto read = job(file_op::read, index_path);
    read.length = index_bytes;
    run(
      std::move(read),
      [this](const file_outcome& found) {
        index_ = {};
        index_.load(found.bytes);
        if (index_.unread() == 0) {
          look_for_orphans();
          return;
        }
        kit::log::warning(name, std::to_string(index_.unread())
                                  + " lines of the index cannot be read; they "
                                    "are kept as they are");
        loaded();
      },
      [this](const caf::error& reason) {
        if (code_of(reason) == errc::not_found)
          loaded();
        else
          cannot_load(reason);
      });
  }

  void cannot_load(const caf::error& reason) {
    phase_ = life::unread;
    kit::log::warning(name, "the files of answers cannot be read or published: "
                              + sentence_of(reason));
    for (auto& item : std::exchange(held_, {}))
      item(make_failure(errc::disk, "The store of published files cannot be "
                                    "read just now; see the log."));
    look_drained();
  }

  void loaded() {
    phase_ = life::ready;
    for (auto& item : std::exchange(held_, {}))
      item({});
    sweep();
  }

  /// Calls back when the index is there, or with the reason why it is not.
  void when_loaded(std::function<void(const caf::error&)> action) {
    if (phase_ == life::ready) {
      action({});
      return;
    }
    if (held_.size() >= held_requests) {
      action(make_failure(errc::queue_full, "Too many files at once; try again "
                                            "in a moment."));
      return;
    }
    held_.push_back(std::move(action));
    if (phase_ == life::unread)
      load();
  }

  // -- orphans: bytes whose line never came -----------------------------------

  void look_for_orphans() {
    run(
      job(file_op::list, bytes_path),
      [this](const file_outcome& found) { look_into(found.names); },
      [this](const caf::error&) { loaded(); });
  }

  void look_into(std::vector<std::string> left) {
    if (left.empty()) {
      loaded();
      return;
    }
    auto below = std::string{bytes_path} + "/" + left.back();
    left.pop_back();
    run(
      job(file_op::list, below),
      [this, below, left](const file_outcome& found) {
        // Nothing is being published yet: what the index lacks is nobody's.
        for (const auto& leaf : found.names)
          if (!index_.needs(leaf))
            remove(below + "/" + leaf);
        look_into(left);
      },
      [this, left](const caf::error&) { look_into(left); });
  }

  // -- publishing -------------------------------------------------------------

  part_promise on_publish(const artifact_publish& request) {
    auto answer = self_->make_response_promise<part_promise>();
    auto fault = refusal(request);
    if (fault) {
      answer.deliver(std::move(fault));
      return answer;
    }
    auto id = parts_.keep(answer);
    publications_[id].request = request;
    when_loaded([this, id](const caf::error& reason) {
      if (reason)
        give_up(id, reason);
      else
        begin(id);
    });
    return answer;
  }

  caf::error refusal(const artifact_publish& request) const {
    if (stopping_)
      return make_failure(errc::shutting_down, "The node is ending.");
    if (request.conversation_id.empty())
      return make_failure(errc::bad_request,
                          "A file is published for a conversation.");
    if (request.bytes.size() > limits::artifact_bytes)
      return too_large();
    if (publications_.size() >= publications_at_once)
      return make_failure(errc::queue_full, "Too many files are being "
                                            "published; try again in a "
                                            "moment.");
    return {};
  }

  static caf::error too_large() {
    return make_failure(errc::too_large,
                        "A file of an answer may have "
                          + std::to_string(limits::artifact_bytes >> 20)
                          + " MiB at most.");
  }

  void begin(uint64_t id) {
    if (index_.size() + publications_.size() > limits::artifacts_kept) {
      sweep();
      give_up(id, make_failure(errc::queue_full,
                               "No more files can be kept: there are "
                                 + std::to_string(limits::artifacts_kept)
                                 + " already. Each leaves after seven days."));
      return;
    }
    auto& entry = publications_.at(id);
    if (entry.request.path.empty()) {
      store(id);
      return;
    }
    auto read = job(file_op::read, entry.request.path);
    read.root = entry.request.root;
    read.length = limits::artifact_bytes;
    run(
      std::move(read),
      [this, id](const file_outcome& found) {
        publications_.at(id).request.bytes = found.bytes;
        store(id);
      },
      [this, id](const caf::error& reason) {
        give_up(id, code_of(reason) == errc::too_large ? too_large() : reason);
      });
  }

  void store(uint64_t id) {
    auto& entry = publications_.at(id);
    auto& request = entry.request;
    running_hash hash;
    hash.add(request.bytes);
    entry.digest = hash.finish();
    if (entry.digest.empty()) {
      give_up(id, make_failure(errc::internal, "The file cannot be hashed."));
      return;
    }
    auto& record = entry.record;
    record.id = random_hex(*args_.chance, word_digits)
                + random_hex(*args_.chance, word_digits);
    record.conversation_id = request.conversation_id;
    record.run = request.run;
    record.name = display_name(request.name);
    record.media_type = media_type_of(request.media_type);
    record.size_bytes = static_cast<int64_t>(request.bytes.size());
    record.integrity_id = "sha256:" + entry.digest;
    record.expires_ms =
      args_.wall->now_ms()
      + std::chrono::milliseconds{limits::artifact_lifetime}.count();
    auto make =
      job(file_op::ensure_directory, below(directory_of(entry.digest)));
    make.mode = 0700;
    run(
      std::move(make), [this, id](const file_outcome&) { write_bytes(id); },
      [this, id](const caf::error& reason) { not_kept(id, reason); });
  }

  /// Also when the bytes are there already: they may be damaged.
  void write_bytes(uint64_t id) {
    auto& entry = publications_.at(id);
    auto write = job(file_op::write_atomic, below(path_of(entry.digest)));
    write.bytes = std::exchange(entry.request.bytes, {});
    run(
      std::move(write),
      [this, id](const file_outcome&) {
        unindexed_.push_back(id);
        write_index();
      },
      [this, id](const caf::error& reason) { not_kept(id, reason); });
  }

  /// Publications that arrive while the index is written share the next write.
  void write_index() {
    if (writing_)
      return;
    writing_ = true;
    auto batch = std::exchange(unindexed_, {});
    std::vector<artifact_record> fresh;
    for (auto id : batch)
      fresh.push_back(publications_.at(id).record);
    auto write = job(file_op::write_atomic, index_path);
    write.bytes = index_.print(fresh);
    run(
      std::move(write),
      [this, batch](const file_outcome&) {
        for (auto id : batch)
          published(id);
        index_.written(index_.size() + index_.unread());
        index_written();
      },
      [this, batch](const caf::error& reason) {
        for (auto id : batch)
          not_kept(id, reason);
        index_written();
      });
  }

  void index_written() {
    writing_ = false;
    if (!unindexed_.empty())
      write_index();
    look_drained();
  }

  void published(uint64_t id) {
    auto entry = publications_.extract(id);
    auto part = part_of(entry.mapped().record);
    index_.add(std::move(entry.mapped().record));
    parts_.deliver(id, std::move(part));
  }

  /// The disk refused: paths and the words of the system are for the log.
  void not_kept(uint64_t id, const caf::error& reason) {
    kit::log::warning(name, "a file was not published: " + sentence_of(reason));
    give_up(id, make_failure(errc::disk, "The file could not be kept: the "
                                         "store of published files cannot be "
                                         "written just now."));
  }

  void give_up(uint64_t id, const caf::error& reason) {
    auto entry = publications_.extract(id);
    const auto& digest = entry.mapped().digest;
    if (!digest.empty() && !index_.needs(digest) && !in_use().contains(digest))
      remove(below(path_of(digest)));
    parts_.fail(id, reason);
    look_drained();
  }

  // -- reading ----------------------------------------------------------------

  opened_promise on_open(const contracts::artifact_open_request& request) {
    auto answer = self_->make_response_promise<opened_promise>();
    if (stopping_) {
      answer.deliver(make_failure(errc::shutting_down, "The node is ending."));
      return answer;
    }
    auto id = openings_.keep(answer);
    when_loaded([this, id, request](const caf::error& reason) {
      if (reason)
        openings_.fail(id, reason);
      else
        open(id, request);
    });
    return answer;
  }

  void open(uint64_t id, const contracts::artifact_open_request& request) {
    artifact_opened result;
    if (auto fault = index_.refusal(request, args_.wall->now_ms())) {
      result.fault = *fault;
      openings_.deliver(id, std::move(result));
      return;
    }
    drop_idle_readers();
    if (readers_.size() >= limits::artifacts_open) {
      openings_.fail(id,
                     make_failure(errc::queue_full, "Too many published files "
                                                    "are open; try again."));
      return;
    }
    auto record = index_.find(request.artifact_id);
    result.attachment = part_of(*record);
    result.token = random_hex(*args_.chance, word_digits)
                   + random_hex(*args_.chance, word_digits);
    auto& fresh = readers_[result.token];
    fresh.digest = digest_of(record->integrity_id);
    fresh.size = static_cast<uint64_t>(record->size_bytes);
    fresh.used = self_->clock().now();
    openings_.deliver(id, std::move(result));
  }

  void drop_idle_readers() {
    auto oldest = self_->clock().now() - token_idle;
    std::erase_if(
      readers_, [&](const auto& entry) { return entry.second.used <= oldest; });
  }

  slice_promise on_read(const artifact_read& request) {
    auto answer = self_->make_response_promise<slice_promise>();
    drop_idle_readers();
    auto found = readers_.find(request.token);
    if (found == readers_.end()) {
      answer.deliver(unknown_token());
      return answer;
    }
    auto& open = found->second;
    open.used = self_->clock().now();
    if (request.length == 0 || request.length > limits::artifact_read_bytes
        || request.offset > open.pulled) {
      answer.deliver(make_failure(
        errc::bad_request, "A published file is read in order, "
                             + std::to_string(limits::artifact_read_bytes >> 10)
                             + " KiB at most at once."));
      return answer;
    }
    auto id = slices_.keep(answer);
    auto read = job(file_op::read_range, below(path_of(open.digest)));
    read.offset = request.offset;
    read.length = std::min(request.length, open.size - request.offset);
    run(
      std::move(read),
      [this, id, request](const file_outcome& slice) {
        take_slice(id, request, slice);
      },
      [this, id](const caf::error& reason) { no_slice(id, reason); });
    return answer;
  }

  static caf::error unknown_token() {
    return make_failure(errc::not_found, "No such published file is open.");
  }

  void take_slice(uint64_t id, const artifact_read& request,
                  const file_outcome& slice) {
    auto found = readers_.find(request.token);
    if (found == readers_.end()) {
      slices_.fail(id, unknown_token());
      return;
    }
    auto& open = found->second;
    artifact_slice result;
    auto wanted = std::min(request.length, open.size - request.offset);
    auto whole = slice.size == open.size && slice.bytes.size() == wanted;
    auto end = request.offset + slice.bytes.size();
    if (whole && end > open.pulled) {
      open.hash.add(std::string_view{slice.bytes}.substr(
        static_cast<size_t>(open.pulled - request.offset)));
      open.pulled = end;
    }
    if (whole && open.pulled == open.size && !open.intact)
      open.intact = open.hash.finish() == open.digest;
    if (!whole || !open.intact.value_or(true)) {
      kit::log::warning(name, "the bytes of " + open.digest
                                + " are not those that were published");
      result.fault = contracts::part_failure_code::artifact_integrity_failed;
    } else {
      result.bytes = slice.bytes;
      result.eof = end == open.size;
    }
    slices_.deliver(id, std::move(result));
  }

  void no_slice(uint64_t id, const caf::error& reason) {
    using enum contracts::part_failure_code;
    kit::log::warning(name, "a published file cannot be read: "
                              + sentence_of(reason));
    artifact_slice result;
    switch (code_of(reason)) {
    case errc::not_found:
      result.fault = artifact_missing;
      break;
    case errc::denied:
    case errc::is_directory:
      // Something else has the name.
      result.fault = artifact_integrity_failed;
      break;
    default:
      slices_.fail(id, make_failure(errc::disk, "The published file cannot be "
                                                "read just now."));
      return;
    }
    slices_.deliver(id, std::move(result));
  }

  // -- sweep ------------------------------------------------------------------

  void arm_sweep() {
    sweep_timer_.arm(self_, limits::artifact_sweep_interval, [this] {
      sweep();
      arm_sweep();
    });
  }

  void sweep() {
    drop_idle_readers();
    if (phase_ != life::ready || stopping_)
      return;
    auto gone = index_.expired(args_.wall->now_ms(), in_use());
    if (gone.ids.empty())
      return;
    std::map<std::string, std::vector<std::string>> by_digest;
    for (const auto& digest : gone.digests)
      by_digest[digest];
    for (const auto& id : gone.ids) {
      auto digest = std::string{digest_of(index_.find(id)->integrity_id)};
      auto last = by_digest.find(digest);
      if (last != by_digest.end())
        last->second.push_back(id);
      else
        index_.forget(id);
    }
    for (auto& [digest, ids] : by_digest) {
      ++removals_;
      run(
        job(file_op::remove, below(path_of(digest))),
        [this, ids](const file_outcome&) {
          for (const auto& id : ids)
            index_.forget(id);
          removed();
        },
        [this](const caf::error& reason) {
          // They are still in the index: the next sweep tries again.
          kit::log::warning(name, "an old file is not removed: "
                                    + sentence_of(reason));
          removed();
        });
    }
    if (by_digest.empty() && index_.should_rewrite())
      write_index();
  }

  void removed() {
    if (--removals_ == 0 && index_.should_rewrite() && !stopping_)
      write_index();
    look_drained();
  }

  // -- life -------------------------------------------------------------------

  ok_promise on_stop() {
    auto answer = self_->make_response_promise<ok_promise>();
    stopping_ = true;
    sweep_timer_.cancel();
    stops_.keep(answer);
    look_drained();
    return answer;
  }

  void look_drained() {
    if (stopping_ && publications_.empty() && !writing_ && removals_ == 0)
      stops_.deliver_all(caf::ok_atom_v);
  }

  status_line status() const {
    return {name, phase_ == life::unread ? "degraded" : "ok",
            "files " + std::to_string(index_.size()) + ", open "
              + std::to_string(readers_.size()) + ", publishing "
              + std::to_string(publications_.size())};
  }

  // -- parts ------------------------------------------------------------------

  /// Digests whose bytes must stay, whatever the index says.
  std::set<std::string> in_use() const {
    std::set<std::string> result;
    for (const auto& [id, entry] : publications_)
      result.insert(entry.digest);
    for (const auto& [token, open] : readers_)
      result.insert(open.digest);
    return result;
  }

  static std::string below(const std::string& path) {
    return std::string{directory} + "/" + path;
  }

  file_job job(file_op op, std::string path) const {
    file_job result;
    result.reason = name;
    result.op = op;
    result.root = args_.state_dir;
    result.path = std::move(path);
    return result;
  }

  template <class OnValue, class OnError>
  void run(file_job what, OnValue on_value, OnError on_error) {
    kit::bounded_request(self_, args_.files, limits::disk_timeout, atom::file_v,
                         std::move(what))
      .then(std::move(on_value), std::move(on_error));
  }

  void remove(const std::string& path) {
    run(
      job(file_op::remove, path), [](const file_outcome&) {},
      [](const caf::error& reason) {
        kit::log::warning(name, "a file that nobody needs is not removed: "
                                  + sentence_of(reason));
      });
  }

  pointer self_;
  artifacts_args args_;
  life phase_ = life::unread;
  std::deque<std::function<void(const caf::error&)>> held_;
  artifact_index index_;
  std::map<uint64_t, publication> publications_;
  /// Their bytes are durable, their lines are not.
  std::vector<uint64_t> unindexed_;
  bool writing_ = false;
  std::map<std::string, reader> readers_;
  size_t removals_ = 0;
  bool stopping_ = false;
  kit::generation_timer sweep_timer_;
  kit::promise_guard<contracts::attachment_part> parts_;
  kit::promise_guard<artifact_opened> openings_;
  kit::promise_guard<artifact_slice> slices_;
  kit::promise_guard<caf::ok_atom> stops_;
};

} // namespace

artifacts_actor spawn_artifacts(caf::actor_system& system,
                                artifacts_args args) {
  return kit::spawn_stateful<artifacts_actor, artifacts_state>(system,
                                                               std::move(args));
}

} // namespace bureau::artifacts
