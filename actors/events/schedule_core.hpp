#pragma once

#include "actors/events/event_log_core.hpp"
#include "actors/events/event_text_core.hpp"
#include "messages/ports/time_zones.hpp"
#include "messages/schedule/cron.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// The life of event files, from their appearance to their turns (harness note,
/// 3.19; decision A12). Pure: files, record and turns are effects.
namespace bureau::events {

/// Now: on the wall clock, and on the clock that nobody sets.
struct instants {
  int64_t wall_ms = 0;
  int64_t clock_ms = 0;
};

/// What the shell has to do.
enum class schedule_step : uint8_t {
  /// Say what is behind the name: answer with looked().
  look,
  /// Read the file: answer with loaded().
  read,
  /// Put `line` into the record, synced: answer with recorded().
  record,
  /// Put `line` into the record; nobody waits.
  note,
  /// Give the turn to its office: answer with dispatched().
  dispatch,
  /// Wait for the end of the turn: answer with ended().
  follow,
  /// Remove the file if it is still the generation `content`: answer with
  /// removed().
  remove,
  /// Tell the log that nothing can be done with the file.
  warn,
};

struct schedule_effect {
  schedule_step what = schedule_step::look;
  std::string file;
  /// look, read: tells late answers of an earlier one.
  uint64_t number = 0;
  log_line line;
  generation content;
  // -- dispatch, follow -------------------------------------------------------
  std::string occurrence;
  event_target target;
  std::string text;
  std::string user;
  /// warn.
  std::string sentence;
  friend bool operator==(const schedule_effect&,
                         const schedule_effect&) = default;
};

using schedule_effects = std::vector<schedule_effect>;

/// What is behind a name.
struct file_look {
  enum class kind : uint8_t { absent, regular, other } what = kind::absent;
  int64_t modified_ms = 0;
  uint64_t size = 0;
  /// It could not be looked at.
  std::string fault;
};

/// What became of a turn.
enum class dispatch_outcome : uint8_t {
  /// It is in the ledger.
  taken,
  /// Try again later.
  again,
  /// It will never be taken.
  never,
};

/// What became of a removal.
enum class removal : uint8_t { gone, changed, failed };

/// What the schedules stand on.
struct schedule_rules {
  std::vector<platform_id> platforms;
  std::shared_ptr<const time_zones> zones;
  int64_t catch_up_ms = 0;
};

/// All event files of a workspace. Every member function is one event and
/// answers its effects. Owned by the events actor.
class schedule_core {
public:
  void begin(schedule_rules rules, run_table table);

  // -- files ------------------------------------------------------------------

  /// Something happened to a name.
  schedule_effects noticed(const std::string& file, instants now);
  /// The whole directory.
  schedule_effects listed(const std::vector<std::string>& files, instants now);
  schedule_effects looked(const std::string& file, uint64_t number,
                          const file_look& found, instants now);
  /// @param fault why there is no content; empty: there is
  schedule_effects loaded(const std::string& file, uint64_t number,
                          const std::string& content, const std::string& fault,
                          instants now);
  /// The store has written a file.
  schedule_effects written(const std::string& file, instants now);
  /// The store has removed a file: nothing of it fires any more.
  schedule_effects dropped(const std::string& file, instants now);
  schedule_effects removed(const std::string& file, removal how, instants now);

  // -- turns ------------------------------------------------------------------

  schedule_effects attached(platform_id platform, instants now);
  schedule_effects recorded(const std::string& file, bool worked, instants now);
  schedule_effects dispatched(const std::string& file, dispatch_outcome outcome,
                              const std::string& why, instants now);
  /// The turn of an occurrence is over.
  schedule_effects ended(const std::string& file, const std::string& occurrence,
                         const log_line& end, instants now);
  schedule_effects tick(instants now);
  /// Nothing is claimed or dispatched from now on.
  void stop() { stopping_ = true; }

  // -- what is known ----------------------------------------------------------

  /// Milliseconds until tick has something to do; nothing: only after another
  /// event.
  std::optional<int64_t> next_due(instants now) const;
  /// Files that are being read for the first time, or again.
  size_t loading() const;
  /// Files that are there and are left alone: there are too many.
  size_t ignored() const { return ignored_; }
  std::map<event_state, size_t> counts() const;
  bool knows(const std::string& file) const { return files_.contains(file); }
  std::optional<event_entry> entry(const std::string& file) const;
  std::vector<event_entry> entries() const;
  /// Where turns of a file go; nothing: nowhere.
  std::optional<event_target> target(const std::string& file) const;
  /// Names that the record must not forget.
  std::set<std::string> living() const;
  const run_table& runs() const { return table_; }
  run_table& runs() { return table_; }

private:
  enum class phase : uint8_t {
    /// Not read yet.
    fresh,
    scheduled,
    /// A line is on its way into the record.
    recording,
    dispatching,
    retrying,
    removing,
    /// It has fired and cannot be removed.
    done,
    faulty,
  };

  struct file_state {
    phase at = phase::fresh;
    /// It is looked at, or read.
    bool looking = false;
    uint64_t number = 0;
    /// When to look at it again, on the clock; nothing: there is no reason to.
    std::optional<int64_t> look_ms;
    int attempt = 0;
    int absences = 0;
    bool present = true;
    bool from_boot = false;
    /// The store removed it while it was busy.
    bool dropped = false;
    int64_t noticed_ms = 0;
    generation content;
    /// What was seen last and may still be unread.
    generation seen;
    std::optional<event_payload> payload;
    std::string fault;
    event_author author = event_author::agent;
    event_target target;
    cron_pattern pattern;
    std::shared_ptr<const zone_rules> zone;
    /// Wall instant; nothing: never again.
    std::optional<int64_t> due_ms;
    /// Of recording and retrying: when to try again, on the clock.
    std::optional<int64_t> retry_ms;
    int tries = 0;
    log_line line;
    /// The open occurrence.
    std::string occurrence;
    int64_t occurrence_ms = 0;
    int64_t skipped = 0;
    /// Occurrences that were given up for a newer one.
    int64_t carried = 0;
    bool refusal_noted = false;
    /// The office will never take it.
    std::string never;
  };

  static bool is_busy(const file_state& state);
  void look(const std::string& file, file_state& state, schedule_effects& out);
  void absent(const std::string& file, file_state& state, instants now,
              schedule_effects& out);
  void unreadable(const std::string& file, file_state& state,
                  const std::string& why, instants now, schedule_effects& out);
  void fail(const std::string& file, file_state& state, std::string why,
            schedule_effects& out);
  void accept(const std::string& file, file_state& state, event_payload payload,
              instants now, schedule_effects& out);
  void plan(const std::string& file, file_state& state, instants now,
            schedule_effects& out);
  void plan_single(const std::string& file, file_state& state,
                   std::string occurrence, int64_t due_ms, instants now,
                   schedule_effects& out);
  void plan_periodic(file_state& state, int64_t after_ms) const;
  void resume(file_state& state, const run_record& run, instants now) const;
  void fire(const std::string& file, file_state& state, instants now,
            schedule_effects& out);
  void claim(const std::string& file, file_state& state, instants now,
             schedule_effects& out);
  void give_up(const std::string& file, file_state& state, std::string why,
               instants now, schedule_effects& out);
  void record(const std::string& file, file_state& state, log_line line,
              schedule_effects& out);
  void dispatch(const std::string& file, file_state& state, instants now,
                schedule_effects& out);
  void retry(const std::string& file, file_state& state, instants now,
             schedule_effects& out);
  void settled(const std::string& file, file_state& state, instants now,
               schedule_effects& out);
  void free_to_look(file_state& state, instants now) const;
  bool is_attached(const file_state& state) const;
  event_entry entry_of(const std::string& file, const file_state& state) const;

  schedule_rules rules_;
  run_table table_;
  std::map<std::string, file_state> files_;
  std::set<platform_id> attached_;
  uint64_t last_number_ = 0;
  size_t ignored_ = 0;
  bool booted_ = false;
  bool stopping_ = false;
};

} // namespace bureau::events
