#pragma once

#include "messages/interfaces/http.hpp"
#include "messages/interfaces/model.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// From what a provider or the network said to a typed failure (decision B28)
/// and one sentence for people.
namespace bureau::models {

/// A failure and its sentence. The sentence is one line, at most
/// limits::provider_error_chars UTF-16 units, without secrets.
struct call_failure {
  model_error error;
  std::string message;
};

/// Who is asked and what must not be repeated.
struct failure_context {
  std::string provider;
  /// Values that never appear in a sentence: the key, secret headers.
  std::vector<std::string> secrets;
};

/// The context of a request.
failure_context failure_context_of(const model_choice& choice);

/// An answer with a status other than 2xx.
/// @param body as much of it as was kept; may be cut
/// @param now_ms wall clock, for a Retry-After that is a date
call_failure http_failure(const failure_context& context, uint32_t status,
                          const std::vector<header_field>& headers,
                          std::string_view body, int64_t now_ms);

/// An error object that came inside a stream or a 200 answer: the value of an
/// `error` member, or a whole error event.
call_failure stream_failure(const failure_context& context,
                            const boost::json::value& error);

/// A transfer that ended badly.
/// @param http_status of the answer, 0 when none had come
call_failure transport_failure(const failure_context& context, http_error error,
                               const std::string& detail, uint32_t http_status);

/// A stream that ended before the event that closes it.
call_failure truncated_failure(const failure_context& context);

/// Bytes that are no event stream of this api.
call_failure protocol_failure(const failure_context& context,
                              std::string_view what);

/// An answer that breaks a bound of ours. It would break it again, so it is not
/// worth another attempt.
/// @param what "the answer is longer than …"
call_failure bound_failure(const failure_context& context,
                           std::string_view what);

/// A deadline of ours. `what`: "the first byte", "more of the answer"
call_failure deadline_failure(const failure_context& context,
                              std::string_view what, int64_t waited_ms);

/// A call that took too long although its connection lived. Another attempt
/// would cost as much time, so the person decides.
/// @param what it had not sent: "a word of the answer", "the end of the answer"
call_failure patience_failure(const failure_context& context,
                              std::string_view what, int64_t waited_ms);

/// The end on request of the caller.
call_failure aborted_failure();

/// Code of a failure of this side: its sentence is ours and may be shown as it
/// is. No provider can state it (`not_sent_code` of actors/harness).
inline constexpr std::string_view not_sent_code = "not_sent";

/// A request that cannot be made.
/// @param sentence what is wrong and what to do, for the person who asked
call_failure local_failure(model_error_class error, std::string sentence);

/// What the log says about a failed call: provider, model, class, status and
/// the first words of the sentence. Empty for a call that went well or was
/// cancelled.
std::string failure_line(std::string_view provider, std::string_view model,
                         const stream_end& end);

/// Replaces every secret by [redacted]; short ones only where they stand alone.
std::string redacted(std::string text, const std::vector<std::string>& secrets);

} // namespace bureau::models
