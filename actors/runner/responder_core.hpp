#pragma once

#include "messages/interfaces/transport.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The output of one run as the user sees it (decision A4): interim posts and
/// edits, activity lines, the end.
namespace bureau::runner {

namespace output {

/// Hand an operation to the transport; answer with delivered. Token 0: nobody
/// waits for the outcome.
struct send {
  uint64_t token = 0;
  outbound_op op = outbound_op::post;
  outbound_class rank = outbound_class::interim;
  outbound_content content = outbound_content::answer;
  std::string text;
  std::string ref;
};
/// Call settle_timeout after limits::interim_settle_timeout.
struct arm_settle {};
/// Have the owner record the answer; answer with recorded or not_recorded.
struct produce {
  std::string text;
  /// Visible message that the final answer replaces.
  std::string provisional;
  bool silent = false;
};
/// The caller of finish gets its ok.
struct answer_finish {};
/// Nothing is left to do: end within limits::responder_linger_timeout.
struct linger {};
/// End now.
struct end {};

} // namespace output

using output_effect =
  std::variant<output::send, output::arm_settle, output::produce,
               output::answer_finish, output::linger, output::end>;

using output_effects = std::vector<output_effect>;

/// What a responder may show before the end.
struct output_style {
  /// Interim answers.
  bool streaming = true;
  /// Activity lines, also where the answer is shown as a whole.
  bool show_activity = true;
  /// Visible message of an earlier attempt.
  std::string provisional;
};

/// Keeps what is visible close to what is wanted, with one operation under way
/// at a time: while it is, only the latest text is remembered, so that nothing
/// queues. Knows no clock and no actor.
class responder_core {
public:
  explicit responder_core(output_style style);

  output_effects append(const std::string& text);
  output_effects replace(std::string text);
  output_effects activity(std::string line);
  output_effects delivered_op(uint64_t token, const delivered& outcome);
  /// The end. An interim operation under way is waited for, so that the final
  /// answer can take the place of what it shows.
  output_effects finish(std::string text, bool suppressed);
  output_effects settle_timeout();
  output_effects recorded();
  output_effects not_recorded();
  /// The end without an answer: what is visible is removed.
  output_effects dismiss();

private:
  enum class mode : uint8_t { open, finishing, producing, ended, dismissed };

  /// One message of the run on the platform.
  struct visible {
    std::string wanted;
    std::string shown;
    std::string ref;
    /// Whether the message may still be posted or edited.
    bool usable = true;
    bool dirty() const { return usable && wanted != shown; }
  };

  struct pending {
    uint64_t token = 0;
    outbound_content content = outbound_content::answer;
    std::string text;
    bool post = false;
  };

  visible& message(outbound_content content);
  output_effects pump();
  void start(output_effects& out, outbound_content content);
  void remove(output_effects& out, visible& gone, outbound_content content);
  void produce(output_effects& out);
  void settle_down(output_effects& out);

  output_style style_;
  mode mode_ = mode::open;
  visible answer_;
  visible activity_;
  std::deque<std::string> activity_lines_;
  std::optional<pending> pending_;
  outbound_content last_ = outbound_content::activity;
  uint64_t last_token_ = 0;
  std::string final_text_;
  /// Message that the recorded answer will replace.
  std::string handed_over_;
  bool suppressed_ = false;
};

} // namespace bureau::runner
