#pragma once

#include "messages/identity/office_address.hpp"
#include "messages/interfaces/harness.hpp"
#include "messages/interfaces/history_window.hpp"
#include "messages/limits.hpp"
#include "messages/model/model_descriptor.hpp"

namespace bureau {

/// What a message does while a turn of its session runs (decision A8).
enum class queue_mode : uint8_t {
  /// Waits for a turn of its own.
  follow_up,
  /// Plain text is offered to the running turn.
  steer,
  /// All plain text that waits becomes one turn.
  collect,
  /// The running turn ends without a word, the message is next.
  interrupt,
  /// It is refused.
  reject,
};

std::string to_string(queue_mode mode);

/// What happens to a message when the queue is full.
enum class queue_overflow : uint8_t { refuse, collect };

std::string to_string(queue_overflow rule);

/// A change of settings.json, as a merge patch: null removes a member.
struct settings_patch {
  /// Conversation whose file changes; one without an id means the global file.
  office_address conversation;
  json_text patch;
  friend bool operator==(const settings_patch&,
                         const settings_patch&) = default;
};

BUREAU_INSPECT(settings_patch, x.conversation, x.patch);

/// Settings that one run needs, layered and checked.
struct run_settings {
  model_choice choice;
  /// none | host | internet.
  std::string sandbox_network = "none";
  /// isolated | trusted.
  std::string door_policy = "isolated";
  /// conversation | shared-support | full; counts only behind a trusted door.
  std::string layout = "conversation";
  /// stream | final.
  std::string output_mode = "stream";
  uint32_t queue_cap = 20;
  queue_mode mode = queue_mode::follow_up;
  queue_overflow overflow = queue_overflow::refuse;
  /// Caps of an interactive run; 0 is no cap.
  run_budget budget;
  /// Caps of a scheduled run; 0 is the usual one of such runs.
  run_budget event_budget;
  history_window history;
  friend bool operator==(const run_settings&, const run_settings&) = default;
};

BUREAU_INSPECT(run_settings, x.choice, x.sandbox_network, x.door_policy,
               x.layout, x.output_mode, x.queue_cap, x.mode, x.overflow,
               x.budget, x.event_budget, x.history);

/// The SETTINGS actor interface: the one reader at run time of settings.json,
/// models.json and auth.json; a file that turns bad keeps its last good value.
using settings_actor = caf::typed_actor<
  // Settings of a run. Errors: bad_config (a conversation file is malformed, or
  // a named model is unknown), no_credential; the sentence is for the user.
  caf::replies_to<atom::resolve, office_address>::with<run_settings>,
  // Changes a file: read, merged, checked, written whole and in private. The
  // file stays as it is on an error: bad_config (it is malformed, or the result
  // would be), disk.
  caf::replies_to<atom::patch, settings_patch>::with<caf::ok_atom>,
  caf::replies_to<atom::status>::with<status_line>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_settings, bureau::type_ids::settings)
CAF_ADD_TYPE_ID(bureau_settings, (bureau::run_settings))
CAF_ADD_TYPE_ID(bureau_settings, (bureau::settings_patch))
CAF_ADD_TYPE_ID(bureau_settings, (bureau::settings_actor))
CAF_END_TYPE_ID_BLOCK(bureau_settings)
