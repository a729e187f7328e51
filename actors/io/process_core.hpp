#pragma once

#include "messages/interfaces/process.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bureau::io {

/// Highest descriptor number that a child may be given.
inline constexpr int32_t highest_child_fd = 511;

/// Says what is wrong with a specification; empty when it may be started. Never
/// quotes an environment value or input bytes.
std::string spec_fault(const proc_spec& spec);

/// `bwrap v1-console-…`: what a person recognises a child by.
std::string shown_name(const proc_spec& spec);

/// `NAME=value` lines as execve wants them.
std::vector<std::string> environment_lines(const proc_spec& spec);

/// Whether the environment block of a process carries BUREAU_EXEC_ID=<tag>.
/// @param block NUL separated, as /proc/<pid>/environ gives it
bool carries_tag(std::string_view block, std::string_view tag);

/// The kept head of a captured stream.
class capture {
public:
  explicit capture(uint64_t cap) : cap_(cap) {}

  void take(std::string_view bytes);

  /// Bytes that came after the cap was reached.
  uint64_t dropped() const { return dropped_; }
  std::string release() { return std::move(kept_); }

private:
  uint64_t cap_;
  uint64_t dropped_ = 0;
  std::string kept_;
};

/// Flow control of one streamed output.
class stream_window {
public:
  /// Bytes went to the sink. @return whether the stream must pause now
  bool sent(uint64_t bytes);

  /// The sink used bytes up. @return whether a paused stream may go on
  bool acknowledged(uint64_t bytes);

  bool paused() const { return paused_; }

private:
  uint64_t unacked_ = 0;
  bool paused_ = false;
};

} // namespace bureau::io
