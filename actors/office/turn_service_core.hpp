#pragma once

#include "messages/contracts/channel.hpp"
#include "messages/contracts/live_input.hpp"
#include "messages/contracts/turn.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/interfaces/turn_service.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the turn service makes of the contracts: messages for offices, and
/// answers from the ends of ledger entries. Pure.
namespace bureau::offices {

/// Conversations of one list of destinations.
inline constexpr size_t destinations_told = 1000;

/// The message of a turn.
/// @param fallback_id unless the metadata name an `id`
/// @return error bad_identity (no conversation of ours), bad_request (without
///   text, or with what only a platform can bring: files, a continuation,
///   another place for the answer)
caf::expected<intake_request> intake_of(const contracts::turn_request& request,
                                        std::string_view fallback_id,
                                        int64_t now_ms);

/// The message of a follow-up. Errors as above.
caf::expected<intake_request>
intake_of(const contracts::live_input_request& request, int64_t now_ms);

/// Message id of a follow-up.
std::string live_message_id(std::string_view id);

/// The message of a notification. Errors as above.
caf::expected<intake_request>
intake_of(const contracts::notify_request& request,
          std::string_view fallback_id, int64_t now_ms);

/// The answer of a turn whose entry ended.
/// @return error response_cancelled, or conflict with a sentence
caf::expected<contracts::turn_response> response_of(const entry_end& end);

/// How a follow-up settled whose entry ended.
contracts::live_input_settlement settlement_of(const entry_end& end);

/// What became of a notification whose entry ended.
contracts::notify_delivery_result
delivery_of(const contracts::notify_request& request, const entry_end& end,
            std::string_view channel);

/// A notification that was not taken.
contracts::notify_delivery_result not_delivered(std::string code,
                                                std::string reason,
                                                bool retryable);

/// One that is in the ledger and was not delivered while its sender waited.
contracts::notify_delivery_result still_open(std::string delivery_id);

/// Platforms that have offices, each once.
std::vector<platform_id> platforms_of(const office_inventory& inventory);

/// Conversations that can be reached: those of attached platforms, by their
/// top-level keys.
notify_destinations destinations_of(const office_inventory& inventory,
                                    const std::vector<std::string>& channels);

} // namespace bureau::offices
