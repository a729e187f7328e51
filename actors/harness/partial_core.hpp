#pragma once

#include "messages/interfaces/model.hpp"

#include <cstdint>
#include <vector>

namespace bureau::harness {

/// What has arrived of a reply that is still being streamed: kept so that a
/// model call which dies, or does not answer a cancel, loses nothing.
class partial_message {
public:
  void apply(const stream_event& event);
  /// The blocks so far, in order of their index; tool calls whose arguments
  /// have not arrived whole have empty ones.
  std::vector<content_block> content() const;

private:
  struct slot {
    uint32_t index = 0;
    content_block block;
  };
  content_block& at(uint32_t index);
  /// Ascending by index.
  std::vector<slot> slots_;
};

} // namespace bureau::harness
