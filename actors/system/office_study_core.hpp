#pragma once

#include "actors/office/ledger_core.hpp"
#include "actors/system/line_reader_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/codec/registry_file.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/interfaces/files.hpp"

#include <caf/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bureau::system {

/// Part of a file that one job of a study reads, and how much of a file is
/// looked at in all.
inline constexpr uint64_t study_part_bytes = 1u << 20;
inline constexpr uint64_t study_file_bytes = 256u << 20;
/// Open ledger entries of one answer; there is also how many there are.
inline constexpr size_t study_entries = 50;

/// What the files of one conversation say (`bureau office show`): hands out one
/// file job after the other and takes its outcome, so that the command line and
/// a running node read the same way. Changes nothing.
class office_study {
public:
  office_study(workspace place, office_address address);
  office_study(const office_study&) = delete;
  office_study& operator=(const office_study&) = delete;

  /// The next job; nothing when the study is over.
  std::optional<file_job> next() const;

  /// How the job went.
  void take(const file_outcome& found);
  void fail(const caf::error& reason);

  /// Why there is no result: bad_identity, not_found, corrupt, or what the disk
  /// says about the registry. Only after the end.
  const caf::error& fault() const { return fault_; }

  /// Platform, id, key, directory, directoryExists, stateDirectory, recordedAt,
  /// log, session, ledger, migration, notes. What is not there is null.
  json::bj::object result() const;

private:
  enum class step : uint8_t {
    registry,
    directory,
    log,
    pointer,
    session,
    ledger,
    done,
  };

  /// A file that is read part by part.
  struct file_view {
    line_reader reader;
    uint64_t offset = 0;
    bool found = false;
    bool whole = false;
  };

  void look_up(const std::string& text);
  void take_part(file_view& view, const file_outcome& part, step after);
  void take_ledger_line(std::string_view line);
  file_job job(file_op op, const std::string& root, std::string path) const;
  file_job part_of(const std::string& root, std::string path,
                   const file_view& view) const;
  json::bj::value log_value() const;
  json::bj::value session_value() const;
  json::bj::value ledger_value() const;
  json::bj::value migration_value() const;

  workspace place_;
  office office_;
  step step_ = step::registry;
  caf::error fault_;
  std::optional<office_record> record_;
  std::optional<migration_record> migration_;
  bool directory_exists_ = false;
  file_view log_;
  /// Last complete line of the chat log.
  std::string last_line_;
  std::string session_file_;
  file_view session_;
  file_view ledger_;
  offices::ledger_core entries_;
  std::vector<std::string> notes_;
};

} // namespace bureau::system
