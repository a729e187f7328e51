#pragma once

#include "adapters/models/error_core.hpp"
#include "adapters/models/json_writer_core.hpp"
#include "messages/interfaces/model.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the requests of all providers have in common (note on the harness,
/// sections 2.4, 4.1, 4.9 and 4.10).
namespace bureau::models {

/// How long a provider shall keep the prompt for the next request.
enum class cache_retention : uint8_t { none, brief, prolonged };

/// A request in the words of one provider.
struct wire_request {
  std::string url;
  std::vector<header_field> headers;
  std::string body;
};

/// The request, or why it cannot be made; nothing was sent then.
struct built_request {
  wire_request wire;
  std::optional<call_failure> refusal;
};

// -- options of a model -------------------------------------------------------

/// The compat object of a model; flags that are not set have a default.
class compat_flags {
public:
  explicit compat_flags(const json_text& text);
  bool flag(std::string_view name, bool otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;

private:
  boost::json::object flags_;
};

/// The level itself when the model supports it, else the nearest one above,
/// else the nearest below, else "off" (section 2.4). Unknown levels are "off".
std::string clamp_thinking(const model_descriptor& model,
                           const std::string& level);

/// The level that a request states: "off" stays "off", also for models that
/// cannot stop thinking (nothing is said to them then); others are clamped.
std::string requested_thinking(const model_choice& choice);

/// What a level is called at the provider.
struct level_name {
  /// False: mapped to null, that is, not to be said at all.
  bool allowed = true;
  /// Empty: not mapped.
  std::string name;
};

level_name provider_level(const model_descriptor& model,
                          const std::string& level);

/// Output cap and the part of it for thinking (section 4.10).
struct thinking_plan {
  int64_t max_tokens = 0;
  int64_t budget = 0;
};

/// @param cap output cap that was asked for, 0 = none
thinking_plan plan_thinking(const std::string& level, int64_t cap,
                            int64_t model_max);

/// Cap of the output so that prompt and output fit into the window (section
/// 4.1 rule 1).
/// @param prompt_tokens estimate of system prompt, tools and messages
int64_t clamp_output(const model_descriptor& model, int64_t wanted,
                     int64_t prompt_tokens);

/// Estimate of everything in a request but the messages.
int64_t estimate_fixed_part(const model_request& request);

// -- addresses and headers ----------------------------------------------------

/// Lower-case host of an http or https address, without port; empty for other
/// text.
std::string host_of(std::string_view url);

/// Base address of the model or of its well-known provider, without trailing
/// slash; empty when there is none that can be used.
std::string base_url_of(const model_descriptor& model,
                        std::string_view well_known);

/// The refusal when the base address is missing or there is neither a key nor
/// a header that carries one; models on this machine need none.
std::optional<call_failure> check_endpoint(const model_choice& choice,
                                           const std::string& base_url);

/// Variable that holds the key of a provider: MY_LLM_V2_API_KEY for my-llm.v2.
std::string key_variable(std::string_view provider);

/// Lays headers over others; names are compared without case.
void overlay_headers(std::vector<header_field>& base,
                     const std::vector<header_field>& over);

// -- pieces of bodies ---------------------------------------------------------

/// The JSON of a tool's schema, or an empty object schema for unusable text.
std::string schema_text(const tool_definition& tool);

/// Arguments as the text of a JSON object; `{}` for anything else.
std::string arguments_object(const json_text& arguments);

/// All text blocks of a message joined by line feeds; blank ones are left out.
std::string joined_text(const transcript_message& message);

bool has_images(const transcript_message& message);

/// A session id as cache key: its first 64 code points.
std::string cache_key(const std::string& session_id);

} // namespace bureau::models
