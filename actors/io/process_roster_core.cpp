#include "actors/io/process_roster_core.hpp"

#include <charconv>

namespace bureau::io {

size_t write_begin_notice(char* room, pid_t group, std::string_view tag) {
  auto end = room;
  *end++ = '+';
  end = std::to_chars(end, room + notice_bytes, group).ptr;
  *end++ = ' ';
  for (auto c : tag.substr(0, longest_exec_tag))
    *end++ = c;
  *end++ = '\n';
  return static_cast<size_t>(end - room);
}

std::string begin_notice(pid_t group, std::string_view tag) {
  std::string result(notice_bytes, '\0');
  result.resize(write_begin_notice(result.data(), group, tag));
  return result;
}

std::string end_notice(pid_t group) {
  return "-" + std::to_string(group) + "\n";
}

void group_roster::take(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != std::string_view::npos;
       end = bytes.find('\n')) {
    begun_ += bytes.substr(0, end);
    take_line(begun_);
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
  begun_ += bytes;
}

void group_roster::take_line(std::string_view line) {
  if (line.empty() || (line.front() != '+' && line.front() != '-'))
    return;
  pid_t group = 0;
  auto end = line.data() + line.size();
  auto [rest, fault] = std::from_chars(line.data() + 1, end, group);
  if (fault != std::errc{} || group < 2)
    return;
  if (line.front() == '-')
    groups_.erase(group);
  else if (rest != end && *rest == ' ')
    groups_[group] = std::string{rest + 1, end};
}

} // namespace bureau::io
