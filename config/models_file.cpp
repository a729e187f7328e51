#include "config/models_file.hpp"

#include "config/host_safety.hpp"
#include "config/readers.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace bureau::config {

namespace {

using json::bj::array;
using json::bj::object;
using json::bj::value;

constexpr std::array<std::string_view, 6> known_apis = {
  "anthropic-messages",     "openai-completions",   "openai-responses",
  "azure-openai-responses", "google-generative-ai", "mistral-conversations",
};

/// Those that this version has a dialect for.
constexpr std::array<std::string_view, 2> spoken_apis = {
  "openai-completions",
  "anthropic-messages",
};

constexpr auto spoken_names = "openai-completions or anthropic-messages";

constexpr std::array<std::string_view, 7> provider_keys = {
  "name", "api", "baseUrl", "apiKey", "headers", "compat", "models",
};

constexpr std::array<std::string_view, 3> built_in_keys = {
  "default",
  "oauth",
  "env",
};

constexpr std::array<std::string_view, 13> model_keys = {
  "id",
  "name",
  "api",
  "baseUrl",
  "reasoning",
  "cost",
  "input",
  "thinkingLevelMap",
  "headers",
  "maxTokens",
  "compat",
  "contextWindow",
  "maxOutputTokens",
};

constexpr std::array<std::string_view, 5> cost_keys = {
  "input", "output", "cacheRead", "cacheWrite", "tiers",
};

constexpr std::array<std::string_view, 5> tier_keys = {
  "input", "output", "cacheRead", "cacheWrite", "inputTokensAbove",
};

constexpr std::array<std::string_view, 7> thinking_levels = {
  "off", "minimal", "low", "medium", "high", "xhigh", "max",
};

template <class List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool same_name(std::string_view left, std::string_view right) {
  auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return left.size() == right.size()
         && std::equal(left.begin(), left.end(), right.begin(),
                       [&](char a, char b) { return lower(a) == lower(b); });
}

/// What is wrong with an entry; the pointer is relative to the provider.
struct entry_problem {
  std::string pointer;
  std::string reason;
  std::string advice = "Correct the entry";
};

/// A model that cannot be called, and why.
struct model_problem {
  std::string id;
  entry_problem problem;
};

/// A key that nothing reads.
struct unknown_key {
  std::string pointer;
  std::string advice;
};

bool is_web_address(std::string_view url) {
  auto parts = parse_url(url);
  return parts && (parts.scheme == "http" || parts.scheme == "https");
}

/// Whether requests to a provider of this name find their way without baseUrl.
bool has_known_address(std::string_view provider, std::string_view api) {
  return (provider == "openai" && api == "openai-completions")
         || (provider == "anthropic" && api == "anthropic-messages");
}

/// Reads one provider. Members are read only through here, so that the first
/// problem wins and nothing is read past it.
class provider_reader {
public:
  provider_reader(std::string id, const object& source, bool built_in)
    : source_(source), built_in_(built_in) {
    entry_.id = std::move(id);
  }

  provider_entry run() {
    for (const auto& member : source_)
      if (!holds(provider_keys, member.key())
          && !(built_in_ && holds(built_in_keys, member.key())))
        note_unknown({}, member.key(), provider_keys);
    entry_.name = text(source_, {}, "name").value_or(entry_.id);
    entry_.api = text(source_, {}, "api").value_or(std::string{});
    entry_.base_url = address(source_, {}).value_or(std::string{});
    entry_.api_key =
      secret_text{text(source_, {}, "apiKey").value_or(std::string{})};
    if (entry_.api_key.reveal().find_first_of(std::string_view{"\r\n\0", 3})
        != std::string::npos)
      complain({}, "apiKey", "Expected key without line breaks");
    entry_.headers = headers(source_, {});
    entry_.compat = open_object(source_, {}, "compat");
    if (built_in_)
      read_built_in();
    if (auto models = source_.if_contains("models"))
      read_models(*models);
    return std::move(entry_);
  }

  const std::optional<entry_problem>& problem() const { return problem_; }
  const std::vector<model_problem>& unusable() const { return unusable_; }
  const std::vector<unknown_key>& unknown() const { return unknown_; }

private:
  void note_unknown(const std::string& pointer, std::string_view key,
                    std::span<const std::string_view> known) {
    auto meant = std::find_if(known.begin(), known.end(), [key](auto name) {
      return same_name(name, key);
    });
    unknown_.push_back(
      {pointer + pointer_token(key), meant != known.end()
                                       ? "Write it as " + std::string{*meant}
                                       : "Correct its spelling or remove it"});
  }

  void check_keys(const object& from, const std::string& pointer,
                  std::span<const std::string_view> known) {
    for (const auto& member : from)
      if (!holds(known, member.key()))
        note_unknown(pointer, member.key(), known);
  }

  void complain(const std::string& pointer, std::string_view name,
                std::string reason) {
    if (!problem_)
      problem_ = entry_problem{
        pointer + (name.empty() ? std::string{} : pointer_token(name)),
        std::move(reason)};
  }

  std::optional<std::string> text(const object& from,
                                  const std::string& pointer,
                                  std::string_view name) {
    auto found = from.if_contains(name);
    if (found == nullptr)
      return std::nullopt;
    if (!found->is_string()) {
      complain(pointer, name, "Expected string");
      return std::nullopt;
    }
    return normalize_optional(std::string_view{found->get_string()});
  }

  std::optional<std::string> address(const object& from,
                                     const std::string& pointer) {
    auto result = text(from, pointer, "baseUrl");
    if (result && !is_web_address(*result))
      complain(pointer, "baseUrl", "Expected http or https address");
    return result;
  }

  bool flag(const object& from, const std::string& pointer,
            std::string_view name) {
    auto found = from.if_contains(name);
    if (found == nullptr)
      return false;
    if (!found->is_bool())
      complain(pointer, name, "Expected boolean");
    return found->is_bool() && found->get_bool();
  }

  json_text open_object(const object& from, const std::string& pointer,
                        std::string_view name) {
    auto found = from.if_contains(name);
    if (found == nullptr)
      return {};
    if (!found->is_object()) {
      complain(pointer, name, "Expected object");
      return {};
    }
    return json_text{json::print(*found)};
  }

  std::optional<int64_t> tokens(const object& from, const std::string& pointer,
                                std::string_view name) {
    if (!from.contains(name))
      return std::nullopt;
    auto number = json::int_member(from, name);
    if (!number || *number < 1) {
      complain(pointer, name, "Expected positive integer");
      return std::nullopt;
    }
    return number;
  }

  /// Dollars per million tokens as millionths of a dollar.
  int64_t money(const object& from, const std::string& pointer,
                std::string_view name) {
    constexpr double bound = 1e6;
    if (!from.contains(name))
      return 0;
    auto dollars = json::number_member(from, name);
    if (!dollars || !(*dollars >= 0) || *dollars > bound) {
      complain(pointer, name, "Expected price from 0 to 1000000");
      return 0;
    }
    return std::llround(*dollars * 1e6);
  }

  std::vector<header_field> headers(const object& from,
                                    const std::string& pointer) {
    std::vector<header_field> result;
    auto found = from.if_contains("headers");
    if (found == nullptr)
      return result;
    auto map = found->if_object();
    if (map == nullptr) {
      complain(pointer, "headers", "Expected object");
      return result;
    }
    auto here = pointer + "/headers";
    for (const auto& member : *map) {
      std::string name{member.key()};
      if (!member.value().is_string()) {
        complain(here, name, "Expected string");
        continue;
      }
      std::string content{member.value().get_string()};
      if (name.empty()
          || (name + content).find_first_of(std::string_view{"\r\n\0", 3})
               != std::string::npos)
        complain(here, name, "Expected header without line breaks");
      // A header may hold a key, so none of them is ever shown.
      result.push_back({std::move(name), std::move(content), true});
    }
    return result;
  }

  /// Headers of the provider overlaid by those of the model.
  std::vector<header_field> merged_headers(std::vector<header_field> over) {
    auto result = entry_.headers;
    for (auto& field : over) {
      std::erase_if(result, [&](const header_field& below) {
        return same_name(below.name, field.name);
      });
      result.push_back(std::move(field));
    }
    return result;
  }

  std::vector<token_rates> rates(const object& from,
                                 const std::string& pointer) {
    auto found = from.if_contains("cost");
    if (found == nullptr)
      return {token_rates{}};
    auto cost = found->if_object();
    if (cost == nullptr) {
      complain(pointer, "cost", "Expected object");
      return {};
    }
    auto here = pointer + "/cost";
    check_keys(*cost, here, cost_keys);
    auto read = [&](const object& table, const std::string& at) {
      return token_rates{money(table, at, "input"), money(table, at, "output"),
                         money(table, at, "cacheRead"),
                         money(table, at, "cacheWrite"), 0};
    };
    std::vector<token_rates> result{read(*cost, here)};
    auto tiers = cost->if_contains("tiers");
    if (tiers == nullptr)
      return result;
    auto list = tiers->if_array();
    if (list == nullptr) {
      complain(here, "tiers", "Expected array");
      return result;
    }
    for (size_t i = 0; i < list->size(); ++i) {
      auto at = here + "/tiers" + pointer_token(std::to_string(i));
      auto tier = (*list)[i].if_object();
      auto above =
        tier != nullptr ? tokens(*tier, at, "inputTokensAbove") : std::nullopt;
      if (!above) {
        complain(at, {}, "Expected object with inputTokensAbove");
        return result;
      }
      check_keys(*tier, at, tier_keys);
      result.push_back(read(*tier, at));
      result.back().above_tokens = *above;
    }
    std::sort(result.begin() + 1, result.end(),
              [](const token_rates& a, const token_rates& b) {
                return a.above_tokens < b.above_tokens;
              });
    return result;
  }

  json_text level_map(const object& from, const std::string& pointer) {
    auto result = open_object(from, pointer, "thinkingLevelMap");
    if (result.empty())
      return result;
    auto here = pointer + "/thinkingLevelMap";
    for (const auto& member : from.at("thinkingLevelMap").get_object()) {
      std::string level{member.key()};
      if (!holds(thinking_levels, level))
        complain(here, level, "Expected thinking level");
      else if (!member.value().is_string() && !member.value().is_null())
        complain(here, level, "Expected string or null");
    }
    return result;
  }

  bool takes_images(const object& from, const std::string& pointer) {
    auto found = from.if_contains("input");
    if (found == nullptr)
      return false;
    auto list = found->if_array();
    auto result = false;
    if (list == nullptr)
      complain(pointer, "input", "Expected array");
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto& kind = (*list)[i];
      if (!kind.is_string()
          || (kind.get_string() != "text" && kind.get_string() != "image"))
        complain(pointer + "/input", std::to_string(i),
                 "Expected \"text\" or \"image\"");
      else
        result = result || kind.get_string() == "image";
    }
    return result;
  }

  std::string checked_api(std::string api, const std::string& pointer) {
    if (built_in_ || holds(known_apis, api))
      return api;
    complain(pointer, "api", std::string{"Expected "} + spoken_names);
    return api;
  }

  void read_models(const value& models) {
    auto list = models.if_array();
    if (list == nullptr)
      return complain({}, "models", "Expected array");
    if (list->empty())
      return;
    checked_api(entry_.api, {});
    for (size_t i = 0; i < list->size() && !problem_; ++i) {
      auto pointer = "/models" + pointer_token(std::to_string(i));
      auto source = (*list)[i].if_object();
      if (source == nullptr)
        complain(pointer, {}, "Expected object");
      else
        read_model(*source, pointer);
    }
  }

  void read_model(const object& source, const std::string& pointer) {
    check_keys(source, pointer, model_keys);
    model_descriptor model;
    auto id = text(source, pointer, "id");
    if (!id)
      return complain(pointer, "id", "Expected string");
    model.id = *id;
    model.name = text(source, pointer, "name").value_or(model.id);
    model.provider = entry_.id;
    model.api =
      checked_api(text(source, pointer, "api").value_or(entry_.api), pointer);
    model.base_url = address(source, pointer).value_or(entry_.base_url);
    model.reasoning = flag(source, pointer, "reasoning");
    model.image_input = takes_images(source, pointer);
    model.context_window = tokens(source, pointer, "contextWindow")
                             .value_or(limits::default_context_window);
    auto max = tokens(source, pointer, "maxTokens");
    auto alias = tokens(source, pointer, "maxOutputTokens");
    model.max_tokens =
      max ? *max : alias.value_or(limits::default_max_output_tokens);
    model.rates = rates(source, pointer);
    model.headers = merged_headers(headers(source, pointer));
    auto own = open_object(source, pointer, "compat");
    model.compat = own.empty() ? entry_.compat : std::move(own);
    model.thinking_levels = level_map(source, pointer);
    if (auto problem = why_unusable(
          model, source.contains("api") ? pointer + "/api" : "/api"))
      unusable_.push_back({std::move(model.id), std::move(*problem)});
    else
      entry_.models.push_back(std::move(model));
  }

  /// Why this version cannot call a model that is well-formed.
  /// @param api pointer to the api that counts
  std::optional<entry_problem> why_unusable(const model_descriptor& model,
                                            std::string api) const {
    if (built_in_)
      return std::nullopt;
    if (!holds(spoken_apis, model.api))
      return entry_problem{std::move(api),
                           "the api " + model.api
                             + " is not spoken by this version",
                           std::string{"Set api to "} + spoken_names};
    if (model.base_url.empty() && !has_known_address(model.provider, model.api))
      return entry_problem{{},
                           "baseUrl is not set",
                           "Set baseUrl to the address of the provider, such "
                           "as http://127.0.0.1:9000/v1"};
    return std::nullopt;
  }

  void read_built_in() {
    entry_.default_model = text(source_, {}, "default").value_or(std::string{});
    entry_.oauth = flag(source_, {}, "oauth");
    if (auto names = source_.if_contains("env"))
      for (const auto& name : names->as_array())
        entry_.env.emplace_back(name.as_string());
  }

  const object& source_;
  bool built_in_;
  provider_entry entry_;
  std::optional<entry_problem> problem_;
  std::vector<model_problem> unusable_;
  std::vector<unknown_key> unknown_;
};

/// Warnings of a file, bounded: a foreign file must not flood the log.
class warning_list {
public:
  warning_list(std::string_view path, std::string_view text)
    : path_(path), text_(text) {}

  void add(std::string_view pointer, std::string_view what,
           std::string_view to_do) {
    if (told_.size() < limits::config_warnings)
      told_.push_back(value_fault(path_, text_, pointer, what, to_do));
    else
      ++dropped_;
  }

  std::vector<std::string> take() {
    if (dropped_ > 0)
      told_.push_back(std::string{path_} + ": " + std::to_string(dropped_)
                      + " further warnings are left out");
    return std::move(told_);
  }

private:
  std::string_view path_;
  std::string_view text_;
  std::vector<std::string> told_;
  size_t dropped_ = 0;
};

/// Tells about models that cannot be called; one cause is told once.
void tell_unusable(provider_entry& entry, const std::string& pointer,
                   const std::vector<model_problem>& unusable,
                   warning_list& warnings) {
  std::string told;
  for (const auto& [id, problem] : unusable) {
    auto at = pointer + problem.pointer;
    entry.unusable.push_back({id, at + ": " + problem.reason});
    const auto& fault = entry.unusable.back().fault;
    if (std::exchange(told, fault) == fault)
      continue;
    if (entry.models.empty() && entry.fault.empty()) {
      entry.fault = fault;
      warnings.add(at, "the provider " + entry.id + " is not used: " + fault,
                   problem.advice);
    } else if (!entry.models.empty()) {
      warnings.add(
        at, "the model " + entry.id + '/' + id + " is not used: " + fault,
        problem.advice);
    }
  }
}

reading<models_file> read_file(std::string_view text, std::string_view path,
                               bool built_in) {
  reading<models_file> result;
  auto parsed = json::parse(text);
  if (!parsed) {
    result.fault = syntax_fault(path, *parsed.fault, "models");
    return result;
  }
  auto refuse = [&](std::string_view pointer, std::string_view what,
                    std::string_view to_do) {
    result.fault =
      value_fault(path, text, pointer,
                  "Malformed models file: " + std::string{what}, to_do);
    return result;
  };
  auto root = parsed.value.if_object();
  if (root == nullptr)
    return refuse({}, "expected a JSON object at the top level",
                  "Write {\"providers\": {…}}");
  auto providers = root->if_contains("providers");
  if (providers == nullptr || !providers->is_object())
    return refuse(providers != nullptr ? "/providers" : "",
                  "/providers: Expected object", "Write {\"providers\": {…}}");
  warning_list warnings{path, text};
  for (const auto& member : *root)
    if (member.key() != "providers" && !built_in)
      warnings.add(pointer_token(member.key()),
                   "the key " + pointer_token(member.key())
                     + " is unknown and has no effect",
                   "Correct its spelling or remove it");
  for (const auto& member : providers->get_object()) {
    std::string id{member.key()};
    auto pointer = "/providers" + pointer_token(id);
    std::optional<entry_problem> problem;
    provider_entry entry;
    if (auto source = member.value().if_object()) {
      provider_reader reader{id, *source, built_in};
      entry = reader.run();
      problem = reader.problem();
      for (const auto& key : reader.unknown())
        warnings.add(pointer + key.pointer,
                     "the key " + pointer + key.pointer
                       + " is unknown and has no effect",
                     key.advice);
      if (!problem)
        tell_unusable(entry, pointer, reader.unusable(), warnings);
    } else {
      entry.id = id;
      problem = entry_problem{{}, "Expected object"};
    }
    if (problem) {
      auto at = pointer + problem->pointer;
      entry.models.clear();
      entry.fault = at + ": " + problem->reason;
      warnings.add(at, "the provider " + id + " is not used: " + entry.fault,
                   problem->advice);
    }
    result.value.providers.push_back(std::move(entry));
  }
  result.warnings = warnings.take();
  return result;
}

} // namespace

const provider_entry* models_file::find(std::string_view id) const {
  for (const auto& entry : providers)
    if (entry.id == id)
      return &entry;
  return nullptr;
}

reading<models_file> parse_models(std::string_view text,
                                  std::string_view path) {
  return read_file(text, path, false);
}

reading<models_file> load_models(file_system& fs, const std::string& path) {
  auto file = read_config_file(fs, path);
  if (!file.fault.empty())
    return {{}, {}, std::move(file.fault)};
  if (!file.present)
    return {};
  return parse_models(file.text, path);
}

const model_catalogue& builtin_models() {
  static const model_catalogue catalogue = [] {
    model_catalogue result;
    auto text = builtin_models_text();
    auto read = read_file(text, "models_builtin.json", true);
    assert(read && read.warnings.empty());
    result.file = std::move(read.value);
    result.as_of =
      json::text_or_empty(json::parse(text).value.as_object(), "asOf");
    return result;
  }();
  return catalogue;
}

} // namespace bureau::config
