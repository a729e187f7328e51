#pragma once

#include "messages/json_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bureau::models {

/// Text as it may be sent: halves of surrogate pairs are removed, other
/// ill-formed bytes become U+FFFD.
std::string sendable(std::string_view text);

/// Writes compact JSON straight into one buffer. A request holds the whole
/// history, so no tree is built for it. The caller writes members and values in
/// a valid order; commas are put by the writer.
class json_writer {
public:
  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);
  void string(std::string_view text);
  void number(int64_t value);
  void boolean(bool value);
  void null();
  /// A value that is JSON text already.
  void raw(std::string_view json);

  void member(std::string_view name, std::string_view text);
  /// Without it a literal would be taken for a boolean.
  void member(std::string_view name, const char* text);
  void member(std::string_view name, int64_t value);
  void member(std::string_view name, int value);
  void member(std::string_view name, bool value);

  std::string take();

private:
  void separate();
  void quote(std::string_view text);

  std::string out_;
  bool first_ = true;
};

} // namespace bureau::models
