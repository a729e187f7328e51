#include "actors/jobs/jobs.hpp"

#include "actors/jobs/jobs_state.hpp"
#include "actors/kit/log.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/contracts/bearer.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace bureau::jobs {

namespace {

using error_code = contracts::process_job_error_code;

constexpr const char* id_head = "pj-";
constexpr int id_digits = 16;
/// Requests that wait until the earlier jobs are known.
constexpr size_t requests_held = 256;
/// Named as the sender of a wake.
constexpr const char* sender = "background job";

} // namespace

jobs_state::~jobs_state() {
  for (const auto& [id, place] : worlds_)
    if (place.executor)
      caf::anon_send_exit(place.executor, caf::exit_reason::user_shutdown);
}

void jobs_state::init(jobs_deps deps) {
  deps_ = std::move(deps);
  self_->set_down_handler([this](caf::down_msg& down) {
    std::erase_if(transports_, [&down](const auto& item) {
      return item.second.address() == down.source;
    });
    world_ended(down.source);
  });
}

full_jobs_actor::behavior_type jobs_state::make_behavior() {
  return {
    [this](atom::submit, const job_request& x) { return on_submit(x); },
    [this](atom::list, const std::string& x) { return on_list(x); },
    [this](atom::read, const job_query& x) { return on_read(x); },
    [this](atom::cancel, const job_query& x) { return on_cancel(x); },
    [this](atom::describe, platform_id x) { return on_describe(x); },
    [this](atom::settled, const contracts::continuation_context& x) {
      when_loaded([this, x] { carry_out(core_.keep_context(x)); });
    },
    [this](atom::load, const std::string& x) { return on_load(x); },
    [this](atom::start, const job_desk_actor& x) { on_start(x); },
    [this](atom::attach, platform_id x, const transport_actor& y) {
      on_attach(x, y);
    },
    [this](atom::status) { return status(); },
    [this](atom::stop) { return on_stop(); },
    [this](atom::list, const job_order& x) { return on_list(x); },
    [this](atom::read, const job_order& x) { return on_read(x); },
    [this](atom::cancel, const job_order& x) { return on_cancel(x); },
  };
}

// -- life cycle ---------------------------------------------------------------

void jobs_state::on_start(job_desk_actor offices) {
  offices_ = std::move(offices);
  if (!std::exchange(started_, true))
    load();
}

void jobs_state::on_attach(platform_id platform,
                           const transport_actor& transport) {
  transports_[platform] = transport;
  self_->monitor(transport);
  when_loaded([this, platform] { carry_out(core_.hurry(platform, now())); });
}

status_line jobs_state::status() const {
  auto detail = std::to_string(core_.running()) + " running, "
                + std::to_string(core_.queued()) + " waiting";
  std::string state = stopping_ ? "stopping" : "ok";
  if (!trouble_.empty()) {
    state = "degraded";
    detail += "; " + trouble_;
  }
  return {"jobs", state, detail};
}

void jobs_state::when_loaded(std::function<void()> action) {
  if (loaded_)
    action();
  else
    held_.push_back(std::move(action));
}

void jobs_state::loaded() {
  loaded_ = true;
  for (auto& action : std::exchange(held_, {}))
    action();
  arm();
}

jobs_state::ok_promise jobs_state::on_stop() {
  auto answer = self_->make_response_promise<ok_promise>();
  stops_.keep(answer);
  if (!std::exchange(stopping_, true)) {
    timer_.cancel();
    interrupted_ = core_.running();
    std::vector<std::string> begun;
    for (const auto& [id, place] : worlds_)
      begun.push_back(id);
    for (const auto& id : begun)
      take_as_launched(id);
    save_timer_.cancel();
    save_again();
    carry_out(core_.drain(now()));
    stop_timer_.arm(self_, limits::abort_peer_grace, [this] {
      forced_ = true;
      carry_out(core_.give_up(now()));
      finish_stop();
    });
  }
  finish_stop();
  return answer;
}

void jobs_state::finish_stop() {
  if (!stopping_ || stops_.empty() || core_.running() > 0
      || (leaving_ > 0 && !forced_) || !chains_.empty())
    return;
  stop_timer_.cancel();
  if (auto count = std::exchange(interrupted_, 0); count > 0)
    kit::log::warning(
      "jobs", std::to_string(count)
                + (count == 1 ? " background job was" : " background jobs were")
                + " interrupted; the next start tells of it");
  stops_.deliver_all(caf::ok_atom_v);
}

// -- requests -----------------------------------------------------------------

jobs_state::answer_promise jobs_state::on_submit(const job_request& request) {
  auto answer = self_->make_response_promise<answer_promise>();
  auto promise = answers_.keep(answer);
  if (!loaded_ && held_.size() >= requests_held) {
    refuse(promise, error_code::process_job_controller_unavailable);
    return answer;
  }
  when_loaded([this, request, promise] { admit(request, promise); });
  return answer;
}

void jobs_state::admit(const job_request& request, uint64_t promise) {
  if (stopping_ || !offices_) {
    refuse(promise, error_code::process_job_controller_unavailable);
    return;
  }
  if (std::find(deps_.channels.begin(), deps_.channels.end(),
                request.conversation.platform)
      == deps_.channels.end()) {
    refuse(promise, error_code::background_unsupported_channel);
    return;
  }
  auto id = id_head + random_hex(*deps_.chance, id_digits);
  auto admission = core_.admit(request, std::move(id), now());
  if (admission.refusal) {
    refuse(promise, *admission.refusal);
    return;
  }
  admissions_.emplace(admission.id, promise);
  carry_out(std::move(admission.effects));
}

void jobs_state::refuse(uint64_t promise, error_code why) {
  job_answer answer;
  answer.refusal = why;
  answers_.deliver(promise, std::move(answer));
}

jobs_state::list_promise jobs_state::on_list(std::string conversation_id) {
  auto answer = self_->make_response_promise<list_promise>();
  auto promise = lists_.keep(answer);
  when_loaded([this, promise, conversation_id = std::move(conversation_id)] {
    // An empty id would be all conversations.
    if (conversation_id.empty())
      lists_.deliver(promise, job_list{});
    else
      answer_list(promise, conversation_id);
  });
  return answer;
}

jobs_state::answer_promise jobs_state::on_read(const job_query& query) {
  auto answer = self_->make_response_promise<answer_promise>();
  auto promise = answers_.keep(answer);
  when_loaded(
    [this, promise, query] { answer_job(promise, core_.find(query)); });
  return answer;
}

jobs_state::answer_promise jobs_state::on_cancel(const job_query& query) {
  auto answer = self_->make_response_promise<answer_promise>();
  auto promise = answers_.keep(answer);
  when_loaded(
    [this, promise, query] { answer_cancel(promise, core_.find(query)); });
  return answer;
}

jobs_state::outlook_promise jobs_state::on_describe(platform_id platform) {
  auto answer = self_->make_response_promise<outlook_promise>();
  auto promise = outlooks_.keep(answer);
  when_loaded([this, promise, platform] {
    outlooks_.deliver(promise, core_.outlook(platform));
  });
  return answer;
}

jobs_state::continuation_promise jobs_state::on_load(std::string wake) {
  auto answer = self_->make_response_promise<continuation_promise>();
  auto promise = continuations_.keep(answer);
  when_loaded([this, promise, wake = std::move(wake)] {
    job_continuation result;
    const auto* job = core_.find(std::string{job_of_wake(wake)});
    if (job != nullptr) {
      contracts::continuation_turn turn;
      turn.continuation_id = wake;
      turn.origin_run_id = job->shown.origin.run_id;
      if (job->context)
        turn.pinned = *job->context;
      result.turn = std::move(turn);
    }
    continuations_.deliver(promise, std::move(result));
  });
  return answer;
}

// -- the operator -------------------------------------------------------------

bool jobs_state::is_operator(const job_order& order) const {
  return !deps_.operator_token.empty()
         && contracts::bearer_tokens_equal(order.token.reveal(),
                                           deps_.operator_token.reveal());
}

namespace {

caf::error not_the_operator() {
  return make_failure(errc::denied, "that is not the token of the operator");
}

} // namespace

jobs_state::list_promise jobs_state::on_list(const job_order& order) {
  auto answer = self_->make_response_promise<list_promise>();
  auto promise = lists_.keep(answer);
  if (!is_operator(order))
    lists_.fail(promise, not_the_operator());
  else
    when_loaded([this, promise] { answer_list(promise, {}); });
  return answer;
}

jobs_state::answer_promise jobs_state::on_read(const job_order& order) {
  auto answer = self_->make_response_promise<answer_promise>();
  auto promise = answers_.keep(answer);
  if (!is_operator(order))
    answers_.fail(promise, not_the_operator());
  else
    when_loaded([this, promise, id = order.job_id] {
      answer_job(promise, core_.find(id));
    });
  return answer;
}

jobs_state::answer_promise jobs_state::on_cancel(const job_order& order) {
  auto answer = self_->make_response_promise<answer_promise>();
  auto promise = answers_.keep(answer);
  if (!is_operator(order))
    answers_.fail(promise, not_the_operator());
  else
    when_loaded([this, promise, id = order.job_id] {
      answer_cancel(promise, core_.find(id));
    });
  return answer;
}

void jobs_state::answer_list(uint64_t promise,
                             const std::string& conversation_id) {
  lists_.deliver(promise, job_list{core_.list(conversation_id)});
}

void jobs_state::answer_job(uint64_t promise, const job_record* record) {
  if (record == nullptr) {
    refuse(promise, error_code::process_job_not_found);
    return;
  }
  job_answer known;
  known.job = record->shown;
  if (record->disposition)
    known.disposition = *record->disposition;
  const auto& output = known.job.output;
  if (!output.preview.empty()
      || output.stdout_bytes + output.stderr_bytes == 0) {
    answers_.deliver(promise, std::move(known));
    return;
  }
  // The preview of a job that is over is on the disk alone.
  auto id = known.job.job_id;
  auto job = job_file(file_op::read, "jobs/" + id + "/job.json");
  job.length = limits::json_text_bytes;
  ask_files(
    std::move(job),
    [this, promise, id, known](const file_outcome& file) {
      auto answer = known;
      if (auto stored = parse_job(file.bytes, id))
        answer.job.output.preview = stored->shown.output.preview;
      answers_.deliver(promise, std::move(answer));
    },
    [this, promise](const caf::error&) {
      refuse(promise, error_code::process_job_store_error);
    });
}

void jobs_state::answer_cancel(uint64_t promise, const job_record* record) {
  if (record == nullptr) {
    refuse(promise, error_code::process_job_not_found);
    return;
  }
  auto id = record->shown.job_id;
  take_as_launched(id);
  auto cancelled = core_.cancel(id, now());
  job_answer answer;
  answer.refusal = cancelled.refusal
                     ? caf::optional<error_code>{*cancelled.refusal}
                     : caf::none;
  answer.job = core_.find(id)->shown;
  answers_.deliver(promise, std::move(answer));
  carry_out(std::move(cancelled.effects));
}

// -- effects ------------------------------------------------------------------

void jobs_state::carry_out(job_effects effects) {
  std::vector<std::string> touched;
  for (auto& effect : effects) {
    switch (effect.what) {
    // The end of a process waits for no disk.
    case job_step::abort:
      abort(effect.id);
      break;
    case job_step::release:
      release(effect.id);
      break;
    case job_step::kill:
      kill(effect.id);
      break;
    case job_step::count:
    case job_step::count_wake:
      count(effect);
      break;
    default:
      if (std::find(touched.begin(), touched.end(), effect.id) == touched.end())
        touched.push_back(effect.id);
      chains_[effect.id].steps.push_back(std::move(effect));
    }
  }
  for (auto& id : touched)
    run_chain(std::move(id));
  show_load();
  arm();
}

void jobs_state::run_chain(std::string id) {
  auto& place = chains_[id];
  if (std::exchange(place.busy, true))
    return;
  while (!place.steps.empty()) {
    auto step = std::move(place.steps.front());
    place.steps.pop_front();
    if (!perform(step))
      return;
  }
  chains_.erase(id);
  finish_stop();
}

void jobs_state::step_done(const std::string& id) {
  chains_[id].busy = false;
  run_chain(id);
}

bool jobs_state::perform(const job_effect& step) {
  switch (step.what) {
  case job_step::save:
    save(step.id);
    return false;
  case job_step::keep_output:
    keep_output(step.id);
    return false;
  case job_step::accept: {
    auto admission = admissions_.extract(step.id);
    const auto* record = core_.find(step.id);
    if (!admission.empty() && record != nullptr) {
      job_answer answer;
      answer.job = record->shown;
      answers_.deliver(admission.mapped(), std::move(answer));
      carry_out(core_.accepted(step.id, now()));
    }
    return true;
  }
  case job_step::launch:
    launch(step.id);
    return true;
  case job_step::tell:
    tell(step);
    return true;
  case job_step::wake:
    wake(step.id);
    return true;
  case job_step::settle:
    // Until the disk has it, its preview is here alone.
    if (!unsaved_.contains(step.id))
      carry_out(core_.settled(step.id));
    return true;
  case job_step::forget:
    forget(step.id);
    return true;
  case job_step::follow:
    follow(step.id);
    return true;
  case job_step::abort:
  case job_step::release:
  case job_step::kill:
  case job_step::count:
  case job_step::count_wake:
    break;
  }
  return true;
}

std::optional<contracts::notify_delivery_result> jobs_state::refused(
  const job_record& job, caf::optional<std::string> text) const {
  contracts::process_job_delivery delivery;
  delivery.conversation_id = job.shown.origin.conversation_id;
  delivery.text = std::move(text);
  delivery.delivery_key = wake_id(job.shown.job_id);
  delivery.job = job.shown;
  std::vector<job_channel> channels;
  auto declared = [this](platform_id platform) {
    return std::find(deps_.channels.begin(), deps_.channels.end(), platform)
           != deps_.channels.end();
  };
  for (const auto& [platform, transport] : transports_)
    channels.push_back({to_string(platform), true, declared(platform)});
  // A platform that is not here now may be at the next start.
  if (!transports_.contains(job.conversation.platform))
    channels.push_back({to_string(job.conversation.platform), false,
                        declared(job.conversation.platform)});
  return refuse_route(delivery, channels);
}

void jobs_state::tell(const job_effect& step) {
  const auto* job = core_.find(step.id);
  if (job == nullptr || refused(*job, caf::none))
    return;
  if (!deps_.interaction) {
    post(*job, step.text);
    return;
  }
  status_post news;
  news.conversation_id = job->shown.origin.conversation_id;
  news.text = step.text;
  news.key = step.id;
  news.state = !is_ended(job->shown.state) ? contracts::posted_state::working
               : job->shown.state == contracts::process_job_state::succeeded
                 ? contracts::posted_state::done
                 : contracts::posted_state::failed;
  kit::bounded_request(self_, deps_.interaction, limits::mailbox_timeout,
                       atom::notice_v, std::move(news))
    .then([](caf::ok_atom) {},
          [this, id = step.id, text = step.text](const caf::error&) {
            if (const auto* known = core_.find(id))
              post(*known, text);
          });
}

/// Where nobody shows how things stand, it is a notice like any other.
void jobs_state::post(const job_record& job, std::string text) {
  auto transport = transports_.find(job.conversation.platform);
  if (transport == transports_.end())
    return;
  outbound notice;
  notice.rank = outbound_class::control;
  notice.content = outbound_content::notice;
  notice.conversation = job.conversation;
  notice.message_id = wake_id(job.shown.job_id);
  notice.target = job.target;
  notice.text = "_" + text + "_";
  // People see that it came; nobody waits for it.
  kit::bounded_request(self_, transport->second, limits::delivery_timeout,
                       atom::deliver_v, std::move(notice))
    .then([](const delivered&) {}, [](const caf::error&) {});
}

void jobs_state::wake(const std::string& id) {
  const auto* job = core_.find(id);
  if (job == nullptr)
    return;
  auto answered = [this, id](wake_outcome outcome) {
    carry_out(core_.wake_answered(id, outcome, now()));
  };
  auto text = wake_text(job->shown);
  if (auto no = refused(*job, text)) {
    answered(no->retryable && *no->retryable ? wake_outcome::again
                                             : wake_outcome::refused);
    return;
  }
  intake_request request;
  auto& event = request.event;
  event.address = job->conversation;
  event.session_key = job->session_key;
  event.origin = turn_origin::action;
  event.message_id = wake_id(id);
  event.user_name = sender;
  event.text = std::move(text);
  event.target = job->target;
  event.sent_ms = instant_ms(job->shown.timestamps.completed_at);
  request.scope = stop_scope::never;
  request.offer = true;
  kit::bounded_request(self_, offices_, limits::disk_timeout, atom::intake_v,
                       std::move(request))
    .then([answered](const intake_reply&) { answered(wake_outcome::taken); },
          [answered, id](const caf::error& reason) {
            auto never = code_of(reason) == errc::bad_identity;
            kit::log::warning("jobs", id + " did not wake its conversation: "
                                        + sentence_of(reason));
            answered(never ? wake_outcome::refused : wake_outcome::again);
          });
}

/// The end of its ledger entry tells how a wake entered the conversation.
void jobs_state::follow(const std::string& id) {
  const auto* job = core_.find(id);
  if (job == nullptr)
    return;
  kit::bounded_request(self_, offices_, limits::run_timeout, atom::settled_v,
                       entry_query{job->conversation, wake_id(id)})
    .then(
      [this, id](const entry_end& end) {
        carry_out(core_.wake_ended(id, wake_end_of(end)));
      },
      [this, id](const caf::error& reason) {
        switch (code_of(reason)) {
        case errc::timeout:
        case errc::not_ready:
          follow_timers_[id].arm(self_, wake_delay_cap,
                                 [this, id] { follow(id); });
          break;
        case errc::shutting_down:
          // The next start offers it again.
          break;
        default:
          // It was closed long ago; nobody knows how.
          carry_out(core_.wake_ended(id, {true, std::nullopt}));
        }
      });
}

// -- metrics ------------------------------------------------------------------

void jobs_state::count(metric id, std::vector<std::string> labels,
                       int64_t value) {
  if (deps_.metrics)
    self_->send(deps_.metrics, atom::add_v,
                metric_sample{id, std::move(labels), value});
}

void jobs_state::count(const job_effect& what) {
  constexpr int64_t micros = 1000;
  if (what.what == job_step::count_wake) {
    follow_timers_.erase(what.id);
    count(metric::job_wakes, {what.text});
    return;
  }
  const auto* job = core_.find(what.id);
  if (job == nullptr)
    return;
  count(metric::jobs, {to_string(job->shown.state)});
  if (deps_.metrics && job->shown.duration_ms)
    self_->send(deps_.metrics, atom::observe_v,
                metric_sample{
                  metric::job_duration, {}, *job->shown.duration_ms * micros});
}

void jobs_state::show_load() {
  auto load = std::pair{core_.running(), core_.queued()};
  if (!deps_.metrics || load == std::exchange(load_, load))
    return;
  self_->send(
    deps_.metrics, atom::gauge_v,
    metric_sample{metric::jobs_running, {}, static_cast<int64_t>(load.first)});
  self_->send(
    deps_.metrics, atom::gauge_v,
    metric_sample{metric::jobs_waiting, {}, static_cast<int64_t>(load.second)});
}

void jobs_state::arm() {
  auto due = core_.next_due();
  if (!due || stopping_) {
    timer_.cancel();
    return;
  }
  auto wait = std::max<int64_t>(*due - now(), 0);
  timer_.arm(self_, std::chrono::milliseconds{wait},
             [this] { carry_out(core_.tick(now())); });
}

// -- spawning -----------------------------------------------------------------

jobs_handles spawn_jobs(caf::actor_system& system, jobs_deps deps) {
  auto actor =
    kit::spawn_stateful<full_jobs_actor, jobs_state>(system, std::move(deps));
  return {actor, actor};
}

} // namespace bureau::jobs
