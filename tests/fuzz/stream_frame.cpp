#include "messages/contracts/stream_frame.hpp"

#include "tests/fuzz/entry.hpp"

using namespace bureau;
using namespace bureau::contracts;

void fuzz::try_input(std::string_view input) {
  auto frame = parse_frame(input);
  if (!frame)
    return;
  auto again = parse_frame(serialize_frame(*frame));
  require(again.engaged(), "what is printed parses");
  require(same_on_wire(*again, *frame), "nothing changes on the way");
  auto view = read_frame(to_json(read_frame(*frame)));
  require(read_frame(to_json(view)) == view, "the typed view settles");
}
