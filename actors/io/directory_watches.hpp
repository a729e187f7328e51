#pragma once

#include "actors/io/event_loop.hpp"
#include "actors/io/owned_fd.hpp"
#include "messages/interfaces/watch.hpp"

#include <caf/error.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace bureau::io {

/// What the loop tells the actor in front of the watches.
using watch_owner_actor = caf::typed_actor<
  // A directory is watched.
  caf::reacts_to<atom::ready, uint64_t>,
  // It is not, or not any more; its number is free.
  caf::reacts_to<atom::failed, uint64_t, caf::error>>;

/// Commands of that actor to the loop.
struct watch_begin {
  uint64_t id = 0;
  std::string path;
  watch_sink_actor sink;
  watch_owner_actor owner;
};
struct watch_end {
  uint64_t id = 0;
};

/// The watched directories of the process loop: one inotify descriptor, made
/// when it is first needed. Lives in the loop's thread.
class directory_watches {
public:
  explicit directory_watches(event_loop& events) : events_(events) {}
  directory_watches(const directory_watches&) = delete;
  directory_watches& operator=(const directory_watches&) = delete;
  ~directory_watches();

  void begin(watch_begin command);
  void end(uint64_t id);
  /// Tells all sinks that nobody watches any more.
  void end_all();

private:
  struct watched {
    watch_begin what;
    int number = -1;
  };

  bool open();
  void read();
  void drop(uint64_t id, bool told);
  /// Everybody that watches a directory; several may watch the same.
  std::vector<uint64_t> watchers_of(int number) const;

  event_loop& events_;
  owned_fd fd_;
  std::map<uint64_t, watched> watched_;
};

} // namespace bureau::io
