#pragma once

#include "messages/codec/json_support.hpp"
#include "messages/ports/file_system.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// How configuration files are read and how their faults are told (decision
/// B9): one sentence with file, line and column, and what to do.
namespace bureau::config {

/// What came of reading a file. A fault is final; warnings are for the log and
/// leave the rest of the file in force.
template <class T>
struct reading {
  T value{};
  std::vector<std::string> warnings;
  std::string fault;
  explicit operator bool() const { return fault.empty(); }
};

/// `<path>:<line>:<column>: <what>. <to do>.`
std::string fault_at(std::string_view path, const json::parse_fault& where,
                     std::string_view what, std::string_view to_do);

/// fault_at for text that is not JSON.
std::string syntax_fault(std::string_view path, const json::parse_fault& fault,
                         std::string_view kind);

/// fault_at for the value that a JSON pointer names.
std::string value_fault(std::string_view path, std::string_view text,
                        std::string_view pointer, std::string_view what,
                        std::string_view to_do);

/// A token of a JSON pointer, escaped and with its slash.
std::string pointer_token(std::string_view name);

/// What tells one content of a file from the next without reading it.
struct file_signature {
  bool present = false;
  uint64_t size = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  friend bool operator==(const file_signature&,
                         const file_signature&) = default;
};

/// Signature of a name; an unreadable one counts as absent.
file_signature signature_of(file_system& fs, const std::string& path);

/// Text of a file, or that it is absent, or the fault that forbids it.
struct file_text {
  bool present = false;
  std::string text;
  std::string fault;
};

/// Reads a configuration file up to limits::config_file_bytes. Absence is no
/// fault; a link, a directory, an unreadable or too large file is.
file_text read_config_file(file_system& fs, const std::string& path);

/// The sentence for a configuration file that cannot be read.
std::string unreadable(std::string_view path, std::string_view why);

} // namespace bureau::config
