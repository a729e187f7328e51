#pragma once

#include "actors/delivery/stream_end_core.hpp"

#include <string>

namespace bureau::runner {

using delivery::stream_end;

/// Collects an answer that is shown when it is complete, and nothing else of
/// its run (agent contracts, rule 47).
class buffered_stream_core {
public:
  /// Adds or replaces text; false once the stream has ended.
  bool append(const std::string& delta);
  bool replace(std::string text);
  /// The end; a second one changes nothing.
  void finish(const stream_end& end);

  /// The text without white space around it.
  std::string text() const { return std::string{delivery::trimmed(text_)}; }

private:
  std::string text_;
  bool ended_ = false;
};

} // namespace bureau::runner
