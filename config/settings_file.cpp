#include "config/settings_file.hpp"

#include "config/env_manifest.hpp"
#include "config/readers.hpp"
#include "messages/contracts/config_readers.hpp"
#include "messages/errc.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <cassert>

namespace bureau::config {

namespace {

using json::bj::object;
using json::bj::value;

/// How many warnings a file may cause, so that a foreign file cannot flood the
/// log.
constexpr size_t max_warnings = limits::config_warnings;

/// Bound of a fractional number: an amount of money, which becomes millionths.
constexpr double largest_number = 1e9;

const value* walk(const object& root, std::string_view path) {
  auto group = &root;
  for (auto dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    group = &contracts::read_json_section(*group, path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  return group->if_contains(path);
}

std::string pointer_of(std::string_view path) {
  std::string result;
  for (size_t pos = 0; pos <= path.size();) {
    auto end = std::min(path.find('.', pos), path.size());
    result += pointer_token(path.substr(pos, end - pos));
    pos = end + 1;
  }
  return result;
}

std::optional<int64_t> whole_number(const value& given) {
  object holder;
  holder.emplace("x", given);
  return json::int_member(holder, "x");
}

std::vector<std::string> words_of(std::string_view choices) {
  std::vector<std::string> result;
  while (!choices.empty()) {
    auto bar = choices.find('|');
    result.emplace_back(choices.substr(0, bar));
    choices = bar == std::string_view::npos ? std::string_view{}
                                            : choices.substr(bar + 1);
  }
  return result;
}

/// Whether a text is one of the words; a blank one is none.
bool is_word_of(std::string_view word, const setting_spec& spec) {
  auto no_word = [](std::string sentence, const contracts::config_fault&) {
    return make_failure(errc::bad_config, std::move(sentence));
  };
  auto read = contracts::read_choice(word, spec.path, words_of(spec.choices),
                                     {}, no_word);
  return read && !read->empty();
}

std::string comma_list(std::string_view choices) {
  std::string result;
  for (auto c : choices) {
    if (c == '|')
      result += ", ";
    else
      result += c;
  }
  return result;
}

/// Whether a value says what happens anyway.
bool describes(const value& given, std::string_view actual) {
  if (given.is_bool())
    return actual == (given.get_bool() ? "true" : "false");
  return given.is_string() && !actual.empty()
         && std::string_view{given.get_string()} == actual;
}

/// What is wrong with a value: pointer below the setting, reason, advice.
struct value_problem {
  std::string below;
  std::string reason;
  std::string advice;
};

template <class Fits>
std::optional<value_problem> check_elements(const value& given, Fits fits,
                                            const char* expected) {
  auto list = given.if_array();
  if (list == nullptr)
    return value_problem{{}, "Expected array", "Write a list in brackets"};
  for (size_t i = 0; i < list->size(); ++i)
    if (!fits((*list)[i]))
      return value_problem{pointer_token(std::to_string(i)), expected,
                           "Correct this entry"};
  return std::nullopt;
}

template <class Fits>
std::optional<value_problem> check_members(const value& given, Fits fits,
                                           const char* expected) {
  auto map = given.if_object();
  if (map == nullptr)
    return value_problem{{}, "Expected object", "Write an object in braces"};
  for (const auto& member : *map)
    if (!fits(member.value()))
      return value_problem{pointer_token(member.key()), expected,
                           "Correct this member"};
  return std::nullopt;
}

std::optional<value_problem> check_value(const setting_spec& spec,
                                         const value& given) {
  auto is_text = [](const value& x) {
    return x.is_string();
  };
  auto is_object = [](const value& x) {
    return x.is_object();
  };
  switch (spec.kind) {
  case value_kind::text:
    if (!given.is_string())
      return value_problem{{}, "Expected string", "Write it in quotes"};
    return std::nullopt;
  case value_kind::choice:
    if (!given.is_string()
        || !is_word_of(std::string_view{given.get_string()}, spec))
      return value_problem{
        {}, "Expected union value", "Use one of " + comma_list(spec.choices)};
    return std::nullopt;
  case value_kind::boolean:
    if (!given.is_bool())
      return value_problem{{}, "Expected boolean", "Use true or false"};
    return std::nullopt;
  case value_kind::integer: {
    auto number = whole_number(given);
    if (!number)
      return value_problem{{}, "Expected integer", "Write a whole number"};
    if (*number < spec.min || *number > spec.max)
      return value_problem{{},
                           "Expected integer from " + std::to_string(spec.min)
                             + " to " + std::to_string(spec.max),
                           "Choose a number in this range"};
    return std::nullopt;
  }
  case value_kind::number:
    if (!given.is_number() || !(given.to_number<double>() > 0)
        || given.to_number<double>() > largest_number)
      return value_problem{{},
                           "Expected number above 0, at most 1000000000",
                           "Write a number such as 2.5, or remove the member"};
    return std::nullopt;
  case value_kind::text_list:
    return check_elements(given, is_text, "Expected string");
  case value_kind::id_list:
    return check_elements(
      given, [](const value& x) { return x.is_string() || whole_number(x); },
      "Expected string or integer");
  case value_kind::object_list:
    return check_elements(given, is_object, "Expected object");
  case value_kind::text_map:
    return check_members(given, is_text, "Expected string");
  case value_kind::object_map:
    return check_members(given, is_object, "Expected object");
  }
  return std::nullopt;
}

/// Reads one file: first the faults, in file order, then the warnings.
class settings_check {
public:
  settings_check(std::string_view text, std::string_view path,
                 settings_file_kind kind)
    : text_(text), path_(path), kind_(kind) {}

  reading<settings_document> run() {
    auto parsed = json::parse(text_);
    if (!parsed) {
      result_.fault = syntax_fault(path_, *parsed.fault, "settings");
      return std::move(result_);
    }
    auto root = parsed.value.if_object();
    if (root == nullptr) {
      malformed({}, "expected a JSON object at the top level",
                "Begin the file with { and end it with }");
      return std::move(result_);
    }
    if (walk(*root, "sandbox.gondolin.remote") != nullptr) {
      result_.fault =
        value_fault(path_, text_, "/sandbox/gondolin/remote",
                    "sandbox.gondolin.remote is no longer supported; use "
                    "gondolin:default and remove the remote setting",
                    "Remove the member");
      return std::move(result_);
    }
    descend(*root, {}, {});
    if (result_.fault.empty())
      check_pair(*root);
    if (dropped_ > 0)
      result_.warnings.push_back(std::string{path_} + ": "
                                 + std::to_string(dropped_)
                                 + " further warnings are left out");
    if (!result_.fault.empty())
      return std::move(result_);
    std::shared_ptr<const settings_source> source;
    if (kind_ == settings_file_kind::global)
      source = std::make_shared<const settings_source>(
        settings_source{std::string{path_}, std::string{text_}});
    result_.value = settings_document{std::move(*root), std::move(source)};
    return std::move(result_);
  }

private:
  void malformed(std::string_view pointer, std::string_view reason,
                 std::string_view advice) {
    auto what =
      "Malformed settings file: "
      + (pointer.empty() ? std::string{} : std::string{pointer} + ": ")
      + std::string{reason};
    result_.fault = value_fault(path_, text_, pointer, what, advice);
  }

  void warn(const std::string& pointer, std::string_view what,
            std::string_view advice) {
    if (result_.warnings.size() >= max_warnings) {
      ++dropped_;
      return;
    }
    auto sentence = "the setting " + pointer + ' ' + std::string{what};
    result_.warnings.push_back(
      value_fault(path_, text_, pointer, sentence, advice));
  }

  void descend(const object& group, const std::string& path,
               const std::string& pointer) {
    for (const auto& member : group) {
      std::string key{member.key()};
      auto here = pointer + pointer_token(key);
      auto name = path.empty() ? key : path + '.' + key;
      // A dot in a key would make it look like a nested setting.
      auto plain = key.find('.') == std::string::npos;
      auto spec = plain ? find_setting(name) : nullptr;
      if (spec != nullptr) {
        check_setting(*spec, member.value(), here);
      } else if (plain && is_settings_group(name)) {
        if (auto inner = member.value().if_object())
          descend(*inner, name, here);
        else
          malformed(here, "Expected object", "Write an object in braces");
      } else {
        warn(here, "is unknown and has no effect",
             "Correct its spelling or remove it");
      }
      if (!result_.fault.empty())
        return;
    }
  }

  void check_setting(const setting_spec& spec, const value& given,
                     const std::string& pointer) {
    if (auto problem = check_value(spec, given))
      return malformed(pointer + problem->below, problem->reason,
                       problem->advice);
    if (kind_ == settings_file_kind::conversation
        && spec.scope == setting_scope::global)
      warn(pointer, "has no effect in the file of a conversation",
           "Move it to the global settings.json");
    else if (spec.inert && !describes(given, spec.actual))
      warn(pointer, "is accepted but has no effect in this version",
           "Remove it, or do not rely on it");
    else if (spec.kind == value_kind::text_map)
      check_keys(spec, given.get_object(), pointer);
  }

  /// Keys stand in for variables, so only the providers with one can have them.
  void check_keys(const setting_spec& spec, const object& keys,
                  const std::string& pointer) {
    for (const auto& member : keys) {
      auto path = std::string{spec.path} + '.' + std::string{member.key()};
      auto rows = env_manifest();
      if (std::none_of(rows.begin(), rows.end(), [&](const env_variable& row) {
            return row.setting == path;
          }))
        warn(pointer + pointer_token(member.key()),
             "has no effect: no built-in provider takes such a key here",
             "Store the key of that provider in auth.json");
    }
  }

  void check_pair(const object& root) {
    settings_document file{root};
    auto provider = file.text("llm.provider");
    auto model = file.text("llm.model");
    if (provider.has_value() == model.has_value())
      return;
    auto [given, missing] = provider ? std::pair{"llm.provider", "llm.model"}
                                     : std::pair{"llm.model", "llm.provider"};
    malformed(pointer_of(given),
              std::string{"llm.provider and llm.model name a model together, "
                          "but "}
                + missing + " is not set",
              std::string{"Add "} + missing + " or remove " + given);
  }

  std::string_view text_;
  std::string_view path_;
  settings_file_kind kind_;
  reading<settings_document> result_;
  size_t dropped_ = 0;
};

/// Door leaves of one file, with the legacy mount in them.
struct door_leaves {
  std::optional<std::string> policy;
  std::optional<std::string> layout;
};

door_leaves door_of(const settings_document& file) {
  door_leaves result;
  if (auto mount = file.text("sandbox.image.workspaceMount")) {
    result.policy = "trusted";
    result.layout = *mount == "full" ? "full" : "shared-support";
  }
  if (auto policy = file.text("sandbox.workspace.doorPolicy"))
    result.policy = std::move(policy);
  if (auto layout = file.text("sandbox.workspace.layout"))
    result.layout = std::move(layout);
  return result;
}

/// The schema row of a path that code asks for; a typing error ends here.
const setting_spec& spec_of(std::string_view path) {
  auto spec = find_setting(path);
  assert(spec != nullptr);
  return *spec;
}

} // namespace

const value* settings_document::find(std::string_view path) const {
  assert(find_setting(path) != nullptr);
  return walk(root_, path);
}

std::optional<std::string>
settings_document::text(std::string_view path) const {
  auto found = find(path);
  if (found == nullptr || !found->is_string())
    return std::nullopt;
  return normalize_optional(std::string_view{found->get_string()});
}

std::optional<bool> settings_document::boolean(std::string_view path) const {
  auto found = find(path);
  if (found == nullptr || !found->is_bool())
    return std::nullopt;
  return found->get_bool();
}

std::optional<int64_t> settings_document::integer(std::string_view path) const {
  auto found = find(path);
  return found != nullptr ? whole_number(*found) : std::nullopt;
}

std::optional<double> settings_document::number(std::string_view path) const {
  auto found = find(path);
  if (found == nullptr || !found->is_number())
    return std::nullopt;
  return found->to_number<double>();
}

std::optional<std::vector<std::string>>
settings_document::list(std::string_view path) const {
  auto found = find(path);
  auto elements = found != nullptr ? found->if_array() : nullptr;
  if (elements == nullptr)
    return std::nullopt;
  std::vector<std::string> result;
  for (const auto& element : *elements) {
    if (element.is_string())
      result.push_back(
        normalize_optional(std::string_view{element.get_string()})
          .value_or(std::string{}));
    else if (auto number = whole_number(element))
      result.push_back(std::to_string(*number));
  }
  return result;
}

std::optional<std::string>
settings_document::as_variable(std::string_view path) const {
  auto found = find(path);
  if (found == nullptr)
    return std::nullopt;
  if (found->is_string())
    return text(path);
  if (auto entries = found->if_array();
      entries != nullptr && spec_of(path).kind != value_kind::object_list) {
    std::string result;
    auto texts = *list(path);
    for (const auto& entry : texts) {
      if (!result.empty())
        result += ',';
      result += entry;
    }
    return normalize_optional(result);
  }
  return json::print(*found);
}

std::string settings_document::fault(std::string_view path,
                                     std::string_view what,
                                     std::string_view to_do,
                                     std::string_view below) const {
  auto sentence = std::string{path} + ' ' + std::string{what};
  if (source_ == nullptr)
    return sentence + ". " + std::string{to_do} + '.';
  return value_fault(source_->path, source_->text,
                     pointer_of(path) + std::string{below}, sentence, to_do);
}

reading<settings_document> parse_settings(std::string_view text,
                                          std::string_view path,
                                          settings_file_kind kind) {
  return settings_check{text, path, kind}.run();
}

reading<settings_document> load_settings(file_system& fs,
                                         const std::string& path,
                                         settings_file_kind kind) {
  auto file = read_config_file(fs, path);
  if (!file.fault.empty())
    return {{}, {}, std::move(file.fault)};
  if (!file.present)
    return {};
  return parse_settings(file.text, path, kind);
}

std::optional<model_name> model_of(const settings_document& file) {
  auto provider = file.text("llm.provider");
  auto model = file.text("llm.model");
  if (!provider || !model)
    return std::nullopt;
  return model_name{std::move(*provider), std::move(*model)};
}

std::string layered_settings::text(std::string_view path) const {
  const auto& spec = spec_of(path);
  if (conversation_ != nullptr && spec.scope == setting_scope::both)
    if (auto found = conversation_->text(path))
      return *found;
  return global_->text(path).value_or(std::string{spec.standard});
}

bool layered_settings::boolean(std::string_view path) const {
  const auto& spec = spec_of(path);
  if (conversation_ != nullptr && spec.scope == setting_scope::both)
    if (auto found = conversation_->boolean(path))
      return *found;
  return global_->boolean(path).value_or(
    read_boolean(spec.standard).value_or(false));
}

std::optional<int64_t> layered_settings::integer(std::string_view path) const {
  const auto& spec = spec_of(path);
  if (conversation_ != nullptr && spec.scope == setting_scope::both)
    if (auto found = conversation_->integer(path))
      return found;
  if (auto found = global_->integer(path))
    return found;
  return read_integer(spec.standard, spec.min, spec.max);
}

std::optional<double> layered_settings::number(std::string_view path) const {
  const auto& spec = spec_of(path);
  if (conversation_ != nullptr && spec.scope == setting_scope::both)
    if (auto found = conversation_->number(path))
      return found;
  return global_->number(path);
}

std::vector<std::string> layered_settings::list(std::string_view path) const {
  const auto& spec = spec_of(path);
  if (conversation_ != nullptr && spec.scope == setting_scope::both)
    if (auto found = conversation_->list(path))
      return *found;
  return global_->list(path).value_or(std::vector<std::string>{});
}

door layered_settings::effective_door() const {
  auto leaves = door_of(*global_);
  if (conversation_ != nullptr) {
    auto over = door_of(*conversation_);
    if (over.policy)
      leaves.policy = std::move(over.policy);
    if (over.layout)
      leaves.layout = std::move(over.layout);
  }
  door result;
  result.policy = leaves.policy.value_or("isolated");
  // A layout left over from a wider door must not open an isolated one, and a
  // trusted one shares at least what all conversations have in common.
  if (result.policy == "trusted")
    result.layout = leaves.layout == "full" ? "full" : "shared-support";
  return result;
}

} // namespace bureau::config
