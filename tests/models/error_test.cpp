#include "adapters/models/cost_core.hpp"
#include "adapters/models/error_core.hpp"
#include "adapters/models/retry_after_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/model/error_text.hpp"
#include "messages/text/utf8.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using models::failure_context;
using models::http_failure;

namespace {

const failure_context lab{"lab", {"k-1234567890", "tok"}};

/// 1994-11-06T08:49:37Z
constexpr int64_t example_ms = 784'111'777'000;

} // namespace

TEST_CASE("sentences of providers by the text tables") {
  using enum model_error_class;
  struct row {
    const char* sentence;
    model_error_class error;
  };
  const row rows[] = {
    {"prompt is too long: 213462 tokens > 200000 maximum", overflow},
    {"rate limit: too many tokens", rate_limit},
    {"This model's maximum context length is 8192 tokens.", overflow},
    {"exceeds the model's maximum context length of 131,072 tokens", overflow},
    {"request exceeds maximum context length (4096)", overflow},
    {"The input token count (30) exceeds the maximum number", overflow},
    {"input (9 tokens) is longer than the model's context length (8 tokens)",
     overflow},
    {"prompt has 9 tokens, but the configured context size is 8 tokens",
     overflow},
    {"CONTEXT_LENGTH_EXCEEDED", overflow},
    {"413 status code (no body)", overflow},
    {"400 (no body)", overflow},
    {"The model provider lab answered 413: 413 status code (no body)",
     overflow},
    {"Error (413): 413 status code (no body)", overflow},
    {"1413 status code (no body)", unknown},
    {"Throttling error: Too many tokens, please wait", unknown},
    {"Service unavailable: context_length_exceeded", overloaded},
    {"429 insufficient_quota", quota},
    {"You are out of budget, rate limit reached", quota},
    {"Your billing is not set up", quota},
    {"FreeUsageLimitError", quota},
    {"invalid api key", auth},
    {"529 overloaded", overloaded},
    {"HTTP 503", overloaded},
    {"status=429", rate_limit},
    {"Too Many Requests", rate_limit},
    {"RESOURCE_EXHAUSTED", rate_limit},
    {"ResourceExhausted", rate_limit},
    {"ratelimit reached", rate_limit},
    {"(500) oops", server},
    {"error 502.", server},
    {"Provider returned error", server},
    {"internal server error", server},
    {"please retry your request", server},
    {"socket hang up", network},
    {"connection refused", network},
    {"Request timed out", network},
    {"Error: terminated", network},
    {"stream ended before message_stop", truncated},
    {"the stream ended without a finish reason", truncated},
    {"gpt-5000 is unknown", unknown},
    {"gpt-500 is unknown", unknown},
    {"v1.500 of the model", unknown},
    {"wait 15000 ms", unknown},
    {"no such tool", unknown},
    {"", unknown},
  };
  for (const auto& x : rows) {
    CAPTURE(x.sentence);
    CHECK(to_string(
            classify_error_text(x.sentence, error_text_rule::words_and_numbers))
          == to_string(x.error));
  }
}

TEST_CASE("numbers are not read where the status is known") {
  auto words = [](const char* text) {
    return classify_error_text(text, error_text_rule::words);
  };
  CHECK(words("max_tokens must be at most 500") == model_error_class::unknown);
  CHECK(words("429 things") == model_error_class::unknown);
  CHECK(words("too many requests") == model_error_class::rate_limit);
}

TEST_CASE("class names are read back") {
  for (int i = 0; i <= static_cast<int>(model_error_class::unknown); ++i) {
    auto error = static_cast<model_error_class>(i);
    CHECK(parse_error_class(to_string(error)) == error);
  }
  CHECK(parse_error_class("") == model_error_class::none);
  CHECK(parse_error_class("odd") == model_error_class::unknown);
  CHECK(is_retryable(model_error_class::overloaded));
  CHECK_FALSE(is_retryable(model_error_class::quota));
  CHECK_FALSE(is_retryable(model_error_class::overflow));
}

TEST_CASE("refusals by status, code and words") {
  using enum model_error_class;
  struct row {
    const char* name;
    uint32_t status;
    std::string body;
    model_error_class error;
    const char* code;
    const char* said;
  };
  const row rows[] = {
    {"case 65", 429,
     R"({"error":{"message":"slow down","type":"rate_limit_error"}})",
     rate_limit, "rate_limit_error", "429"},
    {"case 66", 413, "", overflow, "", "413 status code (no body)"},
    {"400 without body", 400, " ", overflow, "", "400 status code (no body)"},
    {"quota under 429", 429,
     R"({"error":{"message":"You exceeded","code":"insufficient_quota"}})",
     quota, "insufficient_quota", "You exceeded"},
    {"a bad key", 401, R"({"error":{"message":"Incorrect API key"}})", auth, "",
     "Incorrect API key"},
    {"forbidden", 403, "no", auth, "", "403: no"},
    {"payment", 402, "{}", quota, "", "402"},
    {"no model", 404,
     R"({"error":{"message":"gone","code":"model_not_found"}})", not_found,
     "model_not_found", "gone"},
    {"overflow by code", 400,
     R"({"error":{"message":"too big","code":"context_length_exceeded"}})",
     overflow, "context_length_exceeded", "too big"},
    {"overflow by words", 400,
     R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}})",
     overflow, "invalid_request_error", "prompt is too long"},
    {"a bad request", 400,
     R"({"error":{"message":"timeout must be at most 600","type":"invalid_request_error"}})",
     bad_request, "invalid_request_error", "at most 600"},
    {"words count only where they are the provider's", 422,
     R"({"detail":"field missing","input":"prompt is too long"})", bad_request,
     "", "field missing"},
    {"words do not count under other statuses", 404,
     R"({"error":{"message":"prompt is too long"}})", not_found, "", "404"},
    {"overloaded", 529,
     R"({"error":{"type":"overloaded_error","message":"Overloaded"}})",
     overloaded, "overloaded_error", "Overloaded"},
    {"unavailable", 503, "", overloaded, "", "503 status code (no body)"},
    {"a page", 502, "<html><head><TITLE>Bad\n Gateway</TITLE></head>", server,
     "", "an HTML page: Bad Gateway"},
    {"an unknown 5xx", 599, "x", server, "", "599"},
    {"an array", 400,
     R"([{"error":{"code":400,"message":"API key not valid","status":"UNAUTHENTICATED"}}])",
     auth, "400", "API key not valid"},
    {"a text as error", 500, R"({"error":"boom"})", server, "", "boom"},
    {"a router", 400,
     R"({"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"disk full"}}})",
     server, "400", "disk full"},
    {"no JSON", 418, "I'm a teapot", bad_request, "", "I'm a teapot"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.name);
    auto failure = http_failure(lab, x.status, {}, x.body, 0);
    CAPTURE(failure.message);
    CHECK(to_string(failure.error.error) == to_string(x.error));
    CHECK(failure.error.http_status == x.status);
    CHECK(failure.error.code == x.code);
    CHECK(failure.message.find(x.said) != std::string::npos);
    CHECK(failure.message.find(std::to_string(x.status)) != std::string::npos);
    CHECK(failure.message.find("lab") != std::string::npos);
    CHECK(failure.message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a redirect is for a person to follow") {
  struct row {
    const char* name;
    uint32_t status;
    const char* location;
    const char* said;
  };
  const row rows[] = {
    {"another host", 302, "https://login.example/a?token=secret#secret",
     "302, a redirect to https://login.example, which"},
    {"with a port", 307, "http://API.example:8080/secret",
     "307, a redirect to http://api.example:8080, which"},
    {"with a user", 308, "https://secret:secret@api.example/",
     "a redirect to https://api.example, which"},
    {"an IPv6 address", 301, "http://[::1]:9/",
     "a redirect to http://[::1]:9,"},
    {"the same host", 301, "/secret/v2?key=secret",
     "a redirect to another path, which"},
    {"no address", 300, "", "a redirect, which"},
    {"without a scheme", 302, "//secret.example/", "a redirect, which"},
    {"no address of the web", 302, "mailto://secret", "a redirect, which"},
    {"no host", 302, "https://sec ret/", "a redirect, which"},
    {"words as a host", 302, "https://<secret>/", "a redirect, which"},
  };
  for (const auto& x : rows) {
    CAPTURE(x.name);
    std::vector<header_field> headers;
    if (*x.location != 0)
      headers.push_back({"Location", x.location, false});
    auto failure = http_failure(lab, x.status, headers,
                                R"({"error":{"type":"overloaded_error"}})", 0);
    CAPTURE(failure.message);
    CHECK_FALSE(is_retryable(failure.error.error));
    CHECK(failure.error.http_status == x.status);
    CHECK(failure.error.code == models::not_sent_code);
    CHECK(failure.message.find(x.said) != std::string::npos);
    CHECK(failure.message.find("baseUrl") != std::string::npos);
    CHECK(failure.message.find("secret") == std::string::npos);
  }
}

TEST_CASE("what would come to the same end is not tried again") {
  for (const auto& failure :
       {models::bound_failure(lab, "it is longer than 7 bytes"),
        models::patience_failure(lab, "the end of the answer", 3'600'000)}) {
    CHECK_FALSE(is_retryable(failure.error.error));
    CHECK(failure.error.code == models::not_sent_code);
    CHECK(failure.message.starts_with("The model provider lab "));
  }
  CHECK(models::patience_failure(lab, "the end", 3'600'000)
          .message.find("the end after 3600 s")
        != std::string::npos);
}

TEST_CASE("a long body is cut, a secret one is masked") {
  auto long_body = std::string(100'000, 'x');
  auto cut = http_failure(lab, 500, {}, long_body, 0).message;
  CHECK(text::utf16_length(cut) == limits::provider_error_chars);
  auto wide = http_failure(
    lab, 500, {},
    [] {
      std::string text;
      for (int i = 0; i < 5000; ++i)
        text += "😀";
      return text;
    }(),
    0);
  CHECK(text::is_valid_utf8(wide.message));
  CHECK(text::utf16_length(wide.message) <= limits::provider_error_chars);
  auto echoed = http_failure(
    lab, 401, {},
    R"({"error":{"message":"key k-1234567890 is bad","code":"k-1234567890"}})",
    0);
  CHECK(echoed.message.find("k-1234567890") == std::string::npos);
  CHECK(echoed.message.find("[redacted]") != std::string::npos);
  CHECK(echoed.error.code == "[redacted]");
}

TEST_CASE("secrets are masked, short ones where they stand alone") {
  using models::redacted;
  const std::vector<std::string> secrets = {"long-secret-1", "tok", ""};
  CHECK(redacted("a long-secret-1 b", secrets) == "a [redacted] b");
  CHECK(redacted("xlong-secret-1x", secrets) == "x[redacted]x");
  CHECK(redacted("tok", secrets) == "[redacted]");
  CHECK(redacted("token tok, tok", secrets) == "token [redacted], [redacted]");
  CHECK(redacted("nothing", secrets) == "nothing");
}

TEST_CASE("waiting times of headers") {
  using models::retry_after_ms;
  auto wait = [](const char* name, const char* value) {
    return retry_after_ms({{name, value, false}}, example_ms - 5000);
  };
  struct row {
    const char* name;
    const char* value;
    int64_t expected;
  };
  const row rows[] = {
    {"Retry-After", "7", 7000},
    {"retry-after", "0", 0},
    {"retry-after", "1.5", 2000},
    {"retry-after-ms", "250", 250},
    {"retry-after", "99999999999999999999", 0},
    {"retry-after", "999999999", 86'400'000 - 1000},
    {"retry-after", "-3", 0},
    {"retry-after", "soon", 0},
    {"retry-after", "", 0},
    {"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", 5000},
    {"retry-after", "Sunday, 06-Nov-94 08:49:37 GMT", 5000},
    {"retry-after", "Sun Nov  6 08:49:37 1994", 5000},
    {"retry-after", "Sun, 06 Nov 1994 08:49:00 GMT", 0},
    {"retry-after", "Fri, 30 Feb 1994 08:49:37 GMT", 0},
    {"x-other", "7", 0},
  };
  for (const auto& x : rows) {
    CAPTURE(x.value);
    CHECK(wait(x.name, x.value) == x.expected);
  }
  CHECK(models::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == example_ms);
  CHECK_FALSE(models::parse_http_date("Sun, 99 Nov 1994 08:49:37 GMT"));
  CHECK_FALSE(models::parse_http_date("Sun, 06 Nov 1994 08:49 GMT"));
}

TEST_CASE("transfers that fail are typed, and old readers can retry them") {
  using enum model_error_class;
  struct row {
    http_error error;
    model_error_class expected;
  };
  const row rows[] = {
    {http_error::resolve, network},     {http_error::connect, network},
    {http_error::tls, network},         {http_error::timeout, network},
    {http_error::reset, network},       {http_error::truncated, truncated},
    {http_error::protocol, protocol},   {http_error::too_large, unknown},
    {http_error::cancelled, cancelled}, {http_error::shutting_down, cancelled},
    {http_error::local, unknown},
  };
  for (const auto& x : rows) {
    CAPTURE(to_string(x.error));
    auto failure =
      models::transport_failure(lab, x.error, "port 1: k-1234567890", 0);
    CHECK(to_string(failure.error.error) == to_string(x.expected));
    CHECK(failure.message.find("k-1234567890") == std::string::npos);
    if (is_retryable(x.expected))
      CHECK(is_retryable(classify_error_text(
        failure.message, error_text_rule::words_and_numbers)));
  }
  for (const auto& failure :
       {models::protocol_failure(lab, "x"), models::truncated_failure(lab),
        models::deadline_failure(lab, "the first byte", 300'000)})
    CHECK(is_retryable(
      classify_error_text(failure.message, error_text_rule::words)));
}

TEST_CASE("a provider cannot pass its words off as ours") {
  auto local = models::local_failure(model_error_class::auth, "set a key.");
  CHECK(local.error.code == models::not_sent_code);
  auto spoken = http_failure(
    lab, 400, {}, R"({"error":{"message":"buy now","code":"not_sent"}})", 0);
  CHECK(spoken.error.code.empty());
  auto parsed =
    json::parse(R"({"message":"buy now","code":" not_sent\u0007"})");
  CHECK(models::stream_failure(lab, parsed.value).error.code.empty());
}

TEST_CASE("a failed call is one line of the log") {
  stream_end end;
  end.message.error_message =
    "The model provider lab answered 429: " + std::string(500, 'x');
  end.failure.error = model_error_class::rate_limit;
  end.failure.http_status = 429;
  auto line = models::failure_line("lab", "tiny", end);
  CHECK(line
        == "the call of lab/tiny failed: rate_limit, HTTP 429: "
             + end.message.error_message->substr(0, 200));
  end.failure = {};
  CHECK(models::failure_line("lab", "tiny", end).empty());
  end.failure.error = model_error_class::cancelled;
  CHECK(models::failure_line("lab", "tiny", end).empty());
}

TEST_CASE("prices are exact (cases 69 and 70)") {
  usage spent;
  spent.input = 1000;
  spent.output = 500;
  spent.cache_read = 10'000;
  spent.cache_write = 2000;
  spent.cache_write_1h = 500;
  models::price(spent, {{3'000'000, 15'000'000, 300'000, 3'750'000, 0}});
  CHECK(spent.cost_input_micro == 3000);
  CHECK(spent.cost_output_micro == 7500);
  CHECK(spent.cost_cache_read_micro == 3000);
  CHECK(spent.cost_cache_write_micro == 8625);
  CHECK(spent.cost_total_micro == 22'125);
  CHECK(spent.total_tokens == 13'500);
  const std::vector<token_rates> tiers = {{3'000'000, 0, 0, 0, 0},
                                          {6'000'000, 0, 0, 0, 200'000},
                                          {9'000'000, 0, 0, 0, 400'000}};
  auto cost = [&tiers](int64_t input, int64_t cache_read) {
    usage x;
    x.input = input;
    x.cache_read = cache_read;
    models::price(x, tiers);
    return x.cost_total_micro;
  };
  CHECK(cost(200'001, 0) == 1'200'006);
  CHECK(cost(200'000, 0) == 600'000);
  CHECK(cost(200'000, 1) == 1'200'000);
  CHECK(cost(400'001, 0) == 3'600'009);
  usage none;
  none.input = 5;
  models::price(none, {});
  CHECK(none.cost_total_micro == 0);
  CHECK(none.total_tokens == 5);
}

TEST_CASE("prices round to the nearest millionth and never overflow") {
  auto cost = [](int64_t tokens, int64_t rate) {
    usage x;
    x.output = tokens;
    models::price(x, {{0, rate, 0, 0, 0}});
    return x.cost_output_micro;
  };
  CHECK(cost(1, 499'999) == 0);
  CHECK(cost(1, 500'000) == 1);
  CHECK(cost(3, 500'000) == 2);
  CHECK(cost(models::max_counted_tokens, models::max_rate_micro)
        == 1'000'000'000'000'000'000);
  CHECK(cost(INT64_MAX, INT64_MAX) == 1'000'000'000'000'000'000);
  CHECK(cost(-5, 100) == 0);
  test::seeded_entropy chance{3};
  for (int i = 0; i < 1000; ++i) {
    usage x;
    x.cache_write = static_cast<int64_t>(chance.next() % 1'000'000'000);
    x.cache_write_1h = static_cast<int64_t>(chance.next() % 1'000'000'000);
    models::price(x, {{20'000'000, 0, 0, 40'000'000, 0}});
    // Both kinds of writing cost 40 dollars a million here.
    CHECK(x.cost_cache_write_micro == x.cache_write * 40);
  }
}
