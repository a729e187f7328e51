#pragma once

#include "messages/interfaces/process.hpp"

#include <caf/error.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bureau::test {

/// What the fake does with one child.
struct process_script {
  std::string out;
  std::string err;
  /// Content of pipe_out descriptors.
  std::vector<std::string> extra;
  int32_t code = 0;
  int32_t signal = 0;
  /// Runs until finish() or a kill; its output is there at once.
  bool hold = false;
  /// A held child that survives kills (until finish()): `unkillable` results
  /// are the caller's to script with `exit_as`.
  bool ignores_kill = false;
  /// Set: run and start answer this error and nothing follows.
  caf::error refuse;
};

/// What a test sees and steers of fake_process. Own it in the test, for longer
/// than the story and shorter than the fixture: its end ends the fake.
class process_probe {
public:
  using predicate = std::function<bool(const proc_spec&)>;

  process_probe() = default;
  process_probe(const process_probe&) = delete;
  process_probe& operator=(const process_probe&) = delete;
  ~process_probe();

  /// Answers the next child for which `fits` holds (empty: any). A child
  /// without a script is refused with spawn_failed and noted in `unscripted`.
  void script(process_script answer, predicate fits = {});

  /// Like script, but answers every such child that no other script takes.
  void always(process_script answer, predicate fits = {});

  /// Computes the answer from the specification for every child that no
  /// script takes.
  void otherwise(std::function<process_script(const proc_spec&)> answer);

  /// More output of a held child; stream 1 or 2.
  void output(uint64_t id, int32_t stream, std::string bytes);

  /// Ends a held child.
  void finish(uint64_t id, int32_t code = 0, int32_t signal = 0);

  /// Ends a held child as somebody asked for, `unkillable` included.
  void exit_as(proc_exit exit);

  /// Every specification, in order.
  std::vector<proc_spec> specs;
  std::vector<std::string> unscripted;
  std::vector<proc_kill> kills;
  /// Standard input of each child that p_write delivered, and who got an EOF.
  std::map<uint64_t, std::string> inputs;
  std::set<uint64_t> closed_inputs;
  /// Acknowledged bytes of each child, both streams.
  std::map<uint64_t, uint64_t> acked;
  /// Children that are running.
  std::vector<uint64_t> running;

private:
  friend struct fake_process_state;
  struct plan {
    predicate fits;
    process_script answer;
    bool repeat = false;
  };

  process_script take(const proc_spec& spec);

  std::vector<plan> plans_;
  std::function<process_script(const proc_spec&)> otherwise_;
  std::function<void(uint64_t, int32_t, std::string)> output_;
  std::function<void(proc_exit)> finish_;
  std::function<void()> quit_;
};

/// The process host without processes: scripted children with the real
/// protocol — caps of run, windows of start, kills, exactly one exit.
process_host_actor spawn_fake_process(caf::actor_system& system,
                                      std::shared_ptr<process_probe> probe);

} // namespace bureau::test
