#pragma once

#include "messages/contracts/frame_feed.hpp"

#include <map>
#include <string>
#include <string_view>

/// The other end of frame_core: what a stream of frames says to people (agent
/// contracts, rules 56 and 57). Pure.
namespace bureau::console {

class frame_reader {
public:
  /// Takes bytes of a stream; answers the lines to show.
  std::string feed(std::string_view bytes);

  /// The stream is over: messages that had no end have failed.
  std::string finish();

  /// Whether a message failed, or a line was no frame.
  bool failed() const { return failed_; }

private:
  /// The text of one message as it grows.
  class growing_text final : public contracts::frame_listener {
  public:
    void append(const std::string& delta) override { text_ += delta; }
    void replace(const std::string& text) override { text_ = text; }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
  };

  std::string take(std::string_view line);
  std::string end_of(const std::string& id,
                     const contracts::stream_frame& frame);

  /// Beginning of a line whose end is to come.
  std::string partial_;
  /// Messages whose turns go on.
  std::map<std::string, growing_text> open_;
  bool failed_ = false;
};

} // namespace bureau::console
