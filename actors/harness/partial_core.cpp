#include "actors/harness/partial_core.hpp"

#include <algorithm>

namespace bureau::harness {

content_block& partial_message::at(uint32_t index) {
  // Nearly always the last one.
  if (!slots_.empty() && slots_.back().index == index)
    return slots_.back().block;
  auto place = std::lower_bound(
    slots_.begin(), slots_.end(), index,
    [](const slot& entry, uint32_t wanted) { return entry.index < wanted; });
  if (place == slots_.end() || place->index != index)
    place = slots_.insert(place, slot{index, {}});
  return place->block;
}

void partial_message::apply(const stream_event& event) {
  switch (event.kind) {
  case stream_kind::start:
    return;
  case stream_kind::text_start:
  case stream_kind::thinking_start: {
    auto& block = at(event.index);
    block = event.block;
    block.kind = event.kind == stream_kind::text_start ? block_kind::text
                                                       : block_kind::thinking;
    return;
  }
  case stream_kind::text_delta:
  case stream_kind::thinking_delta: {
    auto& block = at(event.index);
    block.kind = event.kind == stream_kind::text_delta ? block_kind::text
                                                       : block_kind::thinking;
    block.text += event.delta;
    return;
  }
  case stream_kind::tool_call_start: {
    auto& block = at(event.index);
    block = event.block;
    block.kind = block_kind::tool_call;
    block.arguments = json_text{"{}"};
    return;
  }
  case stream_kind::tool_call_delta:
    return;
  case stream_kind::text_end:
  case stream_kind::thinking_end:
  case stream_kind::tool_call_end:
    at(event.index) = event.block;
    return;
  }
}

std::vector<content_block> partial_message::content() const {
  std::vector<content_block> result;
  result.reserve(slots_.size());
  for (const auto& entry : slots_)
    result.push_back(entry.block);
  return result;
}

} // namespace bureau::harness
