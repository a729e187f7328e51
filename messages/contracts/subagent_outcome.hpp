#pragma once

#include "messages/contracts/preview.hpp"

#include <string>
#include <string_view>

/// What a subagent came back with, for the line below its name.
namespace bureau::contracts {

/// `Result: …` or `Reason: …`, redacted and short; empty when the content says
/// nothing but how it ended.
/// @param content what the launching call answered, as the model reads it
std::string format_subagent_outcome_activity_line(std::string_view content,
                                                  bool is_error,
                                                  const path_roots& roots);

} // namespace bureau::contracts
