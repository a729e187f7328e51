#pragma once

#include "messages/json_text.hpp"
#include "messages/limits.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// Tool output cut to what a model is shown (note on the harness, section
/// 3.15, truncation algorithm).
namespace bureau::harness {

/// Which bound cut a text.
enum class cut_by : uint8_t { nothing, lines, bytes };

std::string to_string(cut_by reason);

/// Bounds of one cut.
struct cut_limits {
  size_t lines = limits::tool_output_lines;
  size_t bytes = limits::tool_output_bytes;
};

/// What a cut left, and what there was.
struct truncation {
  std::string content;
  cut_by truncated_by = cut_by::nothing;
  size_t total_lines = 0;
  size_t total_bytes = 0;
  size_t output_lines = 0;
  size_t output_bytes = 0;
  /// Tail: not even the last line fits; `content` is its end.
  bool last_line_partial = false;
  /// Tail: bytes of that last line. 0 otherwise.
  size_t last_line_bytes = 0;
  /// Head: the first line alone is above the byte bound; `content` is empty.
  bool first_line_exceeds_limit = false;
  bool truncated() const { return truncated_by != cut_by::nothing; }
};

/// Keeps complete lines from the top. A trailing newline counts as the start of
/// one more, empty line.
truncation truncate_head(std::string_view text, const cut_limits& bounds = {});

/// Keeps complete lines from the bottom; one trailing newline is ignored. If
/// the last line alone is too long, keeps its end from a character boundary on.
truncation truncate_tail(std::string_view text, const cut_limits& bounds = {});

/// The record as a JSON object for the details of a tool result; the content
/// itself is left out.
boost::json::object to_json(const truncation& record);

/// 900B · 12.5KB · 3.0MB
std::string size_text(size_t bytes);

} // namespace bureau::harness
