#pragma once

#include "config/auth_file.hpp"
#include "config/models_file.hpp"
#include "config/settings_file.hpp"
#include "messages/errc.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Which model a run uses (decision B3): one pure function, first match wins.
namespace bureau::config {

/// Value of an environment variable, layered over the settings; "" = unset.
using variable_source = std::function<std::string(std::string_view name)>;

/// Everything the choice depends on. The pointers must not be null.
struct choice_inputs {
  /// Pair of the conversation's file and that file's path, for the messages.
  std::optional<model_name> conversation;
  std::string conversation_file;
  /// Pair of the global file.
  std::optional<model_name> global;
  std::string global_file;
  std::string thinking_level = "off";
  const models_file* models = nullptr;
  std::string models_path = "models.json";
  const models_file* builtin = nullptr;
  const auth_file* auth = nullptr;
  std::string auth_path = "auth.json";
  variable_source variable;
  int64_t now_ms = 0;
};

/// Which of the five steps chose.
enum class choice_step : uint8_t {
  conversation,
  global,
  first_custom,
  first_credential,
  offline,
};

/// A choice, or the sentence for the person who asked. A named model that is
/// unknown (bad_config) or has no credential (no_credential) is an error, never
/// a fallback.
struct choice_result {
  model_choice choice;
  choice_step step = choice_step::offline;
  errc code = errc::none;
  std::string sentence;
  explicit operator bool() const { return code == errc::none; }
};

choice_result choose_model(const choice_inputs& inputs);

/// A credential, or why there is none.
struct credential_result {
  secret_text key;
  /// Where it came from: "auth.json", "models.json", a variable's name.
  std::string source;
  std::string missing;
  explicit operator bool() const { return missing.empty(); }
};

/// Credential of a provider (note 03, 3.20): a stored one owns the provider;
/// then the key of models.json; then the provider's variables in order. A
/// server on this machine, or one that gets its own authorization header, needs
/// none.
/// @param base_url where the request will go
credential_result resolve_credential(const choice_inputs& inputs,
                                     const provider_entry& provider,
                                     std::string_view base_url);

/// Variable of a provider that is not built in: `my-llm.v2` is
/// MY_LLM_V2_API_KEY.
std::string key_variable_of(std::string_view provider_id);

/// The nearest thinking level that a model supports (note 03, 2.4): itself,
/// else the next one above, else the next one below, else off.
std::string clamp_thinking_level(const model_descriptor& model,
                                 std::string_view level);

/// `model lab/tiny: first entry of models.json`, for the log and the console.
std::string describe_choice(const model_choice& choice);

} // namespace bureau::config
