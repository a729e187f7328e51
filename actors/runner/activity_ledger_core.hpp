#pragma once

#include "messages/contracts/preview.hpp"
#include "messages/contracts/stream_event.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>

/// The one message that tells what a run is doing (agent contracts, rules 36 to
/// 43).
namespace bureau::runner {

/// Lines of a ledger, and settled subagents that it remembers.
inline constexpr size_t ledger_lines = 512;
inline constexpr size_t ledger_settled = 512;

/// Whether an event tells of a message that reached the run while it worked.
bool is_steering(const contracts::stream_event& event);

/// Lines of tool calls, and a group for every subagent: its calls below it
/// while it works, one line of outcome afterwards.
class activity_ledger {
public:
  /// Directories that lines shorten from now on.
  void shorten(contracts::path_roots roots) { roots_ = std::move(roots); }

  bool empty() const { return entries_.empty(); }

  /// Adds a line of its own.
  void add_line(std::string text);

  /// A tool call began. False: it belongs to a subagent that has ended.
  bool tool_started(const contracts::stream_event& event);

  /// A tool call ended. False: it was no subagent, nothing changes.
  bool tool_completed(const contracts::stream_event& event);

  std::string text() const;

private:
  /// A line, and how often in a row it came.
  struct line {
    std::string text;
    size_t count = 1;
  };

  struct group {
    std::string id;
    /// For the outcome, redacted and short.
    std::string name;
    std::string header;
    size_t calls = 0;
    bool terminal = false;
    bool is_error = false;
    std::optional<int64_t> duration_us;
    std::string detail;
    std::deque<line> children;
  };

  using entry = std::variant<line, group>;

  static size_t rows_of(const entry& item);
  static std::string text_of(const line& item);
  static std::string header_of(const group& item);
  group* find(const std::string& id);
  group& ensure(const std::string& id, const std::string& name);
  void settle(group& item, const contracts::stream_event& event);
  void remember_settled(const std::string& id);
  void bound();

  contracts::path_roots roots_;
  std::deque<entry> entries_;
  std::unordered_set<std::string> settled_;
  /// Order of `settled_`, oldest first.
  std::deque<std::string> settled_order_;
};

} // namespace bureau::runner
