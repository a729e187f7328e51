#include "messages/contracts/identity.hpp"

#include "messages/errc.hpp"
#include "messages/identity/session_key.hpp"

#include <algorithm>

namespace bureau::contracts {

namespace {

caf::error refuse(std::string_view why) {
  return make_failure(errc::bad_identity,
                      "the conversation id " + std::string{why}
                        + "; it must read <platform>:<session key>");
}

} // namespace

std::string contract_id(const office_address& address,
                        std::string_view session_key) {
  return to_string(address.platform) + ':' + std::string{session_key};
}

caf::expected<contract_conversation> parse_contract_id(std::string_view id) {
  if (id.size() > max_contract_id_bytes)
    return refuse("is too long");
  auto mark = id.find(':');
  if (mark == std::string_view::npos)
    return refuse("has no platform");
  auto platform = parse_platform(id.substr(0, mark));
  if (!platform)
    return refuse("names no platform that is known");
  contract_conversation result;
  result.address.platform = *platform;
  result.session_key = id.substr(mark + 1);
  result.address.conversation_id = conversation_id_of(result.session_key);
  if (check_conversation_id(result.address.conversation_id)
        != address_fault::none
      || check_belongs(result.session_key, result.address.conversation_id)
           != key_fault::none)
    return refuse("holds no valid session key");
  return result;
}

bool is_deliverable_conversation(std::string_view conversation_id,
                                 const std::vector<std::string>& channel_ids) {
  auto mark = conversation_id.find(':');
  if (mark == std::string_view::npos || mark == 0)
    return false;
  return std::find(channel_ids.begin(), channel_ids.end(),
                   conversation_id.substr(0, mark))
         != channel_ids.end();
}

} // namespace bureau::contracts
