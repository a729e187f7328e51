#pragma once

#include "messages/contracts/cron_operator.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/interfaces/watch.hpp"
#include "messages/model/event_payload.hpp"

#include <string_view>

namespace bureau {

/// How the id of a scheduled turn begins.
inline constexpr std::string_view event_id_head = "event:";

/// Who wrote an event file.
enum class event_author : uint8_t {
  /// The agent's tool, or whoever put a file into the directory.
  agent,
  /// An operator of the host, or an extension of theirs.
  operators,
};

std::string to_string(event_author author);

/// A file to write.
struct event_write {
  std::string filename;
  event_payload payload;
  event_author author = event_author::agent;
  /// Office whose files it may replace; without an id: any.
  office_address office;
  /// There has to be one already.
  bool must_exist = false;
  /// Message that the writing run answers; empty: it is no run.
  std::string cause;
  friend bool operator==(const event_write&, const event_write&) = default;
};

BUREAU_INSPECT(event_write, x.filename, x.payload, x.author, x.office,
               x.must_exist, x.cause);

struct event_stored {
  std::string path;
  uint64_t size = 0;
  friend bool operator==(const event_stored&, const event_stored&) = default;
};

BUREAU_INSPECT(event_stored, x.path, x.size);

/// What an event file is waiting for.
enum class event_state : uint8_t {
  /// It is being read.
  loading,
  /// Its time will come.
  scheduled,
  /// It is due, and its turn is on its way.
  due,
  /// Its turn was refused and is tried again.
  retrying,
  /// Nothing: it has fired or was missed, and its file is being removed.
  done,
  /// Nothing can be done with it as it is.
  faulty,
};

std::string to_string(event_state state);

/// An event file as the node knows it.
struct event_entry {
  std::string filename;
  /// Nothing: it is no event file, and `fault` says why.
  caf::optional<event_payload> payload;
  /// Why nothing can be done with it; empty: something can.
  std::string fault;
  uint64_t size = 0;
  int64_t modified_ms = 0;
  event_author author = event_author::agent;
  event_state state = event_state::loading;
  /// Unix milliseconds; 0: never again.
  int64_t next_run_ms = 0;
  friend bool operator==(const event_entry&, const event_entry&) = default;
};

BUREAU_INSPECT(event_entry, x.filename, x.payload, x.fault, x.size,
               x.modified_ms, x.author, x.state, x.next_run_ms);

/// In the order of their names.
struct event_list {
  std::vector<event_entry> events;
  friend bool operator==(const event_list&, const event_list&) = default;
};

BUREAU_INSPECT(event_list, x.events);

/// Names a file, or all of them (list).
struct event_query {
  std::string filename;
  /// Office whose files are meant; without an id: those of all, and what
  /// cannot be read.
  office_address office;
  friend bool operator==(const event_query&, const event_query&) = default;
};

BUREAU_INSPECT(event_query, x.filename, x.office);

/// Names runs of a job: a page of them, or one.
struct event_run_query {
  /// File name without `.json`.
  std::string job_id;
  contracts::cron_runs_query page;
  /// Id of the run, for one of them.
  std::string run_id;
  friend bool operator==(const event_run_query&,
                         const event_run_query&) = default;
};

BUREAU_INSPECT(event_run_query, x.job_id, x.page, x.run_id);

/// The EVENT DESK actor interface: the offices as schedules see them.
using event_desk_actor = caf::typed_actor<
  caf::replies_to<atom::intake, intake_request>::with<intake_reply>,
  caf::replies_to<atom::settled, entry_query>::with<entry_end>,
  caf::replies_to<atom::locate, session_query>::with<session_snapshot>>;

/// The EVENTS actor interface: the schedules in `<workspace>/events`, their
/// store (core interface seed, section 11) and the read model of their runs
/// (agent contracts, 2.10). Errors: bad_request (file name, members),
/// not_found, denied (another office's, or an operator's), corrupt, disk,
/// queue_full, shutting_down.
using events_actor = caf::typed_actor<
  // -- the files --------------------------------------------------------------
  caf::replies_to<atom::write, event_write>::with<event_stored>,
  caf::replies_to<atom::list, event_query>::with<event_list>,
  caf::replies_to<atom::read, event_query>::with<event_entry>,
  // Whether there was one.
  caf::replies_to<atom::drop, event_query>::with<bool>,
  // -- jobs and runs ----------------------------------------------------------
  caf::replies_to<atom::describe>::with<contracts::cron_overview>,
  caf::replies_to<atom::list, event_run_query>::with<contracts::cron_run_page>,
  caf::replies_to<atom::read, event_run_query>::with<contracts::cron_run>,
  // -- life -------------------------------------------------------------------
  // Where turns go; nothing is read and nothing fires before.
  caf::reacts_to<atom::start, event_desk_actor>,
  // A platform takes turns.
  caf::reacts_to<atom::attach, platform_id>,
  caf::reacts_to<atom::changed, directory_change>,
  // Answers when nothing fires any more.
  caf::replies_to<atom::drain>::with<caf::ok_atom>,
  caf::replies_to<atom::status>::with<status_line>,
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_events, bureau::type_ids::events)
CAF_ADD_TYPE_ID(bureau_events, (bureau::event_write))
CAF_ADD_TYPE_ID(bureau_events, (bureau::event_stored))
CAF_ADD_TYPE_ID(bureau_events, (bureau::event_entry))
CAF_ADD_TYPE_ID(bureau_events, (bureau::event_list))
CAF_ADD_TYPE_ID(bureau_events, (bureau::event_query))
CAF_ADD_TYPE_ID(bureau_events, (bureau::event_run_query))
CAF_ADD_TYPE_ID(bureau_events, (bureau::contracts::cron_overview))
CAF_ADD_TYPE_ID(bureau_events, (bureau::contracts::cron_run_page))
CAF_ADD_TYPE_ID(bureau_events, (bureau::contracts::cron_run))
CAF_ADD_TYPE_ID(bureau_events, (bureau::event_desk_actor))
CAF_ADD_TYPE_ID(bureau_events, (bureau::events_actor))
CAF_END_TYPE_ID_BLOCK(bureau_events)
