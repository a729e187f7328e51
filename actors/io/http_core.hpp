#pragma once

#include "messages/interfaces/http.hpp"

#include <string>
#include <string_view>

namespace bureau::io {

/// Says what is wrong with a request; empty when it may be sent. Names fields,
/// never values.
std::string request_fault(const http_request& request);

/// `scheme://host[:port]` of a URL. Paths and queries may hold tokens, so this
/// is all of a URL that is ever shown.
std::string shown_origin(std::string_view url);

/// Whether the host of a URL is this machine itself.
bool is_loopback(std::string_view url);

/// The failure that a fetch answers when its transfer ended badly.
/// @param error not http_error::none
/// @param detail the detail of its http_done
caf::error fetch_failure(http_error error, const std::string& detail);

} // namespace bureau::io
