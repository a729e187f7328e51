#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace bureau::io {

/// Cuts a stream of bytes into lines of a bounded length, in linear time.
class line_splitter {
public:
  /// @param most bytes of a line, its newline not counted
  explicit line_splitter(size_t most) : most_(most) {}

  /// Takes bytes; ignored after a line that was too long.
  void feed(std::string_view bytes);

  /// The next complete line, without its newline and a carriage return before
  /// it.
  std::optional<std::string> take();

  /// The line that is being received is longer than allowed: no further line
  /// can be told from its rest.
  bool too_long() const { return too_long_; }

  /// Whether nothing of a further line is there.
  bool empty() const { return buffer_.size() == begin_; }

private:
  size_t most_;
  std::string buffer_;
  /// Where the next line begins.
  size_t begin_ = 0;
  /// No newline between there and this.
  size_t searched_ = 0;
  bool too_long_ = false;
};

/// Whether a peer may use the control socket: the user of the node, and root.
bool may_control(uid_t peer, uid_t own);

/// A refusal of the socket itself, before any call was understood: a JSON-RPC
/// error line without its newline.
/// @param code of JSON-RPC
/// @param failure name of an errc
/// @param sentence of ours: no quotes, no control characters
std::string socket_error_line(int code, std::string_view failure,
                              std::string_view sentence);

} // namespace bureau::io
