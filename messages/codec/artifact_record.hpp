#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The index of published files, `artifacts/index.jsonl` in the state
/// directory: one line per file (decision A35). Everything here is pure.
namespace bureau {

/// One published file.
struct artifact_record {
  /// 32 lower-case hexadecimal digits.
  std::string id;
  /// Conversation id of the agent contracts.
  std::string conversation_id;
  /// Empty: unknown.
  std::string run;
  std::string name;
  std::string media_type;
  int64_t size_bytes = 0;
  /// sha256: and 64 lower-case hexadecimal digits.
  std::string integrity_id;
  /// Unix milliseconds.
  int64_t expires_ms = 0;
  friend bool operator==(const artifact_record&,
                         const artifact_record&) = default;
};

/// Whether text is a hash as an integrity id names it.
bool is_integrity_id(std::string_view text);

/// The 64 digits of an integrity id.
/// @pre is_integrity_id(integrity_id)
std::string_view digest_of(std::string_view integrity_id);

/// The line, with its newline.
std::string print_artifact_line(const artifact_record& record);

/// Reads one line, without its newline; nothing when it is damaged or of
/// another version.
std::optional<artifact_record> parse_artifact_line(std::string_view line);

/// What an index holds.
struct artifact_contents {
  std::vector<artifact_record> records;
  /// Lines that could not be read, as they are, without newlines.
  std::vector<std::string> unread;
};

artifact_contents read_artifacts(std::string_view text);

} // namespace bureau
