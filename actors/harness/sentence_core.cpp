#include "actors/harness/sentence_core.hpp"

#include "messages/limits.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

namespace bureau::harness {

namespace {

constexpr size_t code_shown = 64;

constexpr uint32_t first_failing_status = 300;

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/// " (HTTP 429, rate_limit_error)"; a code that is no plain word is left out.
std::string facts_of(const model_error& failure) {
  std::string result;
  // The status of an answer that began well says nothing.
  if (failure.http_status >= first_failing_status)
    result = "HTTP " + std::to_string(failure.http_status);
  const auto& code = failure.code;
  if (!code.empty() && code.size() <= code_shown
      && std::all_of(code.begin(), code.end(), is_word))
    result += (result.empty() ? "" : ", ") + code;
  return result.empty() ? result : " (" + result + ")";
}

std::string after_tries(int retries) {
  if (retries <= 0)
    return {};
  return ", also after " + std::to_string(retries)
         + (retries == 1 ? " retry" : " retries");
}

/// Rounded up, so that nobody comes too early: 5400000 → "90 minutes".
/// @param ms more than a minute
std::string wait_text(int64_t ms) {
  constexpr int64_t minute_ms = 60'000;
  constexpr int64_t hour_ms = 60 * minute_ms;
  auto hours = ms > 2 * hour_ms;
  auto unit_ms = hours ? hour_ms : minute_ms;
  return std::to_string((ms + unit_ms - 1) / unit_ms)
         + (hours ? " hours" : " minutes");
}

/// The end of a sentence: a wait that our retries could not sit out, or what
/// else to do.
std::string when_again(const model_error& failure, const std::string& tries,
                       const char* otherwise) {
  constexpr int64_t cap_ms =
    std::chrono::milliseconds{limits::model_retry_cap}.count();
  if (failure.retry_after_ms <= cap_ms)
    return tries + otherwise;
  return tries + (tries.empty() ? "" : ",") + " and asks to wait "
         + wait_text(failure.retry_after_ms) + ". Send the message again then.";
}

std::string host_of(std::string_view url) {
  auto scheme = url.find("://");
  if (scheme != std::string_view::npos)
    url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (auto user = url.rfind('@'); user != std::string_view::npos)
    url.remove_prefix(user + 1);
  if (!url.empty() && url.front() == '[')
    return lower(url.substr(1, url.find(']') - 1));
  return lower(url.substr(0, url.find(':')));
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

} // namespace

std::string model_failure_sentence(const model_descriptor& model,
                                   const model_error& failure,
                                   const std::string& said, int retries) {
  if (failure.code == not_sent_code && !said.empty())
    return said;
  auto provider = "The model provider " + model.provider;
  auto facts = facts_of(failure);
  auto tries = after_tries(retries);
  switch (failure.error) {
  case model_error_class::auth:
    return provider + " refused our credential" + facts
           + ". Check its key: " + key_variable(model.provider)
           + " or the entry " + model.provider + " in auth.json.";
  case model_error_class::quota:
    return provider + " says that the account has no quota left" + facts
           + ". Add credit there or choose another model.";
  case model_error_class::rate_limit:
    return provider + " limits the rate of requests" + facts
           + when_again(failure, tries, ". Try again in a minute.");
  case model_error_class::overloaded:
    return provider + " is overloaded" + facts
           + when_again(failure, tries,
                        ". Try again in a few minutes or choose another "
                        "model.");
  case model_error_class::overflow:
    return "This conversation is too long for the model " + model.id
           + ". Start a new session with /new or choose a model with a larger "
             "context window.";
  case model_error_class::bad_request:
    return provider + " rejected the request as invalid" + facts
           + ". Start a new session with /new; if that does not help, choose "
             "another model.";
  case model_error_class::not_found:
    return provider + " does not know the model " + model.id + facts
           + ". Choose another model in the settings.";
  case model_error_class::server:
    return provider + " had an internal error" + facts
           + when_again(failure, tries, ". Try again in a few minutes.");
  case model_error_class::network:
    return "The connection to the model provider " + model.provider + " failed"
           + facts + tries
           + ". Check the network of this host, then try again.";
  case model_error_class::truncated:
    return "The reply of the model provider " + model.provider
           + " broke off before its end" + facts + tries + ". Try again.";
  case model_error_class::protocol:
    return provider + " sent a reply that could not be read" + facts + tries
           + ". Try again or choose another model.";
  case model_error_class::cancelled:
    return "The request to the model " + model.id
           + " was cancelled before its end. Try again.";
  case model_error_class::none:
  case model_error_class::unknown:
    break;
  }
  return "The request to the model " + model.id + " of " + model.provider
         + " failed" + facts + tries
         + ". Try again; if it fails again, look into the log of the node.";
}

std::string budget_sentence(const std::string& reason) {
  return "I stopped because this run reached its budget (" + reason
         + "). Send another message to go on.";
}

std::string repetition_sentence(size_t rounds) {
  return "I stopped because the model repeated the same tool call "
         + std::to_string(rounds)
         + " times in a row and always got the same result. Send another "
           "message to go on, best with a hint what to try instead.";
}

std::string unsaved_sentence() {
  return "I could not begin because this conversation cannot be saved to disk; "
         "nothing is lost: free disk space or check the permissions of the "
         "sessions directory, then send the message again.";
}

std::string storage_sentence() {
  return "I stopped because this conversation cannot be saved to disk any "
         "more; "
         "what was saved before is kept: free disk space or check the "
         "permissions of the sessions directory, then send the message again.";
}

std::string length_sentence(const model_descriptor& model) {
  return "The reply of the model " + model.id
         + " reached its output limit before there was any text. Ask for less "
           "at once or choose a model with a larger output limit.";
}

std::string credential_sentence(const model_descriptor& model) {
  return "There is no credential for the model provider " + model.provider
         + ". Set " + key_variable(model.provider) + " or add " + model.provider
         + " to auth.json.";
}

bool needs_credential(const model_descriptor& model) {
  static constexpr std::array<std::string_view, 4> carriers = {
    "authorization", "x-api-key", "x-goog-api-key", "api-key"};
  if (model.base_url.empty() || is_loopback(host_of(model.base_url)))
    return false;
  return std::none_of(
    model.headers.begin(), model.headers.end(), [](const auto& field) {
      auto name = lower(field.name);
      return !field.value.empty()
             && std::find(carriers.begin(), carriers.end(), name)
                  != carriers.end();
    });
}

std::string key_variable(const std::string& provider) {
  std::string result;
  for (auto c : provider) {
    if (c >= 'a' && c <= 'z')
      result += static_cast<char>(c - 'a' + 'A');
    else
      result += (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  }
  return result + "_API_KEY";
}

} // namespace bureau::harness
