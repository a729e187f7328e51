#include "actors/harness/budget_core.hpp"
#include "actors/harness/partial_core.hpp"
#include "actors/harness/retry_core.hpp"
#include "actors/harness/sentence_core.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace bureau;
using namespace bureau::harness;

TEST_CASE("classes of failures that may be repeated") {
  using error = model_error_class;
  for (auto yes : {error::rate_limit, error::overloaded, error::server,
                   error::network, error::truncated, error::protocol})
    CHECK_MESSAGE(is_retryable(yes), to_string(yes));
  for (auto no :
       {error::none, error::auth, error::quota, error::overflow,
        error::bad_request, error::not_found, error::cancelled, error::unknown})
    CHECK_FALSE_MESSAGE(is_retryable(no), to_string(no));
}

TEST_CASE("delays before a retry") {
  struct row {
    std::string name;
    int attempt;
    int64_t retry_after_ms;
    uint64_t chance;
    int64_t expected;
  };
  constexpr auto most = std::numeric_limits<uint64_t>::max();
  const row rows[] = {
    {"first", 1, 0, 0, 2000},
    {"second", 2, 0, 0, 4000},
    {"third", 3, 0, 0, 8000},
    {"far", 30, 0, 0, 60'000},
    {"half the chance adds an eighth", 1, 0, uint64_t{1} << 63u, 2250},
    {"all of it stays below a quarter", 1, 0, most, 2499},
    {"the provider asks for more", 1, 5000, 0, 5000},
    {"the provider asks for less", 3, 5000, 0, 8000},
    {"the provider asks for too much", 1, 3'600'000, 0, 60'000},
    {"the provider talks nonsense", 1, -5, 0, 2000},
    {"chance does not exceed the cap", 9, 0, most, 60'000},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(retry_delay_ms({}, row.attempt, row.retry_after_ms, row.chance)
          == row.expected);
  }
}

TEST_CASE("caps of a budget, each axis below, at and in order") {
  struct row {
    std::string name;
    run_budget caps;
    int64_t calls;
    int64_t tokens;
    int64_t micro;
    int64_t elapsed;
    call_need need;
    const char* expected;
  };
  constexpr auto more = call_need::another_call;
  constexpr auto over = call_need::settled;
  const row rows[] = {
    {"no caps", {}, 99, 99, 99, 99, more, ""},
    {"calls below", {0, 0, 0, 3}, 2, 0, 0, 0, more, ""},
    {"calls at", {0, 0, 0, 3}, 3, 0, 0, 0, more, "3 LLM calls >= 3 limit"},
    {"calls at, settled", {0, 0, 0, 3}, 3, 0, 0, 0, over, ""},
    {"tokens below", {20, 0, 0, 0}, 1, 19, 0, 0, over, ""},
    {"tokens at", {20, 0, 0, 0}, 1, 20, 0, 0, over, "20 tokens >= 20 limit"},
    {"cost below", {0, 500'000, 0, 0}, 1, 0, 499'999, 0, over, ""},
    {"cost at",
     {0, 500'000, 0, 0},
     1,
     0,
     500'000,
     0,
     over,
     "cost 0.50 USD >= 0.5 USD limit"},
    {"cost above",
     {0, 10'000'000, 0, 0},
     1,
     0,
     12'345'678,
     0,
     over,
     "cost 12.35 USD >= 10 USD limit"},
    {"duration below", {0, 0, 100, 0}, 1, 0, 0, 99, over, ""},
    {"duration at", {0, 0, 100, 0}, 1, 0, 0, 100, over, "100ms >= 100ms limit"},
    {"calls win", {1, 1, 1, 1}, 1, 1, 1, 1, more, "1 LLM calls >= 1 limit"},
    {"tokens win", {1, 1, 1, 1}, 1, 1, 1, 1, over, "1 tokens >= 1 limit"},
    {"cost wins",
     {0, 1, 1, 1},
     1,
     1,
     1,
     1,
     over,
     "cost 0.00 USD >= 0.000001 USD limit"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    run_stats spent;
    spent.llm_calls = row.calls;
    spent.spent.total_tokens = row.tokens;
    spent.spent.cost_total_micro = row.micro;
    CHECK(budget_fault(row.caps, spent, row.elapsed, row.need) == row.expected);
  }
}

TEST_CASE("who needs a credential") {
  struct row {
    std::string base_url;
    std::string header;
    bool expected;
  };
  const row rows[] = {
    {"", "", false},
    {"https://api.example.com/v1", "", true},
    {"https://API.example.com", "X-Other", true},
    {"https://api.example.com", "X-Api-Key", false},
    {"https://api.example.com", "Authorization", false},
    {"http://localhost:11434/v1", "", false},
    {"http://LOCALHOST", "", false},
    {"http://127.0.0.1:8080", "", false},
    {"http://[::1]:8080/v1", "", false},
    {"http://localhost.example.com", "", true},
    {"http://user@127.0.0.1/", "", false},
    {"http://127.0.0.1@example.com/", "", true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.base_url);
    CAPTURE(row.header);
    model_descriptor model;
    model.base_url = row.base_url;
    if (!row.header.empty())
      model.headers.push_back({row.header, "value", true});
    CHECK(needs_credential(model) == row.expected);
  }
}

TEST_CASE("sentences name what failed and keep what a provider sent out") {
  model_descriptor model;
  model.id = "m-1";
  model.provider = "my-llm.v2";
  model_error failure;
  failure.error = model_error_class::auth;
  failure.http_status = 401;
  failure.code = "invalid_api_key";
  CHECK(model_failure_sentence(model, failure, "said sk-123", 0)
        == "The model provider my-llm.v2 refused our credential (HTTP 401, "
           "invalid_api_key). Check its key: MY_LLM_V2_API_KEY or the entry "
           "my-llm.v2 in auth.json.");
  failure.code = "key sk-123 is wrong";
  CHECK(model_failure_sentence(model, failure, "said sk-123", 0).find("sk-123")
        == std::string::npos);
  failure.error = model_error_class::network;
  failure.http_status = 0;
  failure.code.clear();
  CHECK(model_failure_sentence(model, failure, "said sk-123", 1)
        == "The connection to the model provider my-llm.v2 failed, also after "
           "1 retry. Check the network of this host, then try again.");
  failure.error = model_error_class::truncated;
  failure.http_status = 200;
  CHECK(model_failure_sentence(model, failure, "said sk-123", 0)
        == "The reply of the model provider my-llm.v2 broke off before its "
           "end. Try again.");
  CHECK(credential_sentence(model).find("MY_LLM_V2_API_KEY")
        != std::string::npos);
}

TEST_CASE("what this side found wrong is told as it was found") {
  model_descriptor model;
  model.id = "m-1";
  model.provider = "lab";
  model_error failure;
  failure.error = model_error_class::bad_request;
  failure.code = not_sent_code;
  CHECK(model_failure_sentence(model, failure, "set baseUrl in models.json.", 0)
        == "set baseUrl in models.json.");
  // A failure without words still has a sentence.
  CHECK(model_failure_sentence(model, failure, "", 0).find("lab")
        != std::string::npos);
}

TEST_CASE("a wait that no retry could sit out is told") {
  struct row {
    model_error_class error;
    int64_t retry_after_ms;
    int retries;
    std::string expected;
  };
  const auto rate = model_error_class::rate_limit;
  const row rows[] = {
    {rate, 0, 3,
     "limits the rate of requests (HTTP 429), also after 3 retries. Try again "
     "in a minute."},
    {rate, 60'000, 3,
     "limits the rate of requests (HTTP 429), also after 3 retries. Try again "
     "in a minute."},
    {rate, 61'000, 3,
     "limits the rate of requests (HTTP 429), also after 3 retries, and asks "
     "to wait 2 minutes. Send the message again then."},
    {rate, 3'600'000, 3,
     "limits the rate of requests (HTTP 429), also after 3 retries, and asks "
     "to wait 60 minutes. Send the message again then."},
    {rate, 7'200'001, 0,
     "limits the rate of requests (HTTP 429) and asks to wait 3 hours. Send "
     "the message again then."},
    {model_error_class::overloaded, 300'000, 3,
     "is overloaded (HTTP 429), also after 3 retries, and asks to wait 5 "
     "minutes. Send the message again then."},
    {model_error_class::server, 300'000, 1,
     "had an internal error (HTTP 429), also after 1 retry, and asks to wait 5 "
     "minutes. Send the message again then."},
  };
  model_descriptor model;
  model.provider = "lab";
  for (const auto& row : rows) {
    CAPTURE(row.retry_after_ms);
    model_error failure;
    failure.error = row.error;
    failure.http_status = 429;
    failure.retry_after_ms = row.retry_after_ms;
    CHECK(model_failure_sentence(model, failure, "", row.retries)
          == "The model provider lab " + row.expected);
  }
}

TEST_CASE("a partial message grows with its stream") {
  partial_message partial;
  auto tell = [&](stream_kind kind, uint32_t index, std::string delta,
                  content_block block = {}) {
    partial.apply({kind, index, std::move(delta), std::move(block)});
  };
  tell(stream_kind::start, 0, "");
  tell(stream_kind::thinking_start, 0, "");
  tell(stream_kind::thinking_delta, 0, "hm");
  tell(stream_kind::text_start, 1, "");
  tell(stream_kind::text_delta, 1, "he");
  tell(stream_kind::text_delta, 1, "llo");
  content_block call;
  call.kind = block_kind::tool_call;
  call.id = "c1";
  call.name = "echo";
  tell(stream_kind::tool_call_start, 2, "", call);
  tell(stream_kind::tool_call_delta, 2, R"({"te)");
  auto content = partial.content();
  REQUIRE(content.size() == 3);
  CHECK(content[0].kind == block_kind::thinking);
  CHECK(content[0].text == "hm");
  CHECK(content[1].text == "hello");
  CHECK(content[2].name == "echo");
  CHECK(content[2].arguments->text == "{}");
  call.arguments = json_text{R"({"text":"x"})"};
  tell(stream_kind::tool_call_end, 2, "", call);
  CHECK(partial.content()[2] == call);
}

TEST_CASE("a partial message survives odd indices") {
  partial_message partial;
  partial.apply({stream_kind::text_delta, 4'000'000'000u, "late", {}});
  partial.apply({stream_kind::text_delta, 7, "early", {}});
  auto content = partial.content();
  REQUIRE(content.size() == 2);
  CHECK(content[0].text == "early");
  CHECK(content[1].text == "late");
}
