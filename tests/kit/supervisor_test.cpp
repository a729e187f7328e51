#include "actors/kit/spawn_stateful.hpp"
#include "actors/kit/supervisor.hpp"
#include "messages/interfaces/common.hpp"
#include "tests/support/node_fixture.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

using namespace bureau;
using namespace std::chrono_literals;

namespace {

struct child_state {
  status_actor::stateful_pointer<child_state> self;
  static inline const char* name = "child";
  explicit child_state(status_actor::stateful_pointer<child_state> me)
    : self(me) {}
  status_actor::behavior_type make_behavior() {
    return {[](atom::status) {
      return status_line{"child", "ok", ""};
    }};
  }
};

/// What the parent was told, and how often it started its child.
struct family_diary {
  std::vector<std::string> lines;
  size_t started = 0;
  caf::actor child;
  std::function<void(const caf::actor_addr&)> release;
  std::function<caf::actor()> find;
};

struct parent_state {
  status_actor::stateful_pointer<parent_state> self;
  std::shared_ptr<family_diary> diary;
  kit::supervisor children;
  static inline const char* name = "parent";

  explicit parent_state(status_actor::stateful_pointer<parent_state> me)
    : self(me) {}

  void init(std::shared_ptr<family_diary> book) {
    diary = std::move(book);
    children.install(
      self,
      [this](const std::string& label, const caf::error&) {
        diary->lines.push_back("gave up " + label);
      },
      [this](const std::string& label) {
        diary->lines.push_back("restarted " + label);
      },
      [this](const caf::actor_addr&, const caf::error&) {
        diary->lines.push_back("a stranger ended");
      });
    kit::child_spec spec;
    spec.label = "child/1";
    spec.max_restarts = 3;
    spec.start = [this] {
      ++diary->started;
      diary->child = caf::actor_cast<caf::actor>(
        kit::spawn_stateful<status_actor, child_state>(self->home_system()));
      return diary->child;
    };
    children.add(std::move(spec));
    diary->release = [this](const caf::actor_addr& child) {
      children.release(child);
    };
    diary->find = [this] {
      return children.find("child/1");
    };
  }

  status_actor::behavior_type make_behavior() {
    return {[](atom::status) {
      return status_line{"parent", "ok", ""};
    }};
  }
};

struct family : test::node_fixture {
  std::shared_ptr<family_diary> diary = std::make_shared<family_diary>();
  status_actor parent =
    kit::spawn_stateful<status_actor, parent_state>(*system, diary);

  family() { settle(); }

  ~family() {
    self->send_exit(parent, caf::exit_reason::kill);
    if (diary->child)
      self->send_exit(diary->child, caf::exit_reason::kill);
    settle();
  }

  void kill_child() {
    self->send_exit(diary->child, caf::exit_reason::kill);
    settle();
  }
};

using lines = std::vector<std::string>;

} // namespace

TEST_CASE_FIXTURE(family, "a child that dies is started again after a pause") {
  CHECK(diary->started == 1);
  kill_child();
  CHECK_FALSE(diary->find());
  advance(99ms);
  CHECK(diary->started == 1);
  advance(1ms);
  CHECK(diary->started == 2);
  CHECK(diary->lines == lines{"restarted child/1"});
  CHECK(diary->find() == diary->child);
}

TEST_CASE_FIXTURE(family, "pauses double, and too many deaths are the last") {
  for (auto pause : {100ms, 200ms, 400ms}) {
    kill_child();
    auto before = diary->started;
    advance(pause - 1ms);
    CHECK(diary->started == before);
    advance(1ms);
    CHECK(diary->started == before + 1);
  }
  kill_child();
  advance(1h);
  CHECK(diary->started == 4);
  CHECK(diary->lines.back() == "gave up child/1");
  CHECK_FALSE(diary->find());
}

TEST_CASE_FIXTURE(family, "deaths long ago do not count") {
  for (int i = 0; i < 8; ++i) {
    kill_child();
    advance(2min);
  }
  CHECK(diary->started == 9);
}

TEST_CASE_FIXTURE(family, "a child that is let go may end in peace") {
  diary->release(diary->child.address());
  kill_child();
  advance(1h);
  CHECK(diary->started == 1);
  CHECK(diary->lines == lines{"a stranger ended"});
}
