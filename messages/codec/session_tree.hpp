#pragma once

#include "messages/codec/json_support.hpp"
#include "messages/codec/session_record.hpp"
#include "messages/errc.hpp"
#include "messages/ports/entropy.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bureau {

/// Why a session file cannot be opened, or an append is refused.
struct session_fault {
  /// corrupt for a file, bad_request for an append, none without a fault.
  errc code = errc::none;
  std::string what;
  /// Physical line of the file from 1; 0 when no line is to blame.
  size_t line = 0;
};

/// One sentence about a fault of a file.
std::string describe(const session_fault& fault, std::string_view path);

/// What the tree needs when it has to make a header or ids.
struct session_origin {
  entropy* chance = nullptr;
  int64_t now_ms = 0;
  /// Directory for a new header.
  std::string cwd;
};

/// Entries that are to be written: nothing happens before commit().
struct append_plan {
  std::vector<std::string> ids;
  /// Complete lines with their newlines.
  std::string bytes;
  session_fault fault;
};

/// A record of the file after the header.
struct session_node {
  /// The line, trimmed.
  std::string_view line;
  std::string_view id;
  /// Index of the parent, or session_tree::none.
  uint32_t parent = 0;
  record_type type = record_type::other;
  entry_role role = entry_role::none;
  /// Which of the two custom entries of ours it is.
  enum class mark : uint8_t { none, chat_sync, run_cause };
  mark custom = mark::none;
  /// Assistant message that an old writer made out of chat history.
  bool from_history = false;
};

/// The tree of one session file, pure: it never touches a disk. It keeps the
/// text of the file as it is and about 90 bytes per line beside it, and it
/// opens in linear time, so that a session of 100 000 entries stays usable.
class session_tree {
public:
  static constexpr uint32_t none = ~uint32_t{0};

  /// How to treat what should not be there.
  enum class mode : uint8_t {
    /// For writing: damage is a fault, a torn last line is set aside.
    strict,
    /// For reading only: what cannot be used is passed over.
    tolerant,
  };

  /// A tree, or the fault.
  struct opened;

  /// A new session that is not on disk yet.
  static session_tree create(session_header header);

  /// Reads a whole file. Blank text is a new session with a fresh id; versions
  /// 1 and 2 are migrated in memory.
  static opened open(std::string text, const session_origin& origin,
                     mode how = mode::strict);

  session_tree(session_tree&&) = default;
  session_tree& operator=(session_tree&&) = default;

  // -- facts ------------------------------------------------------------------

  const session_header& header() const { return header_; }
  const std::vector<session_node>& nodes() const { return nodes_; }
  /// Node with an id, or none.
  uint32_t find(std::string_view id) const;
  /// Id of the current leaf; empty before the first entry.
  std::string_view leaf() const;
  /// The header is in the file.
  bool on_disk() const { return on_disk_; }
  /// The next append has to write the whole file.
  bool needs_rewrite() const { return !on_disk_ || rewrite_; }
  /// Bytes that the file has.
  uint64_t disk_size() const { return disk_size_; }
  /// Text of a torn last line that was set aside; empty without one.
  const std::string& torn_tail() const { return torn_tail_; }
  /// Records that a tolerant reader passed over.
  size_t skipped() const { return skipped_; }

  // -- writing ----------------------------------------------------------------

  /// Lines for entries under the current leaf, each under the one before.
  append_plan plan_append(const std::vector<session_entry>& entries,
                          int64_t now_ms, entropy& chance) const;

  /// A line that moves the leaf.
  /// @param target id of an entry; empty: before the first one
  append_plan plan_leaf(std::string_view target, int64_t now_ms,
                        entropy& chance) const;

  /// The same, and under the new leaf an entry that sums up the branch which is
  /// left.
  /// @param summary members of the entry as a JSON object (summary, details);
  /// empty: no such entry
  append_plan plan_branch(std::string_view target, const json_text& summary,
                          int64_t now_ms, entropy& chance) const;

  /// Whether an id names an entry that others may hang under.
  bool can_be_leaf(std::string_view id) const;

  /// The whole file as it has to be before, or with, a plan.
  std::string rewritten(const append_plan& plan = {}) const;

  /// Takes a plan over after its bytes were appended to the file.
  void commit(const append_plan& plan);

  /// The same after rewritten(plan) replaced the file.
  void commit_rewritten(const append_plan& plan);

  /// Moves the leaf in memory alone, as after a write whose fate is unknown.
  /// Returns false when there is no such entry.
  bool select(std::string_view id);

  // -- reading ----------------------------------------------------------------

  /// Nodes from a root to a node, the current leaf by default.
  std::vector<uint32_t> branch() const;
  std::vector<uint32_t> branch(uint32_t from) const;

  /// What the model is to see at the current leaf; `path` stays empty.
  session_context context() const;

  /// Name that the last session_info in the file gives; empty without one.
  std::string name() const;

  /// Labels by target id.
  std::map<std::string, std::string> labels() const;

  /// What the file says about a message.
  cause_report cause_of(std::string_view message_id) const;

  /// Ids of messages whose run cause is followed by a user message, oldest
  /// first.
  /// @param limit newest ones to keep; 0: all
  std::vector<std::string> handled_messages(size_t limit) const;

  /// Calls `visit(node, data)` for the custom entries of a mark in file order.
  void visit_custom(
    session_node::mark which,
    const std::function<void(uint32_t, const json::bj::object&)>& visit) const;

  /// Calls `visit(node, text)` for the user and assistant messages of the file
  /// in file order; text is what text_of says.
  void visit_texts(
    const std::function<void(uint32_t, const std::string&)>& visit) const;

  /// Time that an entry carries; nothing when it cannot be read.
  std::optional<int64_t> time_of(uint32_t node) const;

private:
  class loader;

  /// Nodes by id, as numbers in an open table: a map would take ten times as
  /// much for the long sessions.
  class id_index {
  public:
    void reserve(size_t count, const std::vector<session_node>& nodes);
    uint32_t find(std::string_view id,
                  const std::vector<session_node>& nodes) const;
    /// @pre the id of the last node is in no other
    void add_last(const std::vector<session_node>& nodes);

  private:
    void put(uint32_t node, const std::vector<session_node>& nodes);
    size_t place_of(std::string_view id,
                    const std::vector<session_node>& nodes) const;

    /// A power of two; at most half of it is taken.
    std::vector<uint32_t> slots_;
  };

  session_tree() = default;

  uint32_t add(std::string_view line, const scanned_line& facts);
  std::string_view own(std::string_view text, std::string_view line);
  std::string fresh_id(entropy& chance,
                       const std::vector<std::string>& taken) const;
  bool is_ancestor(uint32_t ancestor, uint32_t node) const;
  void take_lines(const std::string& bytes);
  session_fault check_entry(const session_entry& entry,
                            const std::vector<std::string>& planned) const;

  session_header header_;
  std::string header_line_;
  /// The file as it was read; nodes point into it.
  std::unique_ptr<const std::string> base_;
  /// Lines that came later, and ids with escapes.
  std::deque<std::string> added_;
  std::vector<session_node> nodes_;
  id_index index_;
  uint32_t leaf_ = none;
  bool on_disk_ = false;
  bool rewrite_ = false;
  uint64_t disk_size_ = 0;
  std::string torn_tail_;
  size_t skipped_ = 0;
};

struct session_tree::opened {
  std::optional<session_tree> tree;
  session_fault fault;
  explicit operator bool() const { return tree.has_value(); }
};

} // namespace bureau
