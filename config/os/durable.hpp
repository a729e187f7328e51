#pragma once

#include "messages/errc.hpp"
#include "messages/ports/entropy.hpp"
#include "messages/ports/file_system.hpp"

#include <string>
#include <string_view>
#include <utility>

/// Files as the product needs them, over the file_system port: whole reads with
/// a bound, private atomic replacement, directories that are really there. All
/// of it may block and nothing throws.
namespace bureau::os {

/// What stopped an operation: errno, the path it concerned and the verb of the
/// step ("read", "write", "rename", …). `error == 0` means no fault.
struct io_fault {
  int error = 0;
  std::string path;
  std::string step;
  /// A replacement has happened all the same: every reader sees the new
  /// content, and only a power cut may bring the old one back.
  bool replaced = false;
  explicit operator bool() const { return error != 0; }
};

/// A value, or the fault. True when the operation succeeded.
template <class T>
struct io_outcome {
  T value{};
  io_fault fault;
  explicit operator bool() const { return !fault; }
};

/// The code of the closed vocabulary that fits an errno.
errc errc_of_errno(int error);

/// The text of an errno, thread safe: "No space left on device".
std::string errno_text(int error);

/// `cannot <step> <path>: <errno text>`.
std::string describe(const io_fault& fault);

/// describe() as an error that may cross an actor boundary.
caf::error to_failure(const io_fault& fault);

/// A descriptor that closes itself, for every early return.
class descriptor {
public:
  descriptor() = default;
  descriptor(file_system& fs, int fd) : fs_(&fs), fd_(fd) {}
  descriptor(descriptor&& other) noexcept
    : fs_(other.fs_), fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept;
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { close(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  /// Closes now and answers whether that worked; a second call does nothing.
  io_status close();
  /// Gives the descriptor away.
  int release() { return std::exchange(fd_, -1); }

private:
  file_system* fs_ = nullptr;
  int fd_ = -1;
};

/// Writes everything, through short writes.
io_status write_all(file_system& fs, int fd, std::string_view bytes);

/// Reads from the current position to the end; EFBIG when there are more than
/// `max` bytes.
io_result<std::string> read_to_end(file_system& fs, int fd, size_t max);

/// Content of a regular file. A symbolic link is refused (ELOOP), a directory
/// answers EISDIR, any other kind EACCES, more than `max` bytes EFBIG.
io_outcome<std::string> read_whole(file_system& fs, const std::string& path,
                                   size_t max);

/// fsync(2) of a directory.
io_fault sync_directory(file_system& fs, const std::string& path);

/// Replaces a file so that readers and a power cut see the old content or the
/// new one, never a mixture (core interface seed, section 2; note 01, 5.3): an
/// exclusive sibling `.<base>.<pid>.<16 hex>.tmp` with `mode`, all bytes,
/// fsync, rename, fsync of the directory. The sibling is removed on failure and
/// the first fault is reported. When only the sync of the directory failed, the
/// fault says `replaced`: it is a failure, for nothing may be promised that
/// rests on the new content, but memory must follow the file, and whoever tries
/// again must write again, also what is there already.
io_fault write_private_atomically(file_system& fs, entropy& chance,
                                  const std::string& path,
                                  std::string_view bytes, mode_t mode = 0600);

/// mkdir -p: every level that is created gets `mode` and its parent an fsync; a
/// level whose parent cannot be synced is removed again. The directory itself
/// must not be a symbolic link (ELOOP) or anything else (ENOTDIR); levels above
/// it that exist already may be reached by links.
/// @param path absolute
io_fault ensure_directory(file_system& fs, const std::string& path,
                          mode_t mode);

/// mkdir -p below an open directory whose content somebody else may change: no
/// link is followed at any level, whatever is swapped meanwhile.
/// @param dir open directory, readable
/// @param relative "a/b/c"; empty is fine
io_fault ensure_directory_below(file_system& fs, int dir,
                                const std::string& relative, mode_t mode);

/// Removes temporary siblings that a killed process left in a directory, and
/// answers how many. Call it only while holding the instance lock.
/// @param base only those of this file; empty: of all files
size_t sweep_stale_temporaries(file_system& fs, const std::string& dir,
                               std::string_view base = {});

/// Whether a name is `.<base>.<pid>.<16 hex>.tmp`; an empty base fits all.
bool is_temporary_name(std::string_view name, std::string_view base);

/// A state directory that is there must be ours alone (note 05, F2): no
/// symbolic link, a directory, not world-writable, owned by `euid`. Answers ""
/// or the sentence for the person who starts the node; an absent one is fine.
std::string check_state_dir(file_system& fs, const std::string& path,
                            uid_t euid);

/// check_state_dir, after making an absent directory with mode 0700.
std::string secure_state_dir(file_system& fs, const std::string& path,
                             uid_t euid);

} // namespace bureau::os
