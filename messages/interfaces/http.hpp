#pragma once

#include "messages/interfaces/common.hpp"
#include "messages/limits.hpp"
#include "messages/model/model_descriptor.hpp"

namespace bureau {

/// Outcome of a transfer.
enum class http_error : uint8_t {
  none,
  cancelled,
  resolve,
  connect,
  tls,
  timeout,
  reset,
  truncated,
  protocol,
  too_large,
  local,
  shutting_down,
};

std::string to_string(http_error error);

/// One part of a multipart/form-data body.
struct http_part {
  std::string name;
  std::string filename;
  std::string content_type;
  std::string bytes;
  friend bool operator==(const http_part&, const http_part&) = default;
};

BUREAU_INSPECT(http_part, x.name, x.filename, x.content_type, x.bytes);

/// An outbound request (decision S2). Secret header values never print.
struct http_request {
  /// Chosen by the caller: its actor id << 32 | a counter of its own.
  uint64_t id = 0;
  std::string method = "GET";
  std::string url;
  std::vector<header_field> headers;
  std::string body;
  /// Not empty: multipart/form-data instead of `body`.
  std::vector<http_part> parts;
  uint32_t connect_timeout_ms = 10'000;
  /// Longest body; 0 = unlimited for streams, limits::http_fetch_bytes for
  /// fetch.
  uint64_t max_bytes = 0;
  uint32_t redirects = 0;
  /// Who asks, for status and metrics: "model", "telegram", …
  std::string reason;
  friend bool operator==(const http_request&, const http_request&) = default;
};

BUREAU_INSPECT(http_request, x.id, x.method, x.url, x.headers, x.body, x.parts,
               x.connect_timeout_ms, x.max_bytes, x.redirects, x.reason);

/// Status line and headers of a response.
struct http_head {
  uint64_t id = 0;
  uint32_t status = 0;
  std::vector<header_field> headers;
  std::string http_version;
  friend bool operator==(const http_head&, const http_head&) = default;
};

BUREAU_INSPECT(http_head, x.id, x.status, x.headers, x.http_version);

/// A piece of a body, at most limits::stream_chunk_bytes.
struct http_chunk {
  uint64_t id = 0;
  uint64_t seq = 0;
  std::string bytes;
  friend bool operator==(const http_chunk&, const http_chunk&) = default;
};

BUREAU_INSPECT(http_chunk, x.id, x.seq, x.bytes);

/// The end of a transfer; exactly one per accepted start.
struct http_done {
  uint64_t id = 0;
  http_error error = http_error::none;
  /// One line for a log; contains no header value and no body.
  std::string detail;
  uint64_t bytes_in = 0;
  uint32_t ms_total = 0;
  uint32_t ms_first_byte = 0;
  friend bool operator==(const http_done&, const http_done&) = default;
};

BUREAU_INSPECT(http_done, x.id, x.error, x.detail, x.bytes_in, x.ms_total,
               x.ms_first_byte);

/// Bytes of a stream that the sink has used up.
struct http_ack {
  uint64_t id = 0;
  uint64_t bytes = 0;
  friend bool operator==(const http_ack&, const http_ack&) = default;
};

BUREAU_INSPECT(http_ack, x.id, x.bytes);

/// Stops a transfer. Idempotent; an unknown id is ignored. Send it urgently.
struct http_cancel {
  uint64_t id = 0;
  friend bool operator==(const http_cancel&, const http_cancel&) = default;
};

BUREAU_INSPECT(http_cancel, x.id);

/// A whole response.
struct http_response {
  uint32_t status = 0;
  std::vector<header_field> headers;
  std::string body;
  friend bool operator==(const http_response&, const http_response&) = default;
};

BUREAU_INSPECT(http_response, x.status, x.headers, x.body);

/// First value of a header, names compared without case; empty when absent.
std::string header_value(const std::vector<header_field>& headers,
                         const std::string& name);

/// The HTTP SINK actor interface: who receives a stream.
using http_sink_actor = caf::typed_actor<
  // Once per attempt, before the first chunk.
  caf::reacts_to<atom::h_head, http_head>,
  // seq counts from 0 without gaps; acknowledge after use.
  caf::reacts_to<atom::h_chunk, http_chunk>,
  // Exactly once.
  caf::reacts_to<atom::h_done, http_done>>;

/// The HTTP CLIENT actor interface; one per process, in front of one loop.
using http_client_actor = caf::typed_actor<
  // Starts a stream. Errors (then no h_done follows): queue_full,
  // shutting_down, bad_request.
  caf::replies_to<atom::start, http_request,
                  http_sink_actor>::with<caf::ok_atom>,
  caf::reacts_to<atom::ack, http_ack>,
  caf::reacts_to<atom::cancel, http_cancel>,
  // The whole response whatever its status. Errors: too_large, timeout,
  // transport (detail in the sentence), queue_full, shutting_down, bad_request.
  caf::replies_to<atom::fetch, http_request>::with<http_response>,
  caf::replies_to<atom::status>::with<status_line>,
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_http, bureau::type_ids::http)
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_request))
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_head))
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_chunk))
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_done))
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_ack))
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_cancel))
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_response))
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_sink_actor))
CAF_ADD_TYPE_ID(bureau_http, (bureau::http_client_actor))
CAF_END_TYPE_ID_BLOCK(bureau_http)
