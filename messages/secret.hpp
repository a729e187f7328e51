#pragma once

#include <string>

namespace bureau {

/// A value that must not reach a log, an error text, a process list or a chat.
/// It prints as [redacted]; reading it is explicit.
class secret_text {
public:
  secret_text() = default;
  explicit secret_text(std::string value) : value_(std::move(value)) {}
  /// The value itself: only for the wire or a file of mode 0600.
  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }
  friend bool operator==(const secret_text&, const secret_text&) = default;
  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, secret_text& x) {
    return f(x.value_);
  }

private:
  std::string value_;
};

inline std::string to_string(const secret_text& value) {
  return value.empty() ? "[unset]" : "[redacted]";
}

} // namespace bureau
