#pragma once

#include "messages/errc.hpp"
#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/session.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bureau::test {

/// What a memory store does with a request.
enum class store_mood : uint8_t {
  works,
  /// Never answers.
  silent,
  /// Ends without an answer.
  dies,
};

/// A session file in memory, shared by the store twin and the test. The test
/// may change any member between two steps of its story.
struct memory_session {
  std::string session_id = "session-1";
  /// Key of the session; a thread has a file of its own.
  std::string session_key = "C1";
  /// Messages that were there before the story began.
  std::vector<transcript_message> history;
  /// Everything appended, in order; an append that failed left nothing.
  std::vector<session_entry> entries;
  /// Entry (from 1) → the one it hangs under when that is not the one before
  /// it; 0: it is a root.
  std::map<size_t, size_t> parents;
  /// Where the next entry hangs when that is not the last one; 0: a new root.
  std::optional<size_t> leaf;
  /// Number of entries of each successful append.
  std::vector<size_t> appends;
  /// Triggering message of every open.
  std::vector<std::string> opens;
  /// Reach of the history that the last open asked for.
  history_window reach;
  /// Appends asked for so far, failed ones included.
  size_t asked = 0;
  /// Append number (from 0) → how it fails.
  std::map<size_t, errc> failing;
  /// Append number (from 0) → what the store does instead of answering.
  std::map<size_t, store_mood> moods;
  /// Open fails with this code.
  std::optional<errc> open_failure;
  store_mood open_mood = store_mood::works;
  /// Branch fails with this code and moves nothing.
  std::optional<errc> branch_failure;
  /// Virtual time an append takes.
  std::chrono::milliseconds append_delay{0};
  bool is_open = false;
  /// There is a file: it was opened, registered or reset.
  bool is_there = false;
  /// Entries of sessions that a reset replaced.
  std::vector<std::vector<session_entry>> replaced;

  /// Number of the current leaf; 0 before the first entry.
  size_t current_leaf() const;
  /// Entries from a root to the current leaf.
  std::vector<size_t> path() const;
  /// The messages the model would see: history and the messages of the path,
  /// unless that begins at a new root.
  std::vector<transcript_message> messages() const;
  /// Roles of the appended messages: "user assistant toolResult …".
  std::string roles() const;
  /// Facts about one message, as the real store reads them from its file.
  cause_report facts(const std::string& message_id) const;
};

/// The store of one session file, kept in memory.
session_store_actor memory_store(caf::actor_system& system,
                                 std::shared_ptr<memory_session> session);

/// A factory whose stores live in one map, by "<office key>#<session key>".
class memory_stores {
public:
  memory_stores();
  session_store_factory factory() const;
  /// The session of a key; made when it is first asked for.
  std::shared_ptr<memory_session> session(const std::string& office_key,
                                          const std::string& session_key) const;

private:
  using table = std::map<std::string, std::shared_ptr<memory_session>>;
  std::shared_ptr<table> sessions_;
};

} // namespace bureau::test
