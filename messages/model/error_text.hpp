#pragma once

#include "messages/interfaces/model.hpp"

#include <string_view>

namespace bureau {

/// Which tokens of the text tables count.
enum class error_text_rule : uint8_t {
  /// Words only: the status of the answer is known from elsewhere, so numbers
  /// in the sentence are not status codes.
  words,
  /// Words and bare status numbers: nothing but the text is known, as for
  /// messages of older files and for scripted providers.
  words_and_numbers,
};

/// Class of a provider's error sentence (note on the harness, section 4.11,
/// as narrowed by decision B28): overflow is tested before quota, quota before
/// everything that may be retried. Apply it to the message field of a provider
/// error and to stored error messages, never to text of a user or a model.
/// @returns unknown when no table matches
model_error_class classify_error_text(std::string_view sentence,
                                      error_text_rule rule);

/// Class named by to_string(model_error_class); unknown for other text, none
/// for empty text.
model_error_class parse_error_class(std::string_view name);

/// Whether the same request may succeed a moment later.
bool is_retryable(model_error_class error);

} // namespace bureau
