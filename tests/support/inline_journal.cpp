#include "tests/support/inline_journal.hpp"

#include "actors/io/file_place.hpp"
#include "actors/io/io_errors.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "config/os/durable.hpp"
#include "messages/codec/open_list.hpp"
#include "messages/limits.hpp"
#include "tests/support/test_ports.hpp"

#include <caf/all.hpp>

#include <fcntl.h>

#include <set>

namespace bureau::test {

namespace {

// (append, journal_record) → offset       ⇒ append
// (append, journal_batch) → offsets     ⇒ append_group
// (seal, journal_root, path) → ok         ⇒ seal
// (mark, key, unfinished)                 ⇒ mark
// (status) → status_line                  ⇒ line
// (stop) → ok                             ⇒ closed from now on
struct inline_journal_state {
  using pointer = journal_actor::stateful_pointer<inline_journal_state>;
  static inline const char* name = "inline_journal";
  pointer self;
  std::shared_ptr<file_system> fs;
  std::string state_dir;
  std::string workspace_root;
  std::shared_ptr<journal_probe> probe;
  bool closed = false;
  std::set<std::string> marks;
  seeded_entropy chance;

  explicit inline_journal_state(pointer me) : self(me) {}

  void init(std::shared_ptr<file_system> disk, std::string state,
            std::string workspace, std::shared_ptr<journal_probe> control) {
    fs = std::move(disk);
    state_dir = std::move(state);
    workspace_root = std::move(workspace);
    probe = std::move(control);
  }

  caf::error refusal() {
    if (closed)
      return make_failure(errc::shutting_down, "the journal is ending");
    if (probe->broken)
      return make_failure(errc::disk, "cannot write the journal: the disk is "
                                      "full; free some space");
    return {};
  }

  /// One append, or one group, comes.
  caf::error arrival() {
    if (probe->breaks_after == 0)
      probe->broken = true;
    if (probe->breaks_after > 0)
      --probe->breaks_after;
    return refusal();
  }

  caf::expected<uint64_t> append(const journal_record& record) {
    probe->asked.push_back(record);
    if (auto refused = arrival())
      return refused;
    return place(record);
  }

  caf::expected<uint64_t> place(const journal_record& record) {
    if (record.path.empty() || record.bytes.empty()
        || record.bytes.size() > limits::journal_record_bytes)
      return make_failure(errc::bad_request, "a journal record needs a path "
                                             "and 1 byte to 128 MiB");
    auto where = io::locate(*fs, root_of(record.root), resolve_rule::no_links,
                            record.path);
    if (!where)
      return io::journal_failure(where.error, record.path);
    auto file =
      io::open_regular(*fs, where.value, O_WRONLY | O_CREAT, mode_t{0600});
    if (!file)
      return io::journal_failure(file.error, record.path);
    auto facts = fs->stat(file.value.get());
    if (!facts)
      return io::journal_failure(facts.error, record.path);
    auto offset = static_cast<uint64_t>(facts.value.st_size);
    auto done = io::write_all_at(*fs, file.value.get(), record.bytes, offset);
    if (!done)
      return io::journal_failure(done.error, record.path);
    probe->written.push_back(record);
    return offset;
  }

  caf::result<std::vector<uint64_t>>
  append_group(const journal_batch& records) {
    std::vector<uint64_t> offsets;
    probe->asked.insert(probe->asked.end(), records.begin(), records.end());
    if (auto refused = arrival())
      return refused;
    for (const auto& record : records) {
      auto offset = place(record);
      if (!offset)
        return offset.error();
      offsets.push_back(*offset);
    }
    return offsets;
  }

  caf::result<caf::ok_atom> seal(journal_root root, const std::string& path) {
    if (auto refused = refusal())
      return refused;
    probe->seals.emplace_back(root, path);
    return caf::ok_atom_v;
  }

  /// As if every append were followed by a checkpoint.
  void mark(const std::string& key, bool unfinished) {
    if (unfinished)
      marks.insert(key);
    else
      marks.erase(key);
    os::write_private_atomically(*fs, chance,
                                 state_dir + "/" + std::string{open_list_name},
                                 print_open_list({marks.begin(), marks.end()}));
  }

  const std::string& root_of(journal_root root) const {
    return root == journal_root::state ? state_dir : workspace_root;
  }

  journal_actor::behavior_type make_behavior() {
    return {
      [this](atom::append, const journal_record& record) {
        return caf::result<uint64_t>{append(record)};
      },
      [this](atom::append, const journal_batch& records) {
        return append_group(records);
      },
      [this](atom::seal, journal_root root, const std::string& path) {
        return seal(root, path);
      },
      [this](atom::mark, const std::string& key, bool unfinished) {
        mark(key, unfinished);
      },
      [this](atom::status) {
        return status_line{"journal", probe->broken ? "degraded" : "ok",
                           "inline"};
      },
      [this](atom::stop) {
        closed = true;
        return caf::ok_atom_v;
      },
    };
  }
};

} // namespace

journal_actor spawn_inline_journal(caf::actor_system& system,
                                   std::shared_ptr<file_system> fs,
                                   std::string state_dir,
                                   std::string workspace_root,
                                   std::shared_ptr<journal_probe> probe) {
  if (!probe)
    probe = std::make_shared<journal_probe>();
  return kit::spawn_stateful<journal_actor, inline_journal_state>(
    system, std::move(fs), std::move(state_dir), std::move(workspace_root),
    std::move(probe));
}

} // namespace bureau::test
