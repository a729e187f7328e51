#include "sandbox/executor_factory.hpp"

#include "sandbox/capability_core.hpp"
#include "sandbox/seccomp_filter.hpp"

#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace bureau::sandbox {

namespace {

constexpr std::array<const char*, 6> root_names = {"bin",   "sbin",  "lib",
                                                   "lib32", "lib64", "libx32"};

std::vector<root_entry> detect_roots(file_system& fs) {
  std::vector<root_entry> roots;
  for (std::string name : root_names) {
    auto path = "/" + name;
    auto facts = fs.stat_name(path);
    if (!facts)
      continue;
    if (S_ISDIR(facts.value.st_mode)) {
      roots.push_back({name, ""});
      continue;
    }
    auto target = fs.canonical(path);
    // A link to elsewhere would dangle inside; show what it leads to instead.
    if (target && target.value.starts_with("/usr/"))
      roots.push_back({name, target.value.substr(1)});
    else if (target)
      roots.push_back({name, ""});
  }
  return roots;
}

/// A limit that the commands can be given: theirs, or the node's own, above
/// which nobody may raise it.
template <class Resource>
uint64_t possible_limit(Resource what, uint64_t usual) {
  rlimit own{};
  if (getrlimit(what, &own) != 0 || own.rlim_max == RLIM_INFINITY)
    return usual;
  return std::min<uint64_t>(usual, own.rlim_max);
}

host_config detect_user() {
  host_config found;
  std::vector<char> buffer(16u << 10);
  struct passwd entry {};
  struct passwd* result = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &result) == 0
      && result != nullptr) {
    found.user = entry.pw_name;
    found.home = entry.pw_dir;
    if (entry.pw_shell[0] != '\0')
      found.shell = entry.pw_shell;
  }
  return found;
}

} // namespace

caf::expected<sandbox_config>
detect_sandbox(file_system& fs, const workspace& ws, std::string backend,
               std::vector<std::string> read_only) {
  sandbox_config config;
  config.backend = std::move(backend);
  config.host = detect_user();
  if (config.backend != "bwrap")
    return config;
  for (const auto& path : read_only)
    if (auto why = check_read_only(path, ws))
      return make_failure(errc::bad_config, *why);
  auto filter = build_seccomp_filter();
  if (!filter)
    return std::move(filter.error());
  config.bwrap.seccomp = std::move(*filter);
  config.bwrap.roots = detect_roots(fs);
  config.bwrap.read_only = std::move(read_only);
  config.bwrap.limit_processes = geteuid() != 0;
  auto& bwrap = config.bwrap;
  bwrap.open_files = possible_limit(RLIMIT_NOFILE, bwrap.open_files);
  bwrap.written_file_bytes =
    possible_limit(RLIMIT_FSIZE, bwrap.written_file_bytes);
  bwrap.processes = possible_limit(RLIMIT_NPROC, bwrap.processes);
  return config;
}

executor_actor bwrap_executor(caf::actor_system& system, executor_deps deps,
                              bwrap_config config, executor_args args) {
  return spawn_executor(system, std::move(deps),
                        make_bwrap_profile(std::move(config), std::move(args)));
}

executor_actor host_executor(caf::actor_system& system, executor_deps deps,
                             host_config config, executor_args args) {
  return spawn_executor(system, std::move(deps),
                        make_host_profile(std::move(config), std::move(args)));
}

executor_factory make_executor_factory(sandbox_config config,
                                       executor_deps deps) {
  return [config = std::move(config), deps = std::move(deps)](
           caf::actor_system& system, const executor_args& args) {
    if (config.backend == "bwrap")
      return bwrap_executor(system, deps, config.bwrap, args);
    if (config.backend == "host")
      return host_executor(system, deps, config.host, args);
    auto why = refuse_reason(config.backend, args.door_policy)
                 .value_or("The sandbox '" + config.backend
                           + "' is not available in this version; use bwrap "
                             "or host.");
    return spawn_executor(
      system, deps,
      make_refusing_profile(config.backend, args, std::move(why)));
  };
}

} // namespace bureau::sandbox
