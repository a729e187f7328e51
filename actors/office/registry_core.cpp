#include "actors/office/registry_core.hpp"

#include "messages/codec/conversation_names.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/product.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <unordered_set>

namespace bureau::offices {

namespace {

std::string quoted(std::string_view text) {
  return json::print(boost::json::value(boost::json::string(text)));
}

registry_change refuse(std::string fault) {
  return {std::move(fault), false};
}

bool is_enabled(const registry_state& state, platform_id platform) {
  auto& enabled = state.enabled_platforms;
  return std::find(enabled.begin(), enabled.end(), platform) != enabled.end();
}

/// The one enabled platform whose id format fits.
std::optional<platform_id> inferred_owner(const registry_state& state,
                                          std::string_view raw_id) {
  std::optional<platform_id> owner;
  for (auto platform : state.enabled_platforms) {
    if (!matches_id_format(platform, raw_id))
      continue;
    if (owner)
      return std::nullopt;
    owner = platform;
  }
  return owner;
}

migration_record* find(registry_state& state, std::string_view raw_id) {
  for (auto& record : state.migrations)
    if (record.raw_id == raw_id)
      return &record;
  return nullptr;
}

void transit(migration_record& record, migration_status status,
             std::string_view now, std::string error = {}) {
  record.status = status;
  record.error = std::move(error);
  record.updated_at = now;
}

registry_change unknown_migration(std::string_view raw_id) {
  return refuse("no office migration is recorded for " + quoted(raw_id));
}

std::string trimmed(std::string_view text) {
  return std::string{text::trim(text)};
}

/// Checks of a request that leave no record when they fail.
std::string check_request(const migration_request& request,
                          const path_probe& kind_of) {
  auto fault = check_conversation_id(request.raw_id);
  if (fault != address_fault::none)
    return bureau::sentence_of(fault, "", request.raw_id);
  if (!request.workspace_root.starts_with('/')
      || !text::is_valid_utf8(request.workspace_root))
    return "Workspace root " + quoted(request.workspace_root)
           + " must be an absolute path in UTF-8";
  auto source = join_path(request.workspace_root, request.raw_id);
  if (request.source_dir != source)
    return "the source of the migration of " + quoted(request.raw_id)
           + " must be " + source;
  auto root = kind_of(request.workspace_root);
  if (!root.fault.empty())
    return root.fault;
  if (root.kind != file_kind::directory)
    return "Workspace root " + request.workspace_root
           + " must be a regular directory";
  auto at = kind_of(source);
  if (at.fault.empty() && at.kind != file_kind::absent
      && at.kind != file_kind::directory)
    return "the source " + source
           + " must be a regular directory, not a "
             "symlink or a file";
  return at.fault;
}

/// A source that is there, or why it cannot be moved.
std::string check_source(const std::string& source, const path_probe& kind_of) {
  auto at = kind_of(source);
  if (!at.fault.empty() || at.kind == file_kind::directory)
    return at.fault;
  return "the source " + source + " must be a regular directory";
}

} // namespace

bool enable_platform(registry_state& state, platform_id platform) {
  if (platform == platform_id::console || is_enabled(state, platform))
    return false;
  auto by_name = [](platform_id x, platform_id y) {
    return to_string(x) < to_string(y);
  };
  auto& enabled = state.enabled_platforms;
  enabled.push_back(platform);
  std::sort(enabled.begin(), enabled.end(), by_name);
  return true;
}

bool record_office(registry_state& state, const office_address& address,
                   std::string_view now) {
  if (find_office(state, address) != nullptr)
    return false;
  state.offices.push_back({address, std::string{now}});
  return true;
}

const office_record* find_office(const registry_state& state,
                                 const office_address& address) {
  for (auto& record : state.offices)
    if (record.address == address)
      return &record;
  return nullptr;
}

const migration_record* find_migration(const registry_state& state,
                                       std::string_view raw_id) {
  for (auto& record : state.migrations)
    if (record.raw_id == raw_id)
      return &record;
  return nullptr;
}

registry_change prepare_migration(registry_state& state,
                                  const migration_request& request,
                                  const path_probe& kind_of,
                                  std::string_view now) {
  auto fault = check_request(request, kind_of);
  if (!fault.empty())
    return refuse(fault);
  auto record = find(state, request.raw_id);
  if (record != nullptr) {
    if (record->source_dir != request.source_dir
        || record->workspace_root != request.workspace_root)
      return refuse("the inputs changed: the migration of "
                    + quoted(request.raw_id) + " was recorded for "
                    + record->source_dir);
    if (record->status != migration_status::needs_owner)
      return {};
  }
  if (fault = check_source(request.source_dir, kind_of); !fault.empty())
    return refuse(fault);
  if (request.owner && !is_enabled(state, *request.owner))
    return refuse("platform " + to_string(*request.owner)
                  + " is not enabled; set its credentials, or enable it in "
                    "the settings, and start the node once");
  auto owner =
    request.owner ? request.owner : inferred_owner(state, request.raw_id);
  if (!owner && record != nullptr)
    return {};
  std::string target;
  path_facts at_target;
  if (owner) {
    target =
      join_path(request.workspace_root, office_key({*owner, request.raw_id}));
    at_target = kind_of(target);
    if (!at_target.fault.empty())
      return refuse(at_target.fault);
  }
  if (record == nullptr) {
    state.migrations.emplace_back();
    record = &state.migrations.back();
    record->raw_id = request.raw_id;
    record->source_dir = request.source_dir;
    record->workspace_root = request.workspace_root;
  }
  if (!owner) {
    transit(*record, migration_status::needs_owner, now);
    return {{}, true};
  }
  record->owner = owner;
  record->target_dir = target;
  if (at_target.kind != file_kind::absent) {
    auto reason = "Target " + target + " already exists";
    transit(*record, migration_status::failed, now, reason);
    return {reason, true};
  }
  transit(*record, migration_status::prepared, now);
  return {{}, true};
}

registry_change claim_directory(registry_state& state,
                                const office_address& claimed,
                                const std::string& workspace_root,
                                const path_probe& kind_of,
                                std::string_view now) {
  const auto& raw_id = claimed.conversation_id;
  auto owner = claimed.platform;
  auto result = prepare_migration(
    state, {raw_id, join_path(workspace_root, raw_id), workspace_root, owner},
    kind_of, now);
  if (!result.fault.empty())
    return result;
  auto record = find_migration(state, raw_id);
  if (record == nullptr || record->owner != owner)
    result.fault = raw_id + " is already claimed for "
                   + (record && record->owner ? to_string(*record->owner)
                                              : std::string{"nobody"})
                   + "; nothing was changed";
  else if (record->status == migration_status::failed)
    result.fault = "the migration of " + raw_id
                   + " has failed: " + record->error
                   + "; repair it by hand in the office registry";
  else if (record->status == migration_status::committed)
    result.fault = raw_id + " was moved for " + to_string(owner)
                   + " before; nothing was changed";
  return result;
}

std::vector<std::string> paths_of_claim(const office_address& claimed,
                                        const std::string& workspace_root) {
  return {workspace_root, join_path(workspace_root, claimed.conversation_id),
          join_path(workspace_root, office_key(claimed))};
}

registry_change mark_moving(registry_state& state, std::string_view raw_id,
                            const path_probe& kind_of, std::string_view now) {
  auto record = find(state, raw_id);
  if (record == nullptr)
    return unknown_migration(raw_id);
  switch (record->status) {
  case migration_status::needs_owner:
    return refuse("the migration of " + quoted(raw_id)
                  + " still needs an owner");
  case migration_status::moving:
  case migration_status::committed:
  case migration_status::failed:
    return {};
  case migration_status::prepared:
    break;
  }
  auto fault = check_source(record->source_dir, kind_of);
  if (!fault.empty())
    return refuse(fault);
  auto target = kind_of(record->target_dir);
  if (!target.fault.empty())
    return refuse(target.fault);
  if (target.kind != file_kind::absent) {
    auto reason = "Target " + record->target_dir + " appeared before moving";
    transit(*record, migration_status::failed, now, reason);
    return {reason, true};
  }
  transit(*record, migration_status::moving, now);
  return {{}, true};
}

registry_change mark_committed(registry_state& state, std::string_view raw_id,
                               const path_probe& kind_of,
                               std::string_view now) {
  auto record = find(state, raw_id);
  if (record == nullptr)
    return unknown_migration(raw_id);
  switch (record->status) {
  case migration_status::needs_owner:
  case migration_status::prepared:
    return refuse("the migration of " + quoted(raw_id) + " cannot commit from "
                  + to_string(record->status));
  case migration_status::committed:
  case migration_status::failed:
    return {};
  case migration_status::moving:
    break;
  }
  auto target = kind_of(record->target_dir);
  if (!target.fault.empty())
    return refuse(target.fault);
  if (target.kind != file_kind::directory)
    return refuse("the target " + record->target_dir
                  + " must be a regular directory");
  auto source = kind_of(record->source_dir);
  if (!source.fault.empty())
    return refuse(source.fault);
  if (source.kind != file_kind::absent)
    return refuse("the source " + record->source_dir + " must be absent");
  transit(*record, migration_status::committed, now);
  record_office(state, {*record->owner, record->raw_id}, now);
  return {{}, true};
}

registry_change mark_failed(registry_state& state, std::string_view raw_id,
                            std::string_view reason, std::string_view now) {
  auto record = find(state, raw_id);
  if (record == nullptr)
    return unknown_migration(raw_id);
  auto text = trimmed(reason);
  if (text.empty())
    return refuse("a failed migration needs a reason");
  if (record->status == migration_status::committed)
    return refuse("the migration of " + quoted(raw_id)
                  + " is committed and cannot be marked failed");
  if (record->status == migration_status::failed)
    return {};
  transit(*record, migration_status::failed, now, std::move(text));
  return {{}, true};
}

std::vector<office_address> missing_offices(const registry_state& state) {
  std::unordered_set<office_address> missing;
  for (auto& record : state.migrations)
    if (record.status == migration_status::committed)
      missing.insert({*record.owner, record.raw_id});
  if (!missing.empty())
    for (auto& record : state.offices)
      missing.erase(record.address);
  std::vector<office_address> result;
  for (auto& record : state.migrations)
    if (record.status == migration_status::committed
        && missing.erase({*record.owner, record.raw_id}) > 0)
      result.push_back({*record.owner, record.raw_id});
  return result;
}

bool complete_inventory(registry_state& state, std::string_view now) {
  auto missing = missing_offices(state);
  for (auto& address : missing)
    state.offices.push_back({std::move(address), std::string{now}});
  return !missing.empty();
}

owner_lookup resolve_owned_address(const registry_state& state,
                                   std::string_view raw_id) {
  auto fault = check_conversation_id(raw_id);
  if (fault != address_fault::none)
    return {{}, bureau::sentence_of(fault, "", raw_id)};
  std::optional<office_address> found;
  for (auto& record : state.offices) {
    if (record.address.conversation_id != raw_id)
      continue;
    if (found)
      return {{},
              quoted(raw_id)
                + " names offices on several platforms; say "
                  "which one is meant"};
    found = record.address;
  }
  if (found)
    return {*found, {}};
  auto migration = find_migration(state, raw_id);
  if (migration != nullptr && migration->owner)
    return {{*migration->owner, std::string{raw_id}}, {}};
  if (state.enabled_platforms.size() == 1)
    return {{state.enabled_platforms.front(), std::string{raw_id}}, {}};
  return {{},
          "no office is registered for " + quoted(raw_id) + "; see "
            + product::name + " office list"};
}

} // namespace bureau::offices
