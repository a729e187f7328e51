#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bureau::web {

/// Target of a request line, taken apart.
struct request_target {
  /// Percent-decoded once; begins with '/'.
  std::string path;
  /// As sent, without the '?'.
  std::string query;
};

/// Parses the raw target of a request line. Needs no Host header: an absolute
/// form (http://host/path) is accepted. Nothing for malformed escapes, NUL,
/// backslash or control characters, and for targets over 8 KiB.
std::optional<request_target> parse_target(std::string_view raw);

/// A Host header taken apart: lower-case host without brackets, and port.
struct host_header {
  std::string host;
  /// 0 = not stated.
  int port = 0;
};

/// Nothing for an empty or malformed header.
std::optional<host_header> parse_host(std::string_view raw);

/// Whether `Authorization` carries this bearer token; the scheme in any case,
/// the time does not depend on where the two differ. An empty expected token
/// never matches.
bool bearer_matches(std::string_view authorization, std::string_view token);

} // namespace bureau::web
