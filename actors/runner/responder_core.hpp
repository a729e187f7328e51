#pragma once

#include "actors/runner/resilient_stream_core.hpp"
#include "messages/interfaces/transport.hpp"

#include <string>

/// The stream of a run in the terms of its platform's transport.
namespace bureau::runner {

/// How the output of a run appears on a platform. The answer itself is handed
/// over to the owner of the turn.
/// @param provisional message of an earlier attempt; empty = none
stream_options stream_options_of(const transport_info& info,
                                 std::string provisional);

/// Whether a platform shows nothing of a run but its answer.
bool shows_only_answers(const transport_info& info);

/// What became of an operation that the transport answered with an error.
/// @param lost the transport ended with it
delivered outcome_of_error(const caf::error& reason, bool lost);

/// The operation of a call, without the run that it belongs to.
outbound operation_of(message_call call, bool activity);

} // namespace bureau::runner
