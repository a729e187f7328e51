#include "actors/jobs/jobs_state.hpp"
#include "actors/kit/log.hpp"

#include <caf/all.hpp>

namespace bureau::jobs {

namespace {

/// The answer of an environment comes within this after its deadline.
constexpr auto exec_slack = limits::minutes{1};

/// A command that could not be started is refused sooner than this.
constexpr auto launch_patience = std::chrono::milliseconds{500};

} // namespace

void jobs_state::launch(const std::string& id) {
  const auto* record = core_.find(id);
  if (record == nullptr
      || record->shown.state != contracts::process_job_state::starting)
    return;
  auto number = ++worlds_made_;
  worlds_[id].number = number;
  // The office tidies up its /tmp when it goes to sleep.
  kit::bounded_request(self_, offices_, limits::run_step_timeout, atom::hold_v,
                       record->conversation)
    .then(
      [this, id, number, place = record->conversation](caf::ok_atom) {
        if (!is_current(id, number)) {
          self_->send(offices_, atom::release_v, place);
          return;
        }
        worlds_[id].holds = true;
        resolve(id);
      },
      [this, id, number](const caf::error& reason) {
        if (is_current(id, number))
          launch_failed(id, reason);
      });
}

bool jobs_state::is_current(const std::string& id, uint64_t number) const {
  auto place = worlds_.find(id);
  return place != worlds_.end() && place->second.number == number;
}

/// The door may have changed since the run that asked.
void jobs_state::resolve(const std::string& id) {
  const auto* record = core_.find(id);
  if (record == nullptr)
    return;
  auto number = worlds_[id].number;
  kit::bounded_request(self_, deps_.settings, limits::run_step_timeout,
                       atom::resolve_v, record->conversation)
    .then(
      [this, id, number](const run_settings& settings) {
        if (is_current(id, number))
          make_world(id, settings);
      },
      [this, id, number](const caf::error& reason) {
        if (is_current(id, number))
          launch_failed(id, reason);
      });
}

void jobs_state::make_world(const std::string& id,
                            const run_settings& settings) {
  const auto* record = core_.find(id);
  if (record == nullptr)
    return;
  executor_args args;
  args.ws = deps_.ws;
  args.place = make_office(deps_.ws, record->conversation);
  args.network = settings.sandbox_network;
  args.time_zone = deps_.time_zone;
  args.door_policy = settings.door_policy;
  args.layout = settings.layout;
  auto& place = worlds_[id];
  auto number = place.number;
  place.executor = deps_.executors(self_->system(), args);
  // Its end answers no request that it had taken.
  self_->monitor(place.executor);
  auto mine = [this, id, number] {
    return is_current(id, number);
  };
  auto failed = [this, id, mine](const caf::error& reason) {
    if (mine())
      launch_failed(id, reason);
  };
  kit::bounded_request(self_, place.executor, limits::run_step_timeout,
                       atom::config_v)
    .then(
      [this, id, mine, failed](const executor_info& info) {
        if (!mine())
          return;
        if (!info.refusal.empty()) {
          launch_failed(id, make_failure(errc::denied, info.refusal));
          return;
        }
        kit::bounded_request(self_, worlds_[id].executor,
                             limits::run_step_timeout, atom::paths_v)
          .then(
            [this, id, mine](const path_context& paths) {
              if (mine())
                run_command(id, paths);
            },
            failed);
      },
      failed);
}

void jobs_state::run_command(const std::string& id, const path_context& paths) {
  const auto* record = core_.find(id);
  if (record == nullptr)
    return;
  auto& place = worlds_[id];
  place.exec_id = deps_.chance->next();
  exec_request request;
  request.id = place.exec_id;
  request.command = record->command;
  request.cwd = record->cwd.empty() ? paths.cwd : record->cwd;
  request.timeout_ms = record->shown.limits.max_runtime_ms;
  request.keeps_output = true;
  request.environment = record->environment;
  auto patience = std::chrono::milliseconds{request.timeout_ms} + exec_slack;
  auto number = place.number;
  place.began_ms = now();
  kit::bounded_request(self_, place.executor, patience, atom::exec_v,
                       std::move(request))
    .then(
      [this, id, number](exec_result& result) {
        if (!is_current(id, number))
          return;
        job_end end;
        end.how = result.ending == exec_ending::timed_out
                    ? job_ending::timed_out
                  : result.ending == exec_ending::aborted ? job_ending::aborted
                                                          : job_ending::exited;
        end.exit_code = result.code;
        end.out = std::move(result.out);
        end.err = std::move(result.err);
        end.truncated = result.out_truncated || result.err_truncated;
        // It was quicker than our patience.
        take_as_launched(id);
        command_done(id, std::move(end));
      },
      [this, id, number](const caf::error& reason) {
        if (!is_current(id, number))
          return;
        const auto* job = core_.find(id);
        if (job != nullptr
            && job->shown.state == contracts::process_job_state::starting) {
          launch_failed(id, reason);
          return;
        }
        job_end end;
        auto code = code_of(reason);
        end.how = code == errc::timeout   ? job_ending::timed_out
                  : code == errc::aborted ? job_ending::aborted
                                          : job_ending::failed;
        kit::log::warning("jobs", id + ": " + sentence_of(reason));
        command_done(id, std::move(end));
      });
  place.launch_timer.arm(self_, launch_patience, [this, id, number] {
    if (is_current(id, number))
      take_as_launched(id);
  });
}

/// Whoever ends a job does not wait to see whether it can be started.
void jobs_state::take_as_launched(const std::string& id) {
  auto place = worlds_.find(id);
  if (place != worlds_.end() && place->second.began_ms > 0)
    carry_out(core_.launched(id, place->second.began_ms));
}

void jobs_state::command_done(const std::string& id, job_end end) {
  const auto* record = core_.find(id);
  if (record == nullptr
      || record->shown.state != contracts::process_job_state::running)
    return;
  fit_output(end, record->shown.limits);
  if (stopping_ && end.how == job_ending::exited)
    --interrupted_;
  auto effects = core_.ended(id, end, now());
  printed_[id] = {std::move(end.out), std::move(end.err)};
  carry_out(std::move(effects));
}

void jobs_state::launch_failed(const std::string& id,
                               const caf::error& reason) {
  kit::log::warning("jobs", id + " was not started: " + sentence_of(reason));
  carry_out(core_.launch_failed(id, now()));
}

void jobs_state::world_ended(const caf::actor_addr& source) {
  for (const auto& [id, place] : worlds_) {
    if (!place.executor || place.executor.address() != source)
      continue;
    auto reason =
      make_failure(errc::transport, "the environment of the job ended");
    const auto* record = core_.find(id);
    if (record == nullptr)
      return;
    if (record->shown.state == contracts::process_job_state::starting) {
      launch_failed(std::string{id}, reason);
    } else {
      job_end end;
      end.how = job_ending::failed;
      command_done(std::string{id}, std::move(end));
    }
    return;
  }
}

void jobs_state::abort(const std::string& id) {
  auto place = worlds_.find(id);
  if (place != worlds_.end() && place->second.executor)
    kit::urgent_send(self_, place->second.executor, atom::abort_v,
                     place->second.exec_id);
}

void jobs_state::let_go(const std::string& id, bool holds) {
  const auto* record = core_.find(id);
  if (holds && record != nullptr)
    self_->send(offices_, atom::release_v, record->conversation);
}

void jobs_state::release(const std::string& id) {
  auto place = worlds_.extract(id);
  if (place.empty())
    return;
  auto holds = place.mapped().holds;
  auto executor = place.mapped().executor;
  if (!executor) {
    let_go(id, holds);
    return;
  }
  ++leaving_;
  auto gone = [this, id, executor, holds](caf::exit_reason reason) {
    self_->send_exit(executor, reason);
    let_go(id, holds);
    --leaving_;
    finish_stop();
  };
  kit::bounded_request(self_, executor, limits::abort_settle_timeout,
                       atom::stop_v)
    .then([gone](caf::ok_atom) { gone(caf::exit_reason::user_shutdown); },
          [gone](const caf::error&) { gone(caf::exit_reason::kill); });
}

void jobs_state::kill(const std::string& id) {
  auto place = worlds_.extract(id);
  if (place.empty())
    return;
  if (place.mapped().executor)
    self_->send_exit(place.mapped().executor, caf::exit_reason::kill);
  let_go(id, place.mapped().holds);
}

} // namespace bureau::jobs
