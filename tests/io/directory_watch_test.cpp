#include "actors/io/directory_watch.hpp"
#include "tests/io/real_system.hpp"
#include "tests/support/scratch_directory.hpp"

#include <algorithm>
#include <filesystem>

using namespace bureau;
using namespace bureau::test;

namespace {

struct watch_world : real_system {
  watch_world()
    : service(io::start_processes(system, {})),
      watch(io::spawn_directory_watch(system, service)) {}

  ~watch_world() {
    result_of<caf::ok_atom>(service.host, atom::stop_v);
    service.loop->join();
    self->send_exit(watch, caf::exit_reason::user_shutdown);
  }

  caf::expected<caf::ok_atom> begin(const std::string& path) {
    return result_of<caf::ok_atom>(watch, atom::watch_v, path,
                                   as_sink<watch_sink_actor>());
  }

  /// Takes news until a name is among them.
  void until(const std::string& name) {
    for (;;) {
      auto change = next<atom::changed, directory_change>();
      if (std::find(change.names.begin(), change.names.end(), name)
          != change.names.end())
        return;
    }
  }

  io::process_service service;
  directory_watch_actor watch;
};

} // namespace

TEST_SUITE("directory watch") {

  TEST_CASE("what happens to names is told") {
    watch_world w;
    scratch_directory dir;
    REQUIRE(w.begin(dir.path()));
    put_file(dir / "a", "1");
    w.until("a");
    std::filesystem::rename(dir / "a", dir / "b");
    w.until("b");
    std::filesystem::remove(dir / "b");
    w.until("b");
  }

  TEST_CASE("a directory that is removed or renamed is not watched any more") {
    watch_world w;
    scratch_directory dir;
    for (auto renamed : {false, true}) {
      std::filesystem::create_directory(dir / "x");
      REQUIRE(w.begin(dir / "x"));
      if (renamed)
        std::filesystem::rename(dir / "x", dir / "y");
      else
        std::filesystem::remove(dir / "x");
      auto ended = false;
      while (!ended)
        ended = w.next<atom::changed, directory_change>().ended;
      CHECK(ended);
    }
  }

  TEST_CASE("what cannot be watched is said") {
    watch_world w;
    scratch_directory dir;
    auto code = [&w](const std::string& path) {
      auto answer = w.begin(path);
      return answer ? errc::none : code_of(answer.error());
    };
    CHECK(code(dir / "none") == errc::not_found);
    put_file(dir / "file", "");
    CHECK(code(dir / "file") == errc::denied);
    std::filesystem::create_directory(dir / "real");
    std::filesystem::create_directory_symlink(dir / "real", dir / "link");
    CHECK(code(dir / "link") == errc::denied);
    CHECK(code("relative") == errc::bad_request);
  }

  TEST_CASE("a loop that ends tells its sinks") {
    auto w = std::make_unique<watch_world>();
    scratch_directory dir;
    REQUIRE(w->begin(dir.path()));
    w->result_of<caf::ok_atom>(w->service.host, atom::stop_v);
    CHECK(w->next<atom::changed, directory_change>().ended);
    auto answer = w->begin(dir.path());
    REQUIRE_FALSE(answer);
    CHECK(code_of(answer.error()) == errc::shutting_down);
  }
}
