// Appends a second through the journal, and how long the slowest hundredth of
// them waited, for 1 to 512 writers that each append again as soon as they are
// answered, beside two yardsticks of the same run.
//
// The bare disk does what decision A1 asks of it in one thread, without
// messages and without a look at the targets before: for each group of one
// record a writer, the same bytes in one write and one fdatasync of the
// segment, then a plain write for each record; after 16 MiB the targets are
// synced and the segment is replaced by a fresh one. The journal should reach
// 70 % of that.
//
// Messages alone: the same writers ask an actor with a thread of its own that
// answers at once, and no disk. Each record has to pay both, so the last column
// says what would be left if the journal itself cost nothing and nothing
// overlapped: 70 % of that is asked for (docs/adr/0015-journal-target.md).
//
//   bench_journal [directory] [seconds for each figure] [writers]
#include "actors/io/journal.hpp"
#include "actors/io/journal_codec.hpp"
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

std::string file_of(size_t writer) {
  return "file-" + std::to_string(writer);
}

// -- the bare disk ------------------------------------------------------------

int open_file(const std::string& path) {
  auto flags = O_WRONLY | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC;
  auto fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
  return fd;
}

bool write_whole(int fd, const std::string& bytes) {
  auto count = ::write(fd, bytes.data(), bytes.size());
  return count == static_cast<ssize_t>(bytes.size());
}

row bare_disk(const std::string& directory, size_t writers, double seconds) {
  std::vector<int> targets;
  io::frame_builder frame;
  for (size_t i = 0; i < writers; ++i) {
    auto name = file_of(i);
    frame.add({journal_root::state, name}, 0, line());
    targets.push_back(open_file(directory + "/" + name));
  }
  std::string group;
  for (auto piece : frame.pieces())
    group += piece;
  auto folder = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  auto record = line();
  std::vector<uint32_t> waits;
  size_t segments = 0;
  auto segment_path = [&] {
    return directory + "/bare-" + std::to_string(segments) + ".wal";
  };
  auto log = open_file(segment_path());
  size_t written = 0;
  auto begin = clock_type::now();
  auto limit = std::chrono::duration<double>{seconds};
  while (clock_type::now() - begin < limit) {
    auto start = clock_type::now();
    auto ok = write_whole(log, group) && ::fdatasync(log) == 0;
    for (auto fd : targets)
      ok = ok && write_whole(fd, record);
    written += group.size();
    if (written >= limits::journal_segment_bytes) {
      for (auto fd : targets)
        ok = ok && ::fdatasync(fd) == 0;
      ::close(log);
      ok = ok && ::unlink(segment_path().c_str()) == 0 && ::fsync(folder) == 0;
      ++segments;
      log = open_file(segment_path());
      ok = ok && ::fsync(folder) == 0;
      written = 0;
    }
    if (!ok) {
      std::perror("bare disk");
      std::exit(1);
    }
    waits.insert(waits.end(), writers, microseconds_since(start));
  }
  auto result = summary(
    waits, std::chrono::duration<double>(clock_type::now() - begin).count());
  ::close(log);
  ::close(folder);
  for (auto fd : targets)
    ::close(fd);
  return result;
}

// -- the journal --------------------------------------------------------------

struct shared_run {
  std::atomic<bool> running = true;
  /// Whether what begins now is measured.
  std::atomic<bool> measured = false;
  std::atomic<size_t> left = 0;
};

/// (tick) appends once and, when it is answered, again.
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
    auto measured = shared->measured.load();
    self->request(journal, limits::disk_timeout, atom::append_v, record)
      .then(
        [this, start, measured](uint64_t) {
          if (measured)
            waits->push_back(microseconds_since(start));
          append();
        },
        [this](const caf::error& reason) {
          if (shared->running.exchange(false))
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

// (append, journal_record) → 0
// The others answer nothing of use: nobody asks.
struct answering_state {
  using pointer = journal_actor::stateful_pointer<answering_state>;
  static inline const char* name = "bench_answers";

  explicit answering_state(pointer) {}

  journal_actor::behavior_type make_behavior() {
    return {
      [](atom::append, const journal_record&) { return uint64_t{0}; },
      [](atom::append, const journal_batch& records) {
        return std::vector<uint64_t>(records.size());
      },
      [](atom::seal, journal_root, const std::string&) {
        return caf::ok_atom_v;
      },
      [](atom::mark, const std::string&, bool) {},
      [](atom::status) { return status_line{}; },
      [](atom::stop) { return caf::ok_atom_v; },
    };
  }
};

/// @param state where a journal writes; empty: messages alone
row through_actor(const std::string& state, size_t writers, double seconds) {
  kit::system_config config{2};
  caf::actor_system system{config};
  auto journal =
    state.empty()
      ? kit::spawn_stateful<journal_actor, answering_state, caf::detached>(
        system)
      : io::spawn_journal(system, std::make_shared<os::posix_file_system>(),
                          state, state, {});
  auto shared = std::make_shared<shared_run>();
  shared->left = writers;
  std::vector<writer_actor> actors;
  std::vector<std::shared_ptr<std::vector<uint32_t>>> logs;
  for (size_t i = 0; i < writers; ++i) {
    logs.push_back(std::make_shared<std::vector<uint32_t>>());
    actors.push_back(kit::spawn_stateful<writer_actor, writer_state>(
      system, journal, file_of(i), shared, logs.back()));
  }
  caf::scoped_actor self{system};
  auto pause = [&](double length) {
    std::chrono::milliseconds span{static_cast<int64_t>(length * 1000)};
    self->receive(caf::after(span) >> [] {});
  };
  for (auto& writer : actors)
    caf::anon_send(writer, atom::tick_v);
  // Until all files exist.
  pause(seconds / 4);
  auto begin = clock_type::now();
  shared->measured = true;
  pause(seconds);
  shared->running = false;
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
  auto parent = std::filesystem::absolute(argc > 1 ? argv[1] : ".").string();
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
  std::printf("%8s | %9s %7s %7s | %9s %7s %7s | %9s | %6s %6s %-6s | %6s\n",
              "writers", "journal/s", "p50 us", "p99 us", "bare/s", "p50 us",
              "p99 us", "message/s", "share", "target", "", "bound");
  std::vector<size_t> classes = {1, 8, 64, 512};
  if (argc > 3)
    classes = {static_cast<size_t>(std::atoi(argv[3]))};
  for (auto writers : classes) {
    auto state = pattern + "/state-" + std::to_string(writers);
    auto beside = pattern + "/bare-" + std::to_string(writers);
    ::mkdir(state.c_str(), 0700);
    ::mkdir(beside.c_str(), 0700);
    auto bare = bare_disk(beside, writers, seconds);
    auto ours = through_actor(state, writers, seconds);
    auto messages = through_actor({}, writers, seconds);
    auto share = ours.per_second / bare.per_second;
    auto bound = messages.per_second / (messages.per_second + bare.per_second);
    auto wanted = target_share * bound;
    std::printf(
      "%8zu | %9.0f %7.0f %7.0f | %9.0f %7.0f %7.0f | %9.0f | %5.0f%% "
      "%5.0f%% %-6s | %5.0f%%\n",
      writers, ours.per_second, ours.p50_us, ours.p99_us, bare.per_second,
      bare.p50_us, bare.p99_us, messages.per_second, 100 * share, 100 * wanted,
      share >= wanted ? "met" : "MISSED", 100 * bound);
    std::fflush(stdout);
  }
  std::error_code left;
  std::filesystem::remove_all(pattern, left);
  return 0;
}
