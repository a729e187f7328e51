#pragma once

#include "messages/errc.hpp"
#include "messages/interfaces/harness.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bureau::test {

/// What a scripted tool does with a call.
struct tool_script {
  std::string text = "ok";
  bool is_error = false;
  /// Something of it outlives the run.
  bool continues = false;
  /// Instead of an outcome: an error with this code.
  std::optional<errc> failure;
  std::chrono::milliseconds delay{0};
  /// Runs until it is aborted.
  bool hangs = false;
  /// Ignores abort.
  bool deaf = false;
  /// The owner ends when the call comes.
  bool dies = false;
};

/// Tools that do what the test says, all run by one actor. Copies share one
/// script. For the deterministic coordinator only.
class scripted_tools {
public:
  scripted_tools();

  /// Adds a tool that takes any object.
  scripted_tools& add(const std::string& name, tool_script what = {},
                      bool sequential = false);

  /// Bindings of all tools, with one new owner.
  std::vector<tool_binding> bind(caf::actor_system& system) const;

  const std::vector<tool_invocation>& calls() const;
  /// Call ids of aborts, repeated ones once.
  std::vector<std::string> aborts() const;

  struct shared;

private:
  std::shared_ptr<shared> shared_;
};

} // namespace bureau::test
