#pragma once

#include "actors/io/journal_replay.hpp"
#include "actors/io/journal_writer.hpp"
#include "config/os/posix_file_system.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/scratch_directory.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// What the stories of the journal share.
namespace bureau::test {

/// A state and a workspace directory with a journal on a file system that may
/// be made to fail.
struct journal_world {
  journal_world();

  std::string state() const { return scratch / "state"; }
  std::string workspace() const { return scratch / "work"; }
  std::string file(const std::string& name) const {
    return state() + "/" + name;
  }

  std::unique_ptr<io::journal_writer> writer();
  io::replay_report replay();
  /// Files in the journal's directory.
  size_t segments() const;

  scratch_directory scratch;
  std::shared_ptr<os::posix_file_system> disk;
  std::shared_ptr<faulty_file_system> fs;
};

/// What a disk may say; which of them it is must not matter.
inline constexpr int disk_errors[] = {EIO, ENOSPC, EINTR};

io::journal_append append_of(std::string path, std::string bytes,
                             durability level = durability::sync);

/// One append in a batch of its own.
io::journal_append put(io::journal_writer& writer, std::string path,
                       std::string bytes, durability level = durability::sync);

/// How many operations of a name there were.
size_t count_of(const faulty_file_system& fs, const std::string& name);

/// Whether a sentence of a report holds a text.
bool has_note(const io::replay_report& report, const std::string& text);

std::vector<std::string> lines_of(const std::string& text);

/// One record of a segment with its bytes.
struct read_record {
  io::journal_path target;
  uint64_t offset = 0;
  std::string bytes;
  bool is_seal = false;
  friend bool operator==(const read_record&, const read_record&) = default;
};

/// What a scan finds in a segment.
struct read_segment {
  size_t frames = 0;
  std::vector<read_record> records;
  size_t whole_bytes = 0;
  bool torn = false;
  bool damaged = false;
  /// The most that was asked for at a time.
  size_t most_read = 0;
};

read_segment scan_text(std::string_view bytes);

/// All that a builder holds.
std::string joined(io::frame_builder& builder);

} // namespace bureau::test
