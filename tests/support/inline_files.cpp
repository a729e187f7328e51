#include "tests/support/inline_files.hpp"

#include "actors/io/file_jobs.hpp"
#include "actors/kit/spawn_stateful.hpp"

#include <caf/all.hpp>

#include <utility>

namespace bureau::test {

namespace {

// (file, file_job) → file_outcome   ⇒ work
// (status) → status_line            ⇒ line
// (stop) → ok                       ⇒ closed from now on
struct inline_files_state {
  using pointer = files_actor::stateful_pointer<inline_files_state>;
  static inline const char* name = "inline_files";
  pointer self;
  std::shared_ptr<file_system> fs;
  std::shared_ptr<entropy> chance;
  std::shared_ptr<files_probe> probe;
  bool closed = false;

  explicit inline_files_state(pointer me) : self(me) {}

  void init(std::shared_ptr<file_system> disk, std::shared_ptr<entropy> source,
            std::shared_ptr<files_probe> control) {
    fs = std::move(disk);
    chance = std::move(source);
    probe = std::move(control);
  }

  caf::result<file_outcome> work(const file_job& job) {
    if (closed)
      return make_failure(errc::shutting_down, "the file pool is ending");
    probe->jobs.push_back(job);
    if (!probe->failures.empty()) {
      auto planned = std::move(probe->failures.front());
      probe->failures.pop_front();
      if (planned)
        return planned;
    }
    return io::run_file_job(*fs, *chance, job);
  }

  files_actor::behavior_type make_behavior() {
    return {
      [this](atom::file, const file_job& job) { return work(job); },
      [this](atom::status) {
        return status_line{"files", closed ? "stopping" : "ok", "inline"};
      },
      [this](atom::stop) {
        closed = true;
        return caf::ok_atom_v;
      },
    };
  }
};

} // namespace

files_actor spawn_inline_files(caf::actor_system& system,
                               std::shared_ptr<file_system> fs,
                               std::shared_ptr<entropy> chance,
                               std::shared_ptr<files_probe> probe) {
  if (!probe)
    probe = std::make_shared<files_probe>();
  return kit::spawn_stateful<files_actor, inline_files_state>(
    system, std::move(fs), std::move(chance), std::move(probe));
}

} // namespace bureau::test
