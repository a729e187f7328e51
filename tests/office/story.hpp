#pragma once

#include "actors/office/offices.hpp"
#include "actors/office/registry.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/codec/ledger_record.hpp"
#include "messages/codec/log_record.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/inline_journal.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bureau::test {

/// What the settings of a story say, and how they were to be changed.
struct queue_script {
  queue_mode mode = queue_mode::follow_up;
  caf::error failure;
  std::vector<settings_patch> patches;
};

/// What outlives a node: the disk, the platform with everything it shows, and
/// what the session files say.
struct office_world {
  scratch_directory scratch;
  std::shared_ptr<os::posix_file_system> real =
    std::make_shared<os::posix_file_system>();
  std::string state = scratch / "s";
  std::string root = scratch / "w";
  /// One for all nodes: names of temporary files must not repeat.
  std::shared_ptr<seeded_entropy> chance = std::make_shared<seeded_entropy>();
  platform_id platform = platform_id::console;
  /// Texts that the platform shows: answers, notices, edits as `edit[ref] …`.
  std::vector<std::string> shown;
  size_t posts = 0;
  /// Another journal than the inline one.
  std::function<journal_actor(caf::actor_system&, std::shared_ptr<file_system>)>
    journal;
  /// Keys of the offices that a replay of that journal touched.
  std::vector<std::string> replayed;
  /// Sessions that may keep a runner.
  size_t cached_sessions = 500;
  /// Settings; without them a node has none.
  std::shared_ptr<queue_script> settings;
  /// What an office tidies up before it sleeps.
  std::function<file_job(const office&)> sleep_job;
  /// Keys that have a session file.
  std::set<std::string> threads;
  /// Messages whose run cause, and whose tool or model work, is recorded.
  std::set<std::string> recorded;
  std::set<std::string> worked;

  office_world();
  office_address address(const std::string& id = "local") const {
    return {platform, id};
  }
  std::string ledger_path(const std::string& id = "local") const;
  std::string log_path(const std::string& id = "local") const;
  /// `id state` of every line, with the note or reason.
  std::vector<std::string> ledger(const std::string& id = "local") const;
  std::vector<log_record> log(const std::string& id = "local") const;
  size_t count(const std::string& text) const;
};

/// How a scripted transport behaves.
struct gate_script {
  /// Outcomes of the next answers; without one an answer is shown.
  std::deque<delivered> outcomes;
  /// Answers are taken, and nothing happens with them …
  bool stall_before_gate = false;
  /// … or only after the gate was asked, and shown or not.
  bool stall_after_gate = false;
  bool shows_when_stalled = false;
  bool asks_gate = true;
  bool streaming = true;
  bool uploads = false;
  /// Longest text of one message, in bytes; 0 = any.
  uint32_t max_length = 0;
  std::vector<outbound> operations;
  std::vector<closed_entry> closed;
  std::vector<std::string> dropped;
  /// Files that the platform has, by reference; others are not found.
  std::map<std::string, std::string> files;
  /// Fetches of these fail.
  std::map<std::string, caf::error> fetch_failures;
  /// Puts something else in the place of a file than its content.
  std::function<void(const std::string& path)> plant;
  /// Fetches wait until office_node::arrive.
  bool holds_fetches = false;
  std::vector<attachment_fetch> fetches;
  /// Set by the actor: answers the oldest waiting fetch of a reference.
  std::function<void(const std::string& ref)> arrive;
};

/// What the scripted sessions of a node saw, and whether they work by
/// themselves: every ticket then runs and is answered with `answer to <id>`.
struct session_script {
  bool automatic = false;
  /// Message ids whose answer is silent.
  std::set<std::string> silent;
  /// Visible interim message of automatic answers.
  std::string provisional;
  /// Ends itself at the next ticket.
  bool dies = false;
  /// So many sessions cannot be made: their factory throws.
  int broken_factories = 0;
  std::vector<turn_ticket> tickets;
  std::vector<stop_turn> stops;
  /// Keys that were to begin afresh.
  std::vector<std::string> resets;
  size_t renewals = 0;
  caf::error reset_failure;
  std::vector<std::string> drains;
  std::map<std::string, session_actor> handles;
  turn_owner_actor owner;
  size_t spawned = 0;
};

/// One run of a node over a world: registry and offices with inline files and
/// journal, scripted transport and sessions.
class office_node : public node_fixture {
public:
  explicit office_node(office_world& world,
                       std::function<void(gate_script&)> script = {},
                       bool attach = true);
  ~office_node();

  /// Offers a message; the outcome's name, or the error's.
  std::string say(const std::string& id, const std::string& text = "hello",
                  const std::string& key = {});
  std::string offer(intake_request request);
  intake_request message(const std::string& id,
                         const std::string& text = "hello",
                         const std::string& key = {}) const;

  /// Acts as the session of a key. "ok", or the error's name.
  std::string run(const std::string& id, const std::string& run,
                  uint32_t attempt = 1, const std::string& key = "local");
  std::string produce(const std::string& id, const std::string& run,
                      const std::string& text, const std::string& prov = {},
                      std::vector<std::string> covers = {});
  std::string fail_turn(const std::string& id, const std::string& why);
  std::string may_send(const std::string& id, const std::string& run);
  void attach();
  /// A file that the transport holds back comes, or fails as planned.
  void arrive(const std::string& ref);
  /// Reports the state of a key's session, as the session does.
  void report(const std::string& key, const std::string& state,
              int64_t last_access_ms);
  runtime_snapshot describe();
  drain_report drain(drain_phase phase);
  /// From now on nothing reaches the disk, as after a kill.
  void cut() { disk->fail_from(1, EIO); }

  office_world& world;
  std::shared_ptr<faulty_file_system> disk;
  std::shared_ptr<journal_probe> journal_log;
  std::shared_ptr<files_probe> files_log;
  std::shared_ptr<gate_script> gate;
  std::shared_ptr<session_script> sessions;
  /// `name label,label` of every counted sample.
  std::shared_ptr<std::vector<std::string>> counted;
  metrics_actor metrics;
  registry_actor registry;
  office_services_actor offices_handle;
  transport_actor transport;
};

} // namespace bureau::test
