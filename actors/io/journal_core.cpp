#include "actors/io/journal_core.hpp"

#include "messages/limits.hpp"

#include <algorithm>
#include <utility>

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

bool group_gatherer::waits(size_t waiting, time_point now) {
  if (waiting == 0)
    return false;
  if (!until_) {
    until_ = now + patience_;
    // Two halves that take turns become one group.
    wanted_ = std::max(last_, before_last_);
    if (more_)
      wanted_ = std::max(wanted_, last_ + std::min(waiting, before_last_));
  }
  if (waiting < std::min(wanted_, most_awaited) && now < *until_)
    return true;
  until_.reset();
  return false;
}

void group_gatherer::committed(size_t count, bool more, time_point began,
                               time_point ended) {
  before_last_ = std::exchange(last_, count);
  more_ = more;
  patience_ = std::min<std::chrono::steady_clock::duration>((ended - began) / 2,
                                                            most_wait);
  until_.reset();
}

std::string record_fault(const journal_record& record) {
  if (!is_journal_path(record.path))
    return "a journal record needs a plain relative path";
  if (record.bytes.empty())
    return "a journal record for " + record.path + " has no bytes";
  if (record.bytes.size() > limits::journal_record_bytes)
    return "a journal record for " + record.path + " is larger than "
           + std::to_string(limits::journal_record_bytes) + " bytes";
  return {};
}

void replay_plan::note(const wal_entry& entry) {
  ++noted_;
  auto& seal = seals_[entry.target];
  if (entry.is_seal)
    seal = noted_;
}

bool replay_plan::counts(const wal_entry& entry) {
  ++asked_;
  auto seal = seals_.find(entry.target);
  return !entry.is_seal && (seal == seals_.end() || seal->second < asked_);
}

std::vector<journal_path> replay_plan::paths() const {
  std::vector<journal_path> result;
  for (const auto& [path, seal] : seals_)
    result.push_back(path);
  return result;
}

std::optional<missing_part> missing_of(const wal_entry& entry,
                                       uint64_t file_size, bool& is_gap) {
  is_gap = file_size < entry.offset;
  if (is_gap || file_size >= entry.offset + entry.length)
    return std::nullopt;
  return missing_part{file_size,
                      static_cast<uint32_t>(file_size - entry.offset)};
}

} // namespace bureau::io
