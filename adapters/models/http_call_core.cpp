#include "adapters/models/http_call_core.hpp"

#include "messages/codec/json_support.hpp"

#include <algorithm>
#include <utility>

namespace bureau::models {

namespace {

std::string lower(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Whether a 2xx answer is something else than the stream that was asked for.
/// Servers are lax about the type, so only what cannot be one counts.
bool is_no_stream(const std::vector<header_field>& headers) {
  auto type = lower(header_value(headers, "content-type"));
  return type.starts_with("application/json") || type.starts_with("text/html");
}

} // namespace

http_call_core::http_call_core(std::shared_ptr<model_stream> stream)
  : stream_(std::move(stream)) {
}

void http_call_core::head(const http_head& head, int64_t now_ms,
                          stream_effects& out) {
  // Interim answers carry nothing; a second head is not for us.
  if (ended() || head.status < 200 || body_ != body::unknown)
    return;
  head_ = head;
  head_ms_ = now_ms;
  if (head.status >= 300) {
    body_ = body::error;
  } else if (is_no_stream(head.headers)) {
    body_ = body::other;
  } else {
    body_ = body::events;
    stream_->accept(out);
  }
}

void http_call_core::chunk(const http_chunk& chunk, stream_effects& out) {
  if (ended())
    return;
  if (chunk.seq != next_seq_++ || body_ == body::unknown) {
    stream_->fail(
      protocol_failure(stream_->context(), "pieces of the answer are missing"),
      out);
    return;
  }
  if (body_ == body::events)
    feed(chunk.bytes, out);
  else
    keep(chunk.bytes, out);
}

void http_call_core::feed(std::string_view bytes, stream_effects& out) {
  auto fits = decoder_.feed(bytes, pending_);
  play(out);
  if (!fits)
    stream_->fail(bound_failure(stream_->context(),
                                "an event is longer than "
                                  + std::to_string(limits::sse_event_bytes)
                                  + " bytes"),
                  out);
}

void http_call_core::play(stream_effects& out) {
  for (const auto& event : pending_)
    stream_->feed(event, out);
  pending_.clear();
}

void http_call_core::keep(std::string_view bytes, stream_effects& out) {
  auto room = limits::model_error_body_bytes - kept_.size();
  kept_ += bytes.substr(0, std::min(bytes.size(), room));
  if (kept_.size() == limits::model_error_body_bytes)
    judge_body(out);
}

void http_call_core::judge_body(stream_effects& out) {
  const auto& context = stream_->context();
  if (body_ == body::error) {
    stream_->fail(
      http_failure(context, head_.status, head_.headers, kept_, head_ms_), out);
    return;
  }
  auto parsed = json::parse(kept_);
  auto error = parsed ? json::member(parsed.value, "error") : nullptr;
  if (error && !error->is_null())
    stream_->fail(stream_failure(context, *error), out);
  else
    stream_->fail(protocol_failure(
                    context, "it is no event stream but "
                               + header_value(head_.headers, "content-type")),
                  out);
}

void http_call_core::done(const http_done& done, stream_effects& out) {
  if (ended())
    return;
  if (body_ == body::error
      || (body_ == body::other && done.error == http_error::none)) {
    // The status says enough, also when the body was cut.
    judge_body(out);
    return;
  }
  if (done.error == http_error::none && body_ != body::unknown) {
    decoder_.finish(pending_);
    play(out);
    stream_->finish(out);
  } else if (stream_->is_complete()) {
    stream_->finish(out);
  } else if (done.error == http_error::none) {
    stream_->fail(transport_failure(stream_->context(), http_error::protocol,
                                    "there was no answer at all", 0),
                  out);
  } else {
    stream_->fail(transport_failure(stream_->context(), done.error, done.detail,
                                    head_.status),
                  out);
  }
}

void http_call_core::refused(model_error_class error,
                             const std::string& sentence, stream_effects& out) {
  stream_->fail(
    local_failure(error, redacted(sentence, stream_->context().secrets)), out);
}

void http_call_core::expired(call_deadline which, int64_t waited_ms,
                             stream_effects& out) {
  if (ended())
    return;
  if (body_ == body::error) {
    judge_body(out);
    return;
  }
  if (which != call_deadline::total && stream_->is_complete()) {
    stream_->finish(out);
    return;
  }
  const auto& context = stream_->context();
  switch (which) {
  case call_deadline::first_byte:
    stream_->fail(deadline_failure(context, "the first byte", waited_ms), out);
    break;
  case call_deadline::idle:
    stream_->fail(deadline_failure(context, "more of the answer", waited_ms),
                  out);
    break;
  case call_deadline::silence:
    stream_->fail(patience_failure(context, "more of the answer", waited_ms),
                  out);
    break;
  case call_deadline::total:
    stream_->fail(patience_failure(context, "the end of the answer", waited_ms),
                  out);
    break;
  }
}

void http_call_core::cancelled(stream_effects& out) {
  stream_->fail(aborted_failure(), out);
}

} // namespace bureau::models
