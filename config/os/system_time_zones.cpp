#include "config/os/system_time_zones.hpp"

#include <date/tz.h>

#include <algorithm>
#include <chrono>
#include <exception>

namespace bureau::os {

namespace {

class system_zone final : public zone_rules {
public:
  explicit system_zone(const date::time_zone* zone)
    : zone_(zone), name_(zone->name()) {}

  zone_span at(int64_t unix_s) const override {
    auto instant = date::sys_seconds{std::chrono::seconds{unix_s}};
    auto info = zone_->get_info(instant);
    auto begin = info.begin.time_since_epoch().count();
    auto end = info.end.time_since_epoch().count();
    zone_span result;
    if (begin > -open_end_s)
      result.begin_s = begin;
    if (end < open_end_s)
      result.end_s = end;
    result.offset_s = static_cast<int32_t>(info.offset.count());
    return result;
  }

  const std::string& name() const override { return name_; }

private:
  /// The library's ends of time are years ±32767; nothing real is near them.
  static constexpr int64_t open_end_s = int64_t{20'000} * 366 * 86'400;

  const date::time_zone* zone_;
  std::string name_;
};

bool same_letters(std::string_view left, std::string_view right) {
  auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [lower](char a, char b) { return lower(a) == lower(b); });
}

} // namespace

std::shared_ptr<const zone_rules>
system_time_zones::find(std::string_view name) const {
  try {
    for (const auto& zone : date::get_tzdb().zones)
      if (same_letters(zone.name(), name)) {
        auto found = std::make_shared<system_zone>(&zone);
        // Its file is read now; a broken one is no zone.
        found->at(0);
        return found;
      }
  } catch (const std::exception&) {
    // The machine has no database, or a broken one.
  }
  return nullptr;
}

} // namespace bureau::os
