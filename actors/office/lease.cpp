#include "actors/office/lease.hpp"

#include "config/os/durable.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <thread>

namespace bureau::offices {

namespace {

using std::chrono::milliseconds;

constexpr auto retry_interval = milliseconds{25};
constexpr int64_t unknown_owner_stale_ms = 60'000;
constexpr size_t owner_file_cap = 256;
constexpr std::string_view lock_name = ".office-registry.lock";

int64_t modified_ms(const struct stat& facts) {
  return static_cast<int64_t>(facts.st_mtim.tv_sec) * 1000
         + facts.st_mtim.tv_nsec / 1'000'000;
}

/// The process number at the start of `<pid>:<16 hex>`; 0 when there is none.
int64_t pid_of(std::string_view owner) {
  int64_t pid = 0;
  auto end = owner.data() + owner.size();
  auto parsed = std::from_chars(owner.data(), end, pid);
  return parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == ':'
           ? pid
           : 0;
}

} // namespace

lease_ports system_lease_ports() {
  lease_ports result;
  result.process_alive = [](int64_t pid) {
    return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
  };
  result.pause = [](milliseconds span) {
    std::this_thread::sleep_for(span);
  };
  result.pid = ::getpid();
  return result;
}

registry_lease::registry_lease(file_system& fs, entropy& chance,
                               const wall_clock& wall, const lease_ports& ports,
                               const std::string& state_dir)
  : fs_(fs), chance_(chance), wall_(wall), ports_(ports),
    dir_(state_dir + "/" + std::string{lock_name}),
    token_(std::to_string(ports.pid) + ":" + random_hex(chance, 16)) {
  milliseconds waited{0};
  while (!try_acquire() && fault_.empty()) {
    auto owner = read_owner(dir_);
    if (is_stale(owner) && take_over(owner))
      continue;
    if (waited >= ports_.timeout) {
      fault_ = "Timed out acquiring office registry lock " + dir_
               + (owner.empty() ? std::string{} : ", held by process " + owner)
               + "; end that process or remove the directory";
      return;
    }
    ports_.pause(retry_interval);
    waited += retry_interval;
  }
}

registry_lease::~registry_lease() {
  if (held_ && read_owner(dir_) == token_)
    remove(dir_);
}

bool registry_lease::try_acquire() {
  auto made = fs_.make_directory(dir_, 0700);
  if (made.error == EEXIST)
    return false;
  if (!made) {
    fault_ = "cannot create the office registry lock " + dir_ + ": "
             + os::errno_text(made.error);
    return false;
  }
  auto path = dir_ + "/owner";
  auto opened = fs_.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  io_status written{opened.error};
  if (opened) {
    os::descriptor file{fs_, opened.value};
    written = os::write_all(fs_, file.get(), token_ + "\n");
  }
  if (!written) {
    remove(dir_);
    fault_ = "cannot write " + path + ": " + os::errno_text(written.error);
    return false;
  }
  held_ = true;
  return true;
}

std::string registry_lease::read_owner(const std::string& dir) const {
  auto text = os::read_whole(fs_, dir + "/owner", owner_file_cap).value;
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

bool registry_lease::is_stale(const std::string& owner) const {
  auto pid = pid_of(owner);
  if (pid > 0)
    return !ports_.process_alive(pid);
  auto facts = fs_.stat_name(dir_);
  return facts
         && wall_.now_ms() - modified_ms(facts.value) >= unknown_owner_stale_ms;
}

// A plain removal would let two processes that both saw the stale lock delete
// each other's fresh one. A renamed directory belongs to one of them, and the
// one that caught a fresh lock by mistake sees it and puts it back.
bool registry_lease::take_over(const std::string& owner) {
  auto aside = dir_ + ".stale." + random_hex(chance_, 16);
  if (!fs_.rename(dir_, aside))
    return false;
  if (read_owner(aside) != owner && fs_.rename(aside, dir_))
    return false;
  remove(aside);
  return true;
}

void registry_lease::remove(const std::string& dir) {
  fs_.unlink(dir + "/owner");
  fs_.remove_directory(dir);
}

} // namespace bureau::offices
