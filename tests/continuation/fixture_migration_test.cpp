#include "actors/office/migration.hpp"
#include "config/os/posix_file_system.hpp"
#include "tests/continuation/whole_node.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>

using namespace bureau;
using namespace bureau::continuation;

namespace {

/// One copy of the fixture and boots over it.
struct fixture_disk {
  fixture_disk() { copy_fixture(state, workspace); }

  offices::migration_run run() {
    offices::registry_ports ports{disk, chance, clock};
    return offices::migrate(ports, workspace, state, {platform_id::telegram});
  }

  /// All files, without the name of the scratch directory.
  std::map<std::string, std::string> tree() const {
    auto files = read_tree({state, workspace});
    for (auto& [name, content] : files)
      for (auto at = content.find(scratch.path()); at != std::string::npos;
           at = content.find(scratch.path()))
        content.replace(at, scratch.path().size(), "HERE");
    return files;
  }

  test::scratch_directory scratch;
  std::string state = scratch / "state";
  std::string workspace = scratch / "workspace";
  std::shared_ptr<os::posix_file_system> real =
    std::make_shared<os::posix_file_system>();
  test::faulty_file_system disk{real};
  test::seeded_entropy chance;
  test::test_wall_clock clock;
};

} // namespace

// Whatever step a kill interrupts, the next boot ends in the same place.
TEST_CASE("the migration of the fixture, killed at every step") {
  fixture_disk whole;
  REQUIRE(whole.run().fault == "");
  auto wanted = whole.tree();
  CHECK(wanted.size() > 8);
  for (size_t n = 1; n < 1000; ++n) {
    CAPTURE(n);
    fixture_disk place;
    place.disk.fail_from(n, EIO);
    auto first = place.run();
    auto through = first.fault.empty() && first.summary.migrated.size() == 2;
    place.disk.heal();
    auto second = place.run();
    CHECK(second.fault == "");
    CHECK(offices::boot_refusal(second.summary, place.state) == "");
    CHECK(place.tree() == wanted);
    if (through && n > 20)
      return;
  }
  FAIL("the run never got through");
}

// One fault ends the boot with a sentence, or it made no difference.
TEST_CASE("the migration of the fixture with one fault at every step") {
  fixture_disk whole;
  REQUIRE(whole.run().fault == "");
  auto wanted = whole.tree();
  for (auto error : {EIO, ENOSPC, EINTR}) {
    auto through = false;
    for (size_t n = 1; !through; ++n) {
      REQUIRE(n < 1000);
      CAPTURE(error);
      CAPTURE(n);
      fixture_disk place;
      place.disk.fail_at(n, error);
      auto first = place.run();
      through = place.disk.operations().size() < n;
      place.disk.heal();
      CHECK(offices::boot_refusal(first.summary, place.state) == "");
      CHECK((!first.fault.empty() || first.summary.migrated.size() == 2));
      auto second = place.run();
      CHECK(second.fault == "");
      CHECK(offices::boot_refusal(second.summary, place.state) == "");
      CHECK(place.tree() == wanted);
    }
  }
}
