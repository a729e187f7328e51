#pragma once

#include "actors/delivery/stream_end_core.hpp"
#include "actors/delivery/stream_message_core.hpp"
#include "actors/runner/activity_ledger_core.hpp"
#include "messages/text/length_unit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The output of one run as its reader sees it (agent contracts, rules 28 to
/// 45; decision A4).
namespace bureau::runner {

using delivery::call_op;
using delivery::call_outcome;
using delivery::content_kind;
using delivery::live_message;
using delivery::message_call;
using delivery::send_outcome;
using delivery::shown_text;
using delivery::stream_end;

/// How the calls of tools appear while text streams.
enum class activity_view : uint8_t {
  /// In the status text that stands until the first answer text.
  hint,
  /// As lines of a message of their own.
  ledger,
};

struct stream_options {
  std::string initial_status = "Thinking…";
  int64_t edit_debounce_ms = 750;
  int64_t max_message_chars = 3800;
  /// What they are; empty: code points.
  text::length_function length = nullptr;
  bool show_hints = true;
  /// Nothing of the answer is shown before its end; activity is a ledger.
  bool final_only = false;
  activity_view activity = activity_view::hint;
  /// What the transport can do.
  bool can_remove = true;
  bool can_indicate = true;
  /// The owner of the turn records the answer before it is delivered:
  /// everything visible is then only a preview.
  bool hand_over = false;
  /// Message of an earlier attempt; empty = none.
  std::string provisional;
};

/// Whether every option is within its range.
bool is_valid(const stream_options& options);

namespace stream {

/// Carry out a call; answer with answered. Call 0: nobody waits for its end.
struct send {
  uint64_t call = 0;
  message_call what;
  /// It concerns the message of the activity lines.
  bool activity = false;
};
/// Show that something happens; its failure means nothing.
struct indicate {};
/// Call debounce_due after this time; an earlier arming is void.
struct arm_debounce {
  int64_t ms = 0;
};
struct cancel_debounce {};
/// Call settle_timeout after limits::interim_settle_timeout.
struct arm_settle {};
/// The first post of the stream failed; the next write tries again.
struct write_failed {
  std::string detail;
};
/// A write came after the end and was not taken.
struct closed {};
/// Have the answer recorded, or delivered; answer with recorded or
/// not_recorded.
struct produce {
  std::string text;
  contracts::finish_options options;
  /// Visible message that the answer will replace.
  std::string provisional;
  bool silent = false;
  /// The same message with what it shows, and the text of a message that has to
  /// stand before the answer can take its place; empty = none.
  live_message head;
  std::string placeholder;
};
/// The caller of finish gets its answer.
struct finished {};
/// Nothing is left to do but to await a last outcome, for a while.
struct linger {};
/// Nothing is left to do.
struct end {};

} // namespace stream

using stream_effect =
  std::variant<stream::send, stream::indicate, stream::arm_debounce,
               stream::cancel_debounce, stream::arm_settle,
               stream::write_failed, stream::closed, stream::produce,
               stream::finished, stream::linger, stream::end>;

using stream_effects = std::vector<stream_effect>;

/// Keeps what is visible close to what is wanted, with one call under way at a
/// time: while it is, only the latest state is remembered, so that nothing
/// queues. Knows no clock and no actor; `now_ms` is any monotonic time.
class resilient_stream_core {
public:
  /// @param options valid ones
  explicit resilient_stream_core(stream_options options);

  /// Directories that activity lines shorten from now on.
  void shorten(contracts::path_roots roots) {
    ledger_.shorten(std::move(roots));
  }

  /// False once it was finished or dismissed: writes are answered by `closed`.
  bool is_open() const { return mode_ == mode::open; }

  stream_effects status(std::string_view text, int64_t now_ms);
  stream_effects append(const std::string& delta, int64_t now_ms);
  stream_effects replace(std::string text, int64_t now_ms);
  stream_effects event(const contracts::stream_event& event, int64_t now_ms);
  stream_effects answered(uint64_t call, const call_outcome& outcome,
                          int64_t now_ms);
  stream_effects debounce_due();
  stream_effects settle_timeout();

  /// The end. A call under way is waited for, so that the answer can take the
  /// place of what it shows.
  stream_effects finish(stream_end end);
  /// The end of a stream that has nothing to say.
  stream_effects finish_silently();
  stream_effects recorded();
  stream_effects not_recorded();

  /// The end without an answer: what is visible is removed, unless it could be
  /// an answer.
  stream_effects dismiss();

private:
  enum class mode : uint8_t {
    open,
    finishing,
    producing,
    ended,
    dismissed,
  };

  /// Why a call was made.
  enum class purpose : uint8_t { interim, relocation };

  struct pending_call {
    uint64_t id = 0;
    purpose why = purpose::interim;
    bool activity = false;
    message_call what;
  };

  // -- writing (resilient_stream_core.cpp) ------------------------------------

  void text_changed(stream_effects& out, int64_t now_ms);
  void show_hint(const contracts::stream_event& event);
  void keep_ledger(stream_effects& out, const contracts::stream_event& event,
                   int64_t now_ms);
  void tool_started(stream_effects& out, const contracts::stream_event& event,
                    int64_t now_ms);
  void ledger_changed(stream_effects& out);
  void schedule(stream_effects& out, live_message& subject);
  void indicate(stream_effects& out, int64_t now_ms);
  void indicate_if_bare(stream_effects& out, int64_t now_ms);

  // -- showing ----------------------------------------------------------------

  void pump(stream_effects& out);
  bool relocate(stream_effects& out);
  shown_text preview(std::string_view text, content_kind kind) const;
  std::optional<shown_text> wanted(bool activity) const;
  /// What a message is to show by a call of now.
  std::optional<shown_text> due(bool activity);
  void show(stream_effects& out, shown_text text, bool activity);
  void send(stream_effects& out, purpose why, message_call what, bool activity);
  void settle_interim(stream_effects& out, const pending_call& settled,
                      const call_outcome& outcome, int64_t now_ms);

  // -- ending (resilient_stream_end_core.cpp) ---------------------------------

  void produce(stream_effects& out);
  void take_back(stream_effects& out, live_message& gone, bool activity);
  void settle_down(stream_effects& out);

  bool has_hint() const {
    return !options_.final_only && options_.activity == activity_view::hint;
  }
  live_message& message(bool activity) { return activity ? activity_ : main_; }
  /// The ledger stands where the answer will be, or beside the answer.
  bool is_ledger_home(bool activity) const {
    return activity != options_.final_only;
  }
  live_message& ledger_home() { return message(!options_.final_only); }
  /// Whether a message says nothing that its reader could miss.
  bool is_transient(const live_message& subject) const;
  size_t budget() const {
    return static_cast<size_t>(options_.max_message_chars);
  }

  stream_options options_;
  mode mode_ = mode::open;
  std::string text_;
  bool has_answer_ = false;
  std::string status_;
  activity_ledger ledger_;
  live_message main_;
  /// Used while text streams beside a ledger.
  live_message activity_;
  std::optional<pending_call> pending_;
  uint64_t last_call_ = 0;
  bool last_shown_activity_ = true;
  bool relocate_ = false;
  bool debounce_armed_ = false;
  std::optional<int64_t> indicated_ms_;
  // -- the end ----------------------------------------------------------------
  stream_end end_;
  bool silent_ = false;
  /// Message that the answer will replace.
  std::string handed_over_;
};

} // namespace bureau::runner
