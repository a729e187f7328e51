#include "config/model_choice_core.hpp"

#include "config/host_safety.hpp"
#include "config/readers.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace bureau::config {

namespace {

/// Built-in providers in the order in which a credential is looked for.
constexpr std::array<std::string_view, 8> provider_order = {
  "anthropic", "openai",  "google", "openrouter",
  "groq",      "mistral", "xai",    "deepseek",
};

/// Sent where a server of this machine asks for no key: the protocols have no
/// form without one.
constexpr auto keyless = "local";

bool is_local(std::string_view base_url) {
  auto url = parse_url(base_url);
  return url && is_loopback_host(url.host);
}

bool carries_authorization(const std::vector<header_field>& headers) {
  return std::any_of(headers.begin(), headers.end(), [](const auto& field) {
    std::string name;
    for (auto c : field.name)
      name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return name == "authorization" || name == "x-api-key"
           || name == "x-goog-api-key" || name == "api-key";
  });
}

std::string joined(const std::vector<std::string>& words) {
  std::string result;
  for (const auto& word : words)
    result += (result.empty() ? "" : " or ") + word;
  return result;
}

std::vector<std::string> variables_of(const provider_entry& provider) {
  if (!provider.env.empty())
    return provider.env;
  return {key_variable_of(provider.id)};
}

/// The view of one provider id over models.json and the built-in catalogue.
struct provider_view {
  /// The entry whose models count; null = unknown.
  std::optional<provider_entry> entry;
  /// The models come from models.json.
  bool custom = false;
  /// models.json has an entry that is out of use.
  std::string fault;
};

provider_view view_of(const choice_inputs& inputs, std::string_view id) {
  provider_view result;
  auto custom = inputs.models->find(id);
  if (custom != nullptr && !custom->fault.empty()) {
    result.fault = custom->fault;
    return result;
  }
  if (custom != nullptr && !custom->models.empty()) {
    result.entry = *custom;
    result.custom = true;
    return result;
  }
  auto builtin = inputs.builtin->find(id);
  if (builtin == nullptr)
    return result;
  result.entry = *builtin;
  if (custom == nullptr)
    return result;
  // An entry without models redirects the built-in ones.
  auto& entry = *result.entry;
  if (!custom->base_url.empty())
    entry.base_url = custom->base_url;
  if (!custom->api_key.empty())
    entry.api_key = custom->api_key;
  if (!custom->headers.empty())
    entry.headers = custom->headers;
  for (auto& model : entry.models) {
    if (!custom->base_url.empty())
      model.base_url = custom->base_url;
    if (!custom->compat.empty())
      model.compat = custom->compat;
    if (!custom->headers.empty())
      model.headers = custom->headers;
  }
  return result;
}

const model_descriptor* find_model(const provider_entry& entry,
                                   std::string_view id) {
  for (const auto& model : entry.models)
    if (model.id == id)
      return &model;
  return nullptr;
}

const unusable_model* find_unusable(const provider_entry& entry,
                                    std::string_view id) {
  for (const auto& model : entry.unusable)
    if (model.id == id)
      return &model;
  return nullptr;
}

/// A model that the catalogue does not list under a provider that it does: the
/// limits of the default model, prices unknown (decision B37).
std::optional<model_descriptor> unlisted_model(const provider_entry& entry,
                                               const std::string& id) {
  auto standard = find_model(entry, entry.default_model);
  if (standard == nullptr || standard->api == "offline")
    return std::nullopt;
  auto result = *standard;
  result.id = id;
  result.name = id;
  result.rates.clear();
  return result;
}

choice_result refuse(errc code, std::string sentence) {
  choice_result result;
  result.code = code;
  result.sentence = std::move(sentence);
  return result;
}

choice_result accept(const choice_inputs& inputs, choice_step step,
                     model_descriptor model, secret_text key,
                     std::string reason) {
  choice_result result;
  result.step = step;
  result.choice.thinking_level =
    clamp_thinking_level(model, inputs.thinking_level);
  result.choice.model = std::move(model);
  result.choice.api_key = std::move(key);
  result.choice.reason = std::move(reason);
  return result;
}

choice_result choose_named(const choice_inputs& inputs, choice_step step,
                           const model_name& name, const std::string& file) {
  auto label = name.provider + '/' + name.model;
  auto named = "The model " + label + " named in " + file;
  auto broken = [&](const std::string& fault) {
    return refuse(errc::bad_config,
                  named + " cannot be used: " + inputs.models_path + " has "
                    + fault + ". Correct that entry or name another model.");
  };
  auto view = view_of(inputs, name.provider);
  if (!view.fault.empty())
    return broken(view.fault);
  if (!view.entry)
    return refuse(errc::bad_config, named + " is unknown: there is no provider "
                                      + name.provider + ". Register it in "
                                      + inputs.models_path
                                      + " or name another model.");
  const auto& entry = *view.entry;
  std::optional<model_descriptor> model;
  if (auto listed = find_model(entry, name.model))
    model = *listed;
  else if (!view.custom)
    model = unlisted_model(entry, name.model);
  if (auto unusable = find_unusable(entry, name.model); !model && unusable)
    return broken(unusable->fault);
  if (!model)
    return refuse(errc::bad_config,
                  named + " is unknown: the provider " + name.provider
                    + " has no model " + name.model + ". Register it in "
                    + inputs.models_path + " or name another model.");
  auto credential = resolve_credential(inputs, entry, model->base_url);
  if (!credential)
    return refuse(errc::no_credential,
                  named + " has no credential: " + credential.missing + '.');
  return accept(inputs, step, std::move(*model), std::move(credential.key),
                "named in " + file);
}

std::optional<choice_result> choose_first_custom(const choice_inputs& inputs) {
  for (const auto& entry : inputs.models->providers) {
    if (!entry.fault.empty() || entry.models.empty())
      continue;
    const auto& model = entry.models.front();
    auto credential = resolve_credential(inputs, entry, model.base_url);
    if (credential)
      return accept(inputs, choice_step::first_custom, model,
                    std::move(credential.key), "first entry of models.json");
  }
  return std::nullopt;
}

std::optional<choice_result>
choose_first_credential(const choice_inputs& inputs) {
  for (auto id : provider_order) {
    auto view = view_of(inputs, id);
    if (!view.entry || view.custom)
      continue;
    auto model = find_model(*view.entry, view.entry->default_model);
    if (model == nullptr)
      continue;
    auto credential = resolve_credential(inputs, *view.entry, model->base_url);
    if (credential)
      return accept(inputs, choice_step::first_credential, *model,
                    std::move(credential.key),
                    "credential found in " + credential.source);
  }
  return std::nullopt;
}

credential_result have(secret_text key, std::string source) {
  return {std::move(key), std::move(source), {}};
}

credential_result lack(std::string why) {
  return {{}, {}, std::move(why)};
}

credential_result use_stored(const choice_inputs& inputs,
                             const provider_entry& provider,
                             const stored_credential& stored) {
  auto where = inputs.auth_path;
  switch (stored.kind) {
  case credential_kind::broken:
    return lack(where + " has " + stored.fault + "; correct that entry");
  case credential_kind::api_key:
    if (!stored.key.empty())
      return have(stored.key, "auth.json");
    for (const auto& name : variables_of(provider))
      if (auto entry = stored.env.find(name); entry != stored.env.end())
        return have(entry->second, "auth.json");
    return lack("the entry of " + provider.id + " in " + where
                + " sets no variable named " + joined(variables_of(provider))
                + "; add a key to it");
  case credential_kind::oauth:
    if (!provider.oauth)
      return lack("the sign-in stored in " + where + " does not fit "
                  + provider.id + "; store an API key there instead");
    if (inputs.now_ms >= stored.expires_ms)
      return lack("the sign-in stored in " + where + " for " + provider.id
                  + " has expired, and this version cannot renew it; sign in "
                    "again or store an API key there");
    return have(stored.access, "auth.json");
  }
  return lack("the stored credential is of an unknown kind");
}

} // namespace

credential_result resolve_credential(const choice_inputs& inputs,
                                     const provider_entry& provider,
                                     std::string_view base_url) {
  if (provider.api == "offline")
    return have({}, "offline");
  if (auto stored = inputs.auth->find(provider.id))
    return use_stored(inputs, provider, *stored);
  if (!provider.api_key.empty())
    return have(provider.api_key, "models.json");
  auto names = variables_of(provider);
  for (const auto& name : names)
    if (auto found = normalize_optional(inputs.variable(name)))
      return have(secret_text{std::move(*found)}, name);
  if (is_local(base_url))
    return have(secret_text{keyless}, "none needed");
  if (carries_authorization(provider.headers))
    return have({}, "models.json");
  return lack("set " + joined(names) + " or store a key for " + provider.id
              + " in " + inputs.auth_path);
}

choice_result choose_model(const choice_inputs& inputs) {
  if (inputs.conversation)
    return choose_named(inputs, choice_step::conversation, *inputs.conversation,
                        inputs.conversation_file);
  if (inputs.global)
    return choose_named(inputs, choice_step::global, *inputs.global,
                        inputs.global_file);
  if (auto found = choose_first_custom(inputs))
    return std::move(*found);
  if (auto found = choose_first_credential(inputs))
    return std::move(*found);
  auto offline = inputs.builtin->find("offline");
  if (offline == nullptr || offline->models.empty())
    return refuse(errc::internal, "The built-in model catalogue has no offline "
                                  "responder.");
  return accept(inputs, choice_step::offline, offline->models.front(), {},
                "no model is named and no credential was found");
}

std::string key_variable_of(std::string_view provider_id) {
  std::string result;
  auto gap = false;
  for (auto c : provider_id) {
    auto upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    auto plain = (upper >= 'A' && upper <= 'Z') || (c >= '0' && c <= '9');
    if (plain)
      result += upper;
    else if (!gap)
      result += '_';
    gap = !plain;
  }
  return result + "_API_KEY";
}

std::string clamp_thinking_level(const model_descriptor& model,
                                 std::string_view level) {
  static constexpr std::array<std::string_view, 7> levels = {
    "off", "minimal", "low", "medium", "high", "xhigh", "max",
  };
  if (!model.reasoning)
    return "off";
  json::bj::object map;
  if (!model.thinking_levels.empty()) {
    auto parsed = json::parse(model.thinking_levels.text);
    if (parsed && parsed.value.is_object())
      map = std::move(parsed.value.get_object());
  }
  auto supported = [&](std::string_view candidate) {
    auto entry = map.if_contains(candidate);
    if (candidate == "xhigh" || candidate == "max")
      return entry != nullptr && entry->is_string();
    return entry == nullptr || !entry->is_null();
  };
  auto wanted = std::find(levels.begin(), levels.end(), level);
  if (wanted == levels.end())
    return "off";
  auto above = std::find_if(wanted, levels.end(), supported);
  if (above != levels.end())
    return std::string{*above};
  auto below =
    std::find_if(std::make_reverse_iterator(wanted), levels.rend(), supported);
  return below != levels.rend() ? std::string{*below} : "off";
}

std::string describe_choice(const model_choice& choice) {
  return "model " + choice.model.provider + '/' + choice.model.id + ": "
         + choice.reason;
}

} // namespace bureau::config
