#pragma once

#include "messages/codec/artifact_record.hpp"
#include "messages/contracts/reply_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// What is published, who may open it, and what is to go (decision A35): no
/// file, no clock, no actor. Instants are Unix milliseconds.
namespace bureau::artifacts {

/// A name for display: the last component, harmless in a line, never empty.
std::string display_name(std::string_view name);

/// A media type that is safe in a line; `application/octet-stream` for what is
/// none.
std::string media_type_of(std::string_view text);

/// Where the bytes of a digest are, below the directory of the artifacts.
std::string directory_of(std::string_view digest);
std::string path_of(std::string_view digest);

/// The part of an answer that names a file.
contracts::attachment_part part_of(const artifact_record& record);

class artifact_index {
public:
  /// Takes the file in. Lines that cannot be read stay in it.
  void load(std::string_view text);

  size_t size() const { return records_.size(); }
  /// Lines that could not be read.
  size_t unread() const { return unread_.size(); }

  void add(artifact_record record);
  void forget(const std::string& id);

  const artifact_record* find(std::string_view id) const;

  /// What answers a request to open; nothing: it may.
  std::optional<contracts::part_failure_code> refusal(
    const contracts::artifact_open_request& request, int64_t now_ms) const;

  /// Whether a file needs the bytes of a digest.
  bool needs(std::string_view digest) const;

  /// Files whose time is over, without those that somebody reads.
  struct expiry {
    std::vector<std::string> ids;
    /// Nobody else needs their bytes.
    std::vector<std::string> digests;
  };
  /// @param in_use digests that are being published or read
  expiry expired(int64_t now_ms, const std::set<std::string>& in_use) const;

  /// The whole file.
  /// @param more lines at its end
  std::string print(const std::vector<artifact_record>& more = {}) const;

  /// Tells how many lines the file has now.
  void written(size_t lines) { lines_ = lines; }

  /// Whether the file has so many lines of forgotten files that it should be
  /// written without being asked.
  bool should_rewrite() const;

private:
  std::map<std::string, artifact_record, std::less<>> records_;
  /// Users of a digest.
  std::map<std::string, size_t, std::less<>> digests_;
  std::vector<std::string> unread_;
  size_t lines_ = 0;
};

} // namespace bureau::artifacts
