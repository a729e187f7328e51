#pragma once

#include "messages/inspect_support.hpp"

#include <caf/optional.hpp>

#include <cstdint>
#include <string>

/// What a memory store takes and gives (agent contracts, 2.8 and 3.16).
namespace bureau::contracts {

/// Memory that primes a turn; always Markdown.
struct memory_block {
  std::string content;
  std::string source;
  bool truncated = false;
  friend bool operator==(const memory_block&, const memory_block&) = default;
};

BUREAU_INSPECT(memory_block, x.content, x.source, x.truncated);

/// Asks for memory. Without a query it is the coarse seed of the conversation;
/// the turn only prevents reading twice within it.
struct memory_query {
  std::string conversation_id;
  caf::optional<std::string> query;
  caf::optional<std::string> turn_id;
  friend bool operator==(const memory_query&, const memory_query&) = default;
};

BUREAU_INSPECT(memory_query, x.conversation_id, x.query, x.turn_id);

/// What was written.
struct memory_write_result {
  std::string conversation_id;
  std::string source;
  int64_t bytes_written = 0;
  friend bool operator==(const memory_write_result&,
                         const memory_write_result&) = default;
};

BUREAU_INSPECT(memory_write_result, x.conversation_id, x.source,
               x.bytes_written);

/// A turn to be remembered, known by its run.
struct memory_completed_turn {
  std::string run_id;
  std::string conversation_id;
  std::string summary;
  caf::optional<std::string> capture_text;
  friend bool operator==(const memory_completed_turn&,
                         const memory_completed_turn&) = default;
};

BUREAU_INSPECT(memory_completed_turn, x.run_id, x.conversation_id, x.summary,
               x.capture_text);

/// The turn is durable. Admitting a run twice is a success, told as such.
struct memory_admission {
  std::string id;
  std::string run_id;
  std::string conversation_id;
  std::string source;
  int64_t bytes_written = 0;
  bool duplicate = false;
  friend bool operator==(const memory_admission&,
                         const memory_admission&) = default;
};

BUREAU_INSPECT(memory_admission, x.id, x.run_id, x.conversation_id, x.source,
               x.bytes_written, x.duplicate);

} // namespace bureau::contracts
