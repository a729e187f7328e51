#pragma once

#include "adapters/models/error_core.hpp"
#include "adapters/models/sse_core.hpp"
#include "messages/interfaces/model.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bureau::models {

/// What a step of a stream causes: events for the sink, in order, and at most
/// once the terminal one.
struct stream_effects {
  std::vector<stream_event> events;
  std::optional<stream_end> end;
};

/// Events on their way to a sink. Pieces of one block that follow each other
/// become one, up to limits::stream_chunk_bytes.
class event_batch {
public:
  void add(stream_event event);
  std::vector<stream_event> take() { return std::exchange(events_, {}); }

private:
  std::vector<stream_event> events_;
};

/// The message of a running answer and the events that tell how it grows. What
/// is only needed while streaming (partial arguments) is kept beside the
/// message, never in it.
class answer_builder {
public:
  /// @param now_ms wall clock, stamps the message
  /// @param id_seed makes ids for calls whose provider gives none
  answer_builder(const model_request& request, int64_t now_ms,
                 std::string id_seed);

  /// Opens a block and says so; answers its index. Past
  /// limits::model_answer_blocks it reports a fault.
  size_t open(content_block block, stream_effects& out);

  /// Text, thinking or argument text that follows.
  void append(size_t index, std::string_view delta, stream_effects& out);

  /// Opaque text of the provider that belongs to a block; causes no event.
  void extend_signature(size_t index, std::string_view more);

  /// Closes a block once: later calls do nothing.
  void close(size_t index, stream_effects& out);
  void close_all(stream_effects& out);

  content_block& block(size_t index) { return message_.content[index]; }
  size_t block_count() const { return message_.content.size(); }
  bool has_calls() const;
  /// An id for a call without one, different from every other of the answer.
  std::string fresh_call_id();
  bool has_call_id(std::string_view id) const;

  /// Set when the answer breaks a bound; empty otherwise.
  const std::string& fault() const { return fault_; }

  transcript_message& message() { return message_; }
  usage& spent() { return message_.spent; }

  /// The final message after a good end.
  stream_end finished(stop_reason stop);
  /// The final message of a failure: what has arrived is kept.
  stream_end failed(const call_failure& failure);

  /// Keeps the beginning of an answer that broke a bound.
  void shorten();

private:
  struct scratch {
    std::string arguments;
    bool closed = false;
  };

  void count(size_t bytes);
  void settle_arguments(size_t index);

  transcript_message message_;
  std::vector<scratch> scratch_;
  std::vector<token_rates> rates_;
  std::string id_seed_;
  size_t ids_made_ = 0;
  size_t bytes_ = 0;
  std::string fault_;
};

/// The stream state machine of one api: server-sent events in, effects out.
/// Exactly one terminal effect; nothing after it.
class model_stream {
public:
  model_stream(const model_request& request, int64_t now_ms,
               std::string id_seed);
  model_stream(const model_stream&) = delete;
  model_stream& operator=(const model_stream&) = delete;
  virtual ~model_stream();

  /// The answer was accepted: emits `start`.
  void accept(stream_effects& out);

  void feed(const sse_event& event, stream_effects& out);

  /// No more events will come.
  void finish(stream_effects& out);

  /// Ends the stream; a failure of class cancelled ends it as aborted.
  void fail(const call_failure& failure, stream_effects& out);

  bool ended() const { return ended_; }
  /// How many events that matter have come.
  uint64_t events_taken() const { return events_taken_; }
  const failure_context& context() const { return context_; }

  /// Whether the answer is whole although the stream has not ended: what the
  /// transfer does from now on cannot spoil it.
  virtual bool is_complete() const = 0;

protected:
  /// Whether events of this name matter; others are not even parsed.
  virtual bool wants(std::string_view name) const;
  virtual void handle(std::string_view name, const boost::json::object& data,
                      stream_effects& out) = 0;
  /// The mark that ends some streams.
  virtual void handle_end_mark(stream_effects& out);
  /// Ends a complete answer.
  virtual void complete(stream_effects& out) = 0;

  void succeed(stop_reason stop, stream_effects& out);
  /// Ends the stream because the answer broke a bound.
  void fail_bound(std::string_view what, stream_effects& out);
  answer_builder& answer() { return answer_; }

private:
  answer_builder answer_;
  failure_context context_;
  uint64_t events_taken_ = 0;
  bool ended_ = false;
};

/// Token count of a member; nothing when it is absent or null.
std::optional<int64_t> token_member(const boost::json::object& object,
                                    std::string_view name);

} // namespace bureau::models
