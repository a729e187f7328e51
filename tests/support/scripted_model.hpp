#pragma once

#include "messages/interfaces/factories.hpp"
#include "messages/interfaces/model.hpp"
#include "messages/ports/wall_clock.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bureau::test {

/// One prepared answer of the scripted model. Streams its blocks as deltas of
/// 12 to 20 characters, then ends.
struct scripted_reply {
  /// Text, thinking and tool calls, in the order they are streamed.
  std::vector<content_block> content;
  /// Nothing: tool_use when there is a call, else stop.
  std::optional<stop_reason> stop;
  /// Not empty: the stream ends as an error after the content. Without content
  /// it then ends before it starts, like a request that was refused.
  std::string error_message;
  /// Class none beside an error message: the message is classified by the text
  /// tables, as for messages of older files.
  model_error failure;
  /// Characters of output after which the stream is cut (class truncated).
  std::optional<size_t> cut_after;
  /// Nothing: estimated from the request and the output.
  std::optional<usage> spent;
  /// After the content the stream stays open until it is cancelled.
  bool hangs = false;
  /// Not even the start of the stream comes.
  bool silent = false;
  /// Ignores cancel too, like a call whose peer is stuck.
  bool deaf = false;
  /// Virtual time before the first event and between deltas.
  std::chrono::milliseconds first_delay{0};
  std::chrono::milliseconds delta_delay{0};
};

/// Builders of replies.
scripted_reply says(std::string text);
/// A tool call; `arguments` is a JSON object. An empty id becomes call_<n>.
scripted_reply calls(std::string tool, std::string arguments,
                     std::string id = {});
content_block call_block(std::string tool, std::string arguments,
                         std::string id = {});
content_block thinking_block(std::string text, std::string signature = {});
/// An error known by its text only.
scripted_reply fails(std::string message);
scripted_reply fails(model_error_class error, std::string message,
                     uint32_t http_status = 0, int64_t retry_after_ms = 0);
scripted_reply hangs_after(std::string text);
scripted_reply cut_after(std::string text, size_t characters);

/// The provider `faux` with the model `faux-1` (note on the harness, section
/// 4.12): a queue of replies, one a call. An empty queue answers with an error.
/// Copies share one script. For the deterministic coordinator: it is not thread
/// safe.
class scripted_model {
public:
  using reply_maker = std::function<scripted_reply(const model_request&)>;

  /// @param clock stamps the messages; without one the stamps are 0
  explicit scripted_model(std::shared_ptr<wall_clock> clock = nullptr);

  /// Adds a reply to the end of the queue.
  scripted_model& push(scripted_reply reply);
  /// Adds a reply that is made when its request comes.
  scripted_model& push(reply_maker make);
  /// Answers every call that finds the queue empty.
  scripted_model& otherwise(reply_maker make);

  model_factory factory() const;

  /// The choice to run with: faux/faux-1, no key needed, no cost.
  static model_choice choice();

  /// Every request so far, in order of the calls.
  const std::vector<model_request>& requests() const;
  size_t call_count() const { return requests().size(); }
  /// Replies not used yet.
  size_t waiting() const;
  /// Calls that were started and have not sent their terminal event.
  size_t open_calls() const;
  /// Calls that were asked to cancel.
  size_t cancelled() const;

  struct script;

private:
  std::shared_ptr<script> script_;
};

} // namespace bureau::test
