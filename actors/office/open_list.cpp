#include "actors/office/open_list.hpp"

#include "config/os/durable.hpp"
#include "messages/identity/office_address.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <cerrno>

namespace bureau::offices {

namespace {

void make_unique(std::vector<std::string>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

} // namespace

open_list load_open_list(file_system& fs, const std::string& state_dir) {
  auto path = join_path(state_dir, open_list_name);
  auto text = os::read_whole(fs, path, limits::registry_file_bytes);
  if (text.fault.error == ENOENT)
    return {};
  auto keys = text ? parse_open_list(text.value) : std::nullopt;
  if (keys)
    return {std::move(*keys), {}};
  open_list result;
  result.warning = path
                   + " is damaged; the ledger of every conversation is looked "
                     "at instead";
  auto tree = join_path(state_dir, "conversations");
  for (auto& name : fs.list(tree).value)
    if (is_office_key(name)
        && fs.stat_name(join_path(tree, name + "/ledger.jsonl")))
      result.keys.push_back(std::move(name));
  make_unique(result.keys);
  return result;
}

open_list extend_open_list(file_system& fs, entropy& chance,
                           const std::string& state_dir,
                           const std::vector<std::string>& state_paths,
                           std::string& fault) {
  auto result = load_open_list(fs, state_dir);
  auto known = result.keys.size();
  for (auto& key : keys_of_replayed(state_paths))
    result.keys.push_back(std::move(key));
  make_unique(result.keys);
  if (result.keys.size() == known)
    return result;
  auto path = join_path(state_dir, open_list_name);
  if (auto stopped = os::write_private_atomically(fs, chance, path,
                                                  print_open_list(result.keys)))
    fault = os::describe(stopped);
  return result;
}

std::vector<std::string>
keys_of_replayed(const std::vector<std::string>& state_paths) {
  constexpr std::string_view tree = "conversations/";
  std::vector<std::string> keys;
  for (std::string_view path : state_paths) {
    if (!path.starts_with(tree))
      continue;
    path.remove_prefix(tree.size());
    auto key = path.substr(0, path.find('/'));
    if (is_office_key(key))
      keys.emplace_back(key);
  }
  make_unique(keys);
  return keys;
}

} // namespace bureau::offices
