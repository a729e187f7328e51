#pragma once

#include "messages/interfaces/channel.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The life of one channel as its host sees it (agent contracts, rules 68 to
/// 70), decided without an actor.
namespace bureau::system {

/// What the configuration says of a channel.
struct channel_plan {
  platform_id platform = platform_id::console;
  /// Why it is not wanted; empty: it is.
  std::string disabled;
  /// What it lacks; empty: nothing.
  std::string waiting;
  /// What is odd about it; it starts all the same.
  std::vector<std::string> issues;
  friend bool operator==(const channel_plan&, const channel_plan&) = default;
};

/// One channel. Every start has a number; what comes from an earlier start is
/// ignored. Members that answer bool say whether the published status changed.
class channel_core {
public:
  explicit channel_core(platform_id platform);

  /// The configuration is known. Whether the channel is to be started.
  bool configured(const channel_plan& plan);

  /// A start begins; answers its number.
  uint64_t start();
  bool started(uint64_t generation);
  /// It could not be started, or was given up.
  bool failed(uint64_t generation, const std::string& reason);

  /// What a started channel tells.
  bool tell(const channel_news& news);

  /// Its transport is being stopped.
  /// @param host_ends the whole node is; else it waits for its configuration
  bool stopped(bool host_ends);

  channel_report report() const;
  uint64_t generation() const { return generation_; }
  /// Whether it was started and has not ended.
  bool exists() const { return exists_; }

private:
  bool publish(contracts::channel_state state, std::string reason = {});

  platform_id platform_;
  contracts::channel_status status_;
  uint64_t generation_ = 0;
  /// It is being started, or runs.
  bool exists_ = false;
  bool starting_ = false;
  /// Kept while it is degraded.
  json_text summary_{"{}"};
};

} // namespace bureau::system
