#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The final text of a turn that nobody watches, when it says that there is
/// nothing to say.
namespace bureau::contracts {

inline constexpr std::string_view nothing_to_report = "NOTHING_TO_REPORT";

/// Why a text is not delivered.
enum class notify_suppression : uint8_t {
  none,
  /// Nothing but white space.
  empty,
  /// The sentinel alone.
  sentinel,
  /// The sentinel as the last line.
  narrated_sentinel,
};

std::string to_string(notify_suppression reason);

/// Judges an answer as the model wrote it, before anything is appended. The
/// sentinel counts in any case, as a whole line only.
notify_suppression classify_notify_suppression(std::string_view text);

bool suppresses_notification(std::string_view text);

} // namespace bureau::contracts
