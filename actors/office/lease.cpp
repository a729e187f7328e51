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
/// A lease that is being made or removed: this and 16 hex digits.
constexpr std::string_view aside_name = ".office-registry.lock.aside.";
constexpr int aside_digits = 16;

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

// Removed in two steps it would have no owner in between.
registry_lease::~registry_lease() {
  if (!held_ || read_owner(dir_) != token_)
    return;
  auto aside = unique_name();
  if (fs_.rename(dir_, aside))
    remove(aside);
}

// A rename needs a directory that is absent or empty, so only one of two
// processes gets the name. An empty one is a foreign writer on its way to the
// lease, or what is left of it: that is for is_stale to say.
bool registry_lease::try_acquire() {
  auto seen = fs_.stat_name(dir_);
  if (seen)
    return false;
  if (seen.error != ENOENT) {
    fault_ = "cannot look at the office registry lock " + dir_ + ": "
             + os::errno_text(seen.error);
    return false;
  }
  auto fresh = unique_name();
  fault_ = prepare(fresh);
  if (fault_.empty()) {
    auto placed = fs_.rename(fresh, dir_);
    held_ = static_cast<bool>(placed);
    if (!held_ && placed.error != EEXIST && placed.error != ENOTEMPTY)
      fault_ = "cannot create the office registry lock " + dir_ + ": "
               + os::errno_text(placed.error);
  }
  if (!held_)
    remove(fresh);
  return held_;
}

/// Makes a lease under another name. Answers a sentence, empty when it is made.
std::string registry_lease::prepare(const std::string& dir) {
  auto made = fs_.make_directory(dir, 0700);
  if (!made)
    return "cannot create the office registry lock " + dir + ": "
           + os::errno_text(made.error);
  auto path = dir + "/owner";
  auto opened = fs_.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  io_status written{opened.error};
  if (opened) {
    os::descriptor file{fs_, opened.value};
    written = os::write_all(fs_, file.get(), token_ + "\n");
  }
  return written
           ? std::string{}
           : "cannot write " + path + ": " + os::errno_text(written.error);
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
    return pid == ports_.pid || !ports_.process_alive(pid);
  auto facts = fs_.stat_name(dir_);
  return facts
         && wall_.now_ms() - modified_ms(facts.value) >= unknown_owner_stale_ms;
}

// A plain removal would let two processes that both saw the stale lock delete
// each other's fresh one. A renamed directory belongs to one of them, and the
// one that caught a fresh lock by mistake sees it and puts it back.
bool registry_lease::take_over(const std::string& owner) {
  auto aside = unique_name();
  if (!fs_.rename(dir_, aside))
    return false;
  if (read_owner(aside) != owner && fs_.rename(aside, dir_))
    return false;
  remove(aside);
  return true;
}

std::string registry_lease::unique_name() const {
  return dir_.substr(0, dir_.size() - lock_name.size())
         + std::string{aside_name} + random_hex(chance_, aside_digits);
}

void registry_lease::remove(const std::string& dir) {
  fs_.unlink(dir + "/owner");
  fs_.remove_directory(dir);
}

std::string sweep_lease_remains(file_system& fs, entropy& chance,
                                const wall_clock& wall,
                                const lease_ports& ports,
                                const std::string& state_dir) {
  auto held = false;
  for (const auto& name : fs.list(state_dir).value) {
    held = held || name == lock_name;
    if (!name.starts_with(aside_name)
        || name.size() != aside_name.size() + size_t{aside_digits})
      continue;
    auto dir = state_dir + "/" + name;
    fs.unlink(dir + "/owner");
    fs.remove_directory(dir);
  }
  // Ours for a moment, and then gone.
  return held ? registry_lease{fs, chance, wall, ports, state_dir}.fault()
              : std::string{};
}

} // namespace bureau::offices
