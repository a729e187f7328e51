#pragma once

#include "messages/interfaces/files.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/file_system.hpp"

#include <caf/expected.hpp>

#include <string>

namespace bureau::io {

/// Carries out one file job in the calling thread, which may block. The pool
/// and its inline twin both run exactly this. A write_atomic or rename that
/// failed has changed nothing, unless the sentence says `cannot make durable`:
/// then it is in place, and only a power cut may undo it. As after a timeout,
/// ask about the path and believe the answer.
/// @param chance names the staging files
/// @return the outcome, or an error whose sentence names operation and path:
///         not_found, is_directory, denied, too_large, disk, bad_request
caf::expected<file_outcome> run_file_job(file_system& fs, entropy& chance,
                                         const file_job& job);

/// The answer to a job that waited so long that nobody waits for it any more.
caf::error expired_failure(const file_job& job);

/// The operation as a sentence names it: "read", "create the directory".
std::string verb_of(file_op op);

} // namespace bureau::io
