#pragma once

#include "adapters/models/call_report.hpp"
#include "messages/interfaces/model.hpp"

namespace bureau::models {

/// Streams a prepared answer to the sink in several deltas, one mailbox turn
/// each, and ends. `cancel` ends it as aborted with what was told; it ends
/// silently when the sink dies.
model_call_actor spawn_offline_call(caf::actor_system& system,
                                    model_sink_actor sink,
                                    transcript_message answer,
                                    call_report report);

} // namespace bureau::models
