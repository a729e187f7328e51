#pragma once

#include "messages/contracts/turn.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/interfaces/common.hpp"

namespace bureau {

/// A command for an execution environment (decision B15).
struct exec_request {
  /// Chosen by the caller, unique per executor; abort names it.
  uint64_t id = 0;
  /// One program text for a POSIX shell.
  std::string command;
  /// Runtime path; empty = the backend's default.
  std::string cwd;
  /// 0 = no limit.
  int64_t timeout_ms = 0;
  bool has_stdin = false;
  std::string stdin_bytes;
  /// An end by its deadline or an abort is a result as well, with what was
  /// printed; otherwise it is an error whose sentence has that.
  bool keeps_output = false;
  /// Variables of this command, over those of the environment. Names that the
  /// environment owns, and what is no name, are left out.
  contracts::tool_environment environment{};
  friend bool operator==(const exec_request&, const exec_request&) = default;
};

BUREAU_INSPECT(exec_request, x.id, x.command, x.cwd, x.timeout_ms, x.has_stdin,
               x.stdin_bytes, x.keeps_output, x.environment);

/// How a command came to its end.
enum class exec_ending : uint8_t {
  /// By itself, or by a signal of its own world.
  exited,
  timed_out,
  aborted,
};

/// Result of a command; a non-zero code is a success of exec.
struct exec_result {
  std::string out;
  std::string err;
  /// Exit code; 128+n for a command ended by signal n.
  int32_t code = 0;
  bool out_truncated = false;
  bool err_truncated = false;
  /// Of a request that keeps its output; otherwise `exited`.
  exec_ending ending = exec_ending::exited;
  friend bool operator==(const exec_result&, const exec_result&) = default;
};

BUREAU_INSPECT(exec_result, x.out, x.err, x.code, x.out_truncated,
               x.err_truncated, x.ending);

/// A slice of a file in the runtime; length at most limits::exec_file_bytes.
struct exec_read {
  std::string path;
  uint64_t offset = 0;
  uint64_t length = 0;
  friend bool operator==(const exec_read&, const exec_read&) = default;
};

BUREAU_INSPECT(exec_read, x.path, x.offset, x.length);

struct exec_slice {
  std::string bytes;
  bool eof = false;
  friend bool operator==(const exec_slice&, const exec_slice&) = default;
};

BUREAU_INSPECT(exec_slice, x.bytes, x.eof);

/// A whole file to write; parents are created, the old content stays intact
/// until the new one is complete.
struct exec_write {
  std::string path;
  std::string bytes;
  /// Permission bits; -1 = keep the file's own, 0644 for a new one.
  int32_t mode = -1;
  friend bool operator==(const exec_write&, const exec_write&) = default;
};

BUREAU_INSPECT(exec_write, x.path, x.bytes, x.mode);

/// A part of a file above limits::exec_file_bytes; seq counts from 0.
struct exec_write_part {
  uint64_t id = 0;
  std::string path;
  uint32_t seq = 0;
  std::string bytes;
  bool last = false;
  friend bool operator==(const exec_write_part&,
                         const exec_write_part&) = default;
};

BUREAU_INSPECT(exec_write_part, x.id, x.path, x.seq, x.bytes, x.last);

/// Host and runtime names of the workspace.
struct path_context {
  std::string host_root;
  std::string runtime_root;
  /// Where commands of this office start: <runtime_root>/<office key>.
  std::string cwd;
  /// Whether runtime paths below the root can be mapped back to the host.
  bool reverse_map = false;
  friend bool operator==(const path_context&, const path_context&) = default;
};

BUREAU_INSPECT(path_context, x.host_root, x.runtime_root, x.cwd, x.reverse_map);

/// The concrete configuration in use.
struct executor_info {
  /// "bwrap", "host", …
  std::string backend;
  /// none, host, internet.
  std::string network;
  /// One line for the prompt's environment section.
  std::string summary;
  /// Why no run may use this environment, with the ways out; empty = none. Ask
  /// before the first model call (decision B6).
  std::string refusal{};
  /// Host paths of the shared memory and skills that the door lets into the
  /// prompt; empty = they must stay out. The office's own are always in.
  std::string global_memory_path{};
  std::string global_skills_dir{};
  friend bool operator==(const executor_info&, const executor_info&) = default;
};

BUREAU_INSPECT(executor_info, x.backend, x.network, x.summary, x.refusal,
               x.global_memory_path, x.global_skills_dir);

/// The EXECUTOR actor interface: a process world that hides local, container,
/// virtual machine or remote. Any number of calls may be in flight.
using executor_actor = caf::typed_actor<
  // Runs a command. Errors: timeout and aborted (sentence = output so far plus
  // "Command timed out after N seconds" or "Command aborted"), not_ready,
  // transport, spawn_failed, queue_full, shutting_down.
  caf::replies_to<atom::exec, exec_request>::with<exec_result>,
  // Ends a command by id; unknown ids are ignored. Send it urgently.
  caf::reacts_to<atom::abort, uint64_t>,
  // Errors: not_found, is_directory, denied, too_large, transport.
  caf::replies_to<atom::read, exec_read>::with<exec_slice>,
  // Answers the number of bytes written. Errors as read, disk.
  caf::replies_to<atom::write, exec_write>::with<uint64_t>,
  // Answers the number of bytes so far; the last part makes it visible.
  caf::replies_to<atom::write_part, exec_write_part>::with<uint64_t>,
  caf::replies_to<atom::paths>::with<path_context>,
  caf::replies_to<atom::config>::with<executor_info>,
  caf::replies_to<atom::status>::with<status_line>,
  // Aborts what runs; answers when nothing of it is left.
  caf::replies_to<atom::stop>::with<caf::ok_atom>>;

/// What an executor is made for.
struct executor_args {
  workspace ws;
  office place;
  /// none | host | internet.
  std::string network = "none";
  /// IANA name for TZ inside; empty = UTC.
  std::string time_zone;
  /// isolated | trusted: what of the workspace the office may see.
  std::string door_policy = "isolated";
  /// conversation | shared-support | full; counts only behind a trusted door.
  std::string layout = "conversation";
};

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_executor, bureau::type_ids::executor)
CAF_ADD_TYPE_ID(bureau_executor, (bureau::exec_request))
CAF_ADD_TYPE_ID(bureau_executor, (bureau::exec_result))
CAF_ADD_TYPE_ID(bureau_executor, (bureau::exec_read))
CAF_ADD_TYPE_ID(bureau_executor, (bureau::exec_slice))
CAF_ADD_TYPE_ID(bureau_executor, (bureau::exec_write))
CAF_ADD_TYPE_ID(bureau_executor, (bureau::exec_write_part))
CAF_ADD_TYPE_ID(bureau_executor, (bureau::path_context))
CAF_ADD_TYPE_ID(bureau_executor, (bureau::executor_info))
CAF_ADD_TYPE_ID(bureau_executor, (bureau::executor_actor))
CAF_END_TYPE_ID_BLOCK(bureau_executor)
