#pragma once

#include "messages/interfaces/office.hpp"

/// What passes only between `offices` and its offices.
namespace bureau::offices {

/// An office as its parent sees it.
using office_child_actor = office_actor::extend<
  // Goes to sleep: true when nothing is open and every session let go; the
  // office has ended then. False: it stays awake.
  caf::replies_to<atom::dispose>::with<bool>,
  // Lets the session of a key go if it is idle still.
  caf::reacts_to<atom::dispose, std::string>,
  // Answered when the ledger entry of a message is closed; see turn_desk_actor.
  caf::replies_to<atom::settled, entry_query>::with<entry_end>,
  caf::replies_to<atom::locate, session_query>::with<session_snapshot>,
  // The marks of its ledger; see office_services_actor.
  caf::replies_to<atom::exists, std::string>::with<bool>,
  caf::replies_to<atom::mark, std::string>::with<caf::ok_atom>>;

/// `offices` as its children see it.
using offices_parent_actor = office_services_actor::extend<
  // The number of open ledger entries of an office became or ceased to be zero.
  caf::reacts_to<atom::settled, office_address, uint64_t>,
  // A session of an office changed state, or ended: then it is absent.
  caf::reacts_to<atom::settled, office_address, session_snapshot>>;

} // namespace bureau::offices
