#include "messages/contracts/stream_frame.hpp"

#include "messages/text/utf8.hpp"
#include "tests/fuzz/entry.hpp"

using namespace bureau;
using namespace bureau::contracts;

namespace {

/// Any frame can be sent in lines that a consumer takes.
void check_lines(const stream_frame& frame) {
  std::string delta;
  for (const auto& line : frame_lines(frame)) {
    fuzz::require(line.size() <= frame_line_bytes, "a line has a bound");
    fuzz::require(line.find('\n') == line.size() - 1, "a line is one line");
    auto sent = parse_frame(line);
    fuzz::require(sent.engaged(), "a line that is sent parses");
    auto received = read_frame(*sent);
    fuzz::require(received.kind == frame.kind, "the kind stays");
    if (received.kind == frame_kind::append)
      delta += *received.text;
  }
  if (frame.kind == frame_kind::append)
    fuzz::require(delta == text::sanitize_utf8(*frame.text),
                  "an append is divided without loss");
}

/// Long texts are what the lines are bounded for.
stream_frame long_frame(std::string_view input) {
  fuzz::reader in{input};
  stream_frame frame;
  frame.kind = static_cast<frame_kind>(in.below(6));
  auto before = in.below(4) * (frame_line_bytes / 3);
  std::string text(before, 'x');
  for (auto times = in.below(200); times > 0; --times)
    text += in.rest();
  if (frame.kind == frame_kind::event) {
    frame.event.kind = stream_event_kind::assistant_thought;
    frame.event.text = text;
  } else {
    frame.text = text;
  }
  return frame;
}

} // namespace

void fuzz::try_input(std::string_view input) {
  if (auto frame = parse_frame(input))
    check_lines(read_frame(*frame));
  else if (input.size() < 1000)
    check_lines(long_frame(input));
}
