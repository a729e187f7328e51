#pragma once

#include "messages/identity/office_address.hpp"
#include "messages/inspect_support.hpp"

#include <caf/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Conversation ids of the agent contracts: `<platform>:<session key>`, for
/// example telegram:-5:7. Nobody else builds or splits them. There is no
/// rollover bucket: a `#` belongs to the key.
namespace bureau::contracts {

/// The office of a conversation id, and the key inside it.
struct contract_conversation {
  office_address address;
  std::string session_key;
  friend bool operator==(const contract_conversation&,
                         const contract_conversation&) = default;
};

BUREAU_INSPECT(contract_conversation, x.address, x.session_key);

/// Longest conversation id in bytes.
inline constexpr size_t max_contract_id_bytes = 2048;

/// The conversation id of a session.
/// @pre the key belongs to the conversation of the address
std::string contract_id(const office_address& address,
                        std::string_view session_key);

/// Takes a conversation id apart; the error is bad_identity and does not repeat
/// the id.
caf::expected<contract_conversation> parse_contract_id(std::string_view id);

/// Whether the text before the first ':' is one of the ids.
bool is_deliverable_conversation(std::string_view conversation_id,
                                 const std::vector<std::string>& channel_ids);

} // namespace bureau::contracts
