#pragma once

#include "actors/kit/log.hpp"

namespace bureau::kit::log {

/// A sink that appends lines to a file, to be used behind another sink; empty
/// when the file cannot be opened.
line_sink file_sink(const std::string& path);

} // namespace bureau::kit::log
