#pragma once

#include "messages/errc.hpp"

#include <string>
#include <string_view>

namespace bureau::io {

/// The code for an errno of the file system; the one place that maps them.
errc code_for(int error);

/// What a person should read instead of the C library's text.
std::string reason_for(int error);

/// `cannot <doing> '<path>': <reason>; <advice>.` with code_for(error).
/// @param doing a verb phrase: "read", "rename"
/// @param error an errno, not 0
caf::error io_failure(int error, std::string_view doing, std::string_view path);

/// The same for an append of the journal: a path that cannot be journalled is
/// bad_request, everything else disk.
caf::error journal_failure(int error, std::string_view path);

} // namespace bureau::io
