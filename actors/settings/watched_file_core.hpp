#pragma once

#include "config/file_report.hpp"
#include "messages/interfaces/files.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

/// A configuration file as it is followed at run time: its last good content,
/// and what is wrong with a newer one.
namespace bureau::settings {

/// What the file pool says about a name, as a signature.
inline config::file_signature signature_of(const file_outcome& seen) {
  if (seen.kind == file_kind::absent)
    return {};
  return {true, seen.size, seen.device, seen.inode, seen.modified_ns};
}

/// What a look at a file changed, for the log and the health report.
struct file_change {
  /// A new content is in force.
  bool loaded = false;
  /// Sentences that were not told before.
  std::vector<std::string> warnings;
  /// The content turned bad, or bad in another way.
  bool turned_bad = false;
  /// The content was bad and is good again.
  bool recovered = false;
};

/// The content of one file.
/// @tparam T a checked file, default-constructible for an absent one
template <class T>
class watched_file {
public:
  watched_file() : value_(std::make_shared<const T>()) {}
  watched_file(std::shared_ptr<const T> value, config::file_signature seen)
    : value_(std::move(value)), seen_(seen), known_(true) {}

  /// The last good content, never null.
  const std::shared_ptr<const T>& value() const { return value_; }
  /// Why the newest content is not in force; "" when it is.
  const std::string& fault() const { return fault_; }

  /// Whether the file must be read. A content written within two seconds of
  /// its reading is read again: a second write in the same tick of the file
  /// system's clock would look the same.
  bool must_read(const config::file_signature& now) const {
    return !known_ || now != seen_ || young_;
  }

  /// Takes what reading the file gave.
  /// @param now_ms wall time of the look
  file_change take(const config::file_signature& seen, int64_t now_ms,
                   config::reading<T> read) {
    constexpr int64_t young_ns = 2'000'000'000;
    constexpr int64_t ns_per_ms = 1'000'000;
    seen_ = seen;
    known_ = true;
    young_ = seen.present && seen.modified_ns + young_ns > now_ms * ns_per_ms;
    file_change result;
    if (!read) {
      result.turned_bad = read.fault != fault_;
      fault_ = std::move(read.fault);
      if (result.turned_bad)
        result.warnings.push_back(fault_);
      return result;
    }
    result.loaded = true;
    result.recovered = !fault_.empty();
    fault_.clear();
    for (const auto& warning : read.warnings)
      if (std::find(told_.begin(), told_.end(), warning) == told_.end())
        result.warnings.push_back(warning);
    told_ = std::move(read.warnings);
    value_ = std::make_shared<const T>(std::move(read.value));
    return result;
  }

private:
  std::shared_ptr<const T> value_;
  config::file_signature seen_;
  bool known_ = false;
  bool young_ = false;
  std::string fault_;
  std::vector<std::string> told_;
};

} // namespace bureau::settings
