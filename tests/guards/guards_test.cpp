#include "tests/guards/source_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

using namespace bureau::guards;

namespace {

/// Files in which a pattern of code is allowed, each for a stated reason.
using allow_list = std::map<std::string, const char*>;

/// Reports every use of a pattern outside tests and the allow-list.
void forbid(const std::string& pattern, const char* why,
            const allow_list& allowed = {}, bool in_tests = false) {
  std::regex expression{pattern};
  for (const auto& file : all_sources()) {
    if ((!in_tests && file.in("tests/")) || allowed.contains(file.path)
        || file.in("tests/guards/"))
      continue;
    std::smatch match;
    auto found = std::regex_search(file.code, match, expression);
    std::string what = found ? match.str() : "nothing";
    INFO(file.path, " uses ", what, ": ", why);
    CHECK_FALSE(found);
  }
  for (const auto& entry : allowed) {
    INFO("the allow-list names a file that is gone: ", entry.first);
    CHECK(exists(entry.first));
  }
}

/// Files below a directory, as an allow-list.
allow_list below(std::initializer_list<std::string_view> directories) {
  allow_list result;
  for (const auto& file : all_sources())
    for (auto directory : directories)
      if (file.in(directory))
        result.emplace(file.path, "a thread or a port of its own");
  return result;
}

} // namespace

TEST_CASE("the guard sees the tree") {
  CHECK(all_sources().size() > 50);
  CHECK(rooms().size() >= 5);
}

TEST_CASE("rooms include only what stands below them") {
  for (const auto& file : all_sources()) {
    auto room = room_of(file.path);
    if (room.empty())
      continue;
    auto level = level_of(room);
    for (const auto& include : file.includes) {
      auto target = room_of(include);
      INFO(file.path, " includes ", include);
      CHECK_FALSE(include.starts_with("tests/"));
      if (target.empty() || target == room)
        continue;
      CHECK(level_of(target) < level);
    }
  }
}

TEST_CASE("every room has a README and links no room of its level") {
  for (const auto& room : rooms()) {
    CAPTURE(room);
    CHECK(exists(room + "/README.md"));
    // Composition and program are built in the system room and link everything.
    auto cmake = read(room + "/CMakeLists.txt");
    cmake = cmake.substr(0, cmake.find("add_library(bureau_composition"));
    std::regex dependency{"bureau::([a-z_]+)"};
    for (std::sregex_iterator it{cmake.begin(), cmake.end(), dependency}, end;
         it != end; ++it) {
      auto name = (*it)[1].str();
      for (const auto& other : rooms())
        if (other.ends_with("/" + name) || other == name) {
          INFO("links ", other);
          CHECK(level_of(other) < level_of(room));
        }
    }
  }
}

TEST_CASE("cores are pure") {
  const std::regex impure{
    R"(::now\(|\brand\(|random_device|[\s(=!]::open\(|\bfopen|std::thread|sleep_for|getenv)"};
  for (const auto& file : all_sources()) {
    if (!file.is_core() || file.in("tests/"))
      continue;
    CAPTURE(file.path);
    for (const auto& include : file.includes) {
      INFO("includes ", include);
      auto vocabulary =
        include == "caf/error.hpp" || include == "caf/expected.hpp"
        || include == "caf/fwd.hpp" || !include.starts_with("caf/");
      CHECK(vocabulary);
      CHECK_FALSE(include.starts_with("actors/kit/"));
    }
    std::smatch match;
    auto found = std::regex_search(file.code, match, impure);
    std::string what = found ? match.str() : "nothing";
    INFO("uses ", what);
    CHECK_FALSE(found);
  }
}

TEST_CASE("headers stay narrow") {
  const std::set<std::string> forbidden = {
    "caf/all.hpp",      "caf/io/all.hpp",      "caf/is_error_code_enum.hpp",
    "caf/test/dsl.hpp", "caf/test/io_dsl.hpp", "caf/test/unit_test_impl.hpp"};
  for (const auto& file : all_sources()) {
    // A test's own header, and the shared state of an actor that is split over
    // several files, are not interfaces.
    if (!file.is_header())
      continue;
    CAPTURE(file.path);
    CHECK(file.text.starts_with("#pragma once"));
    auto internal = file.in("tests/") || file.path.ends_with("_state.hpp");
    CHECK(file.code.find("using namespace ") == std::string::npos);
    for (const auto& include : file.includes) {
      INFO("includes ", include);
      auto refused =
        forbidden.contains(include) && !(internal && include == "caf/all.hpp");
      CHECK_FALSE(refused);
    }
  }
}

TEST_CASE("time comes from its ports") {
  forbid(R"((system_clock|steady_clock|high_resolution_clock)::now)",
         "take the actor's clock or the wall_clock port",
         {{"config/os/system_clock.cpp", "the port itself"},
          {"actors/io/event_loop.cpp", "the loops' own monotonic clock"}});
  forbid(R"(\b(gettimeofday|clock_gettime|time)\((NULL|nullptr|0|CLOCK))",
         "take the wall_clock port",
         {{"actors/io/event_loop.cpp", "the loops' own monotonic clock"}});
}

TEST_CASE("chance comes from its port") {
  forbid(R"(random_device|mt19937|\brand\(\)|\brandom\(\)|getrandom)",
         "take the entropy port",
         {{"config/os/system_entropy.cpp", "the port itself"}});
}

TEST_CASE("files are opened through the port") {
  auto allowed = below({"config/os/", "actors/io/"});
  forbid(
    R"(\b(ifstream|ofstream|fstream|fopen)\b|std::filesystem|[^A-Za-z0-9_>]::open\(|openat\()",
    "use files_actor, journal_actor or the file_system port", allowed);
}

TEST_CASE("nobody waits without an end") {
  forbid(R"(\binfinite\b)", "name a finite timeout of limits.hpp");
  forbid(R"(\.await\()", "await parks the mailbox, kill included", {}, true);
}

TEST_CASE("threads and locks stay where they are meant to be") {
  forbid(R"(std::(thread|jthread)|pthread_create)",
         "only the loops own threads",
         {{"actors/io/control_loop.cpp", "control"},
          {"actors/io/control_loop.hpp", "control"},
          {"actors/io/http_loop.cpp", "http-loop"},
          {"actors/io/http_loop.hpp", "http-loop"},
          {"actors/io/event_loop.cpp", "the loops' thread"},
          {"actors/io/event_loop.hpp", "the loops' thread"},
          {"actors/io/process_loop.cpp", "proc-loop"},
          {"actors/io/process_loop.hpp", "proc-loop"},
          {"adapters/console/console_thread.cpp", "console-input"},
          {"adapters/console/console_thread.hpp", "console-input"}});
  forbid(
    R"(std::(mutex|shared_mutex|condition_variable|lock_guard|unique_lock))",
    "a mailbox will do",
    {{"actors/io/loop_queue.hpp", "the one lock of the project"},
     {"actors/kit/log.cpp", "type parameter of a log sink"},
     {"web/http/response_writer.cpp", "writers of one response are threads"},
     {"web/http/response_writer.hpp", "writers of one response are threads"},
     {"web/http/server.cpp",
      "workers of Poco, and the thread that stops them"}});
  forbid(R"(scoped_actor)", "blocks its thread",
         {{"web/http/bridge.cpp", "a web worker may block"},
          {"actors/system/composition.cpp", "before there is a node"},
          {"actors/system/control_side.cpp", "the main thread may block"},
          {"actors/system/run_node.cpp", "the main thread may block"}});
  forbid(R"(sleep_for|usleep|nanosleep)", "wait for an event",
         {{"actors/office/lease.cpp", "boot and command line, before actors"}},
         true);
}

TEST_CASE("only the process loop starts and reaps processes") {
  forbid(
    R"(posix_spawn|\bfork\(|\bexecv|std::system\(|\bpopen\(|waitpid|waitid)",
    "use process_host_actor", below({"actors/io/"}));
}

TEST_CASE("the environment is read once") {
  forbid(R"(\bsetenv\(|\bputenv\()", "the environment is never written");
  forbid(R"(\bgetenv\()", "the environment is read at boot",
         {{"actors/system/main.cpp", "the one reader"}});
}

TEST_CASE("payloads hold no floating point and namespace std no inspect") {
  for (const auto& file : all_sources()) {
    if (!file.in("messages/interfaces/") && !file.in("messages/model/")
        && !file.in("messages/identity/"))
      continue;
    CAPTURE(file.path);
    std::regex floating{R"(\b(double|float)\b)"};
    CHECK_FALSE(std::regex_search(file.code, floating));
  }
  forbid(R"(namespace std\s*\{[^}]*inspect)", "bridge inside the struct");
}

TEST_CASE("type-id ranges do not overlap") {
  auto text = read("messages/type_id_bases.hpp");
  std::regex line{R"(type_id_t ([a-z]+) = (\d+);)"};
  std::map<int, std::string> bases;
  for (std::sregex_iterator it{text.begin(), text.end(), line}, end; it != end;
       ++it) {
    auto base = std::stoi((*it)[2]);
    CHECK(base >= 200);
    CHECK(bases.emplace(base, (*it)[1]).second);
  }
  REQUIRE(bases.size() > 5);
  std::map<std::string, int> counts;
  std::regex added{R"(CAF_ADD_TYPE_ID\(bureau_([a-z]+),)"};
  for (const auto& file : all_sources())
    for (std::sregex_iterator it{file.code.begin(), file.code.end(), added},
         end;
         it != end; ++it)
      ++counts[(*it)[1]];
  for (auto it = bases.begin(); std::next(it) != bases.end(); ++it) {
    CAPTURE(it->second);
    CHECK(it->first + counts[it->second] <= std::next(it)->first);
  }
}

TEST_CASE("atoms are short verbs") {
  auto text = read("messages/atoms.hpp");
  std::regex atom{R"(BUREAU_ATOM\(([^)]*)\);)"};
  size_t seen = 0;
  for (std::sregex_iterator it{text.begin(), text.end(), atom}, end; it != end;
       ++it, ++seen) {
    auto name = (*it)[1].str();
    CAPTURE(name);
    CHECK(name.size() <= 10);
    CHECK(std::regex_match(name, std::regex{"[a-z_]+"}));
  }
  CHECK(seen > 20);
}

TEST_CASE("every test file belongs to a suite") {
  // A list names its files, or takes all whose names end in a certain way.
  auto takes = [](const std::string& list, const std::string& name) {
    if (list.find(name) != std::string::npos)
      return true;
    for (std::string end : {"_test.cpp", "_functions.cpp"})
      if (name.ends_with(end)
          && list.find("CONFIGURE_DEPENDS *" + end) != std::string::npos)
        return true;
    return false;
  };
  for (const auto& file : all_sources()) {
    if (!file.in("tests/") || file.in("tests/bench/")
        || !file.path.ends_with(".cpp"))
      continue;
    INFO(file.path);
    auto slash = file.path.rfind('/');
    auto list = read(file.path.substr(0, slash) + "/CMakeLists.txt");
    CHECK(takes(list, file.path.substr(slash + 1)));
  }
}

TEST_CASE("decision records have distinct numbers and are listed") {
  std::set<std::string> numbers;
  auto index = read("docs/adr/README.md");
  std::regex entry{R"(\((\d{4})-[a-z0-9-]+\.md\))"};
  for (std::sregex_iterator it{index.begin(), index.end(), entry}, end;
       it != end; ++it) {
    auto name = it->str().substr(1, it->str().size() - 2);
    CAPTURE(name);
    CHECK(exists("docs/adr/" + name));
    CHECK(numbers.insert((*it)[1]).second);
  }
  CHECK(numbers.size() >= 3);
}

TEST_CASE("the documents name what exists") {
  for (auto document : {"README.md", "docs/architecture.md"}) {
    auto text = read(document);
    REQUIRE_FALSE(text.empty());
    // Paths in backquotes that begin with a top-level folder must exist.
    std::regex path{
      R"(`((?:messages|config|actors|adapters|sandbox|vault|web|tests|docs)/[A-Za-z0-9_./-]*)`)"};
    for (std::sregex_iterator it{text.begin(), text.end(), path}, end;
         it != end; ++it) {
      INFO(document, " names ", (*it)[1].str());
      CHECK(exists((*it)[1].str()));
    }
    for (const auto& room : rooms()) {
      if (std::string{document} == "README.md")
        continue;
      INFO(document, " does not mention ", room);
      CHECK(text.find("`" + room + "`") != std::string::npos);
    }
  }
}
