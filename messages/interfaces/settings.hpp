#pragma once

#include "messages/identity/office_address.hpp"
#include "messages/interfaces/harness.hpp"
#include "messages/interfaces/history_window.hpp"
#include "messages/limits.hpp"
#include "messages/model/model_descriptor.hpp"

namespace bureau {

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
  /// Caps of an interactive run; 0 is no cap.
  run_budget budget;
  history_window history;
  friend bool operator==(const run_settings&, const run_settings&) = default;
};

BUREAU_INSPECT(run_settings, x.choice, x.sandbox_network, x.door_policy,
               x.layout, x.output_mode, x.queue_cap, x.budget, x.history);

/// The SETTINGS actor interface: the one reader at run time of settings.json,
/// models.json and auth.json; a file that turns bad keeps its last good value.
using settings_actor = caf::typed_actor<
  // Settings of a run. Errors: bad_config (a conversation file is malformed, or
  // a named model is unknown), no_credential; the sentence is for the user.
  caf::replies_to<atom::resolve, office_address>::with<run_settings>,
  caf::replies_to<atom::status>::with<status_line>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_settings, bureau::type_ids::settings)
CAF_ADD_TYPE_ID(bureau_settings, (bureau::run_settings))
CAF_ADD_TYPE_ID(bureau_settings, (bureau::settings_actor))
CAF_END_TYPE_ID_BLOCK(bureau_settings)
