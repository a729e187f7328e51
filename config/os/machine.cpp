#include "config/os/machine.hpp"

#include "config/os/durable.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <vector>

namespace bureau::os {

namespace {

constexpr size_t proc_file_bytes = 16 * 1024;

std::string first_line(std::string text) {
  return text.substr(0, text.find('\n'));
}

void read_user(machine_facts& facts) {
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(facts.euid, &entry, buffer.data(), buffer.size(), &found)
        != 0
      || found == nullptr)
    return;
  facts.home = found->pw_dir;
  facts.login = found->pw_name;
}

} // namespace

machine_facts read_machine_facts(file_system& fs) {
  machine_facts facts;
  facts.pid = ::getpid();
  facts.euid = ::geteuid();
  facts.stdin_is_terminal = ::isatty(STDIN_FILENO) == 1;
  std::unique_ptr<char, void (*)(void*)> here{::getcwd(nullptr, 0), std::free};
  if (here)
    facts.working_dir = here.get();
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) == 0)
    facts.host = host;
  read_user(facts);
  auto stat = read_whole(fs, "/proc/self/stat", proc_file_bytes);
  facts.start_ticks = start_ticks_of(stat.value);
  auto boot =
    read_whole(fs, "/proc/sys/kernel/random/boot_id", proc_file_bytes);
  facts.boot_id = first_line(boot.value);
  return facts;
}

int64_t start_ticks_of(const std::string& stat_text) {
  auto close = stat_text.rfind(')');
  if (close == std::string::npos)
    return 0;
  // The state after the name is field 3.
  std::istringstream rest{stat_text.substr(close + 1)};
  std::string field;
  for (auto number = 3; number <= 22; ++number)
    if (!(rest >> field))
      return 0;
  char* end = nullptr;
  auto ticks = std::strtoll(field.c_str(), &end, 10);
  return end != nullptr && *end == '\0' ? ticks : 0;
}

} // namespace bureau::os
