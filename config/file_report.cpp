#include "config/file_report.hpp"

#include "config/os/durable.hpp"
#include "messages/limits.hpp"

#include <cerrno>

namespace bureau::config {

std::string fault_at(std::string_view path, const json::parse_fault& where,
                     std::string_view what, std::string_view to_do) {
  std::string result{path};
  result += ':' + std::to_string(where.line) + ':'
            + std::to_string(where.column) + ": ";
  result += what;
  result += ". ";
  result += to_do;
  result += '.';
  return result;
}

std::string syntax_fault(std::string_view path, const json::parse_fault& fault,
                         std::string_view kind) {
  return fault_at(path, fault,
                  "Malformed " + std::string{kind} + " file: " + fault.what,
                  "Correct the JSON there");
}

std::string value_fault(std::string_view path, std::string_view text,
                        std::string_view pointer, std::string_view what,
                        std::string_view to_do) {
  return fault_at(path, json::position_of(text, pointer), what, to_do);
}

std::string pointer_token(std::string_view name) {
  std::string result = "/";
  for (auto c : name) {
    if (c == '~')
      result += "~0";
    else if (c == '/')
      result += "~1";
    else
      result += c;
  }
  return result;
}

file_signature signature_of(file_system& fs, const std::string& path) {
  auto seen = fs.stat_name(path);
  if (!seen)
    return {};
  const auto& facts = seen.value;
  return {
    true, static_cast<uint64_t>(facts.st_size),
    static_cast<uint64_t>(facts.st_dev), static_cast<uint64_t>(facts.st_ino),
    int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

std::string unreadable(std::string_view path, std::string_view why) {
  return fault_at(path, {}, "cannot be read: " + std::string{why},
                  "Put a readable regular file there or remove it");
}

file_text read_config_file(file_system& fs, const std::string& path) {
  auto bytes = os::read_whole(fs, path, limits::config_file_bytes);
  if (bytes)
    return {true, std::move(bytes.value), {}};
  if (bytes.fault.error == ENOENT)
    return {};
  return {true, {}, unreadable(path, os::errno_text(bytes.fault.error))};
}

} // namespace bureau::config
