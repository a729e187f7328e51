#include "actors/session/session_writers.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "actors/session/writer_table_core.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace bureau::session {

namespace {

/// One live writer for each session file.
///
///   (open, path, device, inode, session id) → ok ⇒ claim
///   (close)                                      ⇒ release
///
/// Spawned with the first session store factory; nobody supervises it: it
/// touches nothing but its table.
class session_writers_state {
public:
  using pointer =
    session_writers_actor::stateful_pointer<session_writers_state>;

  static inline const char* name = "session_writers";

  explicit session_writers_state(pointer self) : self_(self) {}

  void init(const files_actor& files) {
    files_ = files.address();
    self_->monitor(files);
    self_->set_down_handler([this](const caf::down_msg& down) {
      if (down.source == files_)
        self_->quit();
      else
        table_.release(down.source.id());
    });
  }

  session_writers_actor::behavior_type make_behavior() {
    return {
      [this](atom::open, const std::string& path, uint64_t device,
             uint64_t inode, const std::string& session_id) {
        return claim({path, device, inode, session_id});
      },
      [this](atom::close) { release(); },
    };
  }

private:
  caf::result<caf::ok_atom> claim(writer_claim wanted) {
    auto owner = caf::actor_cast<caf::actor_addr>(self_->current_sender());
    auto known = table_.knows(owner.id());
    auto path = wanted.path;
    if (!table_.claim(owner.id(), std::move(wanted)))
      return make_failure(errc::busy, "The session file " + path
                                        + " already has an active writer.");
    if (!known)
      self_->monitor(owner);
    return caf::ok_atom_v;
  }

  void release() {
    auto owner = caf::actor_cast<caf::actor_addr>(self_->current_sender());
    if (!table_.knows(owner.id()))
      return;
    table_.release(owner.id());
    self_->demonitor(owner);
  }

  pointer self_;
  caf::actor_addr files_;
  writer_table table_;
};

} // namespace

session_writers_actor spawn_session_writers(const files_actor& files) {
  return kit::spawn_stateful<session_writers_actor, session_writers_state,
                             caf::hidden>(files.home_system(), files);
}

} // namespace bureau::session
