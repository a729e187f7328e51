#include "actors/office/migration.hpp"

#include "config/os/durable.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/product.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <set>

namespace bureau::offices {

namespace {

/// Name below vaults/ that older versions gave to a conversation.
std::string legacy_vault_name(const std::string& raw_id) {
  return legacy_identity("conversation", raw_id);
}

class boot_run {
public:
  boot_run(const registry_ports& ports, std::string workspace_root,
           std::string state_dir)
    : ports_(ports), root_(std::move(workspace_root)),
      state_dir_(std::move(state_dir)), store_(ports, state_dir_) {}

  migration_run run(const std::vector<platform_id>& enabled) {
    result_.fault = all_steps(enabled);
    for (auto& record : store_.state().migrations) {
      if (record.status == migration_status::needs_owner)
        summary().unowned.push_back(record.raw_id);
      if (record.status == migration_status::failed)
        summary().failed.push_back(record.raw_id);
    }
    result_.registry = store_.state();
    return std::move(result_);
  }

private:
  migration_summary& summary() { return result_.summary; }

  std::string all_steps(const std::vector<platform_id>& enabled) {
    auto fault = store_.open();
    if (!fault.empty())
      return fault;
    os::sweep_stale_temporaries(ports_.fs, state_dir_, registry_file_name);
    fault = sweep_lease_remains(ports_.fs, ports_.chance, ports_.wall,
                                ports_.lease, state_dir_);
    if (!fault.empty())
      return fault;
    for (auto platform : enabled) {
      auto& known = store_.state().enabled_platforms;
      if (platform == platform_id::console
          || std::find(known.begin(), known.end(), platform) != known.end())
        continue;
      if (fault = store_.enable(platform); !fault.empty())
        return fault;
    }
    if (fault = recover_all(); !fault.empty())
      return fault;
    if (fault = store_.complete(); !fault.empty())
      return fault;
    if (fault = claim_all(); !fault.empty())
      return fault;
    fault =
      move_trees("vaults", legacy_vault_name, summary().vault_keys_migrated,
                 summary().vault_conflicts);
    if (!fault.empty())
      return fault;
    return move_trees(
      "conversations", [](const std::string& raw_id) { return raw_id; },
      summary().state_dirs_migrated, summary().state_dir_conflicts);
  }

  std::string rename(const std::string& from, const std::string& to) {
    auto moved = ports_.fs.rename(from, to);
    if (!moved)
      return "cannot rename " + from + " to " + to + ": "
             + os::errno_text(moved.error);
    auto parent = to.substr(0, to.rfind('/'));
    auto synced = os::sync_directory(ports_.fs, parent);
    return synced ? os::describe(synced) : std::string{};
  }

  // -- records that were moving when the last run ended -----------------------

  std::string recover_all() {
    auto records = store_.state().migrations;
    for (auto& record : records) {
      if (record.status != migration_status::moving)
        continue;
      auto fault = recover(record);
      if (!fault.empty())
        return fault;
    }
    return {};
  }

  std::string recover(const migration_record& record) {
    auto at_source = store_.kind_of(record.source_dir);
    if (!at_source.fault.empty())
      return at_source.fault;
    auto at_target = store_.kind_of(record.target_dir);
    if (!at_target.fault.empty())
      return at_target.fault;
    auto source = at_source.kind != file_kind::absent;
    auto target = at_target.kind != file_kind::absent;
    if (source && target)
      return store_.fail(record.raw_id, "both " + record.source_dir + " and "
                                          + record.target_dir
                                          + " exist; merge them manually");
    if (!source && !target)
      return store_.fail(record.raw_id, "neither " + record.source_dir + " nor "
                                          + record.target_dir + " exists");
    if (source) {
      auto fault = rename(record.source_dir, record.target_dir);
      if (!fault.empty())
        return fault;
    }
    auto fault = store_.commit(record.raw_id);
    if (fault.empty())
      summary().recovered.push_back(record.raw_id);
    return fault;
  }

  // -- legacy directories -----------------------------------------------------

  std::string claim_all() {
    auto names = ports_.fs.list(root_);
    if (!names && names.error == ENOENT)
      return {};
    if (!names)
      return "cannot list the workspace root " + root_ + ": "
             + os::errno_text(names.error);
    std::sort(names.value.begin(), names.value.end());
    for (auto& name : names.value) {
      auto fault = claim(name);
      if (!fault.empty())
        return fault;
    }
    return {};
  }

  std::string claim(const std::string& name) {
    auto reserved = std::find(reserved_workspace_names.begin(),
                              reserved_workspace_names.end(), name);
    if (name.starts_with('.') || reserved != reserved_workspace_names.end()
        || is_office_key(name))
      return {};
    auto path = join_path(root_, name);
    auto at = store_.kind_of(path);
    if (!at.fault.empty())
      return at.fault;
    if (at.kind == file_kind::symlink)
      return "the legacy office directory " + path
             + " must not be a symlink; replace it by the directory it names";
    if (at.kind != file_kind::directory)
      return {};
    auto record = find_migration(store_.state(), name);
    auto marked =
      record != nullptr && record->status == migration_status::prepared;
    for (auto marker : {"/log.jsonl", "/sessions"}) {
      auto found = store_.kind_of(path + marker);
      if (!found.fault.empty())
        return found.fault;
      marked = marked || found.kind != file_kind::absent;
    }
    if (!marked) {
      result_.ignored.push_back(name);
      return {};
    }
    if (record != nullptr && record->status == migration_status::committed)
      return "the legacy office directory " + path
             + " reappeared after migration; merge it into "
             + record->target_dir + " and remove it";
    if (record != nullptr && record->status == migration_status::failed)
      return {};
    return move(name, path);
  }

  std::string move(const std::string& name, const std::string& path) {
    auto fault = store_.prepare({name, path, root_, std::nullopt});
    if (!fault.empty())
      return fault;
    auto record = find_migration(store_.state(), name);
    if (record == nullptr || record->status == migration_status::needs_owner)
      return {};
    if (fault = store_.move(name); !fault.empty())
      return fault;
    auto target = find_migration(store_.state(), name)->target_dir;
    if (fault = rename(path, target); !fault.empty())
      return fault;
    if (fault = store_.commit(name); !fault.empty())
      return fault;
    summary().migrated.push_back(name);
    return {};
  }

  // -- host-only trees --------------------------------------------------------

  using name_rule = std::function<std::string(const std::string& raw_id)>;

  std::string move_trees(const std::string& tree, const name_rule& legacy_name,
                         std::vector<std::string>& migrated,
                         std::vector<std::string>& conflicts) {
    auto dir = join_path(state_dir_, tree);
    auto names = ports_.fs.list(dir);
    if (!names && names.error != ENOENT)
      return "cannot list the directory " + dir + ": "
             + os::errno_text(names.error);
    std::set<std::string> legacy;
    for (auto& name : names.value)
      if (!is_office_key(name))
        legacy.insert(name);
    if (legacy.empty())
      return {};
    // Several offices with one raw id cannot share what only one of them had.
    std::map<std::string, std::vector<std::string>> keys;
    for (auto& record : store_.state().offices)
      keys[record.address.conversation_id].push_back(
        office_key(record.address));
    for (auto& [raw_id, owners] : keys) {
      auto name = legacy_name(raw_id);
      if (!legacy.contains(name))
        continue;
      auto source = join_path(dir, name);
      auto target = join_path(dir, owners.front());
      auto at_source = store_.kind_of(source);
      if (!at_source.fault.empty())
        return at_source.fault;
      auto at_target = store_.kind_of(target);
      if (!at_target.fault.empty())
        return at_target.fault;
      if (owners.size() > 1 || at_source.kind != file_kind::directory
          || at_target.kind != file_kind::absent) {
        conflicts.push_back(raw_id);
        continue;
      }
      auto fault = rename(source, target);
      if (!fault.empty())
        return fault;
      migrated.push_back(raw_id);
    }
    return {};
  }

  const registry_ports& ports_;
  std::string root_;
  std::string state_dir_;
  registry_store store_;
  migration_run result_;
};

void add_section(std::string& text, const std::string& title,
                 const std::vector<std::string>& ids) {
  if (ids.empty())
    return;
  text += "\n" + title + "\n";
  for (auto& id : ids)
    text += "  - " + id + "\n";
}

/// A prefix matches only whole path segments.
bool replace_prefix(std::string& path, const std::string& from,
                    const std::string& to) {
  if (!path.starts_with(from)
      || (path.size() > from.size() && path[from.size()] != '/'))
    return false;
  path = to + path.substr(from.size());
  return true;
}

} // namespace

migration_run migrate(const registry_ports& ports,
                      const std::string& workspace_root,
                      const std::string& state_dir,
                      const std::vector<platform_id>& enabled) {
  return boot_run{ports, join_path(workspace_root, ""), state_dir}.run(enabled);
}

std::string boot_refusal(const migration_summary& summary,
                         const std::string& state_dir) {
  std::string text;
  std::string name = product::name;
  add_section(text,
              "Directories whose platform is unknown; claim each one with: "
                + name + " office claim <id> <platform>",
              summary.unowned);
  add_section(text,
              "Migrations that failed; they need manual repair, the reason is "
              "in "
                + join_path(state_dir, registry_file_name),
              summary.failed);
  add_section(text,
              "Vault directories in conflict; merge them manually under "
                + join_path(state_dir, "vaults"),
              summary.vault_conflicts);
  add_section(text,
              "State directories in conflict; merge them manually under "
                + join_path(state_dir, "conversations"),
              summary.state_dir_conflicts);
  if (text.empty())
    return text;
  return name
         + " cannot start: conversations of an older version need an "
           "operator.\n"
         + text;
}

std::string translate_bind(const std::string& bind,
                           const std::vector<office_record>& offices,
                           const std::string& workspace_root,
                           const std::string& state_dir) {
  auto spec = bind;
  std::string suffix;
  if (spec.ends_with(":ro")) {
    suffix = ":ro";
    spec.resize(spec.size() - suffix.size());
  }
  auto colon = spec.find(':');
  if (colon == std::string::npos)
    return bind;
  auto source = spec.substr(0, colon);
  auto target = spec.substr(colon + 1);
  for (auto& record : offices) {
    auto& raw = record.address.conversation_id;
    auto key = office_key(record.address);
    if (replace_prefix(source, join_path(workspace_root, raw),
                       join_path(workspace_root, key))
        || replace_prefix(source, join_path(state_dir, "conversations/" + raw),
                          join_path(state_dir, "conversations/" + key))
        || replace_prefix(
          source, join_path(state_dir, "vaults/" + legacy_vault_name(raw)),
          join_path(state_dir, "vaults/" + key)))
      break;
  }
  for (auto& record : offices)
    if (replace_prefix(target, "/workspace/" + record.address.conversation_id,
                       "/workspace/" + office_key(record.address)))
      break;
  return source + ":" + target + suffix;
}

} // namespace bureau::offices
