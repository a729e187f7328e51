#pragma once

#include "messages/interfaces/node.hpp"
#include "messages/interfaces/transport.hpp"

namespace bureau {

/// The NODE as `control` sees it: node_actor, and what only an operator may
/// ask.
using node_control_actor = caf::typed_actor<
  caf::replies_to<atom::health>::with<health_report>,
  caf::reacts_to<atom::degrade, degraded_part>,
  caf::reacts_to<atom::shutdown, std::string>,
  caf::replies_to<atom::status>::with<status_line>,
  // Never fails; a part that does not answer is listed with what is wrong.
  caf::replies_to<atom::describe>::with<node_report>,
  // As shutdown; running turns get so many milliseconds, and what is left of
  // them limits::shutdown_abort_reserve more. During a shutdown it may bring
  // the end forward, never push it back.
  caf::reacts_to<atom::shutdown, std::string, int64_t>>;

/// The OFFICE INSPECTOR actor interface: what the files of a conversation say.
using office_inspector_actor = caf::typed_actor<
  // A JSON object as text. Errors: bad_identity, not_found (no such office),
  // corrupt (the registry), disk, queue_full.
  caf::replies_to<atom::describe, office_address>::with<std::string>>;

/// The CONTROL actor interface: answers the operator of this machine (decision
/// S6). Knows no socket.
using control_actor = caf::typed_actor<
  // One JSON-RPC 2.0 request as a line without its newline; answers the line
  // of the response, or nothing for a notification. Fails only at its end.
  caf::replies_to<atom::call, std::string>::with<std::string>,
  caf::replies_to<atom::status>::with<status_line>>;

} // namespace bureau
