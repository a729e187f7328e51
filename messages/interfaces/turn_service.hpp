#pragma once

#include "messages/contracts/channel.hpp"
#include "messages/contracts/live_input.hpp"
#include "messages/contracts/turn.hpp"
#include "messages/interfaces/artifacts.hpp"
#include "messages/interfaces/common.hpp"
#include "messages/interfaces/harness.hpp"

namespace bureau {

/// What a turn service can do besides running turns (agent contracts, 2.1).
struct turn_capabilities {
  bool live_input = false;
  bool cancel = false;
  bool verbatim = false;
  bool artifacts = false;
  friend bool operator==(const turn_capabilities&,
                         const turn_capabilities&) = default;
};

BUREAU_INSPECT(turn_capabilities, x.live_input, x.cancel, x.verbatim,
               x.artifacts);

/// Ends turns of a conversation.
struct turn_cancel {
  /// Contract id: one session.
  std::string conversation_id;
  contracts::cancel_reason reason;
  /// What waits ends as well, not the running turn alone.
  bool all = false;
  friend bool operator==(const turn_cancel&, const turn_cancel&) = default;
};

BUREAU_INSPECT(turn_cancel, x.conversation_id, x.reason, x.all);

struct turn_cancelled {
  /// Messages that end by it.
  uint64_t turns = 0;
  /// Message whose turn was running; empty: none was.
  std::string message_id;
  friend bool operator==(const turn_cancelled&,
                         const turn_cancelled&) = default;
};

BUREAU_INSPECT(turn_cancelled, x.turns, x.message_id);

/// Names a follow-up that was taken.
struct live_input_query {
  std::string conversation_id;
  std::string id;
  friend bool operator==(const live_input_query&,
                         const live_input_query&) = default;
};

BUREAU_INSPECT(live_input_query, x.conversation_id, x.id);

/// Conversations that notifications can go to.
struct notify_destinations {
  std::vector<contracts::notify_destination> list;
  /// There are more.
  bool cut = false;
  friend bool operator==(const notify_destinations&,
                         const notify_destinations&) = default;
};

BUREAU_INSPECT(notify_destinations, x.list, x.cut);

/// The TURN SERVICE actor interface: our counterpart of AgentResponder
/// (decision A4), for whoever sits on no platform: operators, schedules,
/// other programs. What it takes is in the ledger first, as a message of a
/// platform is. Errors of all: bad_identity, disk, not_ready, queue_full,
/// shutting_down.
using turn_service_actor = caf::typed_actor<
  // What it can do.
  caf::replies_to<atom::config>::with<turn_capabilities>,
  // Runs a turn; answered when its answer is delivered, with its text and
  // parts, and the run in the metadata. The metadata of the request may hold
  // an `id`, which makes repetitions one turn. Errors: cancelled
  // (contracts::is_response_cancelled), conflict (it ended in another way; the
  // sentence names it), bad_request.
  caf::replies_to<atom::turn,
                  contracts::turn_request>::with<contracts::turn_response>,
  // Offers a follow-up to the running turn, answered at once. One that is
  // taken has its place in the queue already.
  caf::replies_to<atom::offer, contracts::live_input_request>::with<
    contracts::live_input_offer>,
  // How a follow-up that was taken settled; `requeue` means that its turn has
  // run or will. Error: not_found.
  caf::replies_to<atom::settled,
                  live_input_query>::with<contracts::live_input_settlement>,
  // Ends the running turn, or all turns. Idempotent.
  caf::replies_to<atom::cancel, turn_cancel>::with<turn_cancelled>,
  // Says something to a conversation: as a turn of its own, or as it stands
  // (rule 72). Never fails but by shutting_down.
  caf::replies_to<atom::deliver, contracts::notify_request>::with<
    contracts::notify_delivery_result>,
  // Where it may go.
  caf::replies_to<atom::list>::with<notify_destinations>,
  // A file of an answer: open, pull, close, as the artifacts have it.
  caf::replies_to<atom::open,
                  contracts::artifact_open_request>::with<artifact_opened>,
  caf::replies_to<atom::read, artifact_read>::with<artifact_slice>,
  caf::reacts_to<atom::close, std::string>,
  caf::replies_to<atom::status>::with<status_line>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_turns, bureau::type_ids::turns)
CAF_ADD_TYPE_ID(bureau_turns, (bureau::turn_capabilities))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::turn_cancel))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::turn_cancelled))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::live_input_query))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::notify_destinations))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::contracts::turn_request))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::contracts::turn_response))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::contracts::live_input_request))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::contracts::live_input_settlement))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::contracts::notify_request))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::contracts::notify_delivery_result))
CAF_ADD_TYPE_ID(bureau_turns, (bureau::turn_service_actor))
CAF_END_TYPE_ID_BLOCK(bureau_turns)
