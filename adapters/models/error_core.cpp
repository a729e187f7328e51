#include "adapters/models/error_core.hpp"

#include "adapters/models/retry_after_core.hpp"
#include "config/host_safety.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/model/error_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace bureau::models {

namespace {

using error_class = model_error_class;

/// What a provider said, in whichever of the usual shapes.
struct stated_error {
  std::string message;
  std::string code;
  std::string type;
};

std::string scalar_text(const json::bj::value* value) {
  if (!value)
    return {};
  if (value->is_string())
    return std::string{value->get_string()};
  if (value->is_int64() || value->is_uint64() || value->is_double())
    return json::print(*value);
  return {};
}

/// Reads {"error":{message,type,code}}, {"type":"error","error":{…}},
/// {"error":"text"}, {"message":…}, {"detail":…} and an array of one of them.
stated_error read_error(const json::bj::value& value) {
  stated_error result;
  if (value.is_array() && !value.get_array().empty())
    return read_error(value.get_array().front());
  if (value.is_string()) {
    result.message = value.get_string();
    return result;
  }
  if (!value.is_object())
    return result;
  const auto& object = value.get_object();
  if (auto inner = json::member(object, "error");
      inner && (inner->is_object() || inner->is_string())) {
    result = read_error(*inner);
    if (!result.message.empty() || !result.code.empty() || !result.type.empty())
      return result;
  }
  for (auto name : {"message", "detail", "error_description"})
    if (result.message.empty())
      result.message = scalar_text(json::member(object, name));
  result.code = scalar_text(json::member(object, "code"));
  result.type = scalar_text(json::member(object, "type"));
  if (result.type.empty())
    result.type = scalar_text(json::member(object, "status"));
  // A router passes on what the provider behind it said.
  if (auto metadata = json::member(object, "metadata")) {
    auto raw = scalar_text(json::member(*metadata, "raw"));
    if (!raw.empty() && result.message.find(raw) == std::string::npos)
      result.message += (result.message.empty() ? "" : ": ") + raw;
  }
  return result;
}

struct code_row {
  std::string_view code;
  error_class error;
};

/// Codes and types that say the class themselves.
constexpr code_row code_table[] = {
  {"authentication_error", error_class::auth},
  {"permission_error", error_class::auth},
  {"invalid_api_key", error_class::auth},
  {"unauthenticated", error_class::auth},
  {"permission_denied", error_class::auth},
  {"insufficient_quota", error_class::quota},
  {"billing_error", error_class::quota},
  {"billing_hard_limit_reached", error_class::quota},
  {"billing_not_active", error_class::quota},
  {"freeusagelimiterror", error_class::quota},
  {"gousagelimiterror", error_class::quota},
  {"rate_limit_error", error_class::rate_limit},
  {"rate_limit_exceeded", error_class::rate_limit},
  {"resource_exhausted", error_class::rate_limit},
  {"overloaded_error", error_class::overloaded},
  {"overloaded", error_class::overloaded},
  {"service_unavailable", error_class::overloaded},
  {"unavailable", error_class::overloaded},
  {"context_length_exceeded", error_class::overflow},
  {"model_context_window_exceeded", error_class::overflow},
  {"request_too_large", error_class::overflow},
  {"model_not_found", error_class::not_found},
  {"not_found_error", error_class::not_found},
  {"api_error", error_class::server},
  {"server_error", error_class::server},
  {"internal_error", error_class::server},
  {"internal_server_error", error_class::server},
  {"internal", error_class::server},
  {"timeout_error", error_class::network},
  {"deadline_exceeded", error_class::network},
};

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

error_class class_of_code(const stated_error& stated) {
  for (const auto& name : {lower(stated.code), lower(stated.type)})
    for (const auto& row : code_table)
      if (row.code == name)
        return row.error;
  return error_class::unknown;
}

/// Classes that the words of a 400, 413 or 422 may mean; the rest of the words
/// tables would turn a refused request into one that is repeated in vain.
bool may_follow_words(error_class error) {
  switch (error) {
  case error_class::overflow:
  case error_class::quota:
  case error_class::auth:
  case error_class::rate_limit:
  case error_class::overloaded:
  case error_class::server:
    return true;
  default:
    return false;
  }
}

error_class class_of_status(uint32_t status) {
  switch (status) {
  case 401:
  case 403:
    return error_class::auth;
  case 402:
    return error_class::quota;
  case 404:
    return error_class::not_found;
  case 408:
    return error_class::network;
  case 409:
  case 425:
    return error_class::server;
  case 413:
    return error_class::overflow;
  case 429:
    return error_class::rate_limit;
  case 503:
  case 529:
    return error_class::overloaded;
  default:
    break;
  }
  if (status >= 500)
    return error_class::server;
  return status >= 400 ? error_class::bad_request : error_class::protocol;
}

error_class class_of_answer(uint32_t status, const stated_error& stated,
                            bool has_body) {
  auto by_code = class_of_code(stated);
  if (by_code != error_class::unknown)
    return by_code;
  if (status == 400 || status == 413 || status == 422) {
    if (!has_body && status != 422)
      return error_class::overflow;
    auto by_words = classify_error_text(stated.message, error_text_rule::words);
    if (may_follow_words(by_words))
      return by_words;
  }
  return class_of_status(status);
}

/// One line of readable text: control characters and runs of space fold.
std::string one_line(std::string_view text) {
  auto clean = text::sanitize_utf8(text);
  std::string result;
  auto gap = false;
  for (auto c : clean) {
    auto code = static_cast<unsigned char>(c);
    if (code <= 0x20 || code == 0x7f) {
      gap = !result.empty();
      continue;
    }
    if (std::exchange(gap, false))
      result += ' ';
    result += c;
  }
  return result;
}

/// The title of an HTML page, which is all it has to say.
std::string page_title(std::string_view page) {
  auto folded = lower(page);
  auto open = folded.find("<title");
  auto begin = open == std::string::npos ? open : folded.find('>', open);
  auto end = begin == std::string::npos ? begin : folded.find('<', begin);
  if (end == std::string::npos)
    return "an HTML page";
  return "an HTML page: " + one_line(page.substr(begin + 1, end - begin - 1));
}

std::string finished(const failure_context& context, std::string_view text) {
  auto line = redacted(one_line(text), context.secrets);
  return std::string{text::prefix_utf16(line, limits::provider_error_chars)};
}

std::string who(const failure_context& context) {
  return context.provider.empty() ? "The model provider"
                                  : "The model provider " + context.provider;
}

std::string with_code(std::string message, const stated_error& stated) {
  const auto& code = stated.code.empty() ? stated.type : stated.code;
  if (code.empty() || message.find(code) != std::string::npos)
    return message;
  return message.empty() ? code : message + " (" + code + ")";
}

std::string code_of_stated(const failure_context& context,
                           const stated_error& stated) {
  constexpr size_t longest = 120;
  const auto& code = stated.code.empty() ? stated.type : stated.code;
  auto line = finished(context, code);
  if (line == not_sent_code)
    return {};
  return std::string{text::prefix_bytes(line, longest)};
}

std::optional<int64_t> number(std::string_view digits) {
  int64_t value = 0;
  auto end = digits.data() + digits.size();
  auto [rest, fault] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || digits.front() == '-' || fault != std::errc{}
      || rest != end)
    return std::nullopt;
  return value;
}

/// `scheme://host[:port]` of an address, without what may be secret; empty when
/// it has none of its own or an odd one.
std::string origin_of(std::string_view address) {
  auto url = config::parse_url(address);
  constexpr size_t longest_name = 253;
  auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.'
           || c == '-' || c == ':';
  };
  if (!url || url.host.size() > longest_name
      || !std::all_of(url.host.begin(), url.host.end(), is_plain)
      || (url.scheme != "http" && url.scheme != "https"))
    return {};
  return url.scheme + "://" + config::host_for_url(url.host)
         + (url.port == 0 ? "" : ":" + std::to_string(url.port));
}

/// The address in the configuration is not the final one: nothing changes that
/// but a person.
call_failure redirect_failure(const failure_context& context, uint32_t status,
                              const std::vector<header_field>& headers) {
  auto address = header_value(headers, "location");
  auto origin = origin_of(address);
  auto where = !origin.empty() ? "a redirect to " + origin
               : address.starts_with('/') && !address.starts_with("//")
                 ? std::string{"a redirect to another path"}
                 : std::string{"a redirect"};
  auto result = local_failure(
    error_class::bad_request,
    finished(context, who(context) + " answered " + std::to_string(status)
                        + ", " + where
                        + ", which is not followed. Set its baseUrl in "
                          "models.json to the final address."));
  result.error.http_status = status;
  return result;
}

} // namespace

failure_context failure_context_of(const model_choice& choice) {
  failure_context result;
  result.provider = choice.model.provider;
  if (!choice.api_key.empty())
    result.secrets.push_back(choice.api_key.reveal());
  for (const auto& field : choice.model.headers)
    if (field.secret && !field.value.empty())
      result.secrets.push_back(field.value);
  return result;
}

call_failure http_failure(const failure_context& context, uint32_t status,
                          const std::vector<header_field>& headers,
                          std::string_view body, int64_t now_ms) {
  if (status >= 300 && status < 400)
    return redirect_failure(context, status, headers);
  auto kept = one_line(body);
  stated_error stated;
  if (auto value = json::parse(body))
    stated = read_error(value.value);
  else if (kept.starts_with('<'))
    kept = page_title(body);
  call_failure result;
  result.error.http_status = status;
  result.error.error = class_of_answer(status, stated, !kept.empty());
  result.error.code = code_of_stated(context, stated);
  result.error.retry_after_ms = retry_after_ms(headers, now_ms);
  auto said = with_code(stated.message.empty() ? kept : stated.message, stated);
  auto number_text = std::to_string(status);
  if (said.empty())
    said = number_text + " status code (no body)";
  auto wait = result.error.retry_after_ms / 1000;
  if (wait > 0)
    said += "; it asks to wait " + std::to_string(wait) + " s";
  result.message =
    finished(context, who(context) + " answered " + number_text + ": " + said);
  return result;
}

call_failure stream_failure(const failure_context& context,
                            const json::bj::value& error) {
  auto stated = read_error(error);
  call_failure result;
  result.error.error = class_of_code(stated);
  // Some routers put a status number where the code belongs.
  auto status = number(stated.code);
  if (result.error.error == error_class::unknown && status && *status >= 400
      && *status < 600) {
    result.error.http_status = static_cast<uint32_t>(*status);
    result.error.error =
      class_of_answer(result.error.http_status, stated, true);
  }
  if (result.error.error == error_class::unknown)
    result.error.error =
      classify_error_text(stated.message, error_text_rule::words);
  if (result.error.error == error_class::unknown
      && lower(stated.type) == "invalid_request_error")
    result.error.error = error_class::bad_request;
  result.error.code = code_of_stated(context, stated);
  auto said = with_code(stated.message, stated);
  if (said.empty())
    said = json::print(error);
  result.message = finished(
    context, who(context) + " ended the answer with an error: " + said);
  return result;
}

call_failure transport_failure(const failure_context& context, http_error error,
                               const std::string& detail,
                               uint32_t http_status) {
  call_failure result;
  result.error.http_status = http_status;
  result.error.code = to_string(error);
  auto what = std::string{"could not be reached (connection error)"};
  result.error.error = error_class::network;
  switch (error) {
  case http_error::none:
  case http_error::truncated:
    return truncated_failure(context);
  case http_error::cancelled:
  case http_error::shutting_down:
    result.error.error = error_class::cancelled;
    what = "was not heard out: the request was cancelled";
    break;
  case http_error::resolve:
    what = "could not be found: its name does not resolve (network error)";
    break;
  case http_error::connect:
    break;
  case http_error::tls:
    what = "could not be trusted: TLS failed (connection error)";
    break;
  case http_error::timeout:
    what = "did not answer in time: the connection timed out";
    break;
  case http_error::reset:
    what = "closed the connection early (connection lost)";
    break;
  case http_error::too_large:
    return bound_failure(context, "the whole response is longer than "
                                    + std::to_string(limits::model_stream_bytes)
                                    + " bytes");
  case http_error::protocol:
    result.error.error = error_class::protocol;
    what = "sent an answer that is not understood (network error)";
    break;
  case http_error::local:
    result.error.error = error_class::unknown;
    what = "could not be asked: the request failed on this side";
    break;
  }
  auto reason = detail.empty() ? std::string{} : ": " + detail;
  result.message = finished(context, who(context) + " " + what + reason);
  return result;
}

call_failure truncated_failure(const failure_context& context) {
  call_failure result;
  result.error.error = error_class::truncated;
  result.error.http_status = 200;
  result.message = finished(context, "The answer of "
                                       + (context.provider.empty()
                                            ? std::string{"the model provider"}
                                            : context.provider)
                                       + " ended without its final event.");
  return result;
}

call_failure protocol_failure(const failure_context& context,
                              std::string_view what) {
  call_failure result;
  result.error.error = error_class::protocol;
  result.error.http_status = 200;
  result.message = finished(context, who(context)
                                       + " sent a malformed answer (network "
                                         "error): "
                                       + std::string{what});
  return result;
}

call_failure bound_failure(const failure_context& context,
                           std::string_view what) {
  auto result = local_failure(
    error_class::unknown,
    finished(context, who(context) + " sent too much: " + std::string{what}
                        + ". Ask for less at once or choose another model."));
  result.error.http_status = 200;
  return result;
}

call_failure deadline_failure(const failure_context& context,
                              std::string_view what, int64_t waited_ms) {
  call_failure result;
  result.error.error = error_class::network;
  result.error.code = "timeout";
  result.message = finished(context, who(context) + " timed out: waited "
                                       + std::to_string(waited_ms / 1000)
                                       + " s for " + std::string{what});
  return result;
}

call_failure patience_failure(const failure_context& context,
                              std::string_view what, int64_t waited_ms) {
  return local_failure(
    error_class::unknown,
    finished(context, who(context)
                        + " kept its connection open but had not "
                          "sent "
                        + std::string{what} + " after "
                        + std::to_string(waited_ms / 1000)
                        + " s. Try again or choose another model."));
}

call_failure aborted_failure() {
  call_failure result;
  result.error.error = error_class::cancelled;
  result.message = "The request was aborted.";
  return result;
}

call_failure local_failure(model_error_class error, std::string sentence) {
  call_failure result;
  result.error.error = error;
  result.error.code = not_sent_code;
  result.message = std::move(sentence);
  return result;
}

std::string failure_line(std::string_view provider, std::string_view model,
                         const stream_end& end) {
  constexpr size_t longest = 200;
  const auto& failure = end.failure;
  if (failure.error == error_class::none
      || failure.error == error_class::cancelled)
    return {};
  std::string result{"the call of "};
  result += provider;
  result += '/';
  result += model;
  result += " failed: " + to_string(failure.error);
  if (failure.http_status != 0)
    result += ", HTTP " + std::to_string(failure.http_status);
  result += ": ";
  result += text::prefix_utf16(end.message.error_message, longest);
  return result;
}

std::string redacted(std::string text,
                     const std::vector<std::string>& secrets) {
  constexpr std::string_view mask = "[redacted]";
  constexpr size_t unmistakable = 8;
  auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
           || c == '_' || c == '-';
  };
  for (const auto& secret : secrets) {
    if (secret.empty())
      continue;
    std::string result;
    size_t from = 0;
    for (auto at = text.find(secret); at != std::string::npos;) {
      auto end = at + secret.size();
      auto alone = (at == 0 || !is_word(text[at - 1]))
                   && (end == text.size() || !is_word(text[end]));
      if (secret.size() < unmistakable && !alone) {
        at = text.find(secret, at + 1);
        continue;
      }
      result += text.substr(from, at - from);
      result += mask;
      from = end;
      at = text.find(secret, from);
    }
    result += text.substr(from);
    text = std::move(result);
  }
  return text;
}

} // namespace bureau::models
