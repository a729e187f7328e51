#pragma once

#include <caf/error.hpp>
#include <caf/make_message.hpp>

#include <cstdint>
#include <string>

namespace bureau {

/// The closed vocabulary of failures that cross an actor boundary. The context
/// of a caf::error made from it is one sentence for the person who can act.
enum class errc : uint8_t {
  /// No failure; never sent.
  none = 0,
  /// The receiver is ending and takes no new work.
  shutting_down,
  /// A bounded queue is full; try again later.
  queue_full,
  /// The caller's deadline passed before the work ended.
  timeout,
  /// The caller, or a user, asked for the work to end.
  aborted,
  /// The turn was cancelled: contracts::response_cancelled.
  cancelled,
  /// The request itself is malformed.
  bad_request,
  /// The thing asked for does not exist.
  not_found,
  /// The path names a directory where a file is needed.
  is_directory,
  /// Policy or the file system forbids it.
  denied,
  /// The owner is busy and refuses instead of waiting.
  busy,
  /// The resource is not ready yet (still starting, not provisioned).
  not_ready,
  /// The way to a process, machine or server broke.
  transport,
  /// A child process could not be started.
  spawn_failed,
  /// A body or file is larger than the caller accepts.
  too_large,
  /// The disk refused (full, I/O error); nothing was acknowledged.
  disk,
  /// A file of ours holds something it must not hold.
  corrupt,
  /// A configuration file or flag is wrong.
  bad_config,
  /// No credential for the provider that was chosen.
  no_credential,
  /// An identity (address, key, message id) is malformed or foreign.
  bad_identity,
  /// The state changed between check and use.
  conflict,
  /// A fault of ours: a broken invariant, an escaped exception.
  internal,
};

/// Number of codes, for the size check of the name table.
inline constexpr size_t errc_count = 22;

/// Stable lower-case name of a code, as used in logs and metrics.
std::string to_string(errc code);

/// An error with one sentence of context.
/// @param code must not be errc::none
/// @param sentence complete, names the thing and says what to do
caf::error make_failure(errc code, std::string sentence);

/// The code of an error, errc::internal for errors of other categories, with
/// CAF's own request errors mapped (timeout, receiver down).
errc code_of(const caf::error& err);

/// The sentence of an error made by make_failure, else a rendered fallback.
std::string sentence_of(const caf::error& err);

} // namespace bureau

CAF_ERROR_CODE_ENUM(bureau::errc, "bureau")
