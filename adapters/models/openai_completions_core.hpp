#pragma once

#include "adapters/models/chat_dialect_core.hpp"
#include "adapters/models/request_core.hpp"

namespace bureau::models {

/// POST <baseUrl>/chat/completions with a streaming answer.
built_request build_openai_completions(const model_request& request,
                                       cache_retention retention);

} // namespace bureau::models
