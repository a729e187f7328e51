#pragma once

#include "messages/interfaces/executor.hpp"
#include "sandbox/profile.hpp"

#include <memory>
#include <string>

namespace bureau::sandbox {

/// The user that commands on the host belong to, from the user database.
struct host_config {
  std::string user = "root";
  std::string home = "/root";
  std::string shell = "/bin/sh";
  std::string tmp = "/tmp";
};

/// The host backend: `sh -c` in the office directory, no boundary at all. It is
/// for operators who own the machine alone; an isolated door refuses it.
std::shared_ptr<const profile> make_host_profile(host_config config,
                                                 executor_args args);

/// A backend that refuses everything with one sentence: for settings that name
/// none that exists.
std::shared_ptr<const profile> make_refusing_profile(std::string backend,
                                                     executor_args args,
                                                     std::string why);

} // namespace bureau::sandbox
