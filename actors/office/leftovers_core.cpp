#include "actors/office/leftovers_core.hpp"

#include "actors/office/arrival_core.hpp"
#include "config/os/durable.hpp"

#include <string_view>

namespace bureau::offices {

namespace {

/// The number in `.<base>.<pid>.<16 hex>.tmp`. @pre the name is such a one
std::string_view pid_of(std::string_view name) {
  for (auto part = 0; part < 2; ++part)
    name = name.substr(0, name.rfind('.'));
  return name.substr(name.rfind('.') + 1);
}

} // namespace

std::vector<leftover> leftovers_among(const std::vector<std::string>& names,
                                      int64_t own_pid) {
  std::vector<leftover> result;
  for (const auto& name : names) {
    if (result.size() == leftovers_at_once)
      break;
    if (os::is_temporary_name(name, {}))
      result.push_back({name, pid_of(name) == std::to_string(own_pid)});
  }
  return result;
}

std::vector<std::string> stagings_among(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const auto& name : names)
    if (is_staging_name(name) && result.size() < leftovers_at_once)
      result.push_back(name);
  return result;
}

bool is_outdated(int64_t modified_ns, int64_t now_ms) {
  return now_ms - modified_ns / 1'000'000
         >= std::chrono::milliseconds{leftover_age}.count();
}

} // namespace bureau::offices
