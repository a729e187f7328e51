#pragma once

#include "messages/inspect_support.hpp"
#include "messages/json_text.hpp"
#include "messages/limits.hpp"
#include "messages/secret.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bureau {

/// A header that a provider wants on every request; values may be secret.
struct header_field {
  std::string name;
  std::string value;
  bool secret = false;
  friend bool operator==(const header_field&, const header_field&) = default;
};

BUREAU_INSPECT(header_field, x.name, x.value, x.secret);

/// Prints the name, and the value only when it is not secret.
inline std::string to_string(const header_field& field) {
  return field.name + ": " + (field.secret ? "[redacted]" : field.value);
}

/// Price of a million tokens in millionths of a US dollar.
struct token_rates {
  int64_t input_micro = 0;
  int64_t output_micro = 0;
  int64_t cache_read_micro = 0;
  int64_t cache_write_micro = 0;
  /// Rates for requests whose prompt exceeds this many tokens; 0 = base rates.
  int64_t above_tokens = 0;
  friend bool operator==(const token_rates&, const token_rates&) = default;
};

BUREAU_INSPECT(token_rates, x.input_micro, x.output_micro, x.cache_read_micro,
               x.cache_write_micro, x.above_tokens);

/// Everything the harness and a provider client must know about one model
/// (note on the harness, section 2.4).
struct model_descriptor {
  std::string id;
  std::string name;
  /// "openai-completions", "anthropic-messages", "offline", …
  std::string api;
  std::string provider;
  std::string base_url;
  bool reasoning = false;
  bool image_input = false;
  int64_t context_window = limits::default_context_window;
  int64_t max_tokens = limits::default_max_output_tokens;
  /// First entry: base rates; further ones: tiers, ascending.
  std::vector<token_rates> rates;
  std::vector<header_field> headers;
  /// Per-API flags as a JSON object; empty = none.
  json_text compat;
  /// Map of thinking level to provider value as a JSON object; empty = none.
  json_text thinking_levels;
  friend bool operator==(const model_descriptor&,
                         const model_descriptor&) = default;
};

BUREAU_INSPECT(model_descriptor, x.id, x.name, x.api, x.provider, x.base_url,
               x.reasoning, x.image_input, x.context_window, x.max_tokens,
               x.rates, x.headers, x.compat, x.thinking_levels);

/// The model of one run with what is needed to call it (decision B3).
struct model_choice {
  model_descriptor model;
  secret_text api_key;
  std::string thinking_level = "off";
  /// Why this one, for the log: "first entry of models.json".
  std::string reason;
  friend bool operator==(const model_choice&, const model_choice&) = default;
};

BUREAU_INSPECT(model_choice, x.model, x.api_key, x.thinking_level, x.reason);

} // namespace bureau
