#include "messages/contracts/settings_json.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/errc.hpp"
#include "messages/text/sha256.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::contracts {

namespace {

caf::error refuse(std::string_view path, std::string_view reason) {
  return make_failure(errc::bad_config, std::string{invalid_json_source} + ": "
                                          + std::string{path}
                                          + std::string{reason});
}

void merge_into(bj::object& into, const bj::object& patch, size_t depth) {
  for (const auto& member : patch) {
    auto& target = into[member.key()];
    auto inner = member.value().if_object();
    // Deeper than what can be printed nothing needs to be merged.
    if (inner == nullptr || depth > wire_depth) {
      target = member.value();
      continue;
    }
    if (!target.is_object())
      target = bj::object{};
    merge_into(target.get_object(), *inner, depth + 1);
  }
}

void remove_from(bj::object& json, const settings_path& path) {
  if (path.empty())
    return;
  auto parent = &json;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    auto next = parent->if_contains(path[i]);
    if (next == nullptr || !next->is_object())
      return;
    parent = &next->get_object();
  }
  auto found = parent->find(path.back());
  if (found != parent->end())
    parent->stable_erase(found);
}

} // namespace

caf::expected<settings_json> parse_settings_json(
  std::optional<std::string_view> text, std::string_view path) {
  settings_json result;
  result.missing = !text.has_value();
  if (!text)
    return result;
  if (text->size() > max_settings_bytes)
    return refuse(path, " is too large; make it smaller");
  result.version = text::sha256_hex(*text);
  // A byte order mark is white space to is_blank, but no JSON.
  if (text::is_blank(*text))
    return result;
  auto parsed = json::parse(*text);
  if (!parsed)
    return refuse(path, ":" + std::to_string(parsed.fault->line) + ":"
                          + std::to_string(parsed.fault->column)
                          + " is no JSON (" + parsed.fault->what
                          + "); correct or remove the file");
  if (!parsed.value.is_object())
    return refuse(path, " holds no JSON object; correct or remove the file");
  result.json = std::move(parsed.value.get_object());
  return result;
}

void apply_patch(bj::object& json, const settings_patch& patch) {
  merge_into(json, patch.set, 0);
  for (const auto& path : patch.remove)
    remove_from(json, path);
}

caf::expected<settings_text>
patched_settings_text(std::optional<std::string_view> current,
                      const settings_patch& patch, std::string_view path) {
  auto settings = parse_settings_json(current, path);
  if (!settings)
    return settings.error();
  apply_patch(settings->json, patch);
  auto text = print_wire_pretty(settings->json, max_settings_bytes - 1);
  if (!text)
    return refuse(path, " would become too large or too deep");
  *text += '\n';
  auto version = text::sha256_hex(*text);
  return settings_text{std::move(*text), std::move(version)};
}

} // namespace bureau::contracts
