#pragma once

#include "adapters/models/request_core.hpp"

namespace bureau::models {

/// POST <baseUrl>/v1/messages with a streaming answer (note on the harness,
/// section 4.3). Flags of compat: forceAdaptiveThinking,
/// supportsEagerToolInputStreaming, allowEmptySignature,
/// supportsLongCacheRetention. A key with the infix sk-ant-oat travels as a
/// bearer token; Bureau never claims to be another program.
built_request build_anthropic_messages(const model_request& request,
                                       cache_retention retention);

} // namespace bureau::models
