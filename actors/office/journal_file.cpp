#include "actors/office/journal_file.hpp"

#include "actors/kit/requests.hpp"
#include "messages/limits.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace bureau::offices {

void journal_file::init(self_pointer self, journal_actor journal,
                        journal_root root, std::string path, restorer restore) {
  self_ = self;
  journal_ = std::move(journal);
  root_ = root;
  path_ = std::move(path);
  restore_ = std::move(restore);
}

void journal_file::found(uint64_t size, bool torn) {
  size_ = size;
  torn_ = torn;
}

void journal_file::append(std::string line, durability level, done then) {
  take({std::move(line), level, std::move(then), nullptr, {}, false});
}

void journal_file::append_both(std::string line, journal_file& other,
                               std::string other_line, done then) {
  take({std::move(line), durability::sync, std::move(then), &other,
        std::move(other_line), false});
}

void journal_file::take(waiting next) {
  // A power cut may have left half a line before each.
  constexpr size_t line_breaks = 2;
  auto bytes = next.line.size() + next.other_line.size() + line_breaks;
  if (bytes > limits::journal_record_bytes) {
    next.then(make_failure(
      errc::too_large, "a record for " + path_ + " is " + std::to_string(bytes)
                         + " bytes long; the journal takes "
                         + std::to_string(limits::journal_record_bytes)));
    return;
  }
  if (!rewriting_ && !restoring_)
    send(std::move(next));
  else if (waiting_.size() < limits::office_waiting)
    waiting_.push_back(std::move(next));
  else
    next.then(
      make_failure(errc::queue_full, "too many records wait for " + path_));
}

journal_record journal_file::begin_record(const std::string& line,
                                          durability level) {
  ++under_way_;
  journal_record record;
  record.root = root_;
  record.path = path_;
  record.level = level;
  // It must not swallow the next one. Until the disk has taken a line, each one
  // brings the break: whichever is the first to arrive needs it.
  if (torn_)
    record.bytes = "\n";
  record.bytes += line;
  return record;
}

void journal_file::written(uint64_t offset, size_t length) {
  --under_way_;
  torn_ = false;
  size_ = std::max(size_, offset + length);
}

void journal_file::not_written() {
  // The journal cuts off what a failed write left behind.
  --under_way_;
}

void journal_file::send(waiting next) {
  if (next.other != nullptr) {
    send_both(std::move(next));
    return;
  }
  auto record = begin_record(next.line, next.level);
  auto length = record.bytes.size();
  auto what = std::make_shared<waiting>(std::move(next));
  kit::bounded_request(self_, journal_, limits::disk_timeout, atom::append_v,
                       std::move(record))
    .then(
      [this, what, length](uint64_t offset) {
        written(offset, length);
        what->then(caf::none);
        begin_rewrite();
      },
      [this, what](caf::error& reason) {
        not_written();
        refused(std::move(*what), reason);
        begin_rewrite();
      });
}

// The journal has one code for all that can be wrong with a path.
void journal_file::refused(waiting what, const caf::error& reason) {
  if (!restore_ || what.repeated || code_of(reason) != errc::bad_request) {
    what.then(reason);
    return;
  }
  what.repeated = true;
  lost_.push_back(std::move(what));
  if (!std::exchange(restoring_, true))
    restore_([this] { restored(); });
}

void journal_file::restored() {
  restoring_ = false;
  waiting_.insert(waiting_.begin(), std::make_move_iterator(lost_.begin()),
                  std::make_move_iterator(lost_.end()));
  lost_.clear();
  send_waiting();
  begin_rewrite();
}

void journal_file::send_waiting() {
  if (rewriting_ || restoring_)
    return;
  for (auto& next : std::exchange(waiting_, {}))
    send(std::move(next));
}

void journal_file::send_both(waiting next) {
  auto other = next.other;
  journal_batch records;
  records.push_back(begin_record(next.line, next.level));
  records.push_back(other->begin_record(next.other_line, next.level));
  auto length = records.front().bytes.size();
  auto other_length = records.back().bytes.size();
  auto what = std::make_shared<waiting>(std::move(next));
  kit::bounded_request(self_, journal_, limits::disk_timeout, atom::append_v,
                       std::move(records))
    .then(
      [this, what, length, other_length](const std::vector<uint64_t>& offsets) {
        written(offsets.at(0), length);
        what->other->written(offsets.at(1), other_length);
        what->then(caf::none);
        begin_rewrite();
      },
      [this, what](caf::error& reason) {
        not_written();
        what->other->not_written();
        refused(std::move(*what), reason);
        begin_rewrite();
      });
}

void journal_file::rewrite(const files_actor& files, std::string absolute,
                           std::function<std::string()> content, done then) {
  if (rewriting_)
    return;
  rewriting_ = true;
  replacement_ = {files, std::move(absolute), std::move(content),
                  std::move(then)};
  begin_rewrite();
}

void journal_file::begin_rewrite() {
  if (!rewriting_ || restoring_ || under_way_ > 0 || !replacement_.content)
    return;
  auto content = std::exchange(replacement_.content, nullptr);
  kit::bounded_request(self_, journal_, limits::disk_timeout, atom::seal_v,
                       root_, path_)
    .then([this, content](caf::ok_atom) { write(content()); },
          [this](caf::error& reason) { end_rewrite(reason); });
}

void journal_file::write(std::string content) {
  auto length = content.size();
  file_job job;
  job.reason = "office";
  job.op = file_op::write_atomic;
  job.path = replacement_.absolute;
  job.bytes = std::move(content);
  kit::bounded_request(self_, replacement_.files, limits::disk_timeout,
                       atom::file_v, std::move(job))
    .then([this, length](const file_outcome&) { replaced(length); },
          [this, length](caf::error& reason) { look(length, reason); });
}

void journal_file::replaced(uint64_t length) {
  size_ = length;
  torn_ = false;
  end_rewrite(caf::none);
}

// The job may still be under way, or have failed after it had replaced the
// file. What is asked about the path now is answered behind it.
void journal_file::look(uint64_t length, const caf::error& reason) {
  file_job job;
  job.reason = "office";
  job.op = file_op::stat;
  job.path = replacement_.absolute;
  kit::bounded_request(self_, replacement_.files, limits::disk_timeout,
                       atom::file_v, std::move(job))
    .then(
      [this, length, reason](const file_outcome& found) {
        if (found.kind == file_kind::regular && found.size == length)
          replaced(length);
        else
          end_rewrite(reason);
      },
      [this, length, reason](caf::error& trouble) {
        if (code_of(trouble) == errc::shutting_down)
          end_rewrite(reason);
        else
          look_again_.arm(self_, limits::ledger_retry_delay,
                          [this, length, reason] { look(length, reason); });
      });
}

void journal_file::end_rewrite(const caf::error& reason) {
  rewriting_ = false;
  auto then = std::move(replacement_.then);
  replacement_ = {};
  send_waiting();
  then(reason);
}

} // namespace bureau::offices
