#pragma once

#include "messages/errc.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/limits.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The platform-neutral part of the intake order (decision A2), pure.
namespace bureau::offices {

enum class intake_action : uint8_t {
  /// Malformed or foreign: never taken.
  refuse,
  duplicate,
  /// A magic word: act, then log.
  stop,
  /// To the chat log only.
  log_only,
  /// To the ledger and the chat log, then to its session.
  accept,
};

struct intake_verdict {
  intake_action action = intake_action::accept;
  std::string session_key;
  /// refuse: code and sentence.
  errc code = errc::none;
  std::string sentence;
};

/// What the settings `intake.*` say.
struct intake_bounds {
  /// Older messages are logged and cause nothing.
  std::chrono::milliseconds max_age = limits::intake_max_age;
  /// What is longer is cut.
  size_t text_bytes = limits::message_text_bytes;
};

/// Decides about one update of this office.
/// @param place the office; a request for another address is foreign
/// @param seen the message id was seen before
/// @param now_ms wall clock
intake_verdict judge_intake(const intake_request& request,
                            const office_address& place, bool seen,
                            int64_t now_ms, const intake_bounds& bounds = {});

/// Why a message cannot belong to this office, whatever it says; empty: it can.
/// What is refused so must leave no trace, not even the office.
std::string identity_fault(const intake_request& request,
                           const office_address& place);

/// Text of a message, well-formed and within the bounds.
std::string bounded_text(std::string_view text,
                         const intake_bounds& bounds = {});

/// Which session key a magic word stops: the message's own, else the bare one,
/// else, as far as the scope allows, the only one of this conversation. Empty:
/// no turn there.
/// @param current keys with a current turn (decision A5), each once
/// @param session_key key of the message
/// @param top_level the adapter named no thread
std::string stop_target(const std::vector<std::string>& current,
                        std::string_view session_key,
                        std::string_view conversation_id, bool top_level,
                        stop_scope scope);

/// Whether a message is the command that begins a new session: /new, /pi-new,
/// each perhaps with a mention and words after it.
bool is_reset_command(const conversation_event& event);

/// How the message id of a text begins that is to be said as it stands, without
/// a turn (agent contracts, rule 72).
inline constexpr std::string_view verbatim_id_head = "verbatim:";

bool is_verbatim(const conversation_event& event);

} // namespace bureau::offices
