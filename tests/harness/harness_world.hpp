#pragma once

#include "actors/harness/harness.hpp"
#include "tests/harness/scripted_tools.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scripted_model.hpp"

#include <caf/all.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bureau::test {

/// Chance that never adds anything: delays are the table's.
class no_chance final : public entropy {
public:
  uint64_t next() override { return 0; }
};

/// How a prompt ended, once it has.
struct prompt_end {
  std::optional<prompt_outcome> outcome;
  std::optional<caf::error> error;
  bool is_open() const { return !outcome && !error; }
};

/// One harness with everything around it scripted.
class harness_world : public node_fixture {
public:
  harness_world();
  ~harness_world();

  /// Starts the harness; later changes of `models` count for its calls.
  void start();
  /// A prompt with the tools so far.
  prompt_request request(std::string text);
  /// Sends a prompt and settles; its end shows when it comes.
  std::shared_ptr<prompt_end> prompt(prompt_request what);
  std::shared_ptr<prompt_end> prompt(std::string text) {
    return prompt(request(std::move(text)));
  }
  void abort();
  /// Kinds of the events so far, as one text.
  std::string event_kinds() const;

  std::shared_ptr<memory_session> session;
  session_store_actor store;
  scripted_model model;
  /// Factory in use; the scripted model's unless a test replaces it.
  model_factory models;
  scripted_tools tools;
  std::vector<tool_actor> owners;
  std::shared_ptr<std::vector<harness_event>> events;
  std::shared_ptr<std::vector<metric_sample>> samples;
  harness_listener_actor listener;
  metrics_actor metrics;
  /// What runs knew at their end, for those who go on from there.
  std::shared_ptr<std::vector<contracts::continuation_context>> kept_contexts;
  continuation_keeper_actor keeper;
  /// Asked for the reach of the history; empty unless a test sets it.
  harness_actor subject;
  /// Whoever offers messages to it.
  std::vector<live_input_sink_actor> sinks;
};

} // namespace bureau::test
