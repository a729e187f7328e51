#pragma once

#include "messages/interfaces/common.hpp"
#include "messages/limits.hpp"
#include "messages/ports/file_system.hpp"

namespace bureau {

/// A variable of a child's environment. Nothing is inherited (decision B1).
struct env_entry {
  std::string name;
  std::string value;
  bool secret = false;
  friend bool operator==(const env_entry&, const env_entry&) = default;
};

BUREAU_INSPECT(env_entry, x.name, x.value, x.secret);

inline std::string to_string(const env_entry& entry) {
  return entry.name + "=" + (entry.secret ? "[redacted]" : entry.value);
}

/// Where a child's standard input comes from.
enum class stdin_kind : uint8_t { null, pipe, bytes };

/// What a child's extra descriptor is.
enum class fd_kind : uint8_t {
  /// A sealed memory file with `bytes`; may hold secrets.
  bytes,
  /// `path` opened below `root` with `flags`, never following a link.
  open_beneath,
  /// The writing end of a pipe whose content comes back as proc_result.extra.
  pipe_out,
};

/// One extra descriptor of a child.
struct proc_fd {
  int32_t child_fd = 3;
  fd_kind kind = fd_kind::bytes;
  std::string bytes;
  std::string root;
  /// Relative to root; empty = the root directory itself.
  std::string path;
  int32_t flags = 0;
  friend bool operator==(const proc_fd&, const proc_fd&) = default;
};

BUREAU_INSPECT(proc_fd, x.child_fd, x.kind, x.bytes, x.root, x.path, x.flags);

/// What happens to the rest of the group when the child itself has ended.
enum class on_exit_rule : uint8_t { kill_rest, leave };

/// A child process to start (decision S3).
struct proc_spec {
  /// Chosen by the caller: its actor id << 32 | a counter of its own.
  uint64_t id = 0;
  /// For status lines: "bwrap v1-console-…".
  std::string label;
  std::string reason;
  /// argv[0] is an absolute path.
  std::vector<std::string> argv;
  /// The complete environment.
  std::vector<env_entry> env;
  std::string cwd = "/";
  stdin_kind input = stdin_kind::null;
  std::string input_bytes;
  std::vector<proc_fd> fds;
  /// setsid instead of a new process group.
  bool new_session = false;
  uint64_t cap_out = limits::exec_output_bytes;
  uint64_t cap_err = limits::exec_output_bytes;
  on_exit_rule on_exit = on_exit_rule::kill_rest;
  /// Not empty: after a kill, processes whose environment carries
  /// BUREAU_EXEC_ID=<this> are killed too, wherever they re-parented.
  std::string exec_tag;
  friend bool operator==(const proc_spec&, const proc_spec&) = default;
};

BUREAU_INSPECT(proc_spec, x.id, x.label, x.reason, x.argv, x.env, x.cwd,
               x.input, x.input_bytes, x.fds, x.new_session, x.cap_out,
               x.cap_err, x.on_exit, x.exec_tag);

/// How a child ended.
struct proc_exit {
  uint64_t id = 0;
  /// Exit code, meaningful when signal is 0.
  int32_t code = 0;
  /// Signal that ended it, 0 = none.
  int32_t signal = 0;
  uint64_t out_dropped = 0;
  uint64_t err_dropped = 0;
  uint32_t ms = 0;
  int64_t cpu_us = 0;
  int64_t max_rss_kib = 0;
  /// Killed but not gone within limits::kill_confirm_timeout.
  bool unkillable = false;
  friend bool operator==(const proc_exit&, const proc_exit&) = default;
};

BUREAU_INSPECT(proc_exit, x.id, x.code, x.signal, x.out_dropped, x.err_dropped,
               x.ms, x.cpu_us, x.max_rss_kib, x.unkillable);

/// Captured result of a child.
struct proc_result {
  std::string out;
  std::string err;
  /// Content of pipe_out descriptors, in the order of the specification.
  std::vector<std::string> extra;
  proc_exit exit;
  /// Whether the end was asked for by p_kill.
  bool killed = false;
  friend bool operator==(const proc_result&, const proc_result&) = default;
};

BUREAU_INSPECT(proc_result, x.out, x.err, x.extra, x.exit, x.killed);

/// A child that is running.
struct proc_started {
  uint64_t id = 0;
  int32_t pid = 0;
  friend bool operator==(const proc_started&, const proc_started&) = default;
};

BUREAU_INSPECT(proc_started, x.id, x.pid);

/// A piece of a child's output; stream 1 = stdout, 2 = stderr.
struct proc_output {
  uint64_t id = 0;
  int32_t stream = 1;
  std::string bytes;
  friend bool operator==(const proc_output&, const proc_output&) = default;
};

BUREAU_INSPECT(proc_output, x.id, x.stream, x.bytes);

/// Input for a child started with stdin_kind::pipe.
struct proc_input {
  uint64_t id = 0;
  std::string bytes;
  bool eof = false;
  friend bool operator==(const proc_input&, const proc_input&) = default;
};

BUREAU_INSPECT(proc_input, x.id, x.bytes, x.eof);

/// Output that a sink has used up.
struct proc_ack {
  uint64_t id = 0;
  int32_t stream = 1;
  uint64_t bytes = 0;
  friend bool operator==(const proc_ack&, const proc_ack&) = default;
};

BUREAU_INSPECT(proc_ack, x.id, x.stream, x.bytes);

/// Ends a child and its group: SIGTERM, then SIGKILL after grace_ms; 0 = at
/// once.
struct proc_kill {
  uint64_t id = 0;
  uint32_t grace_ms = 0;
  friend bool operator==(const proc_kill&, const proc_kill&) = default;
};

BUREAU_INSPECT(proc_kill, x.id, x.grace_ms);

/// The PROCESS SINK actor interface: who follows a running child.
using process_sink_actor = caf::typed_actor<
  // Output in order per stream; acknowledge after use.
  caf::reacts_to<atom::p_out, proc_output>,
  // Exactly once per started child, after its last output.
  caf::reacts_to<atom::p_exit, proc_exit>>;

/// The PROCESS HOST actor interface; one per process, in front of the one loop
/// that spawns and reaps.
using process_host_actor = caf::typed_actor<
  // Runs to the end and captures. A non-zero exit is a result, not an error.
  // Errors: spawn_failed, queue_full, shutting_down, bad_request.
  caf::replies_to<atom::run, proc_spec>::with<proc_result>,
  // Starts and streams to the sink. Same errors, then no p_exit.
  caf::replies_to<atom::start, proc_spec,
                  process_sink_actor>::with<proc_started>,
  caf::reacts_to<atom::p_write, proc_input>,
  caf::reacts_to<atom::ack, proc_ack>,
  // Send it urgently; an unknown id is ignored. Works for run and start.
  caf::reacts_to<atom::p_kill, proc_kill>,
  caf::replies_to<atom::status>::with<status_line>,
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_process, bureau::type_ids::process)
CAF_ADD_TYPE_ID(bureau_process, (bureau::proc_spec))
CAF_ADD_TYPE_ID(bureau_process, (bureau::proc_exit))
CAF_ADD_TYPE_ID(bureau_process, (bureau::proc_result))
CAF_ADD_TYPE_ID(bureau_process, (bureau::proc_started))
CAF_ADD_TYPE_ID(bureau_process, (bureau::proc_output))
CAF_ADD_TYPE_ID(bureau_process, (bureau::proc_input))
CAF_ADD_TYPE_ID(bureau_process, (bureau::proc_ack))
CAF_ADD_TYPE_ID(bureau_process, (bureau::proc_kill))
CAF_ADD_TYPE_ID(bureau_process, (bureau::process_sink_actor))
CAF_ADD_TYPE_ID(bureau_process, (bureau::process_host_actor))
CAF_END_TYPE_ID_BLOCK(bureau_process)
