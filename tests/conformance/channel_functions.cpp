#include "messages/contracts/identity.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

outcome deliverable_case(const bj::array& args) {
  std::vector<std::string> ids;
  for (const auto& id : argument(args, 1).as_array())
    ids.push_back(text_of(id));
  return answer(
    contracts::is_deliverable_conversation(text_of(argument(args, 0)), ids));
}

const registration deliverable{"isDeliverableConversation", deliverable_case};

} // namespace

} // namespace bureau::conformance
