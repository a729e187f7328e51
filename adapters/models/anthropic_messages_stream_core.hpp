#pragma once

#include "adapters/models/stream_core.hpp"

#include <map>

namespace bureau::models {

/// Stream of Anthropic messages (note on the harness, section 4.3): blocks are
/// matched by the index the provider gives them, block types that nobody knows
/// are passed over, message_stop ends the answer.
class anthropic_messages_stream final : public model_stream {
public:
  using model_stream::model_stream;

  bool is_complete() const override { return stopped_; }

protected:
  bool wants(std::string_view name) const override;
  void handle(std::string_view name, const boost::json::object& data,
              stream_effects& out) override;
  void complete(stream_effects& out) override;

private:
  void read_usage(const boost::json::object& usage);
  void start_message(const boost::json::object& data);
  void start_block(const boost::json::object& data, stream_effects& out);
  void grow_block(const boost::json::object& data, stream_effects& out);
  void stop_block(const boost::json::object& data, stream_effects& out);
  void change_message(const boost::json::object& data);
  std::optional<size_t> position(const boost::json::object& data) const;

  std::map<int64_t, size_t> blocks_;
  std::string stop_reason_;
  std::string explanation_;
  bool stopped_ = false;
};

} // namespace bureau::models
