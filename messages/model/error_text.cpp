#include "messages/model/error_text.hpp"

#include <algorithm>
#include <string>

namespace bureau {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

/// Patterns are lower case. `#` is a number with optional commas, `~` any
/// single optional character, `*` any run, `{…}` an optional literal.
bool matches_here(std::string_view pattern, std::string_view text) {
  while (!pattern.empty()) {
    auto c = pattern.front();
    auto rest = pattern.substr(1);
    if (c == '#') {
      if (text.empty() || !is_digit(text.front()))
        return false;
      while (!text.empty() && (is_digit(text.front()) || text.front() == ','))
        text.remove_prefix(1);
    } else if (c == '~') {
      if (!text.empty() && matches_here(rest, text.substr(1)))
        return true;
    } else if (c == '*') {
      for (size_t i = 0; i <= text.size(); ++i)
        if (matches_here(rest, text.substr(i)))
          return true;
      return false;
    } else if (c == '{') {
      auto end = rest.find('}');
      auto option = rest.substr(0, end);
      rest = rest.substr(end + 1);
      if (text.starts_with(option)
          && matches_here(rest, text.substr(option.size())))
        return true;
    } else {
      if (text.empty() || text.front() != c)
        return false;
      text.remove_prefix(1);
    }
    pattern = rest;
  }
  return true;
}

bool contains(std::string_view text, std::string_view pattern) {
  for (size_t i = 0; i < text.size(); ++i)
    if (matches_here(pattern, text.substr(i)))
      return true;
  return false;
}

/// Like contains, but not in the middle of a word or number.
bool contains_word(std::string_view text, std::string_view pattern) {
  for (size_t i = 0; i < text.size(); ++i)
    if ((i == 0 || !is_word(text[i - 1]))
        && matches_here(pattern, text.substr(i)))
      return true;
  return false;
}

template <size_t Size>
bool contains_any(std::string_view text,
                  const std::string_view (&table)[Size]) {
  return std::any_of(std::begin(table), std::end(table),
                     [text](auto pattern) { return contains(text, pattern); });
}

/// A number that is not part of a longer number, a name or a version.
bool contains_number(std::string_view text, std::string_view number) {
  for (auto at = text.find(number); at != std::string_view::npos;
       at = text.find(number, at + 1)) {
    auto after = at + number.size();
    auto open = at == 0 || !(is_word(text[at - 1]) || text[at - 1] == '.');
    auto shut = after == text.size()
                || !(is_word(text[after])
                     || (text[after] == '.' && after + 1 < text.size()
                         && is_digit(text[after + 1])));
    if (open && shut)
      return true;
  }
  return false;
}

template <size_t Size>
bool contains_number_of(std::string_view text,
                        const std::string_view (&table)[Size]) {
  return std::any_of(std::begin(table), std::end(table), [text](auto number) {
    return contains_number(text, number);
  });
}

constexpr std::string_view overflow_table[] = {
  "prompt is too long",
  "request_too_large",
  "input is too long for requested model",
  "exceeds the context window",
  "exceeds {the }{model's }maximum context length of # tokens",
  "exceeds {the }{model's }maximum context length of (#)",
  "exceeds {the }{model's }maximum context length (#)",
  "input token count*exceeds the maximum",
  "maximum prompt length is #",
  "reduce the length of the messages",
  "maximum context length is # tokens",
  "exceeds {the }maximum allowed input length of # tokens",
  "input (# tokens) is longer than the model's context length (# tokens)",
  "exceeds the limit of #",
  "exceeds the available context size",
  "greater than the context length",
  "context window exceeds limit",
  "exceeded model token limit",
  "too large for model with # maximum context length",
  "prompt has # tokens, but the configured context size is # tokens",
  "model_context_window_exceeded",
  "prompt too long; exceeded {max }context length",
  "context_length_exceeded",
  "context length exceeded",
  "too many tokens",
  "token limit exceeded",
};

constexpr std::string_view quota_table[] = {
  "insufficient_quota", "quota exceeded",
  "out of budget",      "billing",
  "available balance",  "monthly usage limit",
  "free~usage~limit",   "go~usage~limit",
};

constexpr std::string_view auth_table[] = {
  "invalid~api~key",      "incorrect~api~key", "invalid x-api-key",
  "authentication_error", "unauthorized",
};

constexpr std::string_view rate_table[] = {
  "rate~limit",
  "too~many~requests",
  "resource~exhausted",
  "retry~delay",
};

constexpr std::string_view overloaded_table[] = {
  "overloaded",
  "service~unavailable",
};

constexpr std::string_view server_table[] = {
  "provider~returned~error", "server~error",
  "internal~error",          "you can retry your request",
  "try your request again",  "please retry your request",
};

constexpr std::string_view network_table[] = {
  "network~error",
  "connection~error",
  "connection~refused",
  "connection~lost",
  "websocket~closed",
  "websocket~error",
  "other~side~closed",
  "fetch~failed",
  "upstream~connect",
  "reset~before~headers",
  "socket~hang~up",
  "socket connection was closed",
  "http2 request did not get a response",
  "timed~out",
  "timeout",
  "terminated",
};

constexpr std::string_view truncated_table[] = {
  "ended~without",
  "stream ended before message_stop",
};

constexpr std::string_view rate_numbers[] = {"429"};
constexpr std::string_view overloaded_numbers[] = {"503", "529"};
constexpr std::string_view server_numbers[] = {"500", "502", "504", "524"};

bool is_overflow(std::string_view text) {
  if (text.starts_with("throttling error:")
      || text.starts_with("service unavailable:")
      || contains(text, "rate~limit") || contains(text, "too many requests"))
    return false;
  return contains_any(text, overflow_table)
         || contains_word(text, "400{ status code} (no body)")
         || contains_word(text, "413{ status code} (no body)");
}

} // namespace

model_error_class classify_error_text(std::string_view sentence,
                                      error_text_rule rule) {
  // Nothing that a provider says is longer; a longer text is not worth more.
  std::string text{sentence.substr(0, 4 * limits::provider_error_chars)};
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  auto numbers = rule == error_text_rule::words_and_numbers;
  if (is_overflow(text))
    return model_error_class::overflow;
  if (contains_any(text, quota_table))
    return model_error_class::quota;
  if (contains_any(text, auth_table))
    return model_error_class::auth;
  if (contains_any(text, truncated_table))
    return model_error_class::truncated;
  if (contains_any(text, rate_table)
      || (numbers && contains_number_of(text, rate_numbers)))
    return model_error_class::rate_limit;
  if (contains_any(text, overloaded_table)
      || (numbers && contains_number_of(text, overloaded_numbers)))
    return model_error_class::overloaded;
  if (contains_any(text, server_table)
      || (numbers && contains_number_of(text, server_numbers)))
    return model_error_class::server;
  if (contains_any(text, network_table))
    return model_error_class::network;
  return model_error_class::unknown;
}

model_error_class parse_error_class(std::string_view name) {
  if (name.empty())
    return model_error_class::none;
  for (auto value = static_cast<int>(model_error_class::none);
       value <= static_cast<int>(model_error_class::unknown); ++value) {
    auto error = static_cast<model_error_class>(value);
    if (to_string(error) == name)
      return error;
  }
  return model_error_class::unknown;
}

bool is_retryable(model_error_class error) {
  switch (error) {
  case model_error_class::rate_limit:
  case model_error_class::overloaded:
  case model_error_class::server:
  case model_error_class::network:
  case model_error_class::truncated:
  case model_error_class::protocol:
    return true;
  case model_error_class::none:
  case model_error_class::auth:
  case model_error_class::quota:
  case model_error_class::overflow:
  case model_error_class::bad_request:
  case model_error_class::not_found:
  case model_error_class::cancelled:
  case model_error_class::unknown:
    return false;
  }
  return false;
}

} // namespace bureau
