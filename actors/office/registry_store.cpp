#include "actors/office/registry_store.hpp"

#include "config/os/durable.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <cerrno>

namespace bureau::offices {

registry_store::registry_store(registry_ports ports, std::string state_dir)
  : ports_(std::move(ports)), state_dir_(std::move(state_dir)),
    path_(join_path(state_dir_, registry_file_name)) {
}

std::string registry_store::open() {
  if (auto fault = os::ensure_directory(ports_.fs, state_dir_, 0700))
    return "the state directory must be a regular directory: "
           + os::describe(fault);
  return reload();
}

std::string registry_store::reload() {
  registry_state fresh;
  auto fault = load(fresh);
  if (fault.empty())
    state_ = std::move(fresh);
  return fault;
}

std::string registry_store::load(registry_state& into) const {
  auto text = os::read_whole(ports_.fs, path_, limits::registry_file_bytes);
  if (text.fault.error == ENOENT)
    return {};
  if (!text)
    return "the office registry must be a regular file: "
           + os::describe(text.fault);
  auto parsed = parse_registry(text.value, path_);
  if (!parsed)
    return parsed.fault;
  // Only unfinished moves are compared with the disk: a workspace that was
  // taken elsewhere after all of them must still be readable.
  for (auto& record : parsed.state.migrations) {
    if (record.status == migration_status::committed
        || record.status == migration_status::failed)
      continue;
    auto root = kind_of(record.workspace_root);
    if (!root.fault.empty())
      return root.fault;
    if (root.kind != file_kind::directory)
      return path_ + ": the workspace root " + record.workspace_root
             + " of the unfinished migration of " + record.raw_id
             + " must be a regular directory";
    auto source = kind_of(record.source_dir);
    if (!source.fault.empty())
      return source.fault;
    if (source.kind != file_kind::absent && source.kind != file_kind::directory)
      return path_ + ": the source " + record.source_dir
             + " of an unfinished migration must be a regular directory";
  }
  into = std::move(parsed.state);
  return {};
}

std::string registry_store::mutate(const step& change) {
  registry_lease lease{ports_.fs, ports_.chance, ports_.wall, ports_.lease,
                       state_dir_};
  if (!lease.fault().empty())
    return lease.fault();
  registry_state fresh;
  auto fault = load(fresh);
  if (!fault.empty())
    return fault;
  auto result = change(fresh, text::iso_utc(ports_.wall.now_ms()));
  if (result.changed || unsettled_) {
    auto stopped = os::write_private_atomically(ports_.fs, ports_.chance, path_,
                                                print_registry(fresh));
    if (stopped && !stopped.replaced)
      return os::describe(stopped);
    unsettled_ = stopped.replaced;
    if (stopped)
      result.fault = os::describe(stopped);
  }
  state_ = std::move(fresh);
  return result.fault;
}

std::string registry_store::enable(platform_id platform) {
  return mutate([&](registry_state& state, std::string_view) {
    return registry_change{{}, enable_platform(state, platform)};
  });
}

std::string registry_store::record(const office_address& address) {
  if (find_office(state_, address) != nullptr && !unsettled_)
    return {};
  auto fault = check_conversation_id(address.conversation_id);
  if (fault != address_fault::none)
    return "invalid conversation id";
  return mutate([&](registry_state& state, std::string_view now) {
    return registry_change{{}, record_office(state, address, now)};
  });
}

std::string registry_store::prepare(const migration_request& request) {
  return mutate([&](registry_state& state, std::string_view now) {
    return prepare_migration(
      state, request, [this](auto& path) { return kind_of(path); }, now);
  });
}

std::string registry_store::claim(const office_address& claimed,
                                  const std::string& workspace_root) {
  return mutate([&](registry_state& state, std::string_view now) {
    return claim_directory(
      state, claimed, workspace_root,
      [this](auto& path) { return kind_of(path); }, now);
  });
}

std::string registry_store::move(std::string_view raw_id) {
  return mutate([&](registry_state& state, std::string_view now) {
    return mark_moving(
      state, raw_id, [this](auto& path) { return kind_of(path); }, now);
  });
}

std::string registry_store::commit(std::string_view raw_id) {
  return mutate([&](registry_state& state, std::string_view now) {
    return mark_committed(
      state, raw_id, [this](auto& path) { return kind_of(path); }, now);
  });
}

std::string registry_store::fail(std::string_view raw_id,
                                 std::string_view reason) {
  return mutate([&](registry_state& state, std::string_view now) {
    return mark_failed(state, raw_id, reason, now);
  });
}

std::string registry_store::complete() {
  if (missing_offices(state_).empty())
    return {};
  return mutate([&](registry_state& state, std::string_view now) {
    return registry_change{{}, complete_inventory(state, now)};
  });
}

path_facts registry_store::kind_of(const std::string& path) const {
  auto facts = ports_.fs.stat_name(path);
  if (facts.error == ENOENT)
    return {};
  if (!facts)
    return {file_kind::other, os::describe({facts.error, path, "look at"})};
  auto mode = facts.value.st_mode;
  if (S_ISDIR(mode))
    return {file_kind::directory, {}};
  if (S_ISREG(mode))
    return {file_kind::regular, {}};
  return {S_ISLNK(mode) ? file_kind::symlink : file_kind::other, {}};
}

} // namespace bureau::offices
