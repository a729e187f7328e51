#include "actors/io/process_core.hpp"

#include "actors/io/process_roster_core.hpp"

#include <algorithm>
#include <set>

namespace bureau::io {

namespace {

constexpr size_t most_arguments = 4096;
/// The kernel's own bound for one argument or variable is 128 KiB.
constexpr size_t longest_argument = 128u << 10;

bool holds_nul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

bool is_plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (c >= 0 && c < ' ') || c == '\x7f';
  });
}

std::string environment_fault(const std::vector<env_entry>& env) {
  std::set<std::string_view> names;
  for (const auto& entry : env) {
    if (entry.name.empty() || holds_nul(entry.name)
        || entry.name.find('=') != std::string::npos)
      return "an environment name is empty or holds '=' or NUL";
    if (holds_nul(entry.value))
      return "the environment value of " + entry.name + " holds a NUL byte";
    if (entry.name.size() + entry.value.size() + 2 > longest_argument)
      return "the environment value of " + entry.name + " is too long";
    if (!names.insert(entry.name).second)
      return "the environment names " + entry.name + " twice";
  }
  return {};
}

std::string descriptor_fault(const std::vector<proc_fd>& fds) {
  std::set<int32_t> numbers;
  for (const auto& fd : fds) {
    if (fd.child_fd < 3 || fd.child_fd > highest_child_fd)
      return "descriptor " + std::to_string(fd.child_fd) + " is outside 3 to "
             + std::to_string(highest_child_fd);
    if (!numbers.insert(fd.child_fd).second)
      return "descriptor " + std::to_string(fd.child_fd) + " is given twice";
    if (fd.kind == fd_kind::open_beneath
        && (!fd.root.starts_with('/') || holds_nul(fd.root)
            || holds_nul(fd.path) || fd.path.starts_with('/')))
      return "descriptor " + std::to_string(fd.child_fd)
             + " needs an absolute root and a relative path";
  }
  return {};
}

} // namespace

std::string spec_fault(const proc_spec& spec) {
  if (spec.id == 0)
    return "the child has no id";
  if (spec.argv.empty() || !spec.argv.front().starts_with('/'))
    return "argv must begin with the absolute path of a program";
  if (spec.argv.size() > most_arguments)
    return "there are more than " + std::to_string(most_arguments)
           + " arguments";
  for (const auto& argument : spec.argv)
    if (holds_nul(argument) || argument.size() >= longest_argument)
      return "an argument is longer than 128 KiB or holds a NUL byte";
  if (!spec.cwd.starts_with('/') || holds_nul(spec.cwd))
    return "the working directory must be an absolute path";
  if (spec.input_bytes.size() > limits::process_input_bytes)
    return "the input is larger than "
           + std::to_string(limits::process_input_bytes) + " bytes";
  if (spec.exec_tag.size() > longest_exec_tag || !is_plain(spec.exec_tag))
    return "the exec tag is longer than " + std::to_string(longest_exec_tag)
           + " bytes or holds a control character";
  if (auto fault = environment_fault(spec.env); !fault.empty())
    return fault;
  return descriptor_fault(spec.fds);
}

std::string shown_name(const proc_spec& spec) {
  if (!spec.label.empty())
    return spec.label;
  return spec.argv.empty() ? "a child without a program" : spec.argv.front();
}

std::vector<std::string> environment_lines(const proc_spec& spec) {
  std::vector<std::string> result;
  result.reserve(spec.env.size());
  for (const auto& entry : spec.env)
    result.push_back(entry.name + "=" + entry.value);
  return result;
}

bool carries_tag(std::string_view block, std::string_view tag) {
  constexpr std::string_view name = "BUREAU_EXEC_ID=";
  while (!block.empty()) {
    auto end = std::min(block.find('\0'), block.size());
    auto line = block.substr(0, end);
    if (line.starts_with(name) && line.substr(name.size()) == tag)
      return true;
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  return false;
}

void capture::take(std::string_view bytes) {
  auto room = cap_ - std::min<uint64_t>(cap_, kept_.size());
  auto taken = std::min<uint64_t>(room, bytes.size());
  kept_.append(bytes.substr(0, taken));
  dropped_ += bytes.size() - taken;
}

bool stream_window::sent(uint64_t bytes) {
  unacked_ += bytes;
  paused_ = paused_ || unacked_ >= limits::stream_window_bytes;
  return paused_;
}

bool stream_window::acknowledged(uint64_t bytes) {
  unacked_ -= std::min(unacked_, bytes);
  if (!paused_ || unacked_ > limits::stream_resume_bytes)
    return false;
  paused_ = false;
  return true;
}

} // namespace bureau::io
