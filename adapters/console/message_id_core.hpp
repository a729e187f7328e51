#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Message ids of the console: `<unix seconds>.<6 digits>`, strictly increasing
/// (decision A10).
namespace bureau::console {

/// An id as microseconds since the epoch; nothing for other text.
std::optional<int64_t> parse_message_id(std::string_view text);

std::string print_message_id(int64_t micros);

/// Makes ids that increase even when the wall clock does not.
class message_ids {
public:
  /// Ids seen elsewhere (a chat log): later ones come after them.
  void seen(std::string_view id);
  std::string next(int64_t now_ms);

private:
  int64_t last_micros_ = 0;
};

} // namespace bureau::console
