#include "actors/office/open_list.hpp"

#include "config/os/durable.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/office_address.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <cerrno>

namespace bureau::offices {

namespace {

constexpr int open_list_version = 1;

void make_unique(std::vector<std::string>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

} // namespace

std::string print_open_list(std::vector<std::string> keys) {
  make_unique(keys);
  boost::json::array list;
  for (const auto& key : keys)
    list.emplace_back(key);
  boost::json::object document;
  document["version"] = open_list_version;
  document["offices"] = std::move(list);
  return json::print(document) + "\n";
}

std::optional<std::vector<std::string>> parse_open_list(std::string_view text) {
  auto parsed = json::parse(text);
  auto document = parsed ? parsed.value.if_object() : nullptr;
  if (document == nullptr
      || json::int_member(*document, "version") != open_list_version)
    return std::nullopt;
  auto list = json::member(*document, "offices");
  if (list == nullptr || !list->is_array())
    return std::nullopt;
  std::vector<std::string> keys;
  for (const auto& entry : list->get_array()) {
    if (!entry.is_string() || !is_office_key(entry.get_string()))
      return std::nullopt;
    keys.emplace_back(entry.get_string());
  }
  make_unique(keys);
  return keys;
}

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
