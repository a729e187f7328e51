#include "messages/interfaces/channel.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/interfaces/http.hpp"
#include "messages/interfaces/office.hpp"

#include <strings.h>

namespace bureau {

std::string to_string(http_error error) {
  switch (error) {
  case http_error::none:
    return "none";
  case http_error::cancelled:
    return "cancelled";
  case http_error::resolve:
    return "resolve";
  case http_error::connect:
    return "connect";
  case http_error::tls:
    return "tls";
  case http_error::timeout:
    return "timeout";
  case http_error::reset:
    return "reset";
  case http_error::truncated:
    return "truncated";
  case http_error::protocol:
    return "protocol";
  case http_error::too_large:
    return "too_large";
  case http_error::local:
    return "local";
  case http_error::shutting_down:
    return "shutting_down";
  }
  return "unknown";
}

std::string header_value(const std::vector<header_field>& headers,
                         const std::string& name) {
  for (const auto& field : headers)
    if (strcasecmp(field.name.c_str(), name.c_str()) == 0)
      return field.value;
  return {};
}

std::string to_string(model_error_class error) {
  switch (error) {
  case model_error_class::none:
    return "none";
  case model_error_class::auth:
    return "auth";
  case model_error_class::quota:
    return "quota";
  case model_error_class::rate_limit:
    return "rate_limit";
  case model_error_class::overloaded:
    return "overloaded";
  case model_error_class::overflow:
    return "overflow";
  case model_error_class::bad_request:
    return "bad_request";
  case model_error_class::not_found:
    return "not_found";
  case model_error_class::server:
    return "server";
  case model_error_class::network:
    return "network";
  case model_error_class::truncated:
    return "truncated";
  case model_error_class::protocol:
    return "protocol";
  case model_error_class::cancelled:
    return "cancelled";
  case model_error_class::unknown:
    return "unknown";
  }
  return "unknown";
}

std::string to_string(harness_event_kind kind) {
  switch (kind) {
  case harness_event_kind::agent_start:
    return "agent_start";
  case harness_event_kind::agent_end:
    return "agent_end";
  case harness_event_kind::turn_start:
    return "turn_start";
  case harness_event_kind::turn_end:
    return "turn_end";
  case harness_event_kind::message_start:
    return "message_start";
  case harness_event_kind::message_update:
    return "message_update";
  case harness_event_kind::message_end:
    return "message_end";
  case harness_event_kind::tool_start:
    return "tool_execution_start";
  case harness_event_kind::tool_end:
    return "tool_execution_end";
  case harness_event_kind::retry_start:
    return "auto_retry_start";
  case harness_event_kind::retry_end:
    return "auto_retry_end";
  case harness_event_kind::budget_exceeded:
    return "budget_exceeded";
  case harness_event_kind::input_applied:
    return "input_applied";
  }
  return "unknown";
}

std::string to_string(outbound_op op) {
  switch (op) {
  case outbound_op::post:
    return "post";
  case outbound_op::edit:
    return "edit";
  case outbound_op::remove:
    return "delete";
  case outbound_op::react:
    return "react";
  case outbound_op::typing:
    return "typing";
  case outbound_op::upload:
    return "upload";
  }
  return "unknown";
}

std::string to_string(outbound_class rank) {
  switch (rank) {
  case outbound_class::control:
    return "control";
  case outbound_class::final_answer:
    return "final";
  case outbound_class::diagnostic:
    return "diagnostic";
  case outbound_class::interim:
    return "interim";
  case outbound_class::cosmetic:
    return "cosmetic";
  }
  return "unknown";
}

std::string to_string(turn_origin origin) {
  switch (origin) {
  case turn_origin::user:
    return "user";
  case turn_origin::event:
    return "event";
  case turn_origin::action:
    return "action";
  }
  return "unknown";
}

std::string to_string(queue_mode mode) {
  switch (mode) {
  case queue_mode::follow_up:
    return "follow-up";
  case queue_mode::steer:
    return "steer";
  case queue_mode::collect:
    return "collect";
  case queue_mode::interrupt:
    return "interrupt";
  case queue_mode::reject:
    return "reject";
  }
  return "unknown";
}

std::string to_string(queue_overflow rule) {
  switch (rule) {
  case queue_overflow::refuse:
    return "refuse";
  case queue_overflow::collect:
    return "collect";
  }
  return "unknown";
}

std::string to_string(drain_phase phase) {
  switch (phase) {
  case drain_phase::hold:
    return "hold";
  case drain_phase::abort:
    return "abort";
  case drain_phase::close:
    return "close";
  }
  return "unknown";
}

std::string to_string(channel_event what) {
  switch (what) {
  case channel_event::failed:
    return "failed";
  case channel_event::degraded:
    return "degraded";
  case channel_event::recovered:
    return "recovered";
  case channel_event::summary_changed:
    return "summary_changed";
  }
  return "unknown";
}

std::string to_string(intake_outcome outcome) {
  switch (outcome) {
  case intake_outcome::taken:
    return "taken";
  case intake_outcome::duplicate:
    return "duplicate";
  case intake_outcome::logged:
    return "logged";
  case intake_outcome::stopped:
    return "stopped";
  }
  return "unknown";
}

std::string to_string(event_author author) {
  switch (author) {
  case event_author::agent:
    return "agent";
  case event_author::operators:
    return "operator";
  }
  return "unknown";
}

std::string to_string(event_state state) {
  switch (state) {
  case event_state::loading:
    return "loading";
  case event_state::scheduled:
    return "scheduled";
  case event_state::due:
    return "due";
  case event_state::retrying:
    return "retrying";
  case event_state::done:
    return "done";
  case event_state::faulty:
    return "faulty";
  }
  return "unknown";
}

} // namespace bureau
