#include "messages/codec/json_support.hpp"
#include "messages/contracts/stream_frame.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

using namespace bureau::contracts;

outcome serialize_case(const bj::array& args) {
  return answer(bj::value(serialize_frame(argument(args, 0).as_object())));
}

outcome parse_case(const bj::array& args) {
  auto frame = parse_frame(text_of(argument(args, 0)));
  return frame ? answer(*frame) : failure("invalid_frame");
}

const registration all[] = {
  {"serializeAgentStreamFrame", serialize_case},
  {"parseAgentStreamFrame", parse_case},
};

} // namespace

} // namespace bureau::conformance
