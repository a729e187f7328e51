#include "actors/office/office_command.hpp"

#include "messages/codec/conversation_names.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/product.hpp"

#include <algorithm>

namespace bureau::offices {

namespace {

command_result usage() {
  std::string name = product::name;
  return {"",
          "usage: " + name
            + " office list [--state-dir DIR] [--workspace DIR]\n"
              "       "
            + name
            + " office claim ID PLATFORM [--state-dir DIR] [--workspace DIR]\n",
          2};
}

command_result refuse(const std::string& fault) {
  return {"", fault + "\n", 1};
}

bool is_negative_number(const std::string& word) {
  return word.size() > 1 && word.front() == '-'
         && std::all_of(word.begin() + 1, word.end(),
                        [](char c) { return c >= '0' && c <= '9'; });
}

/// A path as the person typed it, from where they stand.
std::string absolute(file_system& fs, const std::string& path) {
  if (path.starts_with('/'))
    return join_path(path, "");
  return join_path(fs.canonical(".").value, path);
}

command_result list(const registry_store& store) {
  auto& state = store.state();
  std::string out = "Enabled platforms: ";
  for (auto& platform : state.enabled_platforms)
    out += (&platform == &state.enabled_platforms.front() ? "" : ", ")
           + to_string(platform);
  out += state.enabled_platforms.empty() ? "(none)\n" : "\n";
  out += "Offices (" + std::to_string(state.offices.size()) + "):\n";
  for (auto& record : state.offices)
    out += "  " + to_string(record.address.platform) + "  "
           + record.address.conversation_id + "\n";
  std::string pending;
  size_t count = 0;
  for (auto& record : state.migrations) {
    if (record.status == migration_status::committed)
      continue;
    ++count;
    pending += "  " + to_string(record.status) + "  " + record.raw_id;
    pending += record.error.empty() ? "\n" : "  (" + record.error + ")\n";
  }
  if (count > 0)
    out += "Pending migrations (" + std::to_string(count) + "):\n" + pending;
  return {out, "", 0};
}

command_result claim(registry_store& store, const office_command& command,
                     const std::string& workspace_root) {
  auto address = make_address(command.platform, command.raw_id);
  if (!address)
    return refuse(sentence_of(address.fault, command.platform, command.raw_id));
  auto owner = address.address.platform;
  auto fault =
    store.prepare({command.raw_id, join_path(workspace_root, command.raw_id),
                   workspace_root, owner});
  if (!fault.empty())
    return refuse(fault);
  auto record = find_migration(store.state(), command.raw_id);
  if (record == nullptr || record->owner != owner)
    return refuse(command.raw_id + " is already claimed for "
                  + (record && record->owner ? to_string(*record->owner)
                                             : std::string{"nobody"})
                  + "; nothing was changed");
  if (record->status == migration_status::failed)
    return refuse("the migration of " + command.raw_id
                  + " has failed: " + record->error
                  + "; repair it by hand in the office registry");
  if (record->status == migration_status::committed)
    return refuse(command.raw_id + " was moved for " + to_string(owner)
                  + " before; nothing was changed");
  return {"Claimed " + command.raw_id + " for " + to_string(owner)
            + ". Its directory is moved when " + product::name
            + " starts next.\n",
          "", 0};
}

} // namespace

office_command parse_office_command(const std::vector<std::string>& words) {
  office_command result;
  std::vector<std::string> operands;
  auto flags_ended = false;
  for (size_t i = 0; i < words.size(); ++i) {
    auto& word = words[i];
    if (flags_ended || !word.starts_with('-') || is_negative_number(word)) {
      operands.push_back(word);
      continue;
    }
    if (word == "--") {
      flags_ended = true;
      continue;
    }
    auto equals = word.find('=');
    auto name = word.substr(0, equals);
    auto into = name == "--state-dir"   ? &result.state_dir
                : name == "--workspace" ? &result.workspace
                                        : nullptr;
    if (into == nullptr)
      return {};
    if (equals != std::string::npos)
      *into = word.substr(equals + 1);
    else if (++i < words.size())
      *into = words[i];
    if (into->empty())
      return {};
  }
  if (operands.empty())
    return {};
  if (operands[0] == "list" && operands.size() == 1) {
    result.action = "list";
  } else if (operands[0] == "claim" && operands.size() == 3) {
    result.action = "claim";
    result.raw_id = operands[1];
    result.platform = operands[2];
  }
  return result;
}

command_result run_office_command(const registry_ports& ports,
                                  const office_command& command,
                                  const std::string& default_state_dir) {
  if (command.action.empty())
    return usage();
  auto state_dir =
    absolute(ports.fs,
             command.state_dir.empty() ? default_state_dir : command.state_dir);
  auto root = command.workspace.empty() ? join_path(state_dir, "workspace")
                                        : absolute(ports.fs, command.workspace);
  registry_store store{ports, state_dir};
  auto fault = store.open();
  if (!fault.empty())
    return refuse(fault);
  return command.action == "list" ? list(store) : claim(store, command, root);
}

} // namespace bureau::offices
