#include "actors/events/events.hpp"

#include "actors/events/event_log_core.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "config/os/posix_file_system.hpp"
#include "config/os/system_time_zones.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/inline_journal.hpp"
#include "tests/support/metric_recorder.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <filesystem>
#include <map>
#include <set>

using namespace bureau;
using namespace bureau::test;
using namespace std::chrono_literals;
using contracts::cron_run_status;

namespace {

// -- neighbours ---------------------------------------------------------------

/// Offices that outlive the node: they remember what they took.
struct desk_script {
  std::vector<intake_request> taken;
  std::set<std::string> seen;
  std::deque<caf::error> failures;
  std::map<std::string, entry_end> ends;
  std::multimap<std::string, caf::typed_response_promise<entry_end>> waiting;
  /// Sessions at work, by key.
  std::map<std::string, session_snapshot> sessions;
  bool forgetful = false;
};

/// The desk, and the word that a turn is over.
using test_desk_actor =
  event_desk_actor::extend<caf::reacts_to<atom::closed, std::string>>;

struct scripted_desk_state {
  test_desk_actor::stateful_pointer<scripted_desk_state> self;
  std::shared_ptr<desk_script> script;
  static inline const char* name = "scripted_desk";

  explicit scripted_desk_state(
    test_desk_actor::stateful_pointer<scripted_desk_state> me)
    : self(me) {}

  void init(std::shared_ptr<desk_script> shared) { script = std::move(shared); }

  test_desk_actor::behavior_type make_behavior() {
    return {
      [this](atom::intake,
             const intake_request& request) -> caf::result<intake_reply> {
        if (!script->failures.empty()) {
          auto failure = script->failures.front();
          script->failures.pop_front();
          return failure;
        }
        intake_reply reply;
        if (script->seen.insert(request.event.message_id).second)
          script->taken.push_back(request);
        else
          reply.outcome = intake_outcome::duplicate;
        return reply;
      },
      [this](atom::settled,
             const entry_query& query) -> caf::result<entry_end> {
        if (auto known = script->ends.find(query.message_id);
            known != script->ends.end())
          return known->second;
        if (script->forgetful)
          return make_failure(errc::not_found, "no such entry");
        auto answer =
          self->make_response_promise<caf::typed_response_promise<entry_end>>();
        script->waiting.emplace(query.message_id, answer);
        return answer;
      },
      [this](atom::locate, const session_query& query) {
        auto found = script->sessions.find(query.session_key);
        return found == script->sessions.end() ? session_snapshot{}
                                               : found->second;
      },
      [this](atom::closed, const std::string& id) {
        auto [first, last] = script->waiting.equal_range(id);
        for (auto item = first; item != last; ++item)
          item->second.deliver(script->ends.at(id));
        script->waiting.erase(first, last);
      },
    };
  }
};

struct watch_script {
  std::string path;
  watch_sink_actor sink;
  bool refuses = false;
};

struct scripted_watch_state {
  directory_watch_actor::stateful_pointer<scripted_watch_state> self;
  std::shared_ptr<watch_script> script;
  static inline const char* name = "scripted_watch";

  explicit scripted_watch_state(
    directory_watch_actor::stateful_pointer<scripted_watch_state> me)
    : self(me) {}

  void init(std::shared_ptr<watch_script> shared) {
    script = std::move(shared);
  }

  directory_watch_actor::behavior_type make_behavior() {
    return {
      [this](atom::watch, const std::string& path,
             const watch_sink_actor& sink) -> caf::result<caf::ok_atom> {
        if (script->refuses)
          return make_failure(errc::not_ready, "no watch");
        script->path = path;
        script->sink = sink;
        return caf::ok_atom_v;
      },
      [](atom::status) {
        return status_line{"watch", "ok", ""};
      },
    };
  }
};

// -- the world ----------------------------------------------------------------

struct events_world : node_fixture {
  explicit events_world(bool started = true) {
    std::filesystem::create_directories(dir.path() + "/state");
    std::filesystem::create_directories(dir.path() + "/ws/events");
    if (started)
      start();
  }

  ~events_world() { end(); }

  /// @param settled the first look is over
  void start(bool settled = true) {
    files = spawn_inline_files(*system, disk, chance, file_probe);
    journal = spawn_inline_journal(*system, disk, dir.path() + "/state",
                                   dir.path() + "/ws", records);
    desk = kit::spawn_stateful<test_desk_actor, scripted_desk_state>(*system,
                                                                     script);
    watch = kit::spawn_stateful<directory_watch_actor, scripted_watch_state>(
      *system, watched);
    events::events_deps deps;
    deps.ws = make_workspace(dir.path() + "/ws", dir.path() + "/state");
    deps.files = files;
    deps.journal = journal;
    deps.watch = watch;
    deps.wall = wall;
    deps.zones = std::make_shared<os::system_time_zones>();
    deps.platforms = {platform_id::console};
    actor = events::spawn_events(*system, std::move(deps));
    self->send(actor, atom::attach_v, platform_id::console);
    self->send(actor, atom::start_v, event_desk_actor{desk});
    if (settled)
      settle();
  }

  /// As the node ends, without an answer to anything.
  void end() {
    watched->sink = nullptr;
    script->waiting.clear();
    for (auto handle :
         {caf::actor_cast<caf::actor>(actor), caf::actor_cast<caf::actor>(desk),
          caf::actor_cast<caf::actor>(watch),
          caf::actor_cast<caf::actor>(journal),
          caf::actor_cast<caf::actor>(files)})
      if (handle)
        self->send_exit(handle, caf::exit_reason::user_shutdown);
    settle();
    actor = nullptr;
    desk = nullptr;
    watch = nullptr;
    journal = nullptr;
    files = nullptr;
  }

  std::string event_path(const std::string& name) {
    return dir.path() + "/ws/events/" + name;
  }

  void put(const std::string& name, const std::string& content) {
    put_file(event_path(name), content);
  }

  void tell(const std::string& name) {
    self->send(watched->sink, atom::changed_v,
               directory_change{{name}, false, false});
    settle();
  }

  bool exists(const std::string& name) {
    return std::filesystem::exists(event_path(name));
  }

  template <class Answer, class... Args>
  caf::expected<Answer> call(Args&&... args) {
    caf::expected<Answer> result{caf::error{}};
    ask(
      actor, [&](Answer& answer) { result = std::move(answer); },
      [&](caf::error& reason) { result = std::move(reason); },
      std::forward<Args>(args)...);
    return result;
  }

  event_write writing(const std::string& name, const std::string& text) {
    event_write result;
    result.filename = name;
    result.office = {platform_id::console, "local"};
    result.payload.type = event_type::periodic;
    result.payload.platform = "console";
    result.payload.conversation_id = "local";
    result.payload.text = text;
    result.payload.schedule = "0 9 * * *";
    result.payload.timezone = "UTC";
    return result;
  }

  status_line status() {
    auto line = call<status_line>(atom::status_v);
    REQUIRE(line);
    return *line;
  }

  scratch_directory dir;
  std::shared_ptr<file_system> disk = std::make_shared<os::posix_file_system>();
  std::shared_ptr<files_probe> file_probe = std::make_shared<files_probe>();
  std::shared_ptr<journal_probe> records = std::make_shared<journal_probe>();
  std::shared_ptr<desk_script> script = std::make_shared<desk_script>();
  std::shared_ptr<watch_script> watched = std::make_shared<watch_script>();
  files_actor files;
  journal_actor journal;
  test_desk_actor desk;
  directory_watch_actor watch;
  events_actor actor;
};

std::string immediate(const std::string& conversation = "local") {
  return R"({"type":"immediate","conversationId":")" + conversation
         + R"(","text":"look"})";
}

std::string one_shot(int64_t at_ms) {
  return R"({"type":"one-shot","conversationId":"local","text":"up","at":")"
         + text::iso_utc(at_ms) + R"("})";
}

} // namespace

TEST_SUITE("events") {

  TEST_CASE("a file becomes a turn of its own session, once") {
    events_world w{false};
    w.put("now.json", immediate());
    w.start();
    REQUIRE(w.script->taken.size() == 1);
    const auto& event = w.script->taken[0].event;
    CHECK(event.origin == turn_origin::event);
    CHECK(event.session_key == "local:event:now");
    CHECK(event.message_id.starts_with("event:now@"));
    CHECK(event.kind == conversation_kind::direct);
    CHECK(event.user == "EVENT");
    CHECK_FALSE(w.exists("now.json"));
    auto record = get_file(w.dir / "state/events.jsonl");
    CHECK(record.find(R"("st":"claimed")") != std::string::npos);
    CHECK(record.find(R"("st":"delivered")") != std::string::npos);
    w.end();
    w.start();
    w.advance(1min);
    CHECK(w.script->taken.size() == 1);
    CHECK(w.watched->path == w.dir.path() + "/ws/events");
  }

  TEST_CASE("what the watch tells is read at once") {
    events_world w;
    w.put("now.json", immediate());
    w.put("notes.txt", "no event");
    w.tell("now.json");
    w.tell("notes.txt");
    CHECK(w.script->taken.empty());
    w.advance(100ms);
    CHECK(w.script->taken.size() == 1);
  }

  TEST_CASE("without a watch the directory is looked through") {
    events_world w{false};
    w.watched->refuses = true;
    w.start();
    w.put("now.json", immediate());
    w.advance(1s);
    CHECK(w.script->taken.size() == 1);
  }

  TEST_CASE("a watch that ends is asked for again") {
    events_world w;
    auto first = w.watched->sink;
    w.watched->sink = nullptr;
    w.self->send(first, atom::changed_v, directory_change{{}, true, true});
    w.settle();
    CHECK(w.watched->sink);
  }

  TEST_CASE("a full conversation is tried again") {
    events_world w;
    w.script->failures = {make_failure(errc::queue_full, "enough"),
                          make_failure(errc::disk, "full")};
    w.put("soon.json", one_shot(start_ms + 1000));
    w.tell("soon.json");
    w.advance(2s);
    CHECK(w.script->taken.empty());
    CHECK(w.exists("soon.json"));
    w.advance(60s);
    CHECK(w.script->taken.empty());
    w.advance(120s);
    CHECK(w.script->taken.size() == 1);
    CHECK_FALSE(w.exists("soon.json"));
  }

  TEST_CASE("nothing fires while the record cannot be written") {
    events_world w;
    w.records->broken = true;
    w.put("now.json", immediate());
    w.tell("now.json");
    w.advance(10s);
    CHECK(w.script->taken.empty());
    w.records->broken = false;
    w.advance(60s);
    CHECK(w.script->taken.size() == 1);
  }

  TEST_CASE("nothing fires while nobody knows what has fired") {
    events_world w{false};
    std::filesystem::create_directories(w.dir / "state/events.jsonl");
    w.put("now.json", immediate());
    w.start();
    CHECK(w.script->taken.empty());
    CHECK(w.status().state == "degraded");
    auto list = w.call<event_list>(atom::list_v, event_query{});
    CHECK(code_of(list.error()) == errc::disk);
    std::filesystem::remove_all(w.dir.path() + "/state/events.jsonl");
    w.advance(60s);
    CHECK(w.script->taken.size() == 1);
    CHECK(w.status().state == "ok");
  }

  TEST_CASE("a directory that is a link is none") {
    events_world w{false};
    std::filesystem::remove_all(w.dir.path() + "/ws/events");
    std::filesystem::create_directories(w.dir.path() + "/other");
    std::filesystem::create_symlink(w.dir.path() + "/other",
                                    w.dir.path() + "/ws/events");
    put_file(w.dir / "other/now.json", immediate());
    w.start();
    CHECK(w.script->taken.empty());
    CHECK(w.status().state == "degraded");
  }

  TEST_CASE("the store writes, lists, reads and removes") {
    events_world w;
    auto stored =
      w.call<event_stored>(atom::write_v, w.writing("daily.json", "look"));
    REQUIRE(stored);
    CHECK(stored->path == "events/daily.json");
    CHECK(get_file(w.dir / "ws/events/daily.json").ends_with("\"UTC\"}\n"));
    auto status = std::filesystem::status(w.event_path("daily.json"));
    CHECK(status.permissions()
          == (std::filesystem::perms::owner_read
              | std::filesystem::perms::owner_write));
    w.put("broken.json", "{");
    w.tell("broken.json");
    w.advance(1s);
    auto all = w.call<event_list>(atom::list_v, event_query{});
    REQUIRE(all);
    REQUIRE(all->events.size() == 2);
    CHECK_FALSE(all->events[0].payload);
    CHECK_FALSE(all->events[0].fault.empty());
    CHECK(all->events[1].state == event_state::scheduled);
    CHECK(all->events[1].next_run_ms == start_ms + 9 * 3'600'000);
    office_address mine{platform_id::console, "local"};
    office_address others{platform_id::console, "other"};
    auto own = w.call<event_list>(atom::list_v, event_query{{}, mine});
    REQUIRE(own);
    CHECK(own->events.size() == 1);
    auto read =
      w.call<event_entry>(atom::read_v, event_query{"daily.json", mine});
    REQUIRE(read);
    CHECK(read->payload->text == "look");
    CHECK(code_of(
            w.call<event_entry>(atom::read_v, event_query{"daily.json", others})
              .error())
          == errc::denied);
    CHECK(
      code_of(
        w.call<event_entry>(atom::read_v, event_query{"x.json", mine}).error())
      == errc::not_found);
    CHECK(
      code_of(
        w.call<bool>(atom::drop_v, event_query{"daily.json", others}).error())
      == errc::denied);
    CHECK(w.exists("daily.json"));
    CHECK(*w.call<bool>(atom::drop_v, event_query{"daily.json", mine}));
    CHECK_FALSE(w.exists("daily.json"));
    CHECK_FALSE(*w.call<bool>(atom::drop_v, event_query{"daily.json", mine}));
    w.advance(24h);
    CHECK(w.script->taken.empty());
  }

  TEST_CASE("the store refuses what is wrong before it touches the disk") {
    events_world w;
    auto code = [&w](const event_write& write) {
      auto answer = w.call<event_stored>(atom::write_v, write);
      return answer ? errc::none : code_of(answer.error());
    };
    for (auto name : {"../escape.json", "nested/file.json", "plain.txt", "  "})
      CHECK(code(w.writing(name, "look")) == errc::bad_request);
    auto wrong = w.writing("a.json", "look");
    wrong.payload.schedule = "never";
    CHECK(code(wrong) == errc::bad_request);
    wrong = w.writing("a.json", "look");
    wrong.payload.timezone = "Mars/Phobos";
    CHECK(code(wrong) == errc::bad_request);
    wrong = w.writing("a.json", "look");
    wrong.must_exist = true;
    CHECK(code(wrong) == errc::not_found);
    CHECK(code(w.writing("a.json", std::string(70'000, 'x')))
          == errc::too_large);
    CHECK(std::filesystem::is_empty(w.dir.path() + "/ws/events"));
    CHECK(code(w.writing(" a.json ", "look")) == errc::none);
    auto foreign = w.writing("a.json", "mine now");
    foreign.office.conversation_id = "other";
    CHECK(code(foreign) == errc::denied);
  }

  TEST_CASE("only an operator grants schedules to a schedule") {
    events_world w;
    auto granted = w.writing("granted.json", "look");
    granted.office = {};
    granted.author = event_author::operators;
    granted.payload.allow_schedules = true;
    granted.payload.schedule = "0 * * * *";
    REQUIRE(w.call<event_stored>(atom::write_v, granted));
    auto plain = w.writing("plain.json", "look");
    plain.payload.allow_schedules = true;
    plain.payload.schedule = "0 * * * *";
    REQUIRE(w.call<event_stored>(atom::write_v, plain));
    w.advance(61min);
    REQUIRE(w.script->taken.size() == 2);
    auto code = [&w](const std::string& cause) {
      auto write = w.writing("made.json", "look");
      write.cause = cause;
      auto answer = w.call<event_stored>(atom::write_v, write);
      return answer ? errc::none : code_of(answer.error());
    };
    CHECK(code(w.script->taken[1].event.message_id) == errc::denied);
    CHECK(code("event:unknown@1-1") == errc::denied);
    CHECK(code(w.script->taken[0].event.message_id) == errc::none);
    CHECK(code("m1") == errc::none);
    auto change = w.writing("granted.json", "something else");
    CHECK(code_of(w.call<event_stored>(atom::write_v, change).error())
          == errc::denied);
  }

  TEST_CASE("operators see what became of a turn") {
    events_world w;
    auto write = w.writing("daily.json", "look");
    write.payload.schedule = "0 * * * *";
    REQUIRE(w.call<event_stored>(atom::write_v, write));
    w.advance(1h);
    REQUIRE(w.script->taken.size() == 1);
    auto id = w.script->taken[0].event.message_id;
    auto run = [&w] {
      auto page = w.call<contracts::cron_run_page>(
        atom::list_v, event_run_query{"daily", {}, {}});
      REQUIRE(page);
      REQUIRE(page->runs.size() == 1);
      return page->runs[0];
    };
    CHECK(run().status == cron_run_status::queued);
    auto& session = w.script->sessions["local:event:daily"];
    session.message_id = id;
    session.run = "r1";
    CHECK(run().status == cron_run_status::running);
    auto overview = w.call<contracts::cron_overview>(atom::describe_v);
    REQUIRE(overview);
    REQUIRE(overview->jobs.size() == 1);
    CHECK(overview->jobs[0].active_run_id == id);
    CHECK(overview->jobs[0].next_run_at
          == std::string{"2026-01-01T02:00:00.000Z"});
    auto& end = w.script->ends[id];
    end.outcome = "sent";
    end.run = "r1";
    end.text = std::string(3000, 'x');
    w.self->send(w.desk, atom::closed_v, id);
    w.settle();
    CHECK(run().status == cron_run_status::succeeded);
    CHECK(run().text->size() == limits::event_answer_bytes);
    CHECK(run().fields_truncated);
    auto detail = w.call<contracts::cron_run>(atom::read_v,
                                              event_run_query{"daily", {}, id});
    REQUIRE(detail);
    CHECK(detail->artifact_run_id == std::string{"r1"});
    w.end();
    w.start();
    CHECK(run().status == cron_run_status::succeeded);
    CHECK(code_of(w.call<contracts::cron_run_page>(
                     atom::list_v, event_run_query{"none", {}, {}})
                    .error())
          == errc::not_found);
  }

  TEST_CASE("an end that nobody saw is said to be unknown") {
    events_world w{false};
    w.put("now.json", immediate());
    w.start();
    REQUIRE(w.script->taken.size() == 1);
    w.end();
    w.script->forgetful = true;
    w.start();
    auto page = w.call<contracts::cron_run_page>(
      atom::list_v, event_run_query{"now", {}, {}});
    REQUIRE(page);
    CHECK(page->runs[0].status == cron_run_status::failed);
    CHECK(page->runs[0].failure_kind == std::string{"unknown"});
  }

  TEST_CASE("at the end nothing fires, and what fired is written") {
    events_world w;
    w.put("soon.json", one_shot(start_ms + 1000));
    w.tell("soon.json");
    w.advance(500ms);
    CHECK(w.call<caf::ok_atom>(atom::drain_v));
    w.advance(1h);
    CHECK(w.script->taken.empty());
    CHECK(w.call<caf::ok_atom>(atom::stop_v));
    CHECK(w.status().state == "stopping");
  }

  TEST_CASE("a node that ends at once leaves what every start leaves") {
    events_world w{false};
    std::filesystem::remove_all(w.dir.path() + "/ws/events");
    w.start(false);
    CHECK(w.call<caf::ok_atom>(atom::stop_v));
    CHECK(std::filesystem::is_directory(w.dir.path() + "/ws/events"));
    CHECK_FALSE(w.watched->sink);
  }

  TEST_CASE("a long record is made shorter and forgets nothing that matters") {
    events_world w{false};
    std::string old;
    for (auto i = 0; old.size() <= limits::event_log_bytes; ++i) {
      events::log_line line;
      line.step = events::log_step::missed;
      line.at_ms = start_ms - 1000;
      line.file = "gone.json";
      line.occurrence = std::to_string(1000 + i) + "-1";
      line.why = std::string(100, 'x');
      old += events::print_log_line(line);
    }
    put_file(w.dir / "state/events.jsonl", old);
    w.put("now.json", immediate());
    w.start();
    w.advance(1min);
    auto record = get_file(w.dir / "state/events.jsonl");
    CHECK(record.size() < limits::event_log_bytes / 4);
    CHECK(record.find("now.json") != std::string::npos);
    CHECK(w.script->taken.size() == 1);
    w.end();
    w.start();
    w.advance(1min);
    CHECK(w.script->taken.size() == 1);
  }
}
