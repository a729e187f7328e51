#pragma once

#include "actors/harness/turn_loop_core.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bureau::test {

/// Drives one turn loop by hand: every event is a verb, every effect a line.
/// A story reads `story.append_ok(); story.expect({"agent_start", …})`.
class loop_story {
public:
  /// Two parallel tools (echo, slow) and a sequential one (seq); each wants a
  /// string `text`.
  static harness::loop_setup setup();

  explicit loop_story(harness::loop_setup what = setup());

  /// Moves both clocks on.
  void wait(int64_t ms);

  // -- events -----------------------------------------------------------------
  void begin();
  void open_ok(session_context context = {});
  void open_fails(errc code);
  void append_ok();
  void append_fails(errc code = errc::disk);
  void delta(stream_kind kind, std::string delta = {},
             content_block block = {});
  void reply(transcript_message message, model_error failure = {},
             uint64_t chance = 0);
  void model_dies();
  void tool(size_t slot, std::string text, bool is_error = false,
            bool terminate = false);
  void tool(size_t slot, tool_outcome outcome);
  void retry_due();
  void duration_over();
  void abort();
  void offer(const std::string& id, std::string text);
  void grace_over();

  /// Begin, open, and store the user message: the first model call runs.
  void reach_call();

  // -- results ----------------------------------------------------------------
  /// Lines since the last call.
  std::vector<std::string> take();
  /// Fails the test unless the lines since the last call are these.
  void expect(const std::vector<std::string>& lines);
  /// How the run settled; fails the test when it has not.
  const prompt_outcome& outcome() const;
  bool is_settled() const { return outcome_.has_value(); }
  /// What the settlement means for offered messages.
  harness::live_input_end input_end() const { return input_end_; }
  /// Text of the last entry that was to be appended.
  std::string last_stored_text() const;
  const std::vector<session_entry>& last_entries() const { return entries_; }
  const std::vector<tool_invocation>& invocations() const {
    return invocations_;
  }
  const std::vector<harness_event>& events() const { return events_; }
  /// Messages of the appends that were answered, by role.
  std::string stored_roles() const;
  const std::vector<transcript_message>& stored() const { return stored_; }
  harness::turn_loop loop;

private:
  void follow(harness::loop_effects effects);

  harness::moment now_;
  std::vector<std::string> lines_;
  std::vector<session_entry> entries_;
  std::vector<transcript_message> stored_;
  std::vector<tool_invocation> invocations_;
  std::vector<harness_event> events_;
  std::optional<prompt_outcome> outcome_;
  harness::live_input_end input_end_ = harness::live_input_end::closed;
};

// -- messages -----------------------------------------------------------------

transcript_message answer(std::string text,
                          stop_reason stop = stop_reason::stop);
/// An assistant message that calls tools, each with {"text":"x"}.
transcript_message calling(const std::vector<std::string>& tools,
                           stop_reason stop = stop_reason::tool_use);
transcript_message failing(std::string error_message);
model_error failure_of(model_error_class error, int64_t retry_after_ms = 0);

} // namespace bureau::test
