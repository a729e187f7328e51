#include "config/config_view.hpp"

#include "config/env_manifest.hpp"
#include "config/readers.hpp"
#include "config/settings_schema.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/config_readers.hpp"
#include "messages/text/harmless.hpp"

#include <algorithm>
#include <optional>

namespace bureau::config {

namespace {

using contracts::config_source;
using contracts::config_view_field;

/// The variable that has a setting's meaning.
const env_variable* variable_of(std::string_view path) {
  for (const auto& row : env_manifest())
    if (row.setting == path)
      return &row;
  return nullptr;
}

/// First word of a path; of a platform the first two.
std::string section_of(std::string_view path) {
  auto end = path.find('.');
  if (path.starts_with("platforms."))
    end = path.find('.', end + 1);
  return std::string{path.substr(0, end)};
}

std::string label_of(const std::string& section) {
  auto dot = section.find('.');
  if (dot != section.npos)
    if (auto platform = parse_platform(section.substr(dot + 1)))
      return platform_title(*platform);
  auto label = section;
  if (!label.empty() && label.front() >= 'a' && label.front() <= 'z')
    label.front() = static_cast<char>(label.front() - 'a' + 'A');
  return label;
}

/// One field: the value of the variable, else of the file, else the default.
config_view_field field_of(std::string_view path, const setting_spec& spec,
                           const environment& env,
                           const settings_document& settings) {
  config_view_field field;
  field.id = std::string{path};
  auto row = variable_of(path);
  field.label = std::string{row != nullptr ? row->doc : path};
  if (row != nullptr)
    field.env_key = std::string{row->name};
  auto told = row != nullptr ? env.find(row->name) : std::nullopt;
  std::optional<std::string> value;
  if (told) {
    value = told->text;
    field.source = config_source::env;
  } else if (auto written = settings.as_variable(path)) {
    value = std::move(*written);
    field.source = config_source::json;
  } else if (!spec.standard.empty()) {
    value = std::string{spec.standard};
  }
  if (spec.secret || (row != nullptr && row->secret)) {
    auto known = value ? contracts::redacted_secret(*value)
                       : contracts::redacted_secret({});
    field.value = known.present ? "set" : "unset";
    field.redacted = true;
  } else {
    field.value = value.value_or(std::string{});
  }
  return field;
}

/// Names below a map: those of variables, then those of the file.
std::vector<std::string> members_of(const setting_spec& spec,
                                    const settings_document& settings) {
  std::vector<std::string> result;
  auto head = std::string{spec.path} + '.';
  for (const auto& row : env_manifest())
    if (row.setting.starts_with(head))
      result.emplace_back(row.setting);
  if (auto found = settings.find(spec.path))
    for (const auto& member : contracts::read_record(*found)) {
      auto path = head + std::string{member.key()};
      // A dot in a key names nothing.
      if (member.key().find('.') == json::bj::string_view::npos
          && std::find(result.begin(), result.end(), path) == result.end())
        result.push_back(std::move(path));
    }
  return result;
}

bool is_active(const std::string& section, const environment& env,
               const settings_document& settings) {
  auto is_set = [&](std::string_view name) {
    auto row = find_env(name);
    return env.find(name)
           || (row != nullptr && !row->setting.empty()
               && settings.as_variable(row->setting));
  };
  if (section == "web")
    return is_set("LINK_PORT") || is_set("LINK_URL");
  auto dot = section.find('.');
  if (dot == section.npos)
    return true;
  auto platform = parse_platform(section.substr(dot + 1));
  return platform && is_spoken(*platform)
         && missing_credentials(*platform, is_set).empty();
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width)
    text.resize(width, ' ');
  return text;
}

} // namespace

std::vector<config_view_section>
config_view(const environment& env, const settings_document& settings) {
  std::vector<config_view_section> result;
  auto section = [&](std::string_view path) -> config_view_section& {
    auto id = section_of(path);
    auto found = std::find_if(result.begin(), result.end(),
                              [&](const auto& item) { return item.id == id; });
    if (found != result.end())
      return *found;
    config_view_section fresh;
    fresh.label = label_of(id);
    fresh.active = is_active(id, env, settings);
    fresh.id = std::move(id);
    return result.emplace_back(std::move(fresh));
  };
  for (const auto& spec : settings_schema()) {
    if (spec.kind != value_kind::text_map
        && spec.kind != value_kind::object_map) {
      section(spec.path).fields.push_back(
        field_of(spec.path, spec, env, settings));
      continue;
    }
    for (const auto& path : members_of(spec, settings))
      section(path).fields.push_back(field_of(path, spec, env, settings));
  }
  return result;
}

std::string config_text(const std::vector<config_view_section>& sections) {
  std::string result;
  for (const auto& section : sections) {
    result += section.label + " [" + section.id + ']'
              + (section.active ? "\n" : " — inactive\n");
    for (const auto& field : section.fields) {
      auto value = text::harmless(field.value);
      result += "  " + padded(field.id, 38) + ' '
                + padded(value.empty() ? "-" : value, 24) + ' '
                + to_string(field.source);
      if (field.env_key)
        result += "  " + *field.env_key;
      result += '\n';
    }
    result += '\n';
  }
  return result;
}

std::string config_json(const std::vector<config_view_section>& sections) {
  json::bj::array list;
  for (const auto& section : sections)
    list.push_back(contracts::to_json(section));
  return json::print(json::bj::object{{"sections", std::move(list)}}) + '\n';
}

} // namespace bureau::config
