#include "sandbox/seccomp_filter.hpp"

#include "config/os/durable.hpp"
#include "messages/errc.hpp"

#include <seccomp.h>

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

namespace bureau::sandbox {

namespace {

// Denied whatever their arguments. Names that an architecture lacks resolve to
// a pseudo number, for which the library adds nothing there.
constexpr std::array denied_calls = {
  SCMP_SYS(keyctl),
  SCMP_SYS(add_key),
  SCMP_SYS(request_key),
  SCMP_SYS(bpf),
  SCMP_SYS(perf_event_open),
  SCMP_SYS(userfaultfd),
  SCMP_SYS(io_uring_setup),
  SCMP_SYS(io_uring_enter),
  SCMP_SYS(io_uring_register),
  SCMP_SYS(kexec_load),
  SCMP_SYS(kexec_file_load),
  SCMP_SYS(create_module),
  SCMP_SYS(init_module),
  SCMP_SYS(finit_module),
  SCMP_SYS(delete_module),
  SCMP_SYS(mount),
  SCMP_SYS(umount),
  SCMP_SYS(umount2),
  SCMP_SYS(mount_setattr),
  SCMP_SYS(move_mount),
  SCMP_SYS(open_tree),
  SCMP_SYS(fsopen),
  SCMP_SYS(fsconfig),
  SCMP_SYS(fsmount),
  SCMP_SYS(fspick),
  SCMP_SYS(pivot_root),
  SCMP_SYS(setns),
};

#ifndef CLONE_NEWTIME
constexpr int CLONE_NEWTIME = 0x80;
#endif

constexpr std::array namespace_flags = {
  CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
  CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET,
};

constexpr std::array<unsigned long, 2> terminal_requests = {TIOCSTI, TIOCLINUX};

/// Only the low half of an ioctl request or of clone flags reaches the kernel.
constexpr scmp_datum_t low_half = 0xffff'ffffu;

struct release_filter {
  void operator()(void* filter) const { seccomp_release(filter); }
};
using filter_ptr = std::unique_ptr<void, release_filter>;

scmp_arg_cmp masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  scmp_arg_cmp rule{};
  rule.arg = argument;
  rule.op = SCMP_CMP_MASKED_EQ;
  rule.datum_a = mask;
  rule.datum_b = value;
  return rule;
}

/// Adds all rules. @return 0 or a negative errno
int add_rules(scmp_filter_ctx filter) {
  const auto deny = SCMP_ACT_ERRNO(EPERM);
  for (auto call : denied_calls)
    if (auto status = seccomp_rule_add(filter, deny, call, 0); status < 0)
      return status;
  auto when_set = [&](int call, int flag) {
    auto bit = static_cast<scmp_datum_t>(static_cast<unsigned>(flag));
    auto rule = masked(0, bit, bit);
    return seccomp_rule_add_array(filter, deny, call, 1, &rule);
  };
  for (auto flag : namespace_flags)
    for (auto call : {SCMP_SYS(clone), SCMP_SYS(unshare)})
      if (auto status = when_set(call, flag); status < 0)
        return status;
  // clone has its exit signal in these bits.
  if (auto status = when_set(SCMP_SYS(unshare), CLONE_NEWTIME); status < 0)
    return status;
  for (auto request : terminal_requests) {
    auto rule = masked(1, low_half, request);
    auto status =
      seccomp_rule_add_array(filter, deny, SCMP_SYS(ioctl), 1, &rule);
    if (status < 0)
      return status;
  }
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/// Lets 32-bit programs run under the same rules instead of dying.
int add_architectures(scmp_filter_ctx filter) {
  uint32_t second = 0;
  switch (seccomp_arch_native()) {
  case SCMP_ARCH_X86_64:
    second = SCMP_ARCH_X86;
    break;
  case SCMP_ARCH_AARCH64:
    second = SCMP_ARCH_ARM;
    break;
  default:
    return 0;
  }
  auto status = seccomp_arch_add(filter, second);
  return status == -EEXIST ? 0 : status;
}

caf::error failed(std::string_view step, int status) {
  std::string sentence = "cannot build the system call filter of the sandbox "
                         "(";
  sentence += step;
  sentence += "): ";
  sentence += os::errno_text(status < 0 ? -status : status);
  return make_failure(errc::spawn_failed, std::move(sentence));
}

caf::expected<std::string> exported(scmp_filter_ctx filter) {
  auto fd = memfd_create("bureau-seccomp", MFD_CLOEXEC);
  if (fd < 0)
    return failed("memfd", errno);
  std::string bytes;
  auto status = seccomp_export_bpf(filter, fd);
  auto size = status < 0 ? 0 : lseek(fd, 0, SEEK_END);
  if (size > 0) {
    bytes.resize(static_cast<size_t>(size));
    if (pread(fd, bytes.data(), bytes.size(), 0) != size)
      bytes.clear();
  }
  close(fd);
  if (status < 0)
    return failed("export", status);
  if (bytes.empty())
    return failed("export", EIO);
  return bytes;
}

} // namespace

caf::expected<std::string> build_seccomp_filter() {
  filter_ptr filter{seccomp_init(SCMP_ACT_ALLOW)};
  if (!filter)
    return failed("init", ENOMEM);
  if (auto status = add_architectures(filter.get()); status < 0)
    return failed("architectures", status);
  if (auto status = add_rules(filter.get()); status < 0)
    return failed("rules", status);
  return exported(filter.get());
}

} // namespace bureau::sandbox
