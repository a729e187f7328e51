#include "messages/contracts/frame_feed.hpp"

#include "messages/errc.hpp"

namespace bureau::contracts {

void frame_listener::status(const std::string&) {
  // nop
}

void frame_listener::replace(const std::string&) {
  // nop
}

void frame_listener::event(const stream_event&) {
  // nop
}

bool feed_frame(const stream_frame& frame, frame_listener& listener) {
  auto text = frame.text.value_or(std::string{});
  switch (frame.kind) {
  case frame_kind::status:
    listener.status(text);
    return true;
  case frame_kind::append:
    listener.append(text);
    return true;
  case frame_kind::replace:
    listener.replace(text);
    return true;
  case frame_kind::event:
    listener.event(frame.event);
    return true;
  case frame_kind::finish:
  case frame_kind::error:
  case frame_kind::unknown:
    break;
  }
  return false;
}

stream_frame finish_frame(const turn_response& response) {
  stream_frame result;
  result.kind = frame_kind::finish;
  result.text = response.text;
  result.metadata = response.metadata;
  result.parts = response.parts;
  return result;
}

stream_frame error_frame(const caf::error& err) {
  stream_frame result;
  result.kind = frame_kind::error;
  result.text = sentence_of(err);
  result.code = to_string(code_of(err));
  result.cancelled = is_response_cancelled(err);
  return result;
}

} // namespace bureau::contracts
