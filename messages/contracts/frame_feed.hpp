#pragma once

#include "messages/contracts/stream_frame.hpp"
#include "messages/contracts/turn.hpp"

#include <caf/error.hpp>

#include <string>

/// From frames to what a turn tells, and from its end to the last frame (agent
/// contracts, 3.8).
namespace bureau::contracts {

/// Takes what a turn tells while it runs. Whoever does not care for a kind
/// leaves its member as it is.
class frame_listener {
public:
  virtual ~frame_listener() = default;
  virtual void status(const std::string& text);
  /// The one kind that nobody can do without.
  virtual void append(const std::string& delta) = 0;
  virtual void replace(const std::string& text);
  virtual void event(const stream_event& event);
};

/// Hands a frame to its listener. The end of a turn belongs to the reader of
/// the frames, and unknown kinds to later versions: both are passed over.
/// @returns whether the frame was handed on
bool feed_frame(const stream_frame& frame, frame_listener& listener);

/// The last frame of a turn that came to a response.
stream_frame finish_frame(const turn_response& response);

/// The last frame of a turn that failed or was cancelled.
stream_frame error_frame(const caf::error& err);

} // namespace bureau::contracts
