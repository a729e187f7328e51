#pragma once

#include "config/os/durable.hpp"
#include "config/os/machine.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

/// One node per state directory (decision A29).
namespace bureau::config {

/// Where a server of the node listens.
struct listener {
  std::string host;
  int port = 0;
};

/// Who holds a state directory: the content of node.lock and node.json.
struct node_record {
  int64_t pid = 0;
  int64_t start_ticks = 0;
  std::string boot_id;
  std::string host;
  /// ISO-8601.
  std::string started_at;
  std::optional<listener> http;
  std::optional<listener> observer;
  bool observer_tls = false;
};

/// Pretty JSON with a newline.
std::string print_node_record(const node_record& record);

/// Nothing when the text is no record.
std::optional<node_record> parse_node_record(std::string_view text);

/// A lock that is held is tried again so often, after a pause each time.
inline constexpr int lock_tries = 20;
inline constexpr auto lock_pause = std::chrono::milliseconds{10};

/// Blocks the thread for lock_pause.
void pause_a_bit();

/// Holds `<state-dir>/node.lock` by flock(2) for as long as the object lives;
/// the kernel frees it with the process, so a stale pid cannot matter. The file
/// stays: removing it would let two nodes hold two files of one name.
class instance_lock {
public:
  instance_lock() = default;

  /// Tries for a moment: who only looks at the lock (find_lock_holder) has it
  /// for an instant.
  /// @param fault receives the sentence for the person who starts the node
  /// @param pause waits for lock_pause
  static instance_lock
  acquire(file_system& fs, const std::string& state_dir,
          const os::machine_facts& machine, int64_t now_ms, std::string& fault,
          const std::function<void()>& pause = pause_a_bit);

  explicit operator bool() const { return static_cast<bool>(lock_); }
  const node_record& record() const { return record_; }

  /// Writes node.json with the ports that are known by now; call it again when
  /// they change.
  os::io_fault publish(entropy& chance, std::optional<listener> http,
                       std::optional<listener> observer, bool observer_tls);

  /// Removes node.json and frees the lock; the orderly end.
  void release();

private:
  file_system* fs_ = nullptr;
  std::string state_dir_;
  os::descriptor lock_;
  node_record record_;
};

/// Who holds the lock of a state directory.
struct lock_holder {
  bool held = false;
  /// What the holder wrote; absent while it is just starting.
  std::optional<node_record> record;
  /// errno when the lock cannot be looked at.
  int error = 0;
};

/// Looks whether the lock is held: it is taken for an instant if it is not. A
/// lock that is held without a record is looked at again: somebody else may
/// only be looking as well.
lock_holder find_lock_holder(file_system& fs, const std::string& state_dir,
                             const std::function<void()>& pause = pause_a_bit);

/// The record in `<state-dir>/node.json`, for programs beside a running node.
std::optional<node_record> read_node_record(file_system& fs,
                                            const std::string& state_dir);

} // namespace bureau::config
