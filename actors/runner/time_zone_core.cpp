#include "actors/runner/time_zone_core.hpp"

#include <algorithm>

namespace bureau::runner {

namespace {

constexpr std::string_view zone_directory = "/zoneinfo/";
constexpr size_t longest = 128;

/// A name of the zone directory, or a rule as `CET-1CEST,M3.5.0,M10.5.0/3`.
bool is_zone(std::string_view text) {
  constexpr std::string_view marks = "_+-/:,.<>";
  return !text.empty() && text.size() <= longest && text.front() != '/'
         && text.find("..") == std::string_view::npos
         && std::all_of(text.begin(), text.end(), [&](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                     || (c >= '0' && c <= '9')
                     || marks.find(c) != std::string_view::npos;
            });
}

/// Europe/Vienna out of /usr/share/zoneinfo/Europe/Vienna.
std::string_view name_in_path(std::string_view path) {
  auto at = path.rfind(zone_directory);
  return at == std::string_view::npos ? std::string_view{}
                                      : path.substr(at + zone_directory.size());
}

} // namespace

std::string host_time_zone(std::string_view variable,
                           std::string_view localtime) {
  if (variable.starts_with(':'))
    variable.remove_prefix(1);
  if (variable.starts_with('/'))
    variable = name_in_path(variable);
  for (auto candidate : {variable, name_in_path(localtime)})
    if (is_zone(candidate))
      return std::string{candidate};
  return {};
}

} // namespace bureau::runner
