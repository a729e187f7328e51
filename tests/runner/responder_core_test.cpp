#include "actors/runner/responder_core.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace bureau;
using namespace bureau::runner;

TEST_CASE("how much of a draft fits on a platform") {
  struct row {
    uint32_t max_length;
    const char* unit;
    int64_t want;
  };
  const row rows[] = {
    {0, "bytes", std::numeric_limits<int64_t>::max()},
    {4096, "utf16", 2048},
    {4096, "bytes", 1024},
    {4096, "code_points", 4096},
    {40, "bytes", 32},
  };
  for (const auto& row : rows) {
    CAPTURE(row.unit);
    transport_info info;
    info.max_length = row.max_length;
    info.length_unit = row.unit;
    auto options = stream_options_of(info, {});
    CHECK(options.max_message_chars == row.want);
    CHECK(is_valid(options));
  }
}

TEST_CASE("what a platform shows of a run") {
  transport_info info;
  info.streaming = false;
  info.activity = activity_style::none;
  info.removes = false;
  auto options = stream_options_of(info, "p1");
  CHECK(options.hand_over);
  CHECK(options.edit_debounce_ms == 0);
  CHECK(options.final_only);
  CHECK_FALSE(options.show_hints);
  CHECK_FALSE(options.can_remove);
  CHECK_FALSE(options.can_indicate);
  CHECK(options.provisional == "p1");
  info.activity = activity_style::hint;
  info.typing = true;
  options = stream_options_of(info, {});
  CHECK(options.show_hints);
  CHECK(options.activity == activity_view::hint);
  CHECK(options.can_indicate);
}

TEST_CASE("what became of an operation") {
  struct row {
    delivery_fault fault;
    failure_certainty certainty;
    send_outcome kind;
    bool not_delivered;
  };
  const row rows[] = {
    {delivery_fault::none, failure_certainty::definite, send_outcome::done,
     true},
    {delivery_fault::retryable, failure_certainty::unknown, send_outcome::retry,
     false},
    {delivery_fault::dropped, failure_certainty::definite, send_outcome::retry,
     true},
    {delivery_fault::permanent, failure_certainty::definite,
     send_outcome::fatal, true},
  };
  for (const auto& row : rows) {
    delivered outcome;
    outcome.ref = "r1";
    outcome.fault = row.fault;
    outcome.certainty = row.certainty;
    auto result = outcome_of(outcome);
    CHECK(result.ref == "r1");
    CHECK(result.kind == row.kind);
    CHECK(result.not_delivered == row.not_delivered);
  }
}
