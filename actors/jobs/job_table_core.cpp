#include "actors/jobs/job_table_core.hpp"

#include "messages/contracts/identity.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::jobs {

namespace {

using contracts::process_job_error_code;
using contracts::process_job_projection;
using contracts::process_job_state;
using contracts::process_job_wake_state;
using error = contracts::process_job_error_code;

template <class Duration>
constexpr int64_t in_ms(Duration span) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

int64_t wake_wait_ms(int64_t attempts) {
  constexpr int64_t doublings = 16;
  auto wait = in_ms(wake_delay)
              << std::min(std::max<int64_t>(attempts - 1, 0), doublings);
  return std::min(wait, in_ms(wake_delay_cap));
}

bool wakes(const process_job_projection& job) {
  return is_ended(job.state)
         && job.wake.state == process_job_wake_state::pending;
}

/// More than all bounds together may have can only be a fault of ours.
static_assert(limits::jobs_remembered + limits::jobs_running
                + limits::jobs_queued
              == contracts::max_process_job_lifecycles);

} // namespace

wake_end wake_end_of(const entry_end& entry) {
  using contracts::wake_disposition;
  if (entry.outcome == "steered")
    return {true, wake_disposition::steered};
  // What was ended before its turn began never was in the conversation.
  auto unread = entry.run.empty()
                && (entry.outcome == "stopped" || entry.outcome == "superseded"
                    || entry.outcome == "refused");
  if (unread)
    return {false, std::nullopt};
  return {true, wake_disposition::follow_up};
}

// -- the past -----------------------------------------------------------------

job_effects job_table_core::restore(std::vector<job_record> left,
                                    int64_t now_ms) {
  job_effects out;
  std::sort(left.begin(), left.end(),
            [](const job_record& a, const job_record& b) {
              return std::pair{instant_ms(a.shown.timestamps.admitted_at),
                               a.shown.job_id}
                     < std::pair{instant_ms(b.shown.timestamps.admitted_at),
                                 b.shown.job_id};
            });
  for (auto& record : left) {
    auto id = record.shown.job_id;
    auto& entry = jobs_[id];
    entry.record = std::move(record);
    entry.stored = true;
    order_.push_back(id);
    auto state = entry.shown().state;
    if (state == process_job_state::starting
        || state == process_job_state::running)
      end(out, entry, process_job_state::interrupted,
          error::process_job_agent_restarted, now_ms);
    else if (is_ended(state) && !wakes(entry.shown()))
      settle(out, entry);
  }
  auto more = tick(now_ms);
  out.insert(out.end(), more.begin(), more.end());
  start_waiting(out);
  return out;
}

// -- requests -----------------------------------------------------------------

std::optional<process_job_error_code> job_table_core::refusal_of(
  const job_request& request, const std::string& conversation_id,
  int64_t chain_depth) const {
  if (draining_)
    return error::process_job_controller_unavailable;
  if (text::is_blank(request.command)
      || request.command.size() > limits::exec_command_bytes
      || !text::is_valid_utf8(request.command)
      || !text::is_valid_utf8(request.cwd) || request.max_runtime_ms < 0
      || request.max_runtime_ms > in_ms(longest_runtime)
      || request.max_output_bytes < 0
      || request.max_output_bytes > output_bytes)
    return error::process_job_invalid;
  if (jobs_.size() >= contracts::max_process_job_lifecycles)
    return error::process_job_capacity;
  if (chain_depth > longest_chain)
    return error::process_job_chain_depth_exceeded;
  size_t waiting = 0;
  size_t of_conversation = 0;
  for (const auto& [id, entry] : jobs_) {
    waiting += entry.shown().state == process_job_state::queued;
    // A wake that has not arrived holds a place of its queue.
    if (!is_ended(entry.shown().state) || wakes(entry.shown()))
      of_conversation +=
        entry.shown().origin.conversation_id == conversation_id;
  }
  if (of_conversation >= jobs_per_conversation)
    return error::process_job_conversation_capacity;
  auto free = limits::jobs_running - std::min(limits::jobs_running, running());
  if (waiting >= limits::jobs_queued + free)
    return error::process_job_queue_full;
  return std::nullopt;
}

job_admission job_table_core::admit(const job_request& request, std::string id,
                                    int64_t now_ms) {
  job_admission result;
  auto conversation_id =
    contracts::contract_id(request.conversation, request.session_key);
  int64_t depth = 0;
  if (auto cause = job_of_wake(request.wake); !cause.empty()) {
    auto parent = jobs_.find(std::string{cause});
    // A job that is forgotten was long ago.
    if (parent != jobs_.end())
      depth = parent->second.shown().limits.chain_depth + 1;
  }
  result.refusal = refusal_of(request, conversation_id, depth);
  if (result.refusal)
    return result;
  auto& entry = jobs_[id];
  auto& record = entry.record;
  record.conversation = request.conversation;
  record.session_key = request.session_key;
  record.target = request.target;
  record.command = request.command;
  record.cwd = request.cwd;
  record.environment = request.environment;
  auto& shown = record.shown;
  shown.job_id = id;
  shown.tool = request.tool;
  shown.summary = summary_of(request.command);
  shown.origin.conversation_id = conversation_id;
  shown.origin.channel = to_string(request.conversation.platform);
  // Neither may be blank.
  shown.origin.run_id = request.run.empty() ? id : request.run;
  shown.origin.history_boundary =
    request.message_id.empty() ? id : request.message_id;
  shown.timestamps.admitted_at = text::iso_utc(now_ms);
  shown.timestamps.queue_deadline_at =
    text::iso_utc(now_ms + in_ms(queue_timeout));
  shown.limits.max_runtime_ms =
    request.max_runtime_ms > 0 ? request.max_runtime_ms : in_ms(usual_runtime);
  shown.limits.max_output_bytes =
    request.max_output_bytes > 0 ? request.max_output_bytes : output_bytes;
  shown.limits.preview_chars = job_preview_chars;
  shown.limits.chain_depth = depth;
  shown.wake.delivery_key = wake_id(id);
  order_.push_back(id);
  ++admitted_;
  result.effects = {{job_step::save, id, {}}, {job_step::accept, id, {}}};
  result.id = std::move(id);
  return result;
}

job_effects job_table_core::accepted(const std::string& id, int64_t now_ms) {
  job_effects out;
  auto* entry = at(id);
  if (entry == nullptr)
    return out;
  entry->stored = true;
  start_waiting(out);
  if (entry->shown().state == process_job_state::queued)
    out.push_back({job_step::tell, id, update_text(entry->shown())});
  // It was cancelled on its way to the disk.
  due_wake(out, *entry, now_ms);
  return out;
}

void job_table_core::withdraw(const std::string& id) {
  jobs_.erase(id);
  std::erase(order_, id);
}

job_cancellation job_table_core::cancel(const std::string& id, int64_t now_ms) {
  job_cancellation result;
  auto* entry = at(id);
  if (entry == nullptr) {
    result.refusal = error::process_job_not_found;
    return result;
  }
  auto& shown = entry->shown();
  if (is_ended(shown.state)) {
    result.refusal = error::process_job_conflict;
    return result;
  }
  if (std::exchange(shown.cancel_requested, true))
    return result;
  auto& out = result.effects;
  if (shown.state == process_job_state::running) {
    entry->end_due_ms = now_ms + in_ms(end_grace);
    out.push_back({job_step::abort, id, {}});
    out.push_back({job_step::save, id, {}});
    return result;
  }
  if (shown.state == process_job_state::starting)
    out.push_back({job_step::release, id, {}});
  end(out, *entry, process_job_state::cancelled, error::process_job_cancelled,
      now_ms);
  start_waiting(out);
  return result;
}

job_effects job_table_core::drain(int64_t now_ms) {
  job_effects out;
  draining_ = true;
  for (auto& [id, entry] : jobs_) {
    if (entry.shown().state == process_job_state::starting) {
      out.push_back({job_step::release, id, {}});
      end(out, entry, process_job_state::interrupted,
          error::process_job_agent_restarted, now_ms);
    } else if (entry.shown().state == process_job_state::running) {
      out.push_back({job_step::abort, id, {}});
    }
  }
  return out;
}

job_effects job_table_core::give_up(int64_t now_ms) {
  job_effects out;
  for (auto& [id, entry] : jobs_)
    if (occupies(entry)) {
      out.push_back({job_step::kill, id, {}});
      end(out, entry, process_job_state::interrupted,
          error::process_job_cleanup_incomplete, now_ms);
    }
  return out;
}

// -- reports ------------------------------------------------------------------

job_effects job_table_core::launched(const std::string& id, int64_t began_ms) {
  job_effects out;
  auto* entry = at(id);
  if (entry == nullptr || entry->shown().state != process_job_state::starting)
    return out;
  auto& shown = entry->shown();
  shown.state = process_job_state::running;
  shown.timestamps.started_at = text::iso_utc(began_ms);
  auto deadline = began_ms + shown.limits.max_runtime_ms;
  shown.timestamps.runtime_deadline_at = text::iso_utc(deadline);
  // The environment keeps the deadline; this is for one that does not.
  entry->end_due_ms = deadline + in_ms(end_grace);
  entry->record.command.clear();
  entry->record.environment = {};
  out.push_back({job_step::save, id, {}});
  out.push_back({job_step::tell, id, update_text(shown)});
  return out;
}

job_effects job_table_core::launch_failed(const std::string& id,
                                          int64_t now_ms) {
  job_effects out;
  auto* entry = at(id);
  if (entry == nullptr || entry->shown().state != process_job_state::starting)
    return out;
  out.push_back({job_step::release, id, {}});
  end(out, *entry, process_job_state::spawn_failed,
      error::process_job_spawn_failed, now_ms);
  start_waiting(out);
  return out;
}

job_effects job_table_core::ended(const std::string& id, const job_end& end_of,
                                  int64_t now_ms) {
  job_effects out;
  auto* entry = at(id);
  if (entry == nullptr || entry->shown().state != process_job_state::running)
    return out;
  auto& shown = entry->shown();
  auto& output = shown.output;
  output.stdout_bytes = static_cast<int64_t>(end_of.out.size());
  output.stderr_bytes = static_cast<int64_t>(end_of.err.size());
  output.truncated = end_of.truncated;
  output.preview = end_of.preview;
  out.push_back({job_step::keep_output, id, {}});
  out.push_back({job_step::release, id, {}});
  switch (end_of.how) {
  case job_ending::exited:
    if (auto name = signal_of(end_of.exit_code); !name.empty())
      shown.signal = std::move(name);
    else
      shown.exit_code = end_of.exit_code;
    if (end_of.exit_code == 0)
      end(out, *entry, process_job_state::succeeded, std::nullopt, now_ms);
    else
      end(out, *entry, process_job_state::failed, error::process_job_failed,
          now_ms);
    break;
  case job_ending::timed_out:
    end(out, *entry, process_job_state::timed_out, error::process_job_timeout,
        now_ms);
    break;
  case job_ending::aborted:
    if (shown.cancel_requested)
      end(out, *entry, process_job_state::cancelled,
          error::process_job_cancelled, now_ms);
    else
      end(out, *entry, process_job_state::interrupted,
          error::process_job_agent_restarted, now_ms);
    break;
  case job_ending::failed:
    // Whether it went on for a while is not known: it is over.
    end(out, *entry, process_job_state::failed,
        draining_ ? error::process_job_agent_restarted
                  : error::process_job_failed,
        now_ms);
    break;
  }
  start_waiting(out);
  return out;
}

void job_table_core::output_kept(const std::string& id, bool kept) {
  auto* entry = at(id);
  if (entry == nullptr)
    return;
  auto& output = entry->shown().output;
  if (!kept) {
    entry->shown().last_error = error::process_job_store_error;
    return;
  }
  if (output.stdout_bytes > 0)
    output.stdout_ref = "jobs/" + id + "/stdout";
  if (output.stderr_bytes > 0)
    output.stderr_ref = "jobs/" + id + "/stderr";
}

job_effects job_table_core::wake_answered(const std::string& id,
                                          wake_outcome outcome,
                                          int64_t now_ms) {
  job_effects out;
  auto* entry = at(id);
  if (entry == nullptr || !std::exchange(entry->wake_under_way, false))
    return out;
  auto& wake = entry->shown().wake;
  ++wake.attempts;
  wake.last_attempt_at = text::iso_utc(now_ms);
  auto since = now_ms - instant_ms(entry->shown().timestamps.completed_at);
  if (outcome == wake_outcome::taken) {
    entry->wake_under_way = true;
    out.push_back({job_step::follow, id, {}});
  } else if (outcome == wake_outcome::again
             && since < in_ms(limits::delivery_give_up)) {
    entry->wake_due_ms = now_ms + wake_wait_ms(wake.attempts);
  } else {
    end_wake(out, *entry, {});
  }
  return out;
}

job_effects job_table_core::wake_ended(const std::string& id,
                                       const wake_end& end) {
  job_effects out;
  auto* entry = at(id);
  if (entry != nullptr && std::exchange(entry->wake_under_way, false))
    end_wake(out, *entry, end);
  return out;
}

void job_table_core::end_wake(job_effects& out, row& entry,
                              const wake_end& end) {
  auto& shown = entry.shown();
  shown.wake.state = end.delivered ? process_job_wake_state::delivered
                                   : process_job_wake_state::failed;
  if (!end.delivered && !shown.last_error)
    shown.last_error = error::process_job_wake_failed;
  entry.record.disposition = end.disposition;
  entry.record.context.reset();
  out.push_back({job_step::count_wake, shown.job_id,
                 !end.delivered    ? "failed"
                 : end.disposition ? to_string(*end.disposition)
                                   : "unknown"});
  out.push_back({job_step::save, shown.job_id, {}});
  out.push_back({job_step::settle, shown.job_id, {}});
}

job_effects
job_table_core::keep_context(const contracts::continuation_context& context) {
  job_effects out;
  for (auto& [id, entry] : jobs_) {
    const auto& shown = entry.shown();
    if (shown.origin.run_id != context.origin_run_id
        || shown.origin.conversation_id != context.conversation_id
        || shown.wake.state != process_job_wake_state::pending)
      continue;
    entry.record.context = context;
    out.push_back({job_step::save, id, {}});
  }
  return out;
}

job_effects job_table_core::settled(const std::string& id) {
  job_effects out;
  auto* entry = at(id);
  if (entry != nullptr && !entry->settled && is_ended(entry->shown().state)
      && !wakes(entry->shown()))
    settle(out, *entry);
  return out;
}

job_effects job_table_core::hurry(platform_id platform, int64_t now_ms) {
  for (auto& [id, entry] : jobs_)
    if (entry.record.conversation.platform == platform)
      entry.wake_due_ms = std::min(entry.wake_due_ms, now_ms);
  return tick(now_ms);
}

// -- time ---------------------------------------------------------------------

job_effects job_table_core::tick(int64_t now_ms) {
  job_effects out;
  for (auto& [id, entry] : jobs_) {
    auto& shown = entry.shown();
    if (shown.state == process_job_state::queued && entry.stored && !draining_
        && now_ms >= instant_ms(shown.timestamps.queue_deadline_at)) {
      end(out, entry, process_job_state::queue_expired,
          error::process_job_queue_expired, now_ms);
    } else if (shown.state == process_job_state::running
               && now_ms >= entry.end_due_ms) {
      out.push_back({job_step::kill, id, {}});
      end(out, entry,
          shown.cancel_requested ? process_job_state::cancelled
                                 : process_job_state::timed_out,
          error::process_job_cleanup_incomplete, now_ms);
    } else {
      due_wake(out, entry, now_ms);
    }
  }
  start_waiting(out);
  return out;
}

std::optional<int64_t> job_table_core::next_due() const {
  std::optional<int64_t> result;
  auto add = [&result](int64_t due) {
    result = result ? std::min(*result, due) : due;
  };
  for (const auto& [id, entry] : jobs_) {
    const auto& shown = entry.shown();
    if (shown.state == process_job_state::queued && entry.stored && !draining_)
      add(instant_ms(shown.timestamps.queue_deadline_at));
    else if (shown.state == process_job_state::running)
      add(entry.end_due_ms);
    else if (wakes(shown) && entry.stored && !entry.wake_under_way
             && !draining_)
      add(entry.wake_due_ms);
  }
  return result;
}

// -- views --------------------------------------------------------------------

const job_record* job_table_core::find(const std::string& id) const {
  auto entry = jobs_.find(id);
  return entry == jobs_.end() ? nullptr : &entry->second.record;
}

const job_record* job_table_core::find(const job_query& query) const {
  const auto* record = find(query.job_id);
  return record != nullptr
             && record->shown.origin.conversation_id == query.conversation_id
           ? record
           : nullptr;
}

std::vector<process_job_projection>
job_table_core::list(const std::string& conversation_id) const {
  std::vector<process_job_projection> result;
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    const auto& shown = jobs_.at(*id).shown();
    if (!conversation_id.empty()
        && shown.origin.conversation_id != conversation_id)
      continue;
    result.push_back(shown);
    result.back().output.preview.clear();
  }
  return result;
}

job_outlook job_table_core::outlook(platform_id platform) const {
  job_outlook result;
  result.admitted = admitted_;
  for (const auto& [id, entry] : jobs_)
    result.open +=
      !entry.settled && entry.record.conversation.platform == platform;
  return result;
}

size_t job_table_core::running() const {
  return static_cast<size_t>(
    std::count_if(jobs_.begin(), jobs_.end(),
                  [this](const auto& item) { return occupies(item.second); }));
}

size_t job_table_core::queued() const {
  return static_cast<size_t>(
    std::count_if(jobs_.begin(), jobs_.end(), [](const auto& item) {
      return item.second.shown().state == process_job_state::queued;
    }));
}

// -- parts --------------------------------------------------------------------

bool job_table_core::occupies(const row& entry) const {
  return entry.shown().state == process_job_state::starting
         || entry.shown().state == process_job_state::running;
}

job_table_core::row* job_table_core::at(const std::string& id) {
  auto entry = jobs_.find(id);
  return entry == jobs_.end() ? nullptr : &entry->second;
}

void job_table_core::start_waiting(job_effects& out) {
  if (draining_)
    return;
  auto taken = running();
  for (const auto& id : order_) {
    if (taken >= limits::jobs_running)
      return;
    auto& entry = jobs_.at(id);
    if (entry.shown().state != process_job_state::queued || !entry.stored)
      continue;
    entry.shown().state = process_job_state::starting;
    ++taken;
    out.push_back({job_step::save, id, {}});
    out.push_back({job_step::launch, id, {}});
  }
}

void job_table_core::end(job_effects& out, row& entry, process_job_state state,
                         std::optional<process_job_error_code> code,
                         int64_t now_ms) {
  auto& shown = entry.shown();
  shown.state = state;
  shown.timestamps.completed_at = text::iso_utc(now_ms);
  if (auto started = instant_ms(shown.timestamps.started_at); started >= 0)
    shown.duration_ms = std::max<int64_t>(now_ms - started, 0);
  if (code)
    shown.last_error = *code;
  entry.record.command.clear();
  entry.record.environment = {};
  entry.end_due_ms = 0;
  entry.wake_due_ms = now_ms;
  out.push_back({job_step::count, shown.job_id, {}});
  out.push_back({job_step::save, shown.job_id, {}});
  if (!draining_)
    out.push_back({job_step::tell, shown.job_id, update_text(shown)});
  due_wake(out, entry, now_ms);
}

void job_table_core::due_wake(job_effects& out, row& entry, int64_t now_ms) {
  if (!wakes(entry.shown()) || !entry.stored || entry.wake_under_way
      || draining_ || now_ms < entry.wake_due_ms)
    return;
  entry.wake_under_way = true;
  out.push_back({job_step::wake, entry.shown().job_id, {}});
}

void job_table_core::settle(job_effects& out, row& entry) {
  entry.settled = true;
  // The file has it.
  entry.shown().output.preview.clear();
  settled_.push_back(entry.shown().job_id);
  while (settled_.size() > limits::jobs_remembered) {
    auto oldest = settled_.front();
    settled_.pop_front();
    std::erase(order_, oldest);
    jobs_.erase(oldest);
    out.push_back({job_step::forget, oldest, {}});
  }
}

} // namespace bureau::jobs
