#pragma once

#include "actors/kit/log.hpp"
#include "messages/errc.hpp"

#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/result.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <exception>

namespace bureau::kit {

/// Installs handlers under which no peer can end this actor by accident:
/// unknown messages, unwanted replies and errors are logged and survive, an
/// exit message ends it with its reason, an escaped exception ends it as
/// `internal`. Down messages are logged; a supervisor replaces that handler.
template <class Self>
void hardened(Self* self) {
  self->set_default_handler(
    [](caf::scheduled_actor* me,
       caf::message_view& view) -> caf::result<caf::message> {
      if (me->current_message_id().is_request())
        return caf::make_error(caf::sec::unexpected_message);
      log::debug(me->name(),
                 "ignored message "
                   + caf::to_string(view.move_content_to_message()));
      return caf::make_message();
    });
  self->set_error_handler([](caf::scheduled_actor* me, caf::error& err) {
    log::debug(me->name(), "ignored error: " + sentence_of(err));
  });
  self->set_exit_handler([](caf::scheduled_actor* me, caf::exit_msg& exit) {
    me->quit(std::move(exit.reason));
  });
  self->set_down_handler([](caf::scheduled_actor* me, caf::down_msg& down) {
    if (down.reason)
      log::debug(me->name(),
                 "a monitored actor ended: " + caf::to_string(down.reason));
  });
  self->set_exception_handler(
    [](caf::scheduled_actor* me, std::exception_ptr& pending) -> caf::error {
      std::string what = "unknown exception";
      try {
        std::rethrow_exception(pending);
      } catch (const std::exception& ex) {
        what = ex.what();
      } catch (...) {}
      log::error(me->name(), "ended by an exception: " + what);
      return make_failure(errc::internal, "internal error: " + what);
    });
}

} // namespace bureau::kit
