#pragma once

#include "messages/ports/entropy.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Bearer tokens of HTTP listeners (agent contracts, 3.14).
namespace bureau::contracts {

/// A new token: 32 random bytes as 64 lower-case hexadecimal digits.
std::string generate_bearer_token(entropy& source);

/// Compares byte by byte; equal lengths take the same time whatever differs.
bool bearer_tokens_equal(std::string_view left, std::string_view right);

/// Token of an Authorization header: `bearer` in any case, one space, the rest
/// without white space around it. Nothing when that is empty or there is none.
std::optional<std::string>
read_authorization_bearer(std::optional<std::string_view> value);

/// Whether a header carries a credential; names are compared without case.
bool is_credential_header(std::string_view name);

/// The headers that may be handed on: all but those with credentials.
boost::json::object
sanitize_inbound_http_headers(const boost::json::object& headers);

} // namespace bureau::contracts
