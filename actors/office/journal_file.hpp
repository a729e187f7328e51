#pragma once

#include "actors/kit/generation_timer.hpp"
#include "actors/office/interfaces.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/journal.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

namespace bureau::offices {

/// A journalled file of an office, as part of the office's state: appends in
/// order, mends a torn end first, has a directory that is gone made again, and
/// can be rewritten. It is the file's only writer in the process (decision
/// A13).
class journal_file {
public:
  using self_pointer = office_child_actor::pointer;
  /// An empty error: the append is as durable as it was asked to be.
  using done = std::function<void(const caf::error&)>;
  /// Makes the directories of the office again; calls back in any case.
  using restorer = std::function<void(std::function<void()> then)>;

  journal_file() = default;
  journal_file(const journal_file&) = delete;
  journal_file& operator=(const journal_file&) = delete;

  /// @param path relative to the root
  /// @param restore asked when the journal cannot reach the path; what it
  ///        refused is then tried once more, what comes meanwhile waits
  void init(self_pointer self, journal_actor journal, journal_root root,
            std::string path, restorer restore = {});

  /// What was found on disk.
  void found(uint64_t size, bool torn);

  /// Appends one line, its newline included. While the file is rewritten,
  /// appends wait.
  void append(std::string line, durability level, done then);

  /// Appends one line here and one to another file, synced, in one frame of the
  /// journal: after a crash both are there or none. The other file must never
  /// be rewritten.
  void append_both(std::string line, journal_file& other,
                   std::string other_line, done then);

  /// Replaces the whole content once no append is under way: seals the path in
  /// the journal, then writes atomically. Appends wait until it is known which
  /// content the file has, however late the writing ends; with a failure it is
  /// the one from before.
  /// @param absolute the file's absolute path
  /// @param content asked when the writing begins
  void rewrite(const files_actor& files, std::string absolute,
               std::function<std::string()> content, done then);

  uint64_t size() const { return size_; }
  bool rewriting() const { return rewriting_; }

private:
  struct waiting {
    std::string line;
    durability level;
    done then;
    journal_file* other = nullptr;
    std::string other_line;
    /// Tried again already.
    bool repeated = false;
  };
  struct replacement {
    files_actor files;
    std::string absolute;
    std::function<std::string()> content;
    done then;
  };

  void take(waiting next);
  void send(waiting next);
  void send_both(waiting next);
  /// The next record of this file; counts as under way.
  journal_record begin_record(const std::string& line, durability level);
  /// The journal answered for a record of so many bytes.
  void written(uint64_t offset, size_t length);
  void not_written();
  /// The journal refused it: it is tried once more, or told.
  void refused(waiting what, const caf::error& reason);
  void restored();
  void send_waiting();
  void begin_rewrite();
  void write(std::string content);
  void replaced(uint64_t length);
  /// Asks what a replacement has left that failed or did not answer in time.
  void look(uint64_t length, const caf::error& reason);
  void end_rewrite(const caf::error& reason);

  self_pointer self_ = nullptr;
  journal_actor journal_;
  journal_root root_ = journal_root::state;
  std::string path_;
  restorer restore_;
  uint64_t size_ = 0;
  bool torn_ = false;
  size_t under_way_ = 0;
  bool rewriting_ = false;
  replacement replacement_;
  kit::generation_timer look_again_;
  std::deque<waiting> waiting_;
  /// Directories are being made again, for these.
  bool restoring_ = false;
  std::deque<waiting> lost_;
};

} // namespace bureau::offices
