#include "actors/io/process_spawn.hpp"

#include "actors/io/process_birth.hpp"
#include "actors/io/process_core.hpp"
#include "config/os/durable.hpp"
#include "config/os/posix_file_system.hpp"
#include "messages/limits.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>

namespace bureau::io {

namespace {

/// What goes wrong while a child is prepared, as a sentence.
struct spawn_fault {
  std::string text;
};

[[noreturn]] void refuse(const std::string& what, int error) {
  throw spawn_fault{what + ": " + os::errno_text(error)};
}

/// The child's descriptors while they are still ours.
class descriptor_plan {
public:
  /// The child's `number` will be a copy of `fd`.
  void give(int number, owned_fd fd) { ends_[number] = std::move(fd); }

  int highest() const { return ends_.rbegin()->first; }

  /// Lifts our copies above every number of the child, so that no dup2
  /// overwrites the source of a later one.
  void lift() {
    for (auto& entry : ends_) {
      if (entry.second.get() > highest())
        continue;
      auto lifted = ::fcntl(entry.second.get(), F_DUPFD_CLOEXEC, highest() + 1);
      if (lifted < 0)
        refuse("no descriptor is free", errno);
      entry.second = owned_fd{lifted};
    }
  }

  void describe(birth_plan& plan) const {
    for (const auto& entry : ends_)
      plan.descriptors.emplace_back(entry.first, entry.second.get());
  }

private:
  std::map<int, owned_fd> ends_;
};

struct pipe_ends {
  owned_fd reading;
  owned_fd writing;
};

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    refuse("no pipe can be made", errno);
  return {owned_fd{ends[0]}, owned_fd{ends[1]}};
}

owned_fd null_input() {
  owned_fd result{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (!result)
    refuse("/dev/null cannot be opened", errno);
  return result;
}

owned_fd sealed_memory(const std::string& bytes) {
  owned_fd result{::memfd_create("bureau", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!result)
    refuse("a memory file cannot be made", errno);
  os::posix_file_system disk;
  if (auto written = os::write_all(disk, result.get(), bytes); !written)
    refuse("a memory file cannot be filled", written.error);
  ::lseek(result.get(), 0, SEEK_SET);
  if (::fcntl(result.get(), F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)
      != 0)
    refuse("a memory file cannot be sealed", errno);
  return result;
}

/// Opens below a directory without following any link and without waiting.
owned_fd open_beneath(const proc_fd& wanted) {
  os::posix_file_system disk;
  auto shown =
    wanted.path.empty() ? wanted.root : wanted.root + "/" + wanted.path;
  auto root = disk.open(wanted.root, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
  if (!root)
    refuse(wanted.root, root.error);
  owned_fd directory{root.value};
  // openat2 refuses flags that O_PATH would ignore.
  auto flags = wanted.flags | O_NOFOLLOW;
  if ((flags & O_PATH) == 0)
    flags |= O_NOCTTY | O_NONBLOCK;
  auto opened =
    disk.open_below(directory.get(), wanted.path.empty() ? "." : wanted.path,
                    flags, 0600, resolve_rule::no_links);
  if (!opened)
    refuse(shown, opened.error);
  owned_fd result{opened.value};
  struct stat facts {};
  if (::fstat(result.get(), &facts) != 0)
    refuse(shown, errno);
  if (S_ISLNK(facts.st_mode))
    refuse(shown, ELOOP);
  if ((wanted.flags & (O_PATH | O_NONBLOCK)) == 0)
    set_nonblocking(result.get(), false);
  return result;
}

void plan_descriptors(const proc_spec& spec, descriptor_plan& plan,
                      spawned_child& ours) {
  if (spec.input == stdin_kind::null) {
    plan.give(0, null_input());
  } else {
    auto ends = make_pipe();
    plan.give(0, std::move(ends.reading));
    ours.input = std::move(ends.writing);
  }
  auto out = make_pipe();
  plan.give(1, std::move(out.writing));
  ours.output = std::move(out.reading);
  auto err = make_pipe();
  plan.give(2, std::move(err.writing));
  ours.error_output = std::move(err.reading);
  for (const auto& wanted : spec.fds) {
    switch (wanted.kind) {
    case fd_kind::bytes:
      plan.give(wanted.child_fd, sealed_memory(wanted.bytes));
      break;
    case fd_kind::open_beneath:
      plan.give(wanted.child_fd, open_beneath(wanted));
      break;
    case fd_kind::pipe_out: {
      auto ends = make_pipe();
      plan.give(wanted.child_fd, std::move(ends.writing));
      ours.extra.push_back(std::move(ends.reading));
      break;
    }
    }
  }
}

std::vector<char*> pointers(std::vector<std::string>& lines) {
  std::vector<char*> result;
  for (auto& line : lines)
    result.push_back(line.data());
  result.push_back(nullptr);
  return result;
}

/// A birth has one errno for every step; this finds the likely one.
std::string cause_of(const proc_spec& spec, int error) {
  struct stat facts {};
  if (::stat(spec.cwd.c_str(), &facts) != 0)
    return "working directory " + spec.cwd + ": " + os::errno_text(errno);
  if (!S_ISDIR(facts.st_mode))
    return "working directory " + spec.cwd + " is not a directory";
  const auto& program = spec.argv.front();
  if (::stat(program.c_str(), &facts) != 0)
    return program + ": " + os::errno_text(errno)
           + "; install it or correct the path";
  if (S_ISDIR(facts.st_mode) || ::access(program.c_str(), X_OK) != 0)
    return program + " is not an executable file";
  if (error == ENOENT)
    return program + " names an interpreter that does not exist";
  return program + ": " + os::errno_text(error);
}

/// Few programs cope with thousands of descriptors (select(2) does not), so the
/// node's own high limit stops here.
void limit_open_files(const proc_spec& spec, pid_t pid) {
  auto name = spec.argv.front().substr(spec.argv.front().rfind('/') + 1);
  rlimit current{};
  if (name == "prlimit" || ::getrlimit(RLIMIT_NOFILE, &current) != 0
      || current.rlim_cur <= limits::process_open_files)
    return;
  current.rlim_cur = limits::process_open_files;
  ::prlimit(pid, RLIMIT_NOFILE, &current, nullptr);
}

void start(const proc_spec& spec, process_reaper* reaper, spawned_child& ours) {
  descriptor_plan descriptors;
  plan_descriptors(spec, descriptors, ours);
  descriptors.lift();
  auto arguments = spec.argv;
  auto environment = environment_lines(spec);
  birth_plan plan;
  plan.arguments = pointers(arguments);
  plan.environment = pointers(environment);
  plan.directory = spec.cwd;
  plan.new_session = spec.new_session;
  plan.tag = spec.exec_tag;
  descriptors.describe(plan);
  auto born = give_birth(plan, reaper);
  if (born.error != 0)
    throw spawn_fault{cause_of(spec, born.error)};
  ours.pid = born.pid;
  ours.pidfd = std::move(born.pidfd);
  limit_open_files(spec, ours.pid);
  for (auto* end : {&ours.input, &ours.output, &ours.error_output})
    if (*end)
      set_nonblocking(end->get());
  for (auto& end : ours.extra)
    set_nonblocking(end.get());
}

} // namespace

spawned_child spawn_child(const proc_spec& spec, process_reaper* reaper) {
  try {
    spawned_child result;
    start(spec, reaper, result);
    return result;
  } catch (const spawn_fault& fault) {
    spawned_child failed;
    failed.failure = "cannot start " + shown_name(spec) + ": " + fault.text;
    return failed;
  }
}

} // namespace bureau::io
