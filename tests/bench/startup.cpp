// How fast a node starts and how little it needs: time from exec to the first
// `GET /health` that answers 200, and the memory of the idle process; then the
// same with offices in the registry, all of them dormant, and with as many that
// came from an older version.
//
//   bench_startup [RUNS] [OFFICES]
#include "messages/codec/registry_file.hpp"
#include "messages/identity/workspace.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

double ms_since(clock_type::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin)
    .count();
}

int free_port() {
  auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(fd);
  return ntohs(address.sin_port);
}

bool health_answers(int port) {
  auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto good = false;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address)
      == 0) {
    auto request = "GET /health HTTP/1.1\r\nHost: 127.0.0.1:"
                   + std::to_string(port) + "\r\nConnection: close\r\n\r\n";
    ::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    char buffer[512];
    pollfd entry{fd, POLLIN, 0};
    if (::poll(&entry, 1, 1000) == 1) {
      auto got = ::recv(fd, buffer, sizeof buffer, 0);
      good = got > 12 && std::string(buffer, 12) == "HTTP/1.1 200";
    }
  }
  ::close(fd);
  return good;
}

/// Kilobytes of one line of /proc/<pid>/smaps_rollup.
long figure(const std::string& rollup, const std::string& name) {
  auto pos = rollup.find("\n" + name + ":");
  return pos == std::string::npos
           ? 0
           : std::strtol(rollup.c_str() + pos + name.size() + 2, nullptr, 10);
}

struct sample {
  double start_ms = 0;
  double stop_ms = 0;
  double resident_mb = 0;
  /// Written pages, those among them that the reaper still shares included:
  /// memory that no file is behind.
  double private_mb = 0;
  /// Unwritten file pages that no second process happens to map just now.
  double clean_mb = 0;
  int threads = 0;
};

double spawn_yardstick() {
  auto begin = clock_type::now();
  auto pid = ::fork();
  if (pid == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(127);
  }
  ::waitpid(pid, nullptr, 0);
  return ms_since(begin);
}

/// A state directory of a benchmark, removed at its end.
class place {
public:
  explicit place(size_t offices, bool migrated = false) {
    char directory[] = "/tmp/bureau-bench-XXXXXX";
    if (::mkdtemp(directory) == nullptr)
      std::abort();
    directory_ = directory;
    if (offices > 0)
      furnish(offices, migrated);
  }
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  ~place() { std::filesystem::remove_all(directory_); }

  std::string state() const { return directory_ + "/state"; }

private:
  static bureau::migration_record
  finished_move(const bureau::workspace& ws,
                const bureau::office_record& record, const std::string& dir) {
    bureau::migration_record move;
    move.raw_id = record.address.conversation_id;
    move.source_dir = ws.root + "/" + move.raw_id;
    move.workspace_root = ws.root;
    move.owner = record.address.platform;
    move.target_dir = dir;
    move.status = bureau::migration_status::committed;
    move.updated_at = record.recorded_at;
    return move;
  }

  void furnish(size_t offices, bool migrated) {
    using namespace bureau;
    auto ws = make_workspace(state() + "/workspace", state());
    std::filesystem::create_directories(ws.root);
    std::filesystem::permissions(state(), std::filesystem::perms::owner_all);
    registry_state registry;
    registry.enabled_platforms.push_back(platform_id::slack);
    for (size_t i = 0; i < offices; ++i) {
      office_record record;
      record.address = {platform_id::slack,
                        "C" + std::to_string(1'000'000 + i)};
      record.recorded_at = "2026-01-01T00:00:00.000Z";
      auto dir = make_office(ws, record.address).dir;
      std::filesystem::create_directory(dir);
      if (migrated)
        registry.migrations.push_back(finished_move(ws, record, dir));
      registry.offices.push_back(std::move(record));
    }
    std::ofstream file{state() + "/office-registry.json"};
    file << print_registry(registry);
  }

  std::string directory_;
};

sample measure(const std::string& binary, const std::string& state) {
  auto port = free_port();
  auto port_text = "LINK_PORT=" + std::to_string(port);
  sample result;
  auto begin = clock_type::now();
  auto pid = ::fork();
  if (pid == 0) {
    auto null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 0);
    ::dup2(null, 1);
    ::dup2(null, 2);
    const char* argv[] = {binary.c_str(), "run",         "--headless",
                          "--state-dir",  state.c_str(), nullptr};
    const char* envp[] = {"PATH=/usr/bin:/bin", "HOME=/root", port_text.c_str(),
                          nullptr};
    ::execve(argv[0], const_cast<char**>(argv), const_cast<char**>(envp));
    ::_exit(127);
  }
  while (!health_answers(port)) {
    if (::waitpid(pid, nullptr, WNOHANG) == pid) {
      std::fprintf(stderr, "the node ended before it answered\n");
      std::exit(1);
    }
    ::poll(nullptr, 0, 1);
  }
  result.start_ms = ms_since(begin);
  // Idle means: nothing has happened for a while.
  ::poll(nullptr, 0, 300);
  std::ifstream file{"/proc/" + std::to_string(pid) + "/smaps_rollup"};
  std::ostringstream rollup;
  rollup << file.rdbuf();
  result.resident_mb = static_cast<double>(figure(rollup.str(), "Rss")) / 1024;
  result.private_mb =
    static_cast<double>(figure(rollup.str(), "Anonymous")) / 1024;
  result.clean_mb =
    static_cast<double>(figure(rollup.str(), "Private_Clean")) / 1024;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(
         "/proc/" + std::to_string(pid) + "/task"))
    ++result.threads;
  begin = clock_type::now();
  ::kill(pid, SIGTERM);
  ::waitpid(pid, nullptr, 0);
  result.stop_ms = ms_since(begin);
  return result;
}

double percentile(std::vector<double> values, double rank) {
  std::sort(values.begin(), values.end());
  auto index =
    static_cast<size_t>(rank * static_cast<double>(values.size() - 1));
  return values[index];
}

void print(const char* what, const char* unit, std::vector<double> values,
           double target) {
  auto middle = percentile(values, 0.5);
  std::printf("%-22s %8.1f %8.1f %8.1f %-3s", what, percentile(values, 0),
              middle, percentile(values, 1), unit);
  if (target > 0)
    std::printf("  target <= %6.1f  %s", target,
                middle <= target ? "met" : "MISSED");
  std::printf("\n");
}

/// The figures of many runs.
struct table {
  void add(const sample& one) {
    start.push_back(one.start_ms);
    stop.push_back(one.stop_ms);
    resident.push_back(one.resident_mb);
    own.push_back(one.private_mb);
    clean.push_back(one.clean_mb);
    threads.push_back(one.threads);
  }
  std::vector<double> start;
  std::vector<double> stop;
  std::vector<double> resident;
  std::vector<double> own;
  std::vector<double> clean;
  std::vector<double> threads;
};

} // namespace

int main(int argc, char** argv) {
  auto runs = argc > 1 ? std::atoi(argv[1]) : 15;
  auto offices = argc > 2 ? std::atoi(argv[2]) : 10'000;
  auto self = std::filesystem::canonical("/proc/self/exe");
  auto binary = (self.parent_path() / "bureau").string();
  std::vector<double> yardstick;
  table empty;
  table furnished;
  table migrated;
  place many{static_cast<size_t>(offices)};
  place moved{static_cast<size_t>(offices), true};
  for (int i = 0; i < runs; ++i) {
    yardstick.push_back(spawn_yardstick());
    place fresh{0};
    empty.add(measure(binary, fresh.state()));
    furnished.add(measure(binary, many.state()));
    migrated.add(measure(binary, moved.state()));
  }
  std::printf("idle `bureau run --headless`, %d runs\n", runs);
  std::printf("%-22s %8s %8s %8s\n", "", "min", "median", "max");
  print("spawn of /bin/true", "ms", yardstick, 0);
  print("exec to /health 200", "ms", empty.start, 100);
  print("SIGTERM to exit", "ms", empty.stop, 0);
  print("resident memory", "MB", empty.resident, 25);
  print("private, written", "MB", empty.own, 6);
  print("private, file pages", "MB", empty.clean, 0);
  print("threads", "", empty.threads, 0);
  std::printf("with %d dormant offices\n", offices);
  print("exec to /health 200", "ms", furnished.start, 0);
  print("resident memory", "MB", furnished.resident, 0);
  auto added = percentile(furnished.start, 0.5) - percentile(empty.start, 0.5);
  auto bytes =
    (percentile(furnished.resident, 0.5) - percentile(empty.resident, 0.5))
    * 1024 * 1024 / offices;
  std::printf("added to the start     %8.1f ms   target <= 150  %s\n", added,
              added <= 150 ? "met" : "MISSED");
  std::printf("resident each office   %8.0f bytes  target < 1000  %s\n", bytes,
              bytes < 1000 ? "met" : "MISSED");
  std::printf("with %d offices of an older version\n", offices);
  print("exec to /health 200", "ms", migrated.start, 0);
  print("resident memory", "MB", migrated.resident, 0);
  added = percentile(migrated.start, 0.5) - percentile(empty.start, 0.5);
  std::printf("added to the start     %8.1f ms   target <= 150  %s\n", added,
              added <= 150 ? "met" : "MISSED");
  return 0;
}
