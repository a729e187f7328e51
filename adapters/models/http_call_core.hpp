#pragma once

#include "adapters/models/sse_core.hpp"
#include "adapters/models/stream_core.hpp"
#include "messages/interfaces/http.hpp"

#include <memory>
#include <string>

namespace bureau::models {

/// Deadlines of a call; they belong to the caller of a transfer (decision S2).
enum class call_deadline : uint8_t {
  first_byte,
  /// No byte came.
  idle,
  /// Bytes came, but no event: comments and pings.
  silence,
  total
};

/// How many idle timeouts a call waits for an event while bytes come. Servers
/// send comments while a model thinks or waits for its turn, which may well
/// take longer than a network may be silent; a server that sends nothing else
/// has lost the answer.
inline constexpr int silence_factor = 4;

/// One model call over HTTP: what the transfer reports in, stream effects out.
/// Exactly one terminal effect, whatever comes in whichever order; nothing
/// after it.
class http_call_core {
public:
  explicit http_call_core(std::shared_ptr<model_stream> stream);

  /// @param now_ms wall clock, for a Retry-After that is a date
  void head(const http_head& head, int64_t now_ms, stream_effects& out);
  void chunk(const http_chunk& chunk, stream_effects& out);
  void done(const http_done& done, stream_effects& out);

  /// The client did not take the request: no transfer began.
  void refused(model_error_class error, const std::string& sentence,
               stream_effects& out);
  void expired(call_deadline which, int64_t waited_ms, stream_effects& out);
  void cancelled(stream_effects& out);

  bool ended() const { return stream_->ended(); }
  /// Grows with every event of the answer.
  uint64_t events_taken() const { return stream_->events_taken(); }

private:
  /// How the body is read.
  enum class body : uint8_t { unknown, events, error, other };

  void feed(std::string_view bytes, stream_effects& out);
  void keep(std::string_view bytes, stream_effects& out);
  void judge_body(stream_effects& out);
  void play(stream_effects& out);

  std::shared_ptr<model_stream> stream_;
  sse_decoder decoder_;
  std::vector<sse_event> pending_;
  http_head head_;
  int64_t head_ms_ = 0;
  std::string kept_;
  uint64_t next_seq_ = 0;
  body body_ = body::unknown;
};

} // namespace bureau::models
