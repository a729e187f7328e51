#include "actors/settings/patch_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/settings_json.hpp"
#include "messages/errc.hpp"
#include "messages/text/utf8.hpp"

#include <utility>
#include <vector>

namespace bureau::settings {

namespace {

namespace bj = boost::json;

/// Takes a merge patch apart: what gets a value, and what goes.
bj::object split(const bj::object& patch, contracts::settings_path& at,
                 std::vector<contracts::settings_path>& remove) {
  bj::object set;
  for (const auto& member : patch) {
    at.emplace_back(member.key());
    if (member.value().is_null())
      remove.push_back(at);
    else if (auto inner = member.value().if_object())
      set[member.key()] = split(*inner, at, remove);
    else
      set[member.key()] = member.value();
    at.pop_back();
  }
  return set;
}

} // namespace

caf::expected<std::string> patched_text(std::optional<std::string_view> current,
                                        const json_text& patch,
                                        const std::string& path,
                                        config::settings_file_kind kind) {
  auto change = json::parse(patch.text);
  if (!change || !change.value.is_object())
    return make_failure(errc::bad_request,
                        "A change of settings must be a JSON object.");
  if (current && !text::is_blank(*current)) {
    auto before = config::parse_settings(*current, path, kind);
    if (!before)
      return make_failure(errc::bad_config, before.fault);
  }
  contracts::settings_patch wanted;
  contracts::settings_path at;
  wanted.set = split(change.value.get_object(), at, wanted.remove);
  auto result = contracts::patched_settings_text(current, wanted, path);
  if (!result)
    return result.error();
  auto after = config::parse_settings(result->text, path, kind);
  if (!after)
    return make_failure(errc::bad_config,
                        "The change would not be valid: " + after.fault);
  return std::move(result->text);
}

} // namespace bureau::settings
