#pragma once

#include "actors/delivery/stream_message_core.hpp"
#include "messages/interfaces/transport.hpp"

/// The calls of a stream in the terms of a platform's transport.
namespace bureau::delivery {

/// What became of an operation. One that was dropped may be tried again.
call_outcome outcome_of(const delivered& outcome);

/// The operation of a call, without its rank and the run that it belongs to.
outbound operation_of(message_call call);

} // namespace bureau::delivery
