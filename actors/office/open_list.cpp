#include "actors/office/open_list.hpp"

#include "config/os/durable.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/office_address.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"

#include <algorithm>

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

std::vector<std::string> parse_open_list(std::string_view text) {
  std::vector<std::string> keys;
  auto parsed = json::parse(text);
  auto document = parsed ? parsed.value.if_object() : nullptr;
  if (document == nullptr
      || json::int_member(*document, "version") != open_list_version)
    return keys;
  auto list = json::member(*document, "offices");
  if (list != nullptr && list->is_array())
    for (const auto& entry : list->get_array())
      if (entry.is_string() && is_office_key(entry.get_string()))
        keys.emplace_back(entry.get_string());
  make_unique(keys);
  return keys;
}

std::vector<std::string> load_open_list(file_system& fs,
                                        const std::string& state_dir) {
  auto text = os::read_whole(fs, join_path(state_dir, open_list_name),
                             limits::registry_file_bytes);
  return parse_open_list(text.value);
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
