#include "sandbox/variables_core.hpp"

#include "sandbox/bwrap_core.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace bureau::sandbox {

namespace {

/// Those that every environment sets itself, besides the reserved ones.
constexpr std::array<std::string_view, 7> own_names = {
  "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER"};

/// An absolute path that is one entry of a search path.
bool is_search_entry(std::string_view path) {
  return path.starts_with('/') && path.find(':') == path.npos
         && path.find('\0') == path.npos;
}

} // namespace

std::vector<env_entry>
run_environment(const contracts::tool_environment& environment,
                std::string_view search_path) {
  std::vector<env_entry> result;
  size_t bytes = 0;
  auto add = [&](env_entry entry) {
    bytes += entry.name.size() + entry.value.size();
    if (bytes <= run_variable_bytes && result.size() < run_variables)
      result.push_back(std::move(entry));
  };
  std::string path;
  for (const auto& directory : environment.path_prepend)
    if (is_search_entry(directory))
      path += directory + ':';
  if (!path.empty())
    add({"PATH", path + std::string{search_path}, false});
  for (const auto& [name, value] : environment.values) {
    env_entry entry{name, value, false};
    if (std::find(own_names.begin(), own_names.end(), name) == own_names.end()
        && !check_variable(entry))
      add(std::move(entry));
  }
  return result;
}

} // namespace bureau::sandbox
