#include "actors/delivery/transport_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::delivery;

TEST_CASE("what became of an operation") {
  struct row {
    delivery_fault fault;
    failure_certainty certainty;
    send_outcome kind;
    bool not_delivered;
  };
  using enum failure_certainty;
  const row rows[] = {
    {delivery_fault::none, definite, send_outcome::done, true},
    {delivery_fault::not_modified, definite, send_outcome::not_modified, true},
    {delivery_fault::recreate, definite, send_outcome::recreate, true},
    {delivery_fault::reformat_plain, definite, send_outcome::reformat_plain,
     true},
    {delivery_fault::retryable, unknown, send_outcome::retry, false},
    {delivery_fault::dropped, definite, send_outcome::retry, true},
    {delivery_fault::permanent, definite, send_outcome::fatal, true},
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
    CHECK_FALSE(result.retry_after_ms);
  }
  delivered later;
  later.fault = delivery_fault::retryable;
  later.retry_after_ms = 700;
  CHECK(outcome_of(later).retry_after_ms == 700);
}

TEST_CASE("the operation of a call") {
  message_call what;
  what.op = call_op::edit;
  what.ref = "m1";
  what.content = {"text", true, content_kind::answer};
  auto result = operation_of(what);
  CHECK(result.op == outbound_op::edit);
  CHECK(result.ref == "m1");
  CHECK(result.text == "text");
  CHECK(result.markdown);
  CHECK(result.content == outbound_content::answer);
  what.op = call_op::post;
  what.continues = "m0";
  what.content = {"…", false, content_kind::status};
  result = operation_of(what);
  CHECK(result.op == outbound_op::post);
  CHECK(result.continues == "m0");
  CHECK_FALSE(result.markdown);
  CHECK(result.content == outbound_content::activity);
  what.op = call_op::upload;
  what.file = contracts::attachment_part{};
  what.file->name = "a";
  result = operation_of(what);
  CHECK(result.op == outbound_op::upload);
  CHECK(result.file->name == "a");
}
