#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bureau::artifacts {

/// SHA-256 of bytes that come in pieces.
class running_hash {
public:
  running_hash();
  ~running_hash();
  running_hash(running_hash&&) noexcept;
  running_hash& operator=(running_hash&&) noexcept;

  void add(std::string_view bytes);

  /// 64 lower-case hexadecimal digits; ends the hash. Empty when the library
  /// failed on the way, which no digest equals.
  std::string finish();

private:
  struct context;
  std::unique_ptr<context> context_;
};

} // namespace bureau::artifacts
