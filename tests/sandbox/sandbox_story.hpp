#pragma once

#include "config/os/posix_file_system.hpp"
#include "messages/interfaces/executor.hpp"
#include "sandbox/executor_factory.hpp"
#include "tests/sandbox/helpers.hpp"
#include "tests/support/fake_process.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace bureau::test {

/// One office on one backend, over scripted processes and real files.
struct sandbox_story : node_fixture {
  sandbox_story() {
    std::filesystem::create_directories(directory.path + "/ws");
    std::filesystem::create_directories(directory.path + "/state");
    args.ws = make_workspace(directory.path + "/ws", directory.path + "/state");
    args.place = make_office(args.ws, {platform_id::console, "local"});
    deps.processes = spawn_fake_process(*system, processes);
    deps.files = spawn_inline_files(
      *system, std::make_shared<os::posix_file_system>(), chance, files);
    deps.chance = chance;
    config.bwrap.seccomp = "FILTER";
  }

  executor_actor make() {
    return sandbox::make_executor_factory(config, deps)(*system, args);
  }

  static exec_request request(uint64_t id, std::string command,
                              int64_t timeout_ms = 0) {
    exec_request result;
    result.id = id;
    result.command = std::move(command);
    result.timeout_ms = timeout_ms;
    return result;
  }

  /// A finished child as bubblewrap reports it.
  static process_script ended(int32_t code, std::string out = {},
                              std::string err = {}) {
    process_script script;
    script.out = std::move(out);
    script.err = std::move(err);
    script.extra = {"{ \"child-pid\": 7 }\n{ \"exit-code\": "
                    + std::to_string(code) + " }\n"};
    return script;
  }

  static process_script held(std::string out = {}) {
    process_script script;
    script.hold = true;
    script.out = std::move(out);
    script.extra = {"{ \"child-pid\": 7 }\n"};
    return script;
  }

  template <class T, class Handle, class... Args>
  answer<T> call(const Handle& receiver, Args&&... xs) {
    answer<T> result;
    ask(
      receiver, [&](const T& value) { result.value = value; },
      [&](const caf::error& fault) {
        result.code = code_of(fault);
        result.sentence = sentence_of(fault);
      },
      std::forward<Args>(xs)...);
    return result;
  }

  /// Collects the answer of a request made before.
  template <class T, class Pending>
  answer<T> collect(Pending& pending) {
    answer<T> result;
    settle();
    pending.receive([&](const T& value) { result.value = value; },
                    [&](const caf::error& fault) {
                      result.code = code_of(fault);
                      result.sentence = sentence_of(fault);
                    });
    return result;
  }

  std::string office_file(const std::string& name) const {
    return args.place.dir + "/" + name;
  }

  own_directory directory;
  std::shared_ptr<process_probe> processes = std::make_shared<process_probe>();
  std::shared_ptr<files_probe> files = std::make_shared<files_probe>();
  executor_args args;
  sandbox::executor_deps deps;
  sandbox::sandbox_config config;
};

} // namespace bureau::test
