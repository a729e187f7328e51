#include "adapters/console/attach_core.hpp"

#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::console {

namespace {

constexpr std::string_view scheme = "file:";
/// Of a path that is no UTF-8: its bytes as hexadecimal digits.
constexpr std::string_view bytes_scheme = "file-bytes:";
constexpr std::string_view digits = "0123456789abcdef";

std::string hex_of(std::string_view bytes) {
  std::string result;
  for (auto byte : bytes) {
    auto value = static_cast<unsigned char>(byte);
    result += digits[value >> 4];
    result += digits[value & 0xF];
  }
  return result;
}

std::optional<std::string> bytes_of(std::string_view hex) {
  if (hex.size() % 2 != 0)
    return std::nullopt;
  std::string result;
  for (size_t at = 0; at < hex.size(); at += 2) {
    auto high = digits.find(hex[at]);
    auto low = digits.find(hex[at + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos)
      return std::nullopt;
    result += static_cast<char>(high << 4 | low);
  }
  return result;
}

bool is_below(std::string_view path, std::string_view dir) {
  return !dir.empty() && path.starts_with(dir)
         && (path.size() == dir.size() || path[dir.size()] == '/');
}

} // namespace

std::string resolve_path(std::string_view path, const std::string& home,
                         const std::string& working_dir) {
  if (path == "~" || path.starts_with("~/"))
    return home.empty() ? std::string{}
                        : join_path(home, "." + std::string{path.substr(1)});
  if (path.starts_with('/'))
    return join_path("/", "." + std::string{path});
  return working_dir.empty() ? std::string{} : join_path(working_dir, path);
}

std::string file_name_of(const std::string& path) {
  return text::sanitize_utf8(path.substr(path.rfind('/') + 1));
}

std::string private_place(const std::string& path, const workspace& ws) {
  if (is_below(path, "/proc"))
    return path + " is no file that could be sent.";
  if (is_below(path, ws.state_dir) && !is_below(path, ws.root))
    return path
           + " is in the state directory, where keys are kept; copy it "
             "elsewhere if the agent is to have it.";
  return {};
}

std::string refusal_of(const std::string& path, const file_outcome& found) {
  switch (found.kind) {
  case file_kind::absent:
    return "There is no file " + path + ".";
  case file_kind::directory:
    return path + " is a directory; /attach takes one file.";
  case file_kind::symlink:
    return path + " is a symbolic link; name the file that it points to.";
  case file_kind::other:
    return path + " is no regular file.";
  case file_kind::regular:
    break;
  }
  if (found.size > limits::attachment_bytes)
    return path + " is larger than "
           + std::to_string(limits::attachment_bytes >> 20)
           + " MB, more than a message may carry.";
  return {};
}

std::string make_file_ref(const std::string& path) {
  return text::is_valid_utf8(path) ? std::string{scheme} + path
                                   : std::string{bytes_scheme} + hex_of(path);
}

std::optional<std::string> path_of_ref(std::string_view ref) {
  std::string path;
  if (ref.starts_with(bytes_scheme)) {
    auto bytes = bytes_of(ref.substr(bytes_scheme.size()));
    if (!bytes || text::is_valid_utf8(*bytes))
      return std::nullopt;
    path = std::move(*bytes);
  } else if (ref.starts_with(scheme)) {
    path = ref.substr(scheme.size());
  } else {
    return std::nullopt;
  }
  // Only what resolve_path answers.
  if (!path.starts_with('/') || path.find('\0') != std::string::npos
      || join_path("/", "." + path) != path)
    return std::nullopt;
  return path;
}

} // namespace bureau::console
