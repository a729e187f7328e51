#include "actors/io/journal_core.hpp"

#include "messages/limits.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace bureau::io {

namespace {

constexpr size_t longest_path = 4096;

} // namespace

bool is_journal_path(std::string_view path) {
  if (path.empty() || path.size() > longest_path
      || path.find('\0') != std::string_view::npos)
    return false;
  for (;;) {
    auto end = std::min(path.find('/'), path.size());
    auto part = path.substr(0, end);
    if (part.empty() || part == "." || part == "..")
      return false;
    if (end == path.size())
      return true;
    path.remove_prefix(end + 1);
  }
}

std::string record_fault(const journal_record& record) {
  if (!is_journal_path(record.path))
    return "a journal record needs a plain relative path";
  if (record.bytes.empty())
    return "a journal record for " + record.path + " has no bytes";
  if (record.bytes.size() > limits::journal_frame_bytes)
    return "a journal record for " + record.path + " is larger than "
           + std::to_string(limits::journal_frame_bytes) + " bytes";
  return {};
}

replay_plan plan_replay(std::vector<wal_record> records) {
  replay_plan result;
  std::map<journal_path, size_t> last_seal;
  std::set<journal_path> paths;
  for (size_t i = 0; i < records.size(); ++i) {
    paths.insert(records[i].target);
    if (records[i].is_seal)
      last_seal[records[i].target] = i;
  }
  for (size_t i = 0; i < records.size(); ++i) {
    auto seal = last_seal.find(records[i].target);
    if (!records[i].is_seal && (seal == last_seal.end() || seal->second < i))
      result.appends.push_back(std::move(records[i]));
  }
  result.paths.assign(paths.begin(), paths.end());
  return result;
}

std::optional<missing_part> missing_of(const wal_record& record,
                                       uint64_t file_size, bool& is_gap) {
  is_gap = file_size < record.offset;
  auto end = record.offset + record.bytes.size();
  if (is_gap || file_size >= end)
    return std::nullopt;
  return missing_part{file_size,
                      static_cast<size_t>(file_size - record.offset)};
}

} // namespace bureau::io
