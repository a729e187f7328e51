#pragma once

#include "messages/interfaces/events.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The record of what fired, `<state-dir>/events.jsonl` (decisions A12, B34):
/// lines out, lines in, and what they say together. Pure.
namespace bureau::events {

/// A file at one moment of its life.
struct generation {
  int64_t modified_ms = 0;
  uint64_t size = 0;
  /// Hex; empty: the content is not known.
  std::string sha256;
  friend bool operator==(const generation&, const generation&) = default;
};

/// What a line of the record tells.
enum class log_step : uint8_t {
  /// Who wrote a generation of a file.
  written,
  /// An occurrence is about to be given to its office.
  claimed,
  /// Its turn is in the ledger.
  delivered,
  /// It was refused and will be tried again.
  refused,
  /// It will not fire.
  missed,
  /// Its turn is over.
  ended,
};

/// One line.
struct log_line {
  log_step step = log_step::claimed;
  int64_t at_ms = 0;
  std::string file;
  // -- written ----------------------------------------------------------------
  generation content;
  event_author author = event_author::agent;
  // -- all others -------------------------------------------------------------
  std::string occurrence;
  // -- claimed ----------------------------------------------------------------
  /// Counts the occurrences of a file, from 1.
  int64_t sequence = 0;
  /// Occurrences before it that did not fire.
  int64_t skipped = 0;
  /// Its run may make schedules.
  bool may_schedule = false;
  /// Where its turn goes.
  office_address conversation;
  // -- refused, missed, ended -------------------------------------------------
  std::string why;
  // -- ended ------------------------------------------------------------------
  std::string run;
  std::string text;
  /// There was more of it.
  bool text_cut = false;
  friend bool operator==(const log_line&, const log_line&) = default;
};

/// A line with its newline.
std::string print_log_line(const log_line& line);

/// Nothing for a line that is none of ours.
std::optional<log_line> parse_log_line(std::string_view text);

/// What is known of one occurrence.
struct run_record {
  std::string occurrence;
  int64_t sequence = 1;
  int64_t skipped = 0;
  bool may_schedule = false;
  office_address conversation;
  /// claimed, delivered, missed or ended.
  log_step step = log_step::claimed;
  int64_t claimed_ms = 0;
  int64_t delivered_ms = 0;
  int64_t ended_ms = 0;
  bool refused = false;
  std::string why;
  std::string run;
  std::string text;
  bool text_cut = false;
  friend bool operator==(const run_record&, const run_record&) = default;

  /// It was claimed and has neither reached its office nor been given up.
  bool is_open() const { return step == log_step::claimed; }
};

/// Ledger id of an occurrence, `event:<name>@<occurrence>`.
std::string occurrence_id(std::string_view file, std::string_view occurrence);

/// The instant of an occurrence of a schedule; of an immediate event that of
/// its file.
int64_t occurrence_ms(std::string_view occurrence);

/// All that the lines say, by file.
class run_table {
public:
  void apply(const log_line& line);

  /// Runs of a file, the oldest first; null: there were none.
  const std::deque<run_record>* runs_of(const std::string& file) const;
  const run_record* find(const std::string& file,
                         std::string_view occurrence) const;
  const run_record* find_id(std::string_view occurrence_id) const;
  const run_record* last(const std::string& file) const;
  int64_t next_sequence(const std::string& file) const;

  /// Who wrote this content of a file, if somebody said so.
  std::optional<event_author> author_of(const std::string& file,
                                        const generation& content) const;

  /// Files with runs.
  std::vector<std::string> files() const;
  /// Occurrences whose turn is on its way, as (file, occurrence).
  std::vector<std::pair<std::string, std::string>> under_way() const;

  /// The lines that still matter: the author of each living file, every open
  /// claim, and the newest runs. The table forgets the others.
  /// @param living files that are there
  std::string compact(const std::set<std::string>& living, int64_t now_ms);

private:
  struct file_record {
    std::deque<run_record> runs;
    std::optional<log_line> written;
    int64_t last_sequence = 0;
  };

  run_record* find_run(const std::string& file, std::string_view occurrence);

  std::map<std::string, file_record> files_;
};

} // namespace bureau::events
