#include "actors/runner/responder_core.hpp"
#include "messages/errc.hpp"

#include <caf/error.hpp>
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
    {4096, "utf16", 4096},
    {4096, "bytes", 4096},
    {4096, "code_points", 4096},
    {20, "bytes", 32},
  };
  for (const auto& row : rows) {
    CAPTURE(row.unit);
    transport_info info;
    info.max_length = row.max_length;
    info.length_unit = row.unit;
    auto options = stream_options_of(info, {});
    CHECK(options.max_message_chars == row.want);
    CHECK((options.length == text::length_function_of(row.unit)));
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

TEST_CASE("an operation that was answered by an error") {
  struct row {
    errc code;
    failure_certainty want;
  };
  using enum failure_certainty;
  const row rows[] = {
    {errc::queue_full, definite},
    {errc::shutting_down, definite},
    {errc::internal, unknown},
    {errc::timeout, unknown},
  };
  for (const auto& row : rows) {
    auto outcome = outcome_of_error(make_failure(row.code, "no"), false);
    CHECK(outcome.fault == delivery_fault::retryable);
    CHECK(outcome.certainty == row.want);
  }
  // It ended with the operation under way.
  CHECK(
    outcome_of_error(make_failure(errc::shutting_down, "no"), true).certainty
    == unknown);
}

TEST_CASE("platforms that show answers alone") {
  transport_info info;
  info.streaming = false;
  info.activity = activity_style::none;
  CHECK(shows_only_answers(info));
  info.typing = true;
  CHECK_FALSE(shows_only_answers(info));
  info.typing = false;
  info.activity = activity_style::ledger;
  CHECK_FALSE(shows_only_answers(info));
}

TEST_CASE("the operation of a preview") {
  message_call call;
  call.content = {"x", false, content_kind::answer};
  auto result = operation_of(call, false);
  CHECK(result.rank == outbound_class::interim);
  CHECK(result.content == outbound_content::answer);
  CHECK(operation_of(call, true).content == outbound_content::activity);
  call.op = call_op::remove;
  call.ref = "m1";
  result = operation_of(call, false);
  CHECK(result.rank == outbound_class::control);
  CHECK(result.ref == "m1");
}
