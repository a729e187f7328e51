#pragma once

#include "adapters/models/stream_core.hpp"

#include <map>

namespace bureau::models {

/// Stream of chat completions (note on the harness, section 4.4): chunks until
/// [DONE], first choice only, one text and one thinking block, calls keyed by
/// index, else by id. Blocks end after the last chunk.
class openai_completions_stream final : public model_stream {
public:
  using model_stream::model_stream;

  bool is_complete() const override { return !finish_reason_.empty(); }

protected:
  void handle(std::string_view name, const boost::json::object& data,
              stream_effects& out) override;
  void handle_end_mark(stream_effects& out) override;
  void complete(stream_effects& out) override;

private:
  void read_usage(const boost::json::object& usage);
  void read_delta(const boost::json::object& delta, stream_effects& out);
  void read_content(const boost::json::value& content, stream_effects& out);
  void read_call(const boost::json::object& call, stream_effects& out);
  size_t call_block(const boost::json::object& call, const std::string& id,
                    const std::string& name, stream_effects& out);
  void append_text(std::string_view text, stream_effects& out);
  void append_thinking(std::string_view text, std::string_view field,
                       stream_effects& out);

  std::optional<size_t> text_;
  std::optional<size_t> thinking_;
  /// Position of the call that a provider calls by an index or an id.
  std::map<int64_t, size_t> calls_by_index_;
  std::map<std::string, size_t> calls_by_id_;
  std::optional<size_t> last_call_;
  std::string finish_reason_;
};

} // namespace bureau::models
