#include "sandbox/probe_core.hpp"

#include "messages/text/utf8.hpp"

#include <array>
#include <charconv>

namespace bureau::sandbox {

namespace {

constexpr std::string_view ways_out =
  " Or choose another environment: --sandbox=host runs commands without any "
  "boundary and needs conversations with a trusted door.";

struct cause {
  std::string_view phrase;
  std::string_view explanation;
};

// In the order in which they are looked for in bubblewrap's own words.
constexpr std::array<cause, 9> causes = {{
  {"prlimit: failed to set",
   "A limit of this process is lower than the one of the sandbox: raise the "
   "hard limit that is named (ulimit -H; in a systemd unit LimitNOFILE, "
   "LimitFSIZE, LimitNPROC)."},
  {"prlimit", "The program prlimit is missing: install util-linux."},
  {"failed to execute",
   "A program that the sandbox starts with is missing: install bubblewrap and "
   "util-linux."},
  {"Can't mount proc",
   "Something covers a part of /proc: in a systemd unit remove "
   "ProtectKernelTunables, ProtectKernelLogs, ProtectProc, ProcSubset, "
   "RestrictNamespaces and PrivateUsers; in a container add "
   "--security-opt systempaths=unconfined (podman: "
   "--security-opt unmask=ALL)."},
  {"uid map",
   "The kernel or AppArmor forbids this program user namespaces: allow them "
   "for bwrap with an AppArmor profile, or set "
   "kernel.apparmor_restrict_unprivileged_userns=0."},
  {"RTM_NEWADDR",
   "AppArmor takes the capabilities of new user namespaces away: allow bwrap "
   "with an AppArmor profile, or set "
   "kernel.apparmor_restrict_unprivileged_userns=0."},
  {"No permissions to create new namespace",
   "User namespaces are switched off: set kernel.unprivileged_userns_clone=1 "
   "and user.max_user_namespaces to more than 0."},
  {"namespace failed",
   "New namespaces are forbidden here: set "
   "kernel.unprivileged_userns_clone=1 and user.max_user_namespaces to more "
   "than 0; in a container allow the unshare and mount system calls."},
  {"seccomp", "The kernel refuses the system call filter: it needs "
              "CONFIG_SECCOMP_FILTER."},
}};

std::string explain(std::string_view detail, const kernel_facts& facts) {
  if (facts.userns_clone == "0")
    return "User namespaces are switched off: set "
           "kernel.unprivileged_userns_clone=1.";
  if (facts.max_userns == "0")
    return "User namespaces are switched off: set user.max_user_namespaces to "
           "more than 0.";
  for (const auto& candidate : causes)
    if (detail.find(candidate.phrase) != std::string_view::npos)
      return std::string{candidate.explanation};
  if (facts.apparmor_userns == "1")
    return "AppArmor restricts user namespaces: allow bwrap with an AppArmor "
           "profile, or set kernel.apparmor_restrict_unprivileged_userns=0.";
  return "Its words in brackets are all that is known of the cause.";
}

} // namespace

std::optional<bwrap_version> parse_version(std::string_view output) {
  auto digit = output.find_first_of("0123456789");
  if (digit == std::string_view::npos)
    return std::nullopt;
  auto text = output.substr(digit);
  text = text.substr(0, text.find_first_of(" \r\n"));
  bwrap_version version;
  version.text = text;
  const auto* end = text.data() + text.size();
  auto major_part = std::from_chars(text.data(), end, version.major_number);
  if (major_part.ec != std::errc{} || major_part.ptr == end
      || *major_part.ptr != '.')
    return std::nullopt;
  auto minor_part =
    std::from_chars(major_part.ptr + 1, end, version.minor_number);
  if (minor_part.ec != std::errc{})
    return std::nullopt;
  return version;
}

bool is_new_enough(const bwrap_version& version) {
  return version.major_number > 0 || version.minor_number >= 8;
}

std::string missing_options(std::string_view help) {
  std::string missing;
  for (std::string_view option :
       {"--bind-fd", "--ro-bind-fd", "--disable-userns", "--json-status-fd",
        "--perms", "--size"})
    if (help.find(option) == std::string_view::npos) {
      if (!missing.empty())
        missing += ", ";
      missing += option;
    }
  return missing;
}

std::string probe_failure(probe_step step, std::string_view detail,
                          const kernel_facts& facts) {
  std::string words{text::trim(detail)};
  switch (step) {
  case probe_step::preparation:
    return "The sandbox cannot be tried: " + words
           + ". Check the owner and the mode of the state directory.";
  case probe_step::version:
    return "bubblewrap does not start (" + words
           + "). Install the package bubblewrap, 0.8 or newer."
           + std::string{ways_out};
  case probe_step::profile:
    break;
  }
  return "The sandbox does not work on this machine (" + words + "). "
         + explain(words, facts) + std::string{ways_out};
}

std::string probe_outdated(std::string_view version,
                           std::string_view missing_options) {
  std::string sentence = "bubblewrap ";
  sentence += version;
  sentence += " is too old";
  if (!missing_options.empty()) {
    sentence += " or a reduced build: it lacks ";
    sentence += missing_options;
  }
  sentence += ". Install 0.8 or newer with --bind-fd (0.10, or your "
              "distribution's security update of an older one).";
  sentence += ways_out;
  return sentence;
}

} // namespace bureau::sandbox
