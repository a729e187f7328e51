#pragma once

#include "messages/contracts/parsed_object.hpp"
#include "messages/contracts/reply_parts.hpp"
#include "messages/contracts/stream_event.hpp"
#include "messages/inspect_support.hpp"
#include "messages/json_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/expected.hpp>
#include <caf/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A turn on a byte stream: one JSON object a line (agent contracts, 3.8).
namespace bureau::contracts {

namespace bj = boost::json;

/// Longest line that is written, its line end included.
inline constexpr size_t frame_line_bytes = 262'144;
/// Longest line that is read: earlier producers had no cap.
inline constexpr size_t frame_read_bytes = 8'388'608;

enum class frame_kind : uint8_t {
  status,
  append,
  replace,
  event,
  finish,
  error,
  /// A frame of a later version; consumers pass over it.
  unknown,
};

std::string to_string(frame_kind kind);

/// One frame. finish and error end a turn; a stream that ends without one is a
/// failed turn.
struct stream_frame {
  frame_kind kind = frame_kind::unknown;
  /// Text of a status or a replacement, a delta, the final text, the message of
  /// an error; absent in a finish without text.
  caf::optional<std::string> text;
  stream_event event;
  /// An open record: of a finish about its answer, else about the line.
  json_text metadata;
  /// Of finish: the parts of the answer.
  std::vector<reply_part> parts;
  /// Of error.
  caf::optional<std::string> code;
  caf::optional<bool> cancelled;
  friend bool operator==(const stream_frame&, const stream_frame&) = default;
};

BUREAU_INSPECT(stream_frame, x.kind, x.text, x.event, x.metadata, x.parts,
               x.code, x.cancelled);

/// The line of a frame: compact JSON and one line end. Nothing is left out and
/// nothing is cut.
std::string serialize_frame(const bj::object& frame);

/// Checks a line; what it holds is handed on unchanged, unknown kinds, types
/// and members included. The error is a bad_request.
caf::expected<parsed_object> parse_frame(std::string_view line);

/// The typed view of a frame that was parsed. Optional members of a wrong type
/// count as absent.
stream_frame read_frame(const bj::object& frame);

/// The frame as it goes over the wire.
bj::object to_json(const stream_frame& frame);

/// The lines of a frame, each at most frame_line_bytes long. An append is
/// divided without loss; other text that is too long is cut and marked; of an
/// answer with too many or too large parts, failures tell what is missing.
std::vector<std::string> frame_lines(const stream_frame& frame);

} // namespace bureau::contracts
