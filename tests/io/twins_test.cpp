#include "actors/kit/spawn_stateful.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/limits.hpp"
#include "tests/support/fake_http.hpp"
#include "tests/support/fake_process.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/inline_journal.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace bureau;

namespace {

/// A sink of both protocols' events, kept outside the actor for the test.
struct seen_stream {
  std::vector<http_head> heads;
  std::string body;
  std::vector<http_done> ends;
  bool acknowledges = true;
};

struct stream_sink_state {
  using pointer = http_sink_actor::stateful_pointer<stream_sink_state>;
  static inline const char* name = "stream_sink";
  pointer self;
  http_client_actor client;
  std::shared_ptr<seen_stream> seen;

  explicit stream_sink_state(pointer me) : self(me) {}

  void init(http_client_actor http, std::shared_ptr<seen_stream> log) {
    client = std::move(http);
    seen = std::move(log);
  }

  http_sink_actor::behavior_type make_behavior() {
    return {
      [this](atom::h_head, const http_head& head) {
        seen->heads.push_back(head);
      },
      [this](atom::h_chunk, const http_chunk& chunk) {
        seen->body += chunk.bytes;
        if (seen->acknowledges)
          self->send(client, atom::ack_v,
                     http_ack{chunk.id, chunk.bytes.size()});
      },
      [this](atom::h_done, const http_done& done) {
        seen->ends.push_back(done);
      },
    };
  }
};

struct seen_child {
  std::string out;
  std::string err;
  std::vector<proc_exit> exits;
};

struct child_sink_state {
  using pointer = process_sink_actor::stateful_pointer<child_sink_state>;
  static inline const char* name = "child_sink";
  pointer self;
  process_host_actor host;
  std::shared_ptr<seen_child> seen;

  explicit child_sink_state(pointer me) : self(me) {}

  void init(process_host_actor processes, std::shared_ptr<seen_child> log) {
    host = std::move(processes);
    seen = std::move(log);
  }

  process_sink_actor::behavior_type make_behavior() {
    return {
      [this](atom::p_out, const proc_output& output) {
        (output.stream == 2 ? seen->err : seen->out) += output.bytes;
        self->send(host, atom::ack_v,
                   proc_ack{output.id, output.stream, output.bytes.size()});
      },
      [this](atom::p_exit, const proc_exit& exit) {
        seen->exits.push_back(exit);
      },
    };
  }
};

http_request request_for(uint64_t id, std::string url) {
  http_request result;
  result.id = id;
  result.url = std::move(url);
  return result;
}

proc_spec spec_for(uint64_t id, std::string program) {
  proc_spec result;
  result.id = id;
  result.argv = {std::move(program)};
  return result;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct twins : test::node_fixture {
  twins() {
    std::string pattern = "/tmp/bureau-twins-XXXXXX";
    directory = ::mkdtemp(pattern.data());
  }
  ~twins() { std::filesystem::remove_all(directory); }

  template <class Result, class Handle, class... Args>
  caf::expected<Result> result_of(const Handle& receiver, Args&&... args) {
    caf::expected<Result> result{caf::error{}};
    ask(
      receiver, [&](const Result& value) { result = value; },
      [&](const caf::error& reason) { result = reason; },
      std::forward<Args>(args)...);
    return result;
  }

  std::string directory;
  std::shared_ptr<file_system> disk = std::make_shared<os::posix_file_system>();
};

} // namespace

TEST_CASE_FIXTURE(twins, "the inline journal answers the offsets it wrote at") {
  auto probe = std::make_shared<test::journal_probe>();
  auto journal =
    test::spawn_inline_journal(*system, disk, directory, directory, probe);
  auto add = [&](std::string bytes) {
    return result_of<uint64_t>(
      journal, atom::append_v,
      journal_record{journal_root::state, "a.jsonl", std::move(bytes)});
  };
  CHECK(*add("one\n") == 0);
  CHECK(*add("two\n") == 4);
  probe->broken = true;
  CHECK(code_of(add("lost\n").error()) == errc::disk);
  probe->broken = false;
  probe->breaks_after = 1;
  CHECK(*add("three\n") == 8);
  CHECK(code_of(add("lost\n").error()) == errc::disk);
  CHECK(content(directory + "/a.jsonl") == "one\ntwo\nthree\n");
  CHECK(probe->asked.size() == 5);
  CHECK(probe->written.size() == 3);
}

TEST_CASE_FIXTURE(twins, "the inline journal needs the directory of a target") {
  auto journal =
    test::spawn_inline_journal(*system, disk, directory, directory);
  auto answer = result_of<uint64_t>(
    journal, atom::append_v,
    journal_record{journal_root::state, "absent/a.jsonl", "x"});
  CHECK(code_of(answer.error()) == errc::bad_request);
}

TEST_CASE_FIXTURE(twins, "inline files run jobs, or fail as the test planned") {
  auto probe = std::make_shared<test::files_probe>();
  auto files = test::spawn_inline_files(*system, disk, chance, probe);
  file_job job;
  job.op = file_op::write_atomic;
  job.path = directory + "/x";
  job.bytes = "hello";
  CHECK(result_of<file_outcome>(files, atom::file_v, job));
  CHECK(content(job.path) == "hello");
  probe->failures.push_back(make_failure(errc::disk, "full"));
  auto failed = result_of<file_outcome>(files, atom::file_v, job);
  CHECK(code_of(failed.error()) == errc::disk);
  CHECK(probe->jobs.size() == 2);
}

TEST_CASE_FIXTURE(twins, "the http fake keeps to the window of a stream") {
  auto probe = std::make_shared<test::http_probe>();
  auto client = test::spawn_fake_http(*system, probe);
  auto seen = std::make_shared<seen_stream>();
  seen->acknowledges = false;
  auto sink = kit::spawn_stateful<http_sink_actor, stream_sink_state>(
    *system, client, seen);
  test::http_script script;
  script.chunks = {std::string(limits::stream_window_bytes * 2, 'x')};
  probe->script(script, "http://models.example/");
  CHECK(result_of<caf::ok_atom>(
    client, atom::start_v, request_for(1, "http://models.example/v1"), sink));
  CHECK(seen->heads.size() == 1);
  CHECK(seen->body.size() == limits::stream_window_bytes);
  CHECK(probe->open == std::vector<uint64_t>{1});
  self->send(client, atom::ack_v, http_ack{1, limits::stream_window_bytes});
  settle();
  CHECK(seen->body.size() == limits::stream_window_bytes * 2);
  REQUIRE(seen->ends.size() == 1);
  CHECK(seen->ends[0].error == http_error::none);
}

TEST_CASE_FIXTURE(twins, "the http fake holds a stream until it is cancelled") {
  auto probe = std::make_shared<test::http_probe>();
  auto client = test::spawn_fake_http(*system, probe);
  auto seen = std::make_shared<seen_stream>();
  auto sink = kit::spawn_stateful<http_sink_actor, stream_sink_state>(
    *system, client, seen);
  test::http_script script;
  script.hold = true;
  probe->script(script);
  auto url = "https://models.example/v1";
  CHECK(
    result_of<caf::ok_atom>(client, atom::start_v, request_for(7, url), sink));
  probe->push(7, "more");
  settle();
  CHECK(seen->body == "more");
  self->send(client, atom::cancel_v, http_cancel{7});
  settle();
  REQUIRE(seen->ends.size() == 1);
  CHECK(seen->ends[0].error == http_error::cancelled);
  CHECK(probe->cancels == std::vector<uint64_t>{7});
}

TEST_CASE_FIXTURE(twins, "a request nobody scripted fails and is noted") {
  auto probe = std::make_shared<test::http_probe>();
  auto client = test::spawn_fake_http(*system, probe);
  auto answer = result_of<http_response>(
    client, atom::fetch_v, request_for(1, "http://nowhere.example/"));
  CHECK(code_of(answer.error()) == errc::transport);
  CHECK(probe->unscripted
        == std::vector<std::string>{"http://nowhere.example/"});
}

TEST_CASE_FIXTURE(twins, "the process fake captures up to the cap") {
  auto probe = std::make_shared<test::process_probe>();
  auto host = test::spawn_fake_process(*system, probe);
  test::process_script script;
  script.out = "0123456789";
  script.code = 3;
  probe->script(script);
  auto spec = spec_for(1, "/bin/tool");
  spec.cap_out = 4;
  auto result = result_of<proc_result>(host, atom::run_v, spec);
  REQUIRE(result);
  CHECK(result->out == "0123");
  CHECK(result->exit.out_dropped == 6);
  CHECK(result->exit.code == 3);
}

TEST_CASE_FIXTURE(twins, "a held child ends by a kill, a sink sees one exit") {
  auto probe = std::make_shared<test::process_probe>();
  auto host = test::spawn_fake_process(*system, probe);
  auto seen = std::make_shared<seen_child>();
  auto sink = kit::spawn_stateful<process_sink_actor, child_sink_state>(
    *system, host, seen);
  test::process_script script;
  script.hold = true;
  script.out = "ready\n";
  probe->script(script);
  CHECK(result_of<proc_started>(host, atom::start_v, spec_for(5, "/bin/tool"),
                                sink));
  probe->output(5, 2, "oops");
  self->send(host, atom::p_write_v, proc_input{5, "typed", true});
  settle();
  CHECK(seen->out == "ready\n");
  CHECK(seen->err == "oops");
  CHECK(probe->inputs[5] == "typed");
  CHECK(probe->closed_inputs.count(5) == 1);
  self->send(host, atom::p_kill_v, proc_kill{5, 0});
  self->send(host, atom::p_kill_v, proc_kill{5, 0});
  settle();
  REQUIRE(seen->exits.size() == 1);
  CHECK(seen->exits[0].signal == 9);
  CHECK(probe->running.empty());
}

TEST_CASE_FIXTURE(twins, "a story may end while a run is still held") {
  auto probe = std::make_shared<test::process_probe>();
  auto host = test::spawn_fake_process(*system, probe);
  test::process_script script;
  script.hold = true;
  probe->script(script);
  auto pending =
    self->request(host, caf::infinite, atom::run_v, spec_for(1, "/bin/tool"));
  settle();
  CHECK(probe->running == std::vector<uint64_t>{1});
  probe.reset();
  settle();
  auto code = errc::none;
  pending.receive([](const proc_result&) {},
                  [&](const caf::error& reason) { code = code_of(reason); });
  CHECK(code == errc::shutting_down);
}
