#include "actors/office/office_command.hpp"

#include "messages/codec/conversation_names.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/product.hpp"

namespace bureau::offices {

namespace {

command_result refuse(const std::string& fault) {
  return {"", fault + "\n", 1};
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
  auto fault = store.claim(address.address, workspace_root);
  if (!fault.empty())
    return refuse(fault);
  return {claim_confirmation(address.address), "", 0};
}

} // namespace

std::string claim_confirmation(const office_address& claimed) {
  return "Claimed " + claimed.conversation_id + " for "
         + to_string(claimed.platform) + ". Its directory is moved when "
         + product::name + " starts next.\n";
}

command_result run_office_command(const registry_ports& ports,
                                  const office_command& command,
                                  const std::string& default_state_dir) {
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
