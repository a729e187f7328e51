#pragma once

#include "messages/interfaces/factories.hpp"

namespace bureau::console {

/// Takes what runs tell while they are under way; `what` names the
/// conversation, the message and the run. A console that prints frames is one.
using frame_sink_actor = caf::typed_actor<
  caf::reacts_to<atom::status, outbound>,
  caf::reacts_to<atom::append, outbound>,
  caf::reacts_to<atom::replace, outbound>,
  // Something happened besides the text.
  caf::reacts_to<atom::event, outbound, contracts::stream_event>>;

/// Responders that tell a console all that they are told, before they do their
/// work. For a node whose console prints frames; other platforms get the inner
/// responders unchanged.
responder_factory make_frame_responders(responder_factory inner);

} // namespace bureau::console
