#include "adapters/console/console_adapter.hpp"

#include "actors/kit/spawn_stateful.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <thread>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

/// What the runtime was asked, and what it is to answer.
struct script {
  std::vector<intake_request> taken;
  std::deque<caf::error> refusals;
  std::vector<std::string> shutdowns;
  uint64_t open_entries = 0;
  bool refuse_sending = false;
};

using script_ptr = std::shared_ptr<script>;

struct offices_state {
  offices_actor::stateful_pointer<offices_state> self;
  script_ptr story;
  static inline const char* name = "scripted_offices";
  explicit offices_state(offices_actor::stateful_pointer<offices_state> me)
    : self(me) {}
  void init(script_ptr book) { story = std::move(book); }
  caf::result<intake_reply> intake(const intake_request& request) {
    if (!story->refusals.empty()) {
      auto reason = story->refusals.front();
      story->refusals.pop_front();
      return reason;
    }
    story->taken.push_back(request);
    auto outcome = request.event.text == "stop" ? intake_outcome::stopped
                                                : intake_outcome::taken;
    return intake_reply{outcome, request.event.session_key};
  }
  offices_actor::behavior_type make_behavior() {
    return {
      [this](atom::intake, const intake_request& x) { return intake(x); },
      [this](atom::may_send, const delivery_key&) -> caf::result<caf::ok_atom> {
        if (story->refuse_sending)
          return make_failure(errc::aborted, "stopped");
        return caf::ok_atom_v;
      },
      [](atom::attach, platform_id, const transport_actor&)
        -> caf::result<caf::ok_atom> { return caf::ok_atom_v; },
      [this](atom::describe) {
        runtime_snapshot result;
        result.open_entries = story->open_entries;
        return result;
      },
      [](atom::drain, drain_phase) { return drain_report{}; },
      [](atom::status) {
        return status_line{};
      }};
  }
};

struct node_stub_state {
  node_actor::stateful_pointer<node_stub_state> self;
  script_ptr story;
  static inline const char* name = "scripted_node";
  explicit node_stub_state(node_actor::stateful_pointer<node_stub_state> me)
    : self(me) {}
  void init(script_ptr book) { story = std::move(book); }
  node_actor::behavior_type make_behavior() {
    return {[](atom::health) { return health_report{}; },
            [](atom::degrade, const degraded_part&) {},
            [this](atom::shutdown, const std::string& why) {
              story->shutdowns.push_back(why);
            },
            [](atom::status) {
              return status_line{};
            }};
  }
};

struct files_stub_state {
  files_actor::stateful_pointer<files_stub_state> self;
  static inline const char* name = "scripted_files";
  explicit files_stub_state(files_actor::stateful_pointer<files_stub_state> me)
    : self(me) {}
  files_actor::behavior_type make_behavior() {
    return {
      [](atom::file, const file_job& job) {
        file_outcome result;
        if (job.op == file_op::stat) {
          result.kind = file_kind::regular;
          result.size = 200;
        } else {
          result.bytes =
            "{\"ts\":\"1900000000.000007\",\"user\":\"bot\","
            "\"text\":\"x\",\"attachments\":[],\"isMessagingBot\":true}\n";
        }
        return result;
      },
      [](atom::status) { return status_line{}; },
      [](atom::stop) {
        return caf::ok_atom_v;
      }};
  }
};

/// A console on pipes. The console thread is real; its messages arrive at the
/// deterministic scheduler, so a story waits for them and then settles.
struct console_story : test::node_fixture {
  script_ptr story = std::make_shared<script>();
  int in[2];
  int out[2];
  int err[2];
  console::console_parts parts;

  console_story() {
    REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
    console::console_services services;
    services.offices =
      kit::spawn_stateful<offices_actor, offices_state>(*system, story);
    services.node =
      kit::spawn_stateful<node_actor, node_stub_state>(*system, story);
    services.files =
      kit::spawn_stateful<files_actor, files_stub_state>(*system);
    services.wall = wall;
    console::console_options options;
    options.io.input = in[0];
    options.io.output = out[1];
    options.io.error = err[1];
    options.ws = make_workspace("/w", "/s");
    options.user = "ann";
    parts = console::spawn_console(*system, services, options);
    ask(
      parts.service, [](caf::ok_atom) {},
      [](const caf::error& e) { FAIL(sentence_of(e)); }, atom::start_v);
  }

  ~console_story() {
    self->send_exit(parts.service, caf::exit_reason::user_shutdown);
    settle();
    parts.io.reset();
    for (auto fd : {in[0], in[1], out[0], out[1], err[0], err[1]})
      ::close(fd);
  }

  void type(const std::string& text) {
    REQUIRE(::write(in[1], text.data(), text.size())
            == static_cast<ssize_t>(text.size()));
  }

  void end_input() {
    ::close(in[1]);
    in[1] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }

  /// Settles until a condition holds; the console thread needs its real time.
  template <class Condition>
  bool until(Condition condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      ::poll(nullptr, 0, 5);
      settle();
    }
    return condition();
  }

  bool taken(size_t count) {
    return until([&] { return story->taken.size() >= count; });
  }

  void close_entry(const std::string& id) {
    self->send(
      parts.transport, atom::closed_v,
      closed_entry{{platform_id::console, "local"}, "local", id, "sent"});
    settle();
  }

  std::string read(int fd) {
    std::string result;
    char buffer[4096];
    pollfd entry{fd, POLLIN, 0};
    while (::poll(&entry, 1, 0) == 1) {
      auto got = ::read(fd, buffer, sizeof buffer);
      if (got <= 0)
        break;
      result.append(buffer, static_cast<size_t>(got));
    }
    return result;
  }

  /// Delivers an operation and answers its outcome.
  delivered deliver(outbound operation) {
    operation.conversation = {platform_id::console, "local"};
    auto result = std::make_shared<std::optional<delivered>>();
    system->spawn([result, operation,
                   target = parts.transport](caf::event_based_actor* me) {
      me->request(target, std::chrono::seconds(30), atom::deliver_v, operation)
        .then([result](const delivered& x) { *result = x; },
              [](const caf::error&) {});
    });
    REQUIRE(until([&] { return result->has_value(); }));
    return **result;
  }

  static outbound final_text(std::string text) {
    outbound operation;
    operation.text = std::move(text);
    operation.run = "run-1";
    operation.message_id = "m1";
    return operation;
  }
};

} // namespace

TEST_CASE_FIXTURE(console_story, "lines become messages, in their order") {
  type("hello\n\n  \nworld\n");
  REQUIRE(taken(2));
  const auto& first = story->taken[0].event;
  CHECK(first.text == "hello");
  CHECK(first.address == office_address{platform_id::console, "local"});
  CHECK(first.session_key == "local");
  CHECK(first.kind == conversation_kind::direct);
  CHECK(first.user == "ann");
  CHECK(story->taken[1].event.text == "world");
  // Ids go on above what the log of the conversation holds.
  CHECK(first.message_id == "1900000000.000008");
  CHECK(story->taken[1].event.message_id == "1900000000.000009");
}

TEST_CASE_FIXTURE(console_story,
                  "a message the disk refused is offered again") {
  story->refusals = {make_failure(errc::disk, "disk is full"),
                     make_failure(errc::disk, "disk is full")};
  type("hello\nworld\n");
  REQUIRE(until([&] { return story->refusals.size() < 2; }));
  CHECK(story->taken.empty());
  advance(500ms);
  CHECK(story->taken.empty());
  advance(1s);
  REQUIRE(taken(2));
  CHECK(story->taken[0].event.text == "hello");
  CHECK(story->taken[1].event.text == "world");
}

TEST_CASE_FIXTURE(console_story,
                  "a pipe is not read further while twenty are open") {
  std::string lines;
  for (int i = 0; i < 25; ++i)
    lines += "line " + std::to_string(i) + "\n";
  type(lines);
  REQUIRE(taken(20));
  ::poll(nullptr, 0, 50);
  settle();
  CHECK(story->taken.size() == 20);
  close_entry(story->taken[0].event.message_id);
  CHECK(taken(21));
}

TEST_CASE_FIXTURE(console_story,
                  "the end of the input waits for open answers") {
  type("hello\n");
  REQUIRE(taken(1));
  end_input();
  ::poll(nullptr, 0, 50);
  settle();
  CHECK(story->shutdowns.empty());
  close_entry(story->taken[0].event.message_id);
  CHECK(until([&] { return story->shutdowns.size() == 1; }));
}

TEST_CASE_FIXTURE(console_story,
                  "work left over from an earlier run is waited for") {
  story->open_entries = 1;
  end_input();
  ::poll(nullptr, 0, 50);
  settle();
  advance(1s);
  CHECK(story->shutdowns.empty());
  story->open_entries = 0;
  advance(200ms);
  CHECK(story->shutdowns.size() == 1);
}

TEST_CASE_FIXTURE(console_story, "a final is printed once the gate allows it") {
  auto outcome = deliver(final_text("an answer"));
  CHECK(outcome.fault == delivery_fault::none);
  CHECK_FALSE(outcome.ref.empty());
  CHECK(read(out[0]) == "an answer\n");
}

TEST_CASE_FIXTURE(console_story, "a final that may not be sent is dropped") {
  story->refuse_sending = true;
  CHECK(deliver(final_text("late")).fault == delivery_fault::dropped);
  CHECK(read(out[0]).empty());
}

TEST_CASE_FIXTURE(console_story, "notices go to stderr") {
  auto notice = final_text("_Stopped._");
  notice.rank = outbound_class::control;
  notice.content = outbound_content::notice;
  deliver(notice);
  CHECK(read(err[0]) == "_Stopped._\n");
  CHECK(read(out[0]).empty());
}

TEST_CASE_FIXTURE(console_story, "a closed output ends the node") {
  ::signal(SIGPIPE, SIG_IGN);
  ::close(out[0]);
  CHECK(deliver(final_text("nobody reads")).fault == delivery_fault::permanent);
  CHECK(until([&] { return story->shutdowns.size() == 1; }));
  out[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST_CASE_FIXTURE(console_story, "a line over the limit is cut and said so") {
  type("x");
  std::thread writer{[&] {
    type(std::string(300'000, 'x') + "\nnext\n");
  }};
  CHECK(taken(2));
  writer.join();
  CHECK(story->taken[0].event.text.size() == (256u << 10));
  CHECK(story->taken[1].event.text == "next");
  CHECK(
    until([&] { return read(err[0]).find("256 KiB") != std::string::npos; }));
}

TEST_CASE_FIXTURE(console_story, "another conversation is addressed by name") {
  type("/to lab\nhello\n");
  REQUIRE(taken(1));
  CHECK(story->taken[0].event.address.conversation_id == "lab");
  CHECK(story->taken[0].event.session_key == "lab");
}

TEST_CASE_FIXTURE(console_story, "^C on a pipe ends the node") {
  parts.interrupt();
  CHECK(until([&] { return story->shutdowns.size() == 1; }));
}
