#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

/// Bytes for a client that may read slowly, or not at all (agent contracts,
/// rule 101).
namespace bureau::web {

/// Where the bytes go.
class byte_sink {
public:
  virtual ~byte_sink() = default;

  enum class state : uint8_t {
    /// Some were taken; perhaps not all.
    taken,
    /// It takes none just now.
    full,
    /// The peer is gone, or the sink is broken.
    broken,
  };
  struct outcome {
    state what = state::taken;
    size_t count = 0;
    /// Of `broken`.
    std::string sentence;
  };

  /// Hands bytes over; never waits.
  virtual outcome push(std::string_view bytes) = 0;

  enum class drain : uint8_t { room, late, broken };

  /// Waits until it takes bytes again.
  virtual drain await_room(std::chrono::milliseconds patience) = 0;
};

struct response_writer_options {
  /// Bytes of writes that have not ended; 0: the usual bound.
  size_t max_pending_bytes = 0;
  /// How long one write waits for a slow reader; 0: as long as is usual.
  std::chrono::milliseconds drain_timeout{0};
  /// Told of the first failure, once, with one sentence.
  std::function<void(const std::string&)> on_failure{};
};

inline constexpr size_t response_pending_bytes = 1u << 20;
inline constexpr std::chrono::milliseconds response_drain_timeout{5000};

/// Writes in the order of the calls, which may come from any thread. Every
/// write counts with its size until it ends; one too many fails the writer. The
/// first failure stays: it is told once, and every write that waits or comes
/// later ends with it.
class response_writer {
public:
  response_writer(byte_sink& sink, response_writer_options options = {});
  response_writer(const response_writer&) = delete;
  response_writer& operator=(const response_writer&) = delete;

  /// Waits for the writes before it, then writes. Nothing, or the sentence of
  /// the failure.
  std::optional<std::string> write(std::string_view bytes);

  /// Writes in pieces of which each counts alone.
  std::optional<std::string> write_all(std::string_view bytes);

  /// Bytes of writes that have not ended.
  size_t pending() const;

private:
  /// One write in its turn: nothing, or what went wrong.
  std::optional<std::string> put(std::string_view bytes);
  void fail(std::unique_lock<std::mutex>& lock, std::string sentence);

  byte_sink& sink_;
  response_writer_options options_;
  mutable std::mutex mutex_;
  std::condition_variable turn_;
  size_t pending_ = 0;
  /// Tickets: the next to be drawn, and the one whose turn it is.
  uint64_t drawn_ = 0;
  uint64_t served_ = 0;
  std::optional<std::string> failure_;
};

} // namespace bureau::web
