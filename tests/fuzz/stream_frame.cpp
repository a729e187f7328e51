#include "messages/contracts/stream_frame.hpp"

#include "tests/fuzz/entry.hpp"

#include "messages/text/utf8.hpp"

using namespace bureau;
using namespace bureau::contracts;

namespace {

/// A frame survives the wire, and any frame can be sent in lines that a
/// consumer takes.
void check_frame(const bj::object& frame) {
  auto again = parse_frame(serialize_frame(frame));
  fuzz::require(again.engaged(), "what is printed parses");
  fuzz::require(fuzz::same_on_wire(*again, frame),
                "nothing changes on the way");
  auto typed = read_frame(frame);
  std::string delta;
  for (const auto& line : frame_lines(typed)) {
    fuzz::require(line.size() <= frame_line_bytes, "a line has a bound");
    fuzz::require(line.find('\n') == line.size() - 1, "a line is one line");
    auto sent = parse_frame(line);
    fuzz::require(sent.engaged(), "a line that is sent parses");
    auto received = read_frame(*sent);
    fuzz::require(received.kind == typed.kind, "the kind stays");
    if (received.kind == frame_kind::append)
      delta += *received.text;
  }
  if (typed.kind == frame_kind::append)
    fuzz::require(delta == text::sanitize_utf8(*typed.text),
                  "an append is divided without loss");
  auto view = read_frame(to_json(typed));
  fuzz::require(read_frame(to_json(view)) == view, "the typed view settles");
}

/// Long texts are what the lines are bounded for.
void check_long(std::string_view input) {
  fuzz::reader in{input};
  stream_frame frame;
  frame.kind = static_cast<frame_kind>(in.below(6));
  auto times = in.below(3000);
  std::string text;
  while (times-- > 0 && text.size() < 2 * frame_line_bytes)
    text += in.rest();
  if (frame.kind == frame_kind::event) {
    frame.event.kind = stream_event_kind::assistant_thought;
    frame.event.text = text;
  } else {
    frame.text = text;
  }
  check_frame(to_json(frame));
}

} // namespace

void fuzz::try_input(std::string_view input) {
  if (auto frame = parse_frame(input))
    check_frame(*frame);
  else if (input.size() < 1000 && input.starts_with('\x01'))
    check_long(input.substr(1));
}
