#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Files that come with a message (office note, section 14): under which names
/// they are kept, and what becomes of them. Pure; the adapter downloads, the
/// office writes the record.
namespace bureau::offices {

/// A file as a platform announces it.
struct incoming_attachment {
  std::string name;
  /// Platform time of the message; absent: now.
  std::optional<int64_t> timestamp_ms;
};

/// Where an announced file goes.
struct planned_attachment {
  /// Name as it was received.
  std::string original;
  /// `<time>_<sanitised name>`, unique in the directory.
  std::string file;
  /// `<officeKey>/attachments/<file>`, relative to the workspace root.
  std::string local_path;
  /// Name in the same directory to download to; renamed to `file` once it is
  /// complete, so that the agent never sees a part of a file.
  std::string staging;
  friend bool operator==(const planned_attachment&,
                         const planned_attachment&) = default;
};

/// How one download ended.
struct download_result {
  bool ok = false;
  std::string error;
};

struct saved_attachment {
  std::string original;
  std::string local_path;
  friend bool operator==(const saved_attachment&,
                         const saved_attachment&) = default;
};

struct failed_attachment {
  std::string name;
  std::string error;
  friend bool operator==(const failed_attachment&,
                         const failed_attachment&) = default;
};

/// Both lists keep the order in which the files were announced.
struct attachment_report {
  std::vector<saved_attachment> saved;
  std::vector<failed_attachment> failed;
};

/// A name reduced to `[A-Za-z0-9._-]`: every other UTF-16 code unit becomes one
/// `_`. At most limits::attachment_name_bytes long, the extension kept.
std::string sanitise_attachment_name(std::string_view name);

/// Plans where files go. Equal names, in the message or on the disk, get `-2`,
/// `-3`, … before the last dot.
/// @param exists tells whether a name is taken in the attachments directory
std::vector<planned_attachment> plan_attachments(
  std::string_view office_key, const std::vector<incoming_attachment>& items,
  int64_t now_ms, const std::function<bool(const std::string&)>& exists = {});

/// Sorts the outcomes of the downloads into the two lists.
/// @pre outcomes.size() == plan.size()
attachment_report
report_attachments(const std::vector<planned_attachment>& plan,
                   const std::vector<download_result>& outcomes);

/// One file to save, with the way to get it.
struct attachment_source {
  incoming_attachment item;
  /// Brings the file to the path of the plan and says how it went.
  std::function<download_result(const planned_attachment&)> download;
};

/// The whole operation over a plan; the downloads run one after the other in
/// the calling thread. One failure never touches the other files.
attachment_report save_attachments(
  std::string_view office_key, const std::vector<attachment_source>& sources,
  int64_t now_ms, const std::function<bool(const std::string&)>& exists = {});

} // namespace bureau::offices
