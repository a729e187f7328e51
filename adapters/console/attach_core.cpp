#include "adapters/console/attach_core.hpp"

#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"

namespace bureau::console {

namespace {

constexpr std::string_view scheme = "file:";

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
  return path.substr(path.rfind('/') + 1);
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
  return std::string{scheme} + path;
}

std::optional<std::string> path_of_ref(std::string_view ref) {
  if (!ref.starts_with(scheme))
    return std::nullopt;
  std::string path{ref.substr(scheme.size())};
  // Only what resolve_path answers.
  if (!path.starts_with('/') || path.find('\0') != std::string::npos
      || join_path("/", "." + path) != path)
    return std::nullopt;
  return path;
}

} // namespace bureau::console
