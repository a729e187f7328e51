#pragma once

#include "messages/inspect_support.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/expected.hpp>
#include <caf/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Questions of an agent to the user, with options to choose from (agent
/// contracts, 2.5 and 3.11). Pure; waiting and expiry are the hub's.
namespace bureau::contracts {

namespace bj = boost::json;

/// Limits of an ask; lengths are UTF-16 code units.
inline constexpr size_t ask_max_questions = 5;
inline constexpr size_t ask_min_options = 2;
inline constexpr size_t ask_max_options = 3;
inline constexpr size_t ask_max_header = 12;
inline constexpr size_t ask_max_question = 1000;
inline constexpr size_t ask_max_label = 75;
inline constexpr size_t ask_max_description = 300;
inline constexpr size_t ask_max_message = 4096;
inline constexpr int64_t ask_max_timeout_ms = 600'000;
inline constexpr int64_t ask_max_long_poll_ms = 25'000;

struct ask_option {
  std::string id;
  std::string label;
  std::string description;
  friend bool operator==(const ask_option&, const ask_option&) = default;
};

BUREAU_INSPECT(ask_option, x.id, x.label, x.description);

struct ask_question {
  std::string id;
  std::string header;
  std::string question;
  std::vector<ask_option> options;
  bool multi_select = false;
  friend bool operator==(const ask_question&, const ask_question&) = default;
};

BUREAU_INSPECT(ask_question, x.id, x.header, x.question, x.options,
               x.multi_select);

struct ask_answer {
  std::string question_id;
  std::vector<std::string> selected_option_ids;
  caf::optional<std::string> custom_reply;
  friend bool operator==(const ask_answer&, const ask_answer&) = default;
};

BUREAU_INSPECT(ask_answer, x.question_id, x.selected_option_ids,
               x.custom_reply);

enum class ask_status : uint8_t { pending, answered, expired, cancelled };

std::string to_string(ask_status status);

/// An ask as it stands. Instants are ISO text.
struct ask_snapshot {
  std::string interaction_id;
  caf::optional<std::string> message;
  std::vector<ask_question> questions;
  /// In the order of the questions; fewer while some are open.
  std::vector<ask_answer> answers;
  ask_status status = ask_status::pending;
  std::string created_at;
  std::string expires_at;
  friend bool operator==(const ask_snapshot&, const ask_snapshot&) = default;
};

BUREAU_INSPECT(ask_snapshot, x.interaction_id, x.message, x.questions,
               x.answers, x.status, x.created_at, x.expires_at);

struct ask_submission {
  std::string conversation_id;
  std::string interaction_id;
  std::vector<ask_answer> answers;
  friend bool operator==(const ask_submission&,
                         const ask_submission&) = default;
};

BUREAU_INSPECT(ask_submission, x.conversation_id, x.interaction_id, x.answers);

/// Why answers were not taken.
enum class ask_refusal : uint8_t { not_found, stale, invalid_answer };

std::string to_string(ask_refusal refusal);

struct ask_submission_result {
  caf::optional<ask_refusal> refusal;
  /// The ask as it stands, unless there is none.
  caf::optional<ask_snapshot> snapshot;
  friend bool operator==(const ask_submission_result&,
                         const ask_submission_result&) = default;
};

BUREAU_INSPECT(ask_submission_result, x.refusal, x.snapshot);

/// Reads what an agent wants to ask: `{message?, questions: [{header, question,
/// options: [{label, description}], multiSelect?}]}`. Texts are trimmed; ids
/// are given in order: q0, q0o0. The error is a bad_request and names the
/// limit.
caf::expected<ask_snapshot> parse_ask(const bj::value& value);

/// Index of the first open question; their number when none is open.
size_t active_question(const ask_snapshot& ask);

/// Takes answers to the next open questions, all of them or none.
/// @returns whether they were valid; an invalid submission changes nothing
bool take_answers(ask_snapshot& ask, const std::vector<ask_answer>& answers);

bj::object to_json(const ask_snapshot& ask);

} // namespace bureau::contracts
