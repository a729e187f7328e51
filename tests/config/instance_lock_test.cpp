#include "config/instance_lock.hpp"
#include "config/os/posix_file_system.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

using namespace bureau;
using namespace bureau::config;
using namespace bureau::test;

namespace {

struct node_place {
  scratch_directory dir;
  std::shared_ptr<os::posix_file_system> fs =
    std::make_shared<os::posix_file_system>();
  seeded_entropy chance;
  std::string fault;

  instance_lock acquire() {
    os::machine_facts machine;
    machine.pid = 4711;
    machine.start_ticks = 99;
    machine.boot_id = "boot";
    machine.host = "desk";
    return instance_lock::acquire(*fs, dir.path(), machine, start_ms, fault,
                                  pause);
  }

  lock_holder look() { return find_lock_holder(*fs, dir.path(), pause); }

  /// Stands in for the waits; `meanwhile` is what happens in the next one.
  int pauses = 0;
  std::function<void()> meanwhile;
  std::function<void()> pause = [this] {
    ++pauses;
    if (auto action = std::exchange(meanwhile, {}))
      action();
  };
};

} // namespace

TEST_CASE_FIXTURE(node_place, "a second node is told who holds the directory") {
  auto first = acquire();
  REQUIRE(first);
  auto second = acquire();
  CHECK_FALSE(second);
  CHECK(fault
        == "The state directory " + dir.path()
             + " is already in use by pid 4711 since 2026-01-01T00:00:00.000Z "
               "on desk; stop that one or choose another --state-dir.");
}

TEST_CASE_FIXTURE(node_place,
                  "the lock ends with its holder, not with a file") {
  {
    auto first = acquire();
    REQUIRE(first);
  }
  // As after kill -9: the content is still there and does not matter.
  CHECK(get_file(dir / "node.lock").find("4711") != std::string::npos);
  CHECK(acquire());
  CHECK(fault == "");
}

TEST_CASE_FIXTURE(node_place, "a holder without content is just starting") {
  auto first = acquire();
  REQUIRE(first);
  put_file(dir / "node.lock", "");
  CHECK_FALSE(acquire());
  CHECK(fault.find("another bureau that is just starting")
        != std::string::npos);
}

TEST_CASE_FIXTURE(node_place, "node.json tells programs beside the node where "
                              "it listens") {
  auto lock = acquire();
  REQUIRE(lock);
  CHECK_FALSE(read_node_record(*fs, dir.path()));
  CHECK_FALSE(
    lock.publish(chance, listener{"127.0.0.1", 8181}, std::nullopt, false));
  auto record = read_node_record(*fs, dir.path());
  REQUIRE(record);
  CHECK(record->pid == 4711);
  CHECK(record->start_ticks == 99);
  CHECK(record->boot_id == "boot");
  CHECK(record->host == "desk");
  CHECK(record->http->port == 8181);
  CHECK_FALSE(record->observer);
  CHECK_FALSE(lock.publish(chance, std::nullopt, listener{"::1", 5}, true));
  record = read_node_record(*fs, dir.path());
  REQUIRE(record);
  CHECK_FALSE(record->http);
  CHECK(record->observer->host == "::1");
  CHECK(record->observer_tls);
  struct stat seen {};
  REQUIRE(::stat((dir / "node.json").c_str(), &seen) == 0);
  CHECK((seen.st_mode & 0777) == 0600);
}

TEST_CASE_FIXTURE(node_place, "an orderly end removes the record and frees the "
                              "lock") {
  auto lock = acquire();
  REQUIRE(lock);
  CHECK_FALSE(lock.publish(chance, std::nullopt, std::nullopt, false));
  lock.release();
  CHECK_FALSE(lock);
  CHECK(get_file(dir / "node.json") == "");
  CHECK(get_file(dir / "node.lock") == "");
  CHECK(acquire());
  lock.release();
}

TEST_CASE_FIXTURE(node_place, "programs beside a node see who holds the lock") {
  CHECK_FALSE(look().held);
  CHECK(find_lock_holder(*fs, dir / "nowhere").error == 0);
  auto lock = acquire();
  REQUIRE(lock);
  auto holder = look();
  CHECK(holder.held);
  REQUIRE(holder.record);
  CHECK(holder.record->pid == 4711);
  put_file(dir / "node.lock", "");
  CHECK(look().held);
  CHECK_FALSE(look().record);
  lock.release();
  CHECK_FALSE(look().held);
  // Looking takes nothing away.
  CHECK(acquire());
  faulty_file_system faulty{fs};
  faulty.fail_named("open", EACCES);
  auto hidden = find_lock_holder(faulty, dir.path());
  CHECK_FALSE(hidden.held);
  CHECK(hidden.error == EACCES);
}

TEST_CASE_FIXTURE(node_place, "who looks at the lock keeps nobody out") {
  auto looker = fs->open(dir / "node.lock", O_RDWR | O_CREAT, 0600);
  REQUIRE(looker);
  REQUIRE(fs->lock(looker.value));
  meanwhile = [&] {
    fs->close(looker.value);
  };
  auto node = acquire();
  CHECK(node);
  CHECK(pauses == 1);
  node.release();
  // Two who look do not take each other for a node.
  looker = fs->open(dir / "node.lock", O_RDWR, 0);
  REQUIRE(fs->lock(looker.value));
  meanwhile = [&] {
    fs->close(looker.value);
  };
  CHECK_FALSE(look().held);
  CHECK(pauses == 2);
  // A node stays one.
  node = acquire();
  REQUIRE(node);
  pauses = 0;
  CHECK(look().held);
  CHECK(pauses == 0);
  CHECK_FALSE(acquire());
  CHECK(pauses == lock_tries - 1);
}

TEST_CASE_FIXTURE(node_place, "every fault of the disk is a sentence and no "
                              "lock") {
  faulty_file_system faulty{fs};
  size_t n = 1;
  for (;; ++n) {
    CAPTURE(n);
    faulty.fail_at(n, EIO);
    os::machine_facts machine;
    auto lock =
      instance_lock::acquire(faulty, dir.path(), machine, start_ms, fault);
    if (faulty.operations().size() < n)
      break;
    CHECK_FALSE(lock);
    CHECK(fault.find("Input/output error") != std::string::npos);
  }
  // Opening, locking, emptying and writing can each fail.
  CHECK(n == 5);
}

TEST_CASE_FIXTURE(node_place, "a link in the place of the lock is refused") {
  put_file(dir / "victim", "precious");
  REQUIRE(::symlink("victim", (dir / "node.lock").c_str()) == 0);
  CHECK_FALSE(acquire());
  CHECK(get_file(dir / "victim") == "precious");
}

TEST_CASE("only a record is taken for one") {
  node_record record;
  record.pid = 7;
  record.http = listener{"h", 1};
  auto text = print_node_record(record);
  REQUIRE(parse_node_record(text));
  CHECK(parse_node_record(text)->http->port == 1);
  for (auto bad : {"", "{", "[]", "{}", R"({"version":2,"pid":1})",
                   R"({"version":1,"pid":"1"})"}) {
    CAPTURE(std::string{bad});
    CHECK_FALSE(parse_node_record(bad));
  }
  CHECK_FALSE(
    parse_node_record(R"({"version":1,"pid":1,"http":{"port":70000}})")->http);
}

TEST_CASE("the start time is found behind any process name") {
  std::string head = "42 (a) (b c)) S";
  std::string rest;
  for (auto field = 4; field <= 21; ++field)
    rest += ' ' + std::to_string(field);
  CHECK(os::start_ticks_of(head + rest + " 123456 23") == 123'456);
  CHECK(os::start_ticks_of(head + rest) == 0);
  CHECK(os::start_ticks_of("") == 0);
  CHECK(os::start_ticks_of(head + rest + " x") == 0);
}

TEST_CASE("the facts of this machine are there") {
  os::posix_file_system fs;
  auto facts = os::read_machine_facts(fs);
  CHECK(facts.pid == ::getpid());
  CHECK(facts.start_ticks > 0);
  CHECK(facts.boot_id.size() == 36);
  CHECK_FALSE(facts.host.empty());
  CHECK(facts.working_dir.starts_with('/'));
}
