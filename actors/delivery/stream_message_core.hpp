#pragma once

#include "messages/contracts/reply_parts.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// What the cores of a stream and its transport tell each other.
namespace bureau::delivery {

/// What a message says.
enum class content_kind : uint8_t { status, answer };

/// A text as it was sent; two alike need no second call.
struct shown_text {
  std::string text;
  bool markdown = false;
  content_kind kind = content_kind::status;
  friend bool operator==(const shown_text&, const shown_text&) = default;
};

/// A message of the run on the platform.
struct live_message {
  std::optional<std::string> ref;
  /// Unknown for the message of an earlier attempt.
  std::optional<shown_text> last;
  /// From here on its removal could cost the answer.
  bool answer_attempted = false;
  bool post_due = false;
  bool edit_due = false;
  /// Whether it may still be posted or edited.
  bool usable = true;

  void forget() {
    ref.reset();
    last.reset();
  }
};

inline bool is_status(const live_message& subject) {
  return subject.last && subject.last->kind == content_kind::status;
}

/// How a call of the transport ended.
enum class send_outcome : uint8_t {
  done,
  /// It shows that text already.
  not_modified,
  /// The message is gone; a new one is needed.
  recreate,
  /// Its markup was refused.
  reformat_plain,
  /// It may be tried again.
  retry,
  fatal,
};

/// The classified answer to a call.
struct call_outcome {
  send_outcome kind = send_outcome::done;
  /// A failed call certainly had no effect.
  bool not_delivered = false;
  std::optional<int64_t> retry_after_ms;
  /// Message that a post made; of an edit, the one that took its place.
  std::string ref;
  std::string detail;

  bool fine() const {
    return kind == send_outcome::done || kind == send_outcome::not_modified;
  }
};

/// What a stream asks of its transport.
enum class call_op : uint8_t { post, edit, remove, upload };

struct message_call {
  call_op op = call_op::post;
  /// Message to edit or remove.
  std::string ref;
  shown_text content;
  /// File to upload; the content is what is said about it.
  caf::optional<contracts::attachment_part> file;
  /// Head of the answer that a post continues.
  std::string continues;
};

/// Markup of the platform for a Markdown source; empty = the source itself.
using markup_renderer = std::function<std::string(std::string_view)>;

} // namespace bureau::delivery
