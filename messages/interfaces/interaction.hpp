#pragma once

#include "messages/contracts/ask.hpp"
#include "messages/contracts/channel.hpp"
#include "messages/interfaces/common.hpp"
#include "messages/interfaces/transport.hpp"

#include <caf/optional.hpp>

namespace bureau {

/// What an agent wants to know from the user of a conversation.
struct ask_request {
  /// Contract id, `<platform>:<session key>`.
  std::string conversation_id;
  /// Message and questions; ids, instants and answers are given by the hub.
  contracts::ask_snapshot ask;
  /// 0, or more than limits::ask_timeout: that.
  int64_t timeout_ms = 0;
  friend bool operator==(const ask_request&, const ask_request&) = default;
};

BUREAU_INSPECT(ask_request, x.conversation_id, x.ask, x.timeout_ms);

/// An ask for the eyes of its user.
struct ask_presentation {
  std::string conversation_id;
  contracts::ask_snapshot ask;
  friend bool operator==(const ask_presentation&,
                         const ask_presentation&) = default;
};

BUREAU_INSPECT(ask_presentation, x.conversation_id, x.ask);

/// The open ask of a conversation, if there is one.
struct pending_ask {
  caf::optional<contracts::ask_snapshot> ask;
  friend bool operator==(const pending_ask&, const pending_ask&) = default;
};

BUREAU_INSPECT(pending_ask, x.ask);

/// What a tool tells the user about something that goes on.
struct status_post {
  std::string conversation_id;
  std::string text;
  /// Names the thing: a later post about it takes the place of an earlier one.
  std::string key;
  contracts::posted_state state = contracts::posted_state::working;
  friend bool operator==(const status_post&, const status_post&) = default;
};

BUREAU_INSPECT(status_post, x.conversation_id, x.text, x.key, x.state);

/// The INTERACTION SINK actor interface: a platform that can ask its users.
using interaction_sink_actor = caf::typed_actor<
  // Shows a new ask; answered when it is visible. Errors: not_ready.
  caf::replies_to<atom::present, ask_presentation>::with<caf::ok_atom>,
  // An ask that is shown has moved on, or was settled.
  caf::reacts_to<atom::replace, ask_presentation>,
  // Shows how something stands.
  caf::reacts_to<atom::notice, status_post>>;

/// The INTERACTION actor interface: the hub of asks (agent contracts, 3.11).
using interaction_actor = caf::typed_actor<
  // A platform can ask from now on, until its actor ends.
  caf::reacts_to<atom::attach, platform_id, interaction_sink_actor>,
  // Asks; answered when it is settled: answered, expired or cancelled. It is
  // cancelled as well when its sender ends. Errors: not_ready (nobody can be
  // asked there), conflict (an ask is open), transport (it could not be shown),
  // bad_request, queue_full, shutting_down.
  caf::replies_to<atom::ask, ask_request>::with<contracts::ask_snapshot>,
  // The open ask of a conversation.
  caf::replies_to<atom::read, std::string>::with<pending_ask>,
  // Answers of the user. A refusal is an answer.
  caf::replies_to<atom::submit, contracts::ask_submission>::with<
    contracts::ask_submission_result>,
  // Shows how something stands, where a platform can; answered when it was
  // handed on. Errors: not_ready (nobody shows it there), bad_request.
  caf::replies_to<atom::notice, status_post>::with<caf::ok_atom>,
  // Cancels the open ask of a conversation.
  caf::reacts_to<atom::cancel, std::string>,
  caf::replies_to<atom::status>::with<status_line>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_interaction, bureau::type_ids::interaction)
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::ask_request))
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::ask_presentation))
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::pending_ask))
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::status_post))
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::contracts::ask_snapshot))
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::contracts::ask_submission))
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::contracts::ask_submission_result))
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::interaction_sink_actor))
CAF_ADD_TYPE_ID(bureau_interaction, (bureau::interaction_actor))
CAF_END_TYPE_ID_BLOCK(bureau_interaction)
