#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace bureau {

/// A stretch of time in which a zone keeps one offset from UTC. Instants are
/// Unix seconds; the end is exclusive.
struct zone_span {
  int64_t begin_s = std::numeric_limits<int64_t>::min();
  int64_t end_s = std::numeric_limits<int64_t>::max();
  int32_t offset_s = 0;
  friend bool operator==(const zone_span&, const zone_span&) = default;
};

/// The rules of one zone. Immutable, thread safe.
class zone_rules {
public:
  virtual ~zone_rules() = default;
  /// The stretch that an instant lies in.
  virtual zone_span at(int64_t unix_s) const = 0;
  /// Its name as the database spells it.
  virtual const std::string& name() const = 0;
};

/// Time zones as a port (decision A17). Thread safe. The first look at a zone
/// may read its file, a few kilobytes.
class time_zones {
public:
  virtual ~time_zones() = default;
  /// @param name of the IANA database, whatever its case
  /// @returns nothing for a name that is unknown, and for numeric offsets
  virtual std::shared_ptr<const zone_rules>
  find(std::string_view name) const = 0;
};

} // namespace bureau
