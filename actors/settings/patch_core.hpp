#pragma once

#include "config/settings_file.hpp"
#include "messages/json_text.hpp"

#include <caf/expected.hpp>

#include <optional>
#include <string>
#include <string_view>

/// What a merge patch (RFC 7396) makes of a settings file.
namespace bureau::settings {

/// The new text of a file. Errors: bad_config, when the file is malformed or
/// the result would be, and the file is not to be touched; bad_request, when
/// the patch is no object.
/// @param current text of the file, nothing when there is none
/// @param path for the sentences
caf::expected<std::string> patched_text(std::optional<std::string_view> current,
                                        const json_text& patch,
                                        const std::string& path,
                                        config::settings_file_kind kind);

} // namespace bureau::settings
