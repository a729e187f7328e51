// Appends a second through the journal, and how long the slowest hundredth of
// them waited, for 1 to 512 writers that each append again as soon as they are
// answered, beside what the bare disk does with the same groups in the same
// run: one write and one fdatasync of the group's bytes, then one plain write
// for each record. The journal should reach 70 % of that.
//
//   bench_journal [directory] [seconds for each row]
#include "actors/io/journal.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "actors/kit/system_config.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/interfaces/common.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace bureau;
using clock_type = std::chrono::steady_clock;

/// The size of an average line of a session or ledger.
constexpr size_t record_bytes = 300;

/// Part of the bare disk's rate that the journal should reach.
constexpr double target_share = 0.7;

struct row {
  double per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
};

row summary(std::vector<uint32_t>& waits_us, double seconds) {
  if (waits_us.empty())
    return {};
  std::sort(waits_us.begin(), waits_us.end());
  auto at = [&](double share) {
    auto index =
      static_cast<size_t>(share * static_cast<double>(waits_us.size()));
    return static_cast<double>(waits_us[std::min(index, waits_us.size() - 1)]);
  };
  return {static_cast<double>(waits_us.size()) / seconds, at(0.5), at(0.99)};
}

uint32_t microseconds_since(clock_type::time_point begin) {
  return static_cast<uint32_t>(
    std::chrono::duration_cast<std::chrono::microseconds>(clock_type::now()
                                                          - begin)
      .count());
}

std::string line() {
  return std::string(record_bytes - 1, 'x') + "\n";
}

// -- the bare disk ------------------------------------------------------------

row bare_disk(const std::string& directory, size_t writers, double seconds) {
  auto open_file = [&](const std::string& name) {
    auto path = directory + "/" + name;
    auto flags = O_WRONLY | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC;
    auto fd = ::open(path.c_str(), flags, 0600);
    if (fd < 0) {
      std::perror(path.c_str());
      std::exit(1);
    }
    return fd;
  };
  std::vector<int> targets;
  for (size_t i = 0; i < writers; ++i)
    targets.push_back(open_file("bare-" + std::to_string(i)));
  auto log = open_file("bare.wal");
  auto record = line();
  std::string group;
  for (size_t i = 0; i < writers; ++i)
    group += record;
  std::vector<uint32_t> waits;
  auto begin = clock_type::now();
  auto limit = std::chrono::duration<double>{seconds};
  while (clock_type::now() - begin < limit) {
    auto start = clock_type::now();
    auto ok =
      ::write(log, group.data(), group.size()) > 0 && ::fdatasync(log) == 0;
    for (auto fd : targets)
      ok = ok && ::write(fd, record.data(), record.size()) > 0;
    if (!ok) {
      std::perror("bare disk");
      std::exit(1);
    }
    waits.insert(waits.end(), writers, microseconds_since(start));
  }
  auto result = summary(
    waits, std::chrono::duration<double>(clock_type::now() - begin).count());
  ::close(log);
  for (auto fd : targets)
    ::close(fd);
  return result;
}

// -- the journal --------------------------------------------------------------

struct shared_run {
  std::atomic<bool> running = true;
  std::atomic<size_t> left = 0;
};

/// (tick) appends once and, when it is answered, again. (status) tells nothing.
using writer_actor = caf::typed_actor<caf::reacts_to<atom::tick>>;

struct writer_state {
  using pointer = writer_actor::stateful_pointer<writer_state>;
  static inline const char* name = "bench_writer";

  explicit writer_state(pointer me) : self(me) {}

  void init(journal_actor target, std::string file,
            std::shared_ptr<shared_run> run,
            std::shared_ptr<std::vector<uint32_t>> log) {
    journal = std::move(target);
    record.path = std::move(file);
    record.bytes = line();
    shared = std::move(run);
    waits = std::move(log);
  }

  void append() {
    if (!shared->running) {
      --shared->left;
      return;
    }
    auto start = clock_type::now();
    self->request(journal, limits::disk_timeout, atom::append_v, record)
      .then(
        [this, start](uint64_t) {
          waits->push_back(microseconds_since(start));
          append();
        },
        [this](const caf::error& reason) {
          std::fprintf(stderr, "%s\n", sentence_of(reason).c_str());
          --shared->left;
        });
  }

  writer_actor::behavior_type make_behavior() {
    return {[this](atom::tick) {
      append();
    }};
  }

  pointer self;
  journal_actor journal;
  journal_record record;
  std::shared_ptr<shared_run> shared;
  std::shared_ptr<std::vector<uint32_t>> waits;
};

row through_journal(const std::string& directory, size_t writers,
                    double seconds) {
  auto state = directory + "/state-" + std::to_string(writers);
  ::mkdir(state.c_str(), 0700);
  kit::system_config config{2};
  caf::actor_system system{config};
  auto journal = io::spawn_journal(
    system, std::make_shared<os::posix_file_system>(), state, state, {});
  auto shared = std::make_shared<shared_run>();
  shared->left = writers;
  std::vector<writer_actor> actors;
  std::vector<std::shared_ptr<std::vector<uint32_t>>> logs;
  for (size_t i = 0; i < writers; ++i) {
    logs.push_back(std::make_shared<std::vector<uint32_t>>());
    actors.push_back(kit::spawn_stateful<writer_actor, writer_state>(
      system, journal, "file-" + std::to_string(i), shared, logs.back()));
  }
  caf::scoped_actor self{system};
  auto begin = clock_type::now();
  for (auto& writer : actors)
    caf::anon_send(writer, atom::tick_v);
  self->receive(
    caf::after(std::chrono::milliseconds{static_cast<int64_t>(seconds * 1000)})
    >> [&] { shared->running = false; });
  auto took = std::chrono::duration<double>(clock_type::now() - begin).count();
  while (shared->left > 0)
    self->receive(caf::after(std::chrono::milliseconds{1}) >> [] {});
  self->request(journal, limits::disk_timeout, atom::stop_v)
    .receive([](caf::ok_atom) {},
             [](const caf::error& reason) {
               std::fprintf(stderr, "%s\n", sentence_of(reason).c_str());
             });
  // Timeouts of answered requests would hold them for half a minute.
  self->send_exit(journal, caf::exit_reason::user_shutdown);
  for (auto& writer : actors)
    self->send_exit(writer, caf::exit_reason::user_shutdown);
  std::vector<uint32_t> waits;
  for (const auto& log : logs)
    waits.insert(waits.end(), log->begin(), log->end());
  return summary(waits, took);
}

} // namespace

int main(int argc, char** argv) {
  std::string parent = argc > 1 ? argv[1] : ".";
  auto seconds = argc > 2 ? std::atof(argv[2]) : 3.0;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  auto pattern = parent + "/bureau-bench-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::perror(pattern.c_str());
    return 1;
  }
  std::printf("%zu-byte records, one file a writer, in %s\n\n", record_bytes,
              pattern.c_str());
  std::printf("%8s | %12s %9s %9s | %12s %9s %9s | %6s %7s\n", "writers",
              "journal/s", "p50 us", "p99 us", "bare disk/s", "p50 us",
              "p99 us", "share", "target");
  for (size_t writers : {1u, 8u, 64u, 512u}) {
    auto bare = bare_disk(pattern, writers, seconds);
    auto ours = through_journal(pattern, writers, seconds);
    auto share = ours.per_second / bare.per_second;
    std::printf("%8zu | %12.0f %9.0f %9.0f | %12.0f %9.0f %9.0f | %5.0f%% "
                "%6.0f%% %s\n",
                writers, ours.per_second, ours.p50_us, ours.p99_us,
                bare.per_second, bare.p50_us, bare.p99_us, 100 * share,
                100 * target_share, share >= target_share ? "met" : "MISSED");
    std::fflush(stdout);
  }
  std::error_code left;
  std::filesystem::remove_all(pattern, left);
  return 0;
}
