#pragma once

#include "messages/atoms.hpp"
#include "messages/errc.hpp"
#include "messages/inspect_support.hpp"
#include "messages/type_id_bases.hpp"

#include <caf/fwd.hpp>
#include <caf/replies_to.hpp>
#include <caf/type_id.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bureau {

/// One line about an actor, for health, `status` and live inspection.
struct status_line {
  /// Instance label `role/key`.
  std::string label;
  /// A word: "ok", "idle", "busy", "degraded", "stopping".
  std::string state;
  /// Free text: counters by reason, queue depth.
  std::string detail;
  friend bool operator==(const status_line&, const status_line&) = default;
};

BUREAU_INSPECT(status_line, x.label, x.state, x.detail);

/// The STATUS protocol, mixed into every long-lived service.
using status_actor = caf::typed_actor<
  // One line about the service; never fails.
  caf::replies_to<atom::status>::with<status_line>>;

/// The SERVICE protocol: status plus an orderly end.
using service_actor =
  caf::typed_actor<caf::replies_to<atom::status>::with<status_line>,
                   // Refuses new work, ends what is running, answers when
                   // nothing is left.
                   caf::replies_to<atom::stop>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_common, bureau::type_ids::common)
CAF_ADD_TYPE_ID(bureau_common, (bureau::errc))
CAF_ADD_TYPE_ID(bureau_common, (bureau::status_line))
CAF_ADD_TYPE_ID(bureau_common, (bureau::status_actor))
CAF_ADD_TYPE_ID(bureau_common, (bureau::service_actor))
CAF_END_TYPE_ID_BLOCK(bureau_common)
