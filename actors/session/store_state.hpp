#pragma once

#include "actors/kit/promise_guard.hpp"
#include "actors/session/context_cache_core.hpp"
#include "actors/session/log_cursor_core.hpp"
#include "actors/session/log_scan_core.hpp"
#include "actors/session/session_store.hpp"
#include "actors/session/store_core.hpp"
#include "messages/codec/history.hpp"
#include "messages/codec/session_tree.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bureau::session {

/// The session store of one key.
///
///   (open, session_open)     → session_context   ⇒ open
///   (append, session_append) → ids               ⇒ append
///   (load)                   → session_context   ⇒ load
///   (branch, session_branch) → session_context   ⇒ branch
///   (exists)                 → bool              ⇒ exists
///   (ensure)                 → path              ⇒ ensure
///   (locate, message id)     → cause_report      ⇒ locate
///   (reset, session_open)    → session_context   ⇒ reset
///   (close)                  → ok                ⇒ close
///
/// A request is a chain of steps, each of which ends in a file or journal job
/// and goes on in a continuation. Requests never overlap: `run` starts the next
/// one when the one before has answered, so that a step may use the members
/// without asking who else does. Lives as long as its session; owned by it.
class session_store_state {
public:
  using pointer = session_store_actor::stateful_pointer<session_store_state>;

  static inline const char* name = "session_store";

  explicit session_store_state(pointer self) : self_(self) {}

  void init(store_services services, office place, std::string session_key,
            bool in_memory);
  session_store_actor::behavior_type make_behavior();

private:
  using failure = std::function<void(caf::error)>;
  using step = std::function<void()>;
  template <class T>
  using with = std::function<void(T)>;

  /// What a name in the sessions directory stands for.
  struct candidate {
    std::string name;
    file_kind kind = file_kind::absent;
    uint64_t size = 0;
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t links = 0;
    int64_t modified_ns = 0;
    std::string text;
  };

  /// Session that a thread branched from.
  struct lineage {
    std::string path;
    std::string id;
  };

  /// One reading of the chat log, from its end backwards.
  struct log_reading {
    log_scan scan;
    log_cursor reached;
    log_contents log;
  };

  // -- handlers (session_store.cpp) -------------------------------------------

  caf::result<session_context> open(const session_open& request);
  caf::result<std::vector<std::string>> append(const session_append& request);
  caf::result<session_context> load();
  caf::result<session_context> branch(const session_branch& request);
  caf::result<bool> exists();
  caf::result<std::string> ensure();
  caf::result<cause_report> locate(const std::string& message_id);
  caf::result<session_context> reset(const session_open& request);
  caf::result<caf::ok_atom> close();

  bool submit(step job);
  void finish();
  void pump();

  // -- opening (store_open.cpp) -----------------------------------------------

  /// Makes sure that the tree is open and says what the disk says.
  void ensure_open(const std::string& current, step next, failure fail);
  void open_found(candidate found, const std::string& current, step next,
                  failure fail);
  void open_in_memory(step next);
  /// @param mends ends the reset of a thread that a crash interrupted; who only
  ///        looks changes nothing
  void find_file(bool mends, with<candidate> next, failure fail);
  /// Begins a session from the chat log.
  /// @param found what is in the place of a thread's file: nothing, or a blank
  /// file
  void create(candidate found, const std::string& current, step next,
              failure fail);
  void create_with(session_header header, const candidate& place,
                   const std::string& current, step next, failure fail);
  /// Writes a file that is not there yet, or blank, and still as it was found.
  void write_new(const candidate& place, std::string bytes, step next,
                 failure fail);

  // -- threads (store_thread.cpp) ---------------------------------------------

  void look_for_session(with<bool> next, failure fail);
  void register_thread(with<std::string> next, failure fail);
  void make_thread_file(const candidate& place, step next, failure fail);
  /// A reset that a crash ended between its two renames goes on.
  void finish_reset(with<candidate> next, failure fail);
  void find_lineage(with<lineage> next, failure fail);
  void try_parents(std::vector<std::string> names, size_t position,
                   int64_t thread_ms, parent_candidate best, with<lineage> next,
                   failure fail);
  void current_as_parent(with<lineage> next, failure fail);

  // -- history (store_history.cpp) --------------------------------------------

  /// Brings what was logged since the last sync into the open session.
  void sync(const std::string& current, step next, failure fail);
  /// What an operation wants of the log.
  scan_wish wish(scan_wish::purpose why, const std::string& current) const;
  void read_log(scan_wish wish, with<const log_reading&> next, failure fail);
  void scan_log(scan_wish wish, const file_outcome& found,
                with<const log_reading&> next, failure fail);
  /// Goes on with what ends at an offset.
  void scan_before(std::shared_ptr<log_reading> reading, uint64_t end,
                   step next, failure fail);
  void sync_from_tail(const file_outcome& found, const std::string& current,
                      step next, failure fail);
  void sync_from_cursor(const file_outcome& found, const std::string& current,
                        step next, failure fail);
  /// Appends what the session misses; the cursor moves when it has it.
  void learn(log_contents log, log_cursor reached, const std::string& current,
             step next, failure fail);

  // -- starting afresh (store_reset.cpp) --------------------------------------

  void start_afresh(const session_open& request, step next, failure fail);
  void kept_lineage(const std::string& beginning, with<lineage> next,
                    failure fail);
  /// Writes the fresh session to where the old one is.
  void begin_reset_file(session_header header, const candidate& old,
                        const std::string& current, step next, failure fail);
  void replace_thread(const candidate& old, std::string bytes, step next,
                      failure fail);
  void free_archive_name(int64_t stamp_ms, with<std::string> next,
                         failure fail);

  // -- the disk (store_disk.cpp) ----------------------------------------------

  void stat_file(const std::string& file, with<candidate> next, failure fail);
  /// Fills in the text of a regular file.
  void read_text(candidate found, with<candidate> next, failure fail);
  void read_more(candidate found, with<candidate> next, failure fail);
  void read_header(const std::string& file, size_t bytes,
                   with<std::string> next, failure fail);
  void stat_log(with<file_outcome> next, failure fail);
  /// Reads bytes of the log from an offset on.
  void read_log_part(uint64_t offset, uint64_t length, with<std::string> next,
                     failure fail);
  /// @param offset what read_begin said
  log_contents parse_log(std::string_view part, uint64_t offset) const;
  void read_pointer(with<std::optional<std::string>> next, failure fail);
  void list_sessions(with<std::vector<std::string>> next, failure fail);
  /// Makes a directory of the office, and the office by the registry.
  void make_directory(const std::string& path, step next, failure fail);
  /// Moves away what stands in the place of the pointer and is no file.
  void clear_pointer(step next, failure fail);
  void write_file(const std::string& file, std::string bytes, step next,
                  failure fail);
  void rename_file(const std::string& file, const std::string& target,
                   step next, failure fail);
  void seal(const std::string& file, step next, failure fail);
  /// Fails with conflict when a name stands for something else by now.
  void check_unchanged(const candidate& was, step next, failure fail);
  /// Puts the tree with a plan in the place of its file.
  void rewrite(append_plan plan, uint64_t expected_size, step next,
               failure fail);
  /// Keeps what a rewrite is about to leave out.
  void set_torn_tail_aside(step next, failure fail);
  void append_entries(const std::vector<session_entry>& entries,
                      with<std::vector<std::string>> next, failure fail);
  void move_leaf(const session_branch& request, step next, failure fail);
  void write_plan(append_plan plan, with<std::vector<std::string>> next,
                  failure fail);
  void append_plan_bytes(append_plan plan, with<std::vector<std::string>> next,
                         failure fail);
  void handle_appended(append_plan plan, uint64_t offset,
                       with<std::vector<std::string>> next, failure fail);
  /// Reads the file again after a write whose fate is unknown.
  void verify(step next, failure fail);
  void remember_identity(step next, failure fail);
  /// Makes this store the one writer of a file; the claim before ends.
  void claim(const candidate& file, const std::string& session_id, step next,
             failure fail);
  void release();

  template <class Next>
  void file_request(file_job job, Next next, failure fail);

  // -- small things -----------------------------------------------------------

  file_job job(file_op op, const std::string& path) const;
  /// A path of the office as jobs name it.
  std::string below_root(const std::string& path) const;
  session_header new_header(lineage from) const;
  /// Where a new top-level session goes: its name has the time of its header.
  candidate main_place(const session_header& header) const;
  session_context context();
  history_scope scope(const std::string& current) const;
  history_clock clock() const;
  session_origin origin() const;
  std::string path_of(const std::string& file) const;
  caf::error foreign_change(const std::string& file,
                            const std::string& what) const;
  /// Opens a tree in place of whatever was open.
  void take(session_tree tree);
  void forget();
  void warn(const std::string& text) const;

  pointer self_;
  store_services services_;
  office place_;
  std::string label_;
  /// Suffix of the key; nothing at the top level.
  std::optional<std::string> suffix_;
  /// The session is nowhere but here.
  bool in_memory_ = false;
  /// The open session; nothing while closed.
  std::optional<session_tree> tree_;
  context_cache contexts_of_tree_;
  /// Where the log was read up to; nothing before the first sync of the tree.
  std::optional<log_cursor> cursor_;
  /// Text that began the thread, and whether all of the log was asked for it.
  std::string root_text_;
  bool root_sought_ = false;
  /// How much of the log enters, as the last open said.
  history_options reach_;
  /// Name of its file in the sessions directory, and what the file is.
  std::string file_;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  /// A write failed: the file may or may not hold what was written.
  bool doubtful_ = false;
  /// The writers know this store.
  bool claimed_ = false;
  std::deque<step> waiting_;
  bool running_ = false;
  bool pumping_ = false;
  kit::promise_guard<session_context> contexts_;
  kit::promise_guard<std::vector<std::string>> appends_;
  kit::promise_guard<cause_report> reports_;
  kit::promise_guard<bool> answers_;
  kit::promise_guard<std::string> paths_;
  kit::promise_guard<caf::ok_atom> closes_;
};

} // namespace bureau::session
