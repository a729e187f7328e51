#include "actors/jobs/jobs_state.hpp"
#include "actors/kit/log.hpp"

#include <caf/all.hpp>

#include <utility>

namespace bureau::jobs {

namespace {

constexpr const char* home = "jobs";
/// Directories on their way out; emptied at once, and at the next start.
constexpr const char* removed = "jobs/.removed";
/// A record that the disk has refused is written anew after this.
constexpr auto save_delay = limits::seconds{5};
/// A record is a command, a preview and little else.
constexpr uint64_t record_bytes = 1u << 20;

std::string place_of(const std::string& id) {
  return std::string{home} + "/" + id;
}

} // namespace

file_job jobs_state::job_file(file_op op, std::string path) const {
  file_job job;
  job.reason = "jobs";
  job.op = op;
  job.root = deps_.ws.state_dir;
  job.path = std::move(path);
  job.mode = op == file_op::ensure_directory ? 0700 : 0600;
  return job;
}

// -- the past -----------------------------------------------------------------

void jobs_state::load() {
  auto failed = [this](const caf::error& reason) {
    trouble_ = "earlier jobs are not known: " + sentence_of(reason);
    kit::log::warning("jobs", trouble_);
    loaded();
  };
  ask_files(
    job_file(file_op::ensure_directory, removed),
    [this, failed](const file_outcome&) {
      ask_files(
        job_file(file_op::empty_directory, removed), [](const file_outcome&) {},
        [](const caf::error&) {});
      ask_files(
        job_file(file_op::list, home),
        [this](const file_outcome& found) {
          for (const auto& entry : found.names)
            if (is_job_id(entry))
              unread_.push_back(entry);
          load_next();
        },
        failed);
    },
    failed);
}

void jobs_state::load_next() {
  if (unread_.empty()) {
    carry_out(core_.restore(std::exchange(found_, {}), now()));
    loaded();
    return;
  }
  auto id = std::move(unread_.front());
  unread_.pop_front();
  auto job = job_file(file_op::read, place_of(id) + "/job.json");
  job.length = record_bytes;
  ask_files(
    std::move(job),
    [this, id](const file_outcome& file) {
      if (auto record = parse_job(file.bytes, id))
        found_.push_back(std::move(*record));
      else
        kit::log::warning("jobs", place_of(id)
                                    + "/job.json is not a job; it is left as "
                                      "it is");
      load_next();
    },
    [this, id](const caf::error& reason) {
      // It was never admitted.
      if (code_of(reason) == errc::not_found)
        forget(id);
      else
        kit::log::warning("jobs", id + " is not known: " + sentence_of(reason));
      load_next();
    });
}

// -- records ------------------------------------------------------------------

void jobs_state::save(const std::string& id) {
  if (!admissions_.contains(id)) {
    write_record(id);
    return;
  }
  ask_files(
    job_file(file_op::ensure_directory, place_of(id)),
    [this, id](const file_outcome&) { write_record(id); },
    [this, id](const caf::error& reason) { save_failed(id, reason); });
}

void jobs_state::write_record(const std::string& id) {
  const auto* record = core_.find(id);
  if (record == nullptr) {
    step_done(id);
    return;
  }
  auto job = job_file(file_op::write_atomic, place_of(id) + "/job.json");
  job.bytes = print_job(*record);
  ask_files(
    std::move(job),
    [this, id](const file_outcome&) {
      trouble_.clear();
      unsaved_.erase(id);
      step_done(id);
    },
    [this, id](const caf::error& reason) { save_failed(id, reason); });
}

void jobs_state::save_failed(const std::string& id, const caf::error& reason) {
  trouble_ = sentence_of(reason);
  kit::log::warning("jobs", id + " was not saved: " + trouble_);
  auto admission = admissions_.extract(id);
  if (!admission.empty()) {
    // A job that is not on the disk never was.
    core_.withdraw(id);
    chains_[id].steps.clear();
    refuse(admission.mapped(),
           contracts::process_job_error_code::process_job_store_error);
    forget(id);
  }
  // The wake still comes once: its id tells it from a second one. The record is
  // written when the disk takes it again.
  if (core_.find(id) != nullptr) {
    unsaved_.insert(id);
    if (!save_timer_.armed() && !stopping_)
      save_timer_.arm(self_, save_delay, [this] { save_again(); });
  }
  step_done(id);
}

void jobs_state::save_again() {
  job_effects again;
  for (const auto& id : std::exchange(unsaved_, {})) {
    again.push_back({job_step::save, id, {}});
    again.push_back({job_step::settle, id, {}});
  }
  carry_out(std::move(again));
}

// -- output -------------------------------------------------------------------

void jobs_state::keep_output(const std::string& id) {
  auto& output = printed_[id];
  if (output.out.empty()) {
    keep_error_output(id, true);
    return;
  }
  auto job = job_file(file_op::write_atomic, place_of(id) + "/stdout");
  job.bytes = std::move(output.out);
  ask_files(
    std::move(job),
    [this, id](const file_outcome&) { keep_error_output(id, true); },
    [this, id](const caf::error& reason) {
      kit::log::warning(
        "jobs", id + ": the output was not kept: " + sentence_of(reason));
      keep_error_output(id, false);
    });
}

void jobs_state::keep_error_output(const std::string& id, bool kept) {
  auto output = std::move(printed_[id].err);
  printed_.erase(id);
  auto done = [this, id](bool all) {
    core_.output_kept(id, all);
    step_done(id);
  };
  if (output.empty()) {
    done(kept);
    return;
  }
  auto job = job_file(file_op::write_atomic, place_of(id) + "/stderr");
  job.bytes = std::move(output);
  ask_files(
    std::move(job), [done, kept](const file_outcome&) { done(kept); },
    [id, done](const caf::error& reason) {
      kit::log::warning(
        "jobs", id + ": the output was not kept: " + sentence_of(reason));
      done(false);
    });
}

/// Out of the way first, so that no half of a job is ever found.
void jobs_state::forget(const std::string& id) {
  auto job = job_file(file_op::rename, place_of(id));
  job.to = std::string{removed} + "/" + id;
  ask_files(
    std::move(job),
    [this](const file_outcome&) {
      ask_files(
        job_file(file_op::empty_directory, removed), [](const file_outcome&) {},
        [](const caf::error&) {});
    },
    [id](const caf::error& reason) {
      if (code_of(reason) != errc::not_found)
        kit::log::warning("jobs",
                          id + " was not removed: " + sentence_of(reason));
    });
}

} // namespace bureau::jobs
