#include "actors/io/files_core.hpp"

#include "messages/identity/workspace.hpp"

#include <algorithm>

namespace bureau::io {

namespace {

bool may_change(file_op op) {
  switch (op) {
  case file_op::read:
  case file_op::read_range:
  case file_op::list:
  case file_op::stat:
    return false;
  case file_op::write_atomic:
  case file_op::replace:
  case file_op::ensure_directory:
  case file_op::remove:
  case file_op::rename:
  case file_op::empty_directory:
  case file_op::ensure_file:
    return true;
  }
  return true;
}

/// Paths that are named, each with whether somebody changes it.
using named_paths = std::map<std::string, bool>;

void note(named_paths& named, const std::vector<path_use>& uses) {
  for (const auto& use : uses)
    named[use.path] |= use.changes;
}

bool is_held_back(const named_paths& named, const std::vector<path_use>& uses) {
  return std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
    auto other = named.find(use.path);
    return other != named.end() && (use.changes || other->second);
  });
}

} // namespace

std::string reason_table::name_of(const std::string& reason) const {
  auto known = counts_.count(reason) > 0 || counts_.size() < most_reasons;
  return known && !reason.empty() ? reason : "other";
}

reason_counts& reason_table::operator[](const std::string& reason) {
  return counts_[name_of(reason)];
}

std::string reason_table::text() const {
  std::string result;
  for (const auto& [reason, count] : counts_) {
    if (!result.empty())
      result += ", ";
    result += reason + " ";
    if (count.busy > 0)
      result += std::to_string(count.busy) + " busy ";
    if (count.waiting > 0)
      result += std::to_string(count.waiting) + " waiting ";
    result += std::to_string(count.done) + " done";
  }
  return result;
}

uint64_t reason_table::waiting() const {
  uint64_t result = 0;
  for (const auto& entry : counts_)
    result += entry.second.waiting;
  return result;
}

uint64_t reason_table::busy() const {
  uint64_t result = 0;
  for (const auto& entry : counts_)
    result += entry.second.busy;
  return result;
}

std::vector<path_use> uses_of(const file_job& job) {
  std::vector<path_use> result;
  auto changes = may_change(job.op);
  result.push_back({join_path(job.root, job.path), changes});
  if (job.op == file_op::rename)
    result.push_back({join_path(job.root, job.to), changes});
  return result;
}

void job_queue::add(uint64_t id, file_job job, time_point deadline) {
  auto uses = uses_of(job);
  waiting_.push_back({{id, std::move(job)}, deadline, std::move(uses)});
}

std::vector<ready_job> job_queue::take_expired(time_point now) {
  std::vector<ready_job> result;
  while (!waiting_.empty() && waiting_.front().deadline <= now) {
    result.push_back(std::move(waiting_.front().what));
    waiting_.pop_front();
  }
  return result;
}

std::optional<ready_job> job_queue::next() {
  named_paths named;
  for (const auto& entry : running_)
    note(named, entry.second);
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
    if (!is_held_back(named, entry->uses)) {
      auto result = std::move(entry->what);
      running_.emplace(result.id, std::move(entry->uses));
      waiting_.erase(entry);
      return result;
    }
    note(named, entry->uses);
  }
  return std::nullopt;
}

void job_queue::done(uint64_t id) {
  running_.erase(id);
}

} // namespace bureau::io
