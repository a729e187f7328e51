#include "actors/runner/buffered_stream_core.hpp"

#include <utility>

namespace bureau::runner {

bool buffered_stream_core::append(const std::string& delta) {
  if (!ended_)
    text_ += delta;
  return !ended_;
}

bool buffered_stream_core::replace(std::string text) {
  if (!ended_)
    text_ = std::move(text);
  return !ended_;
}

void buffered_stream_core::finish(const stream_end& end) {
  if (!std::exchange(ended_, true))
    text_ = delivery::final_text_of(end, text_);
}

} // namespace bureau::runner
