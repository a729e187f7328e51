#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bureau::sandbox {

/// Whether a backend enforces the projection of the workspace, so that an
/// office behind an isolated door sees nothing but itself (decision B6).
/// @param backend "bwrap", "host", "image", …; unknown names enforce nothing
bool enforces_projection(std::string_view backend);

/// Why a run must be refused before any model call: an isolated door on a
/// backend that cannot keep it. Used in advance (executor_info::refusal) and by
/// every call of the executor itself.
/// @param door_policy "trusted"; every other value counts as isolated
/// @return one sentence naming the backend and both ways out
std::optional<std::string> refuse_reason(std::string_view backend,
                                         std::string_view door_policy);

} // namespace bureau::sandbox
