#include "messages/codec/open_list.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/identity/workspace.hpp"

#include <algorithm>

namespace bureau {

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

} // namespace bureau
