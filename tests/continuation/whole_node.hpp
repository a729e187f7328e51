#pragma once

#include "actors/kit/system_config.hpp"
#include "actors/system/composition.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include <map>
#include <memory>
#include <string>

namespace bureau::continuation {

/// Every regular file below some directories with its content, but for what
/// only a running node has. Paths begin with the directory's number.
std::map<std::string, std::string>
read_tree(const std::vector<std::string>& directories);

/// A copy of the workspace and state directory that the predecessor wrote.
void copy_fixture(const std::string& state, const std::string& workspace);

/// The whole node inside the test: all rooms as the program composes them, and
/// a scripted adapter for Telegram in place of a console.
class whole_node {
public:
  /// Boots; a refusal of the boot fails the test.
  whole_node(const std::string& state, const std::string& workspace);
  whole_node(const whole_node&) = delete;
  whole_node& operator=(const whole_node&) = delete;
  /// Walks the ordered shutdown.
  ~whole_node();

  /// Sends a message in a direct conversation and waits for its answer.
  std::string ask(const std::string& conversation, const std::string& id,
                  const std::string& text);

private:
  void await(system::main_event wanted);

  system::boot_result boot_;
  kit::system_config settings_{2};
  caf::actor_system system_{settings_};
  caf::scoped_actor self_{system_};
  system::runtime parts_;
  node_actor node_;
};

} // namespace bureau::continuation
