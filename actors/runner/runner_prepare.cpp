#include "actors/kit/log.hpp"
#include "actors/runner/payload_core.hpp"
#include "actors/runner/runner_state.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/text/sha256.hpp"
#include "messages/text/utf8.hpp"

#include <caf/all.hpp>

namespace bureau::runner {

namespace {

std::vector<content_block> images_of(const contracts::turn_request& turn) {
  std::vector<content_block> result;
  for (const auto& item : turn.attachments) {
    if (item.kind != contracts::attachment_kind::image)
      continue;
    content_block image;
    image.kind = block_kind::image;
    image.data = item.data;
    image.mime_type = item.mime_type;
    result.push_back(std::move(image));
  }
  return result;
}

} // namespace

void runner_state::learn_transport() {
  if (transport_known_) {
    resolve_settings();
    return;
  }
  step<transport_info>(
    args_.transport,
    [this](const transport_info& info) {
      transport_ = info;
      transport_known_ = true;
      resolve_settings();
    },
    [this](const caf::error&) {
      // The final answer waits in the ledger; nothing else can be shown.
      transport_ = {};
      transport_.platform = args_.place.address.platform;
      transport_.streaming = false;
      transport_.activity = activity_style::none;
      resolve_settings();
    },
    atom::config_v);
}

void runner_state::resolve_settings() {
  step<run_settings>(
    deps_.settings,
    [this](const run_settings& found) {
      active_->settings = found;
      active_->result.provider = found.choice.model.provider;
      active_->result.model = found.choice.model.id;
      ensure_responder();
      ready_executor();
    },
    [this](const caf::error& reason) {
      give_up(sentence_of(reason), code_of(reason));
    },
    atom::resolve_v, args_.place.address);
}

void runner_state::ready_executor() {
  const auto& settings = active_->settings;
  auto world = settings.sandbox_network + "|" + settings.door_policy + "|"
               + settings.layout;
  if (executor_ && world == executor_world_) {
    learn_executor();
    return;
  }
  if (!executor_) {
    renew_executor(std::move(world));
    return;
  }
  auto next = [this, world] {
    drop_executor(caf::exit_reason::user_shutdown);
    renew_executor(world);
  };
  step<caf::ok_atom>(
    executor_, [next](caf::ok_atom) { next(); },
    [next](const caf::error&) { next(); }, atom::stop_v);
}

void runner_state::renew_executor(std::string world) {
  const auto& settings = active_->settings;
  executor_args args;
  args.ws = deps_.ws;
  args.place = args_.place;
  args.network = settings.sandbox_network;
  args.time_zone = deps_.time_zone;
  args.door_policy = settings.door_policy;
  args.layout = settings.layout;
  executor_ = deps_.executors(self_->system(), args);
  executor_world_ = std::move(world);
  executor_known_ = false;
  if (executor_)
    self_->monitor(executor_);
  learn_executor();
}

void runner_state::learn_executor() {
  auto use = [this] {
    if (!executor_info_.refusal.empty()) {
      give_up(executor_info_.refusal, errc::denied);
      return;
    }
    ensure_scratch();
  };
  if (executor_known_) {
    use();
    return;
  }
  auto failed = [this](const caf::error& reason) {
    give_up("The sandbox is not available: " + sentence_of(reason),
            code_of(reason));
    drop_executor(caf::exit_reason::user_shutdown);
  };
  step<executor_info>(
    executor_,
    [this, use, failed](const executor_info& info) {
      executor_info_ = info;
      step<path_context>(
        executor_,
        [this, use](const path_context& paths) {
          paths_ = paths;
          executor_known_ = true;
          tools_ = deps_.tools(self_->system(), {args_.place, args_.session_key,
                                                 executor_, paths_});
          use();
        },
        failed, atom::paths_v);
    },
    failed, atom::config_v);
}

void runner_state::ensure_scratch() {
  file_job job;
  job.reason = "runner";
  job.op = file_op::ensure_directory;
  job.root = deps_.ws.root;
  job.path = args_.place.key + "/scratch";
  job.mode = 0755;
  step<file_outcome>(
    deps_.files, [this](const file_outcome&) { check_resume(); },
    [this](const caf::error& reason) {
      kit::log::warning(label_, "no scratch directory: " + sentence_of(reason));
      check_resume();
    },
    atom::file_v, std::move(job));
}

/// A second attempt must not write its cause and prompt twice.
void runner_state::check_resume() {
  if (active_->request.ticket.attempt < 2) {
    learn_continuation();
    return;
  }
  step<cause_report>(
    args_.store,
    [this](const cause_report& report) {
      active_->resume = report.admitted;
      learn_continuation();
    },
    [this](const caf::error& reason) {
      give_up(sentence_of(reason), code_of(reason));
    },
    atom::locate_v, active_->request.ticket.event.message_id);
}

/// The turn of a wake goes on where the run that admitted the job has ended. Of
/// a job that nobody knows any more it is built from the history as it is, and
/// has no tools either: what it answers was written by a process.
void runner_state::learn_continuation() {
  const auto& event = active_->request.ticket.event;
  if (event.origin != turn_origin::action || !deps_.jobs
      || !event.message_id.starts_with(job_wake_id_head)) {
    read_memory();
    return;
  }
  contracts::continuation_turn unknown;
  unknown.continuation_id = event.message_id;
  unknown.origin_run_id = event.message_id;
  step<job_continuation>(
    deps_.jobs,
    [this, unknown](const job_continuation& found) {
      active_->continuation = found.turn ? *found.turn : unknown;
      read_memory();
    },
    [this, unknown](const caf::error&) {
      active_->continuation = unknown;
      read_memory();
    },
    atom::load_v, event.message_id);
}

file_job runner_state::memory_job(const std::string& path) const {
  file_job job;
  job.reason = "runner";
  job.op = file_op::read_range;
  job.path = path;
  if (is_path_inside(path, deps_.ws.root) && path != deps_.ws.root) {
    job.root = deps_.ws.root;
    job.path = path.substr(deps_.ws.root.size());
    job.path.erase(0, job.path.find_first_not_of('/'));
  }
  job.length = limits::memory_prompt_bytes;
  return job;
}

std::string runner_state::memory_text(std::string content, bool truncated) {
  auto result = std::move(content);
  if (truncated)
    result += "\n(The rest of this file is not shown: it is longer than "
              + std::to_string(limits::memory_prompt_bytes) + " bytes.)";
  return result;
}

void runner_state::read_memory() {
  active_->turn = turn_request_of(active_->request, active_->continuation);
  step<memory_found>(
    deps_.memory,
    [this](const memory_found& found) {
      if (found.block) {
        active_->recalled.push_back(
          memory_recalled("conversation", found.block->content.size()));
        active_->prompt.conversation_memory =
          memory_text(found.block->content, found.block->truncated);
      }
      read_global_memory();
    },
    [this](const caf::error& reason) {
      kit::log::warning(label_, "memory was not read: " + sentence_of(reason));
      read_global_memory();
    },
    atom::load_v,
    contracts::memory_query{
      contracts::contract_id(args_.place.address, args_.session_key), caf::none,
      active_->request.run});
}

void runner_state::read_global_memory() {
  const auto& path = executor_info_.global_memory_path;
  if (path.empty()) {
    load_attachment(0);
    return;
  }
  step<file_outcome>(
    deps_.files,
    [this](const file_outcome& found) {
      active_->recalled.push_back(
        memory_recalled("shared", found.bytes.size()));
      active_->prompt.global_memory = memory_text(
        text::sanitize_utf8(found.bytes), found.size > found.bytes.size());
      load_attachment(0);
    },
    [this](const caf::error& reason) {
      if (code_of(reason) != errc::not_found)
        kit::log::warning(label_,
                          "shared memory was not read: " + sentence_of(reason));
      load_attachment(0);
    },
    atom::file_v, memory_job(path));
}

void runner_state::load_attachment(size_t index) {
  const auto& attachments = active_->request.ticket.event.attachments;
  if (index == attachments.size()) {
    record_collected();
    return;
  }
  const auto& item = attachments[index];
  if (!is_safe_relative(item.local_path)) {
    load_attachment(index + 1);
    return;
  }
  auto path = paths_.runtime_root + "/" + item.local_path;
  auto type = mime_type_of(item.local_path);
  auto wanted =
    type ? wanted_bytes(*type, active_->settings.choice.model.image_input,
                        active_->turn.attachments)
         : 0;
  if (wanted == 0) {
    active_->listed.push_back(std::move(path));
    load_attachment(index + 1);
    return;
  }
  step<exec_slice>(
    executor_,
    [this, index, path, type](const exec_slice& slice) {
      if (slice.eof && !slice.bytes.empty())
        show_attachment(path, *type, slice.bytes);
      else
        active_->listed.push_back(path);
      load_attachment(index + 1);
    },
    [this, index, path](const caf::error&) {
      active_->listed.push_back(path);
      load_attachment(index + 1);
    },
    atom::read_v, exec_read{path, 0, wanted});
}

/// A text is named as well: its file is what the tools work on.
void runner_state::show_attachment(const std::string& path,
                                   const std::string& mime_type,
                                   std::string_view bytes) {
  auto shown = contracts::make_attachment(mime_type, bytes, path);
  if (shown.kind == contracts::attachment_kind::document)
    active_->listed.push_back(path);
  active_->turn.attachments.push_back(std::move(shown));
}

void runner_state::start_prompt() {
  auto& run = *active_;
  const auto& ticket = run.request.ticket;
  if (!harness_) {
    full_runner_actor me{self_};
    harness_ = deps_.harnesses(
      self_->system(), {args_.place, args_.session_key, args_.store, me});
    if (harness_)
      self_->monitor(harness_);
  }
  auto& inputs = run.prompt;
  inputs.place = args_.place;
  inputs.surface = run.turn.surface.value_or(contracts::turn_surface{});
  inputs.paths = paths_;
  inputs.executor = executor_info_;
  inputs.door_policy = run.settings.door_policy;
  inputs.layout = run.settings.layout;
  if (!run.continuation)
    for (const auto& tool : tools_)
      inputs.tools.push_back(tool.definition);
  prompt_request request;
  request.run = run.request.run;
  request.message_id = ticket.event.message_id;
  request.text = prompt_text();
  request.images = images_of(run.turn);
  if (run.turn.environment)
    request.environment = *run.turn.environment;
  request.system_prompt = system_prompt(inputs);
  request.choice = run.settings.choice;
  if (!run.continuation)
    request.tools = tools_;
  request.continuation = run.continuation;
  request.platform = platform();
  request.resume = run.resume;
  request.target = ticket.event.target;
  request.context = {ticket.event.kind, ticket.event.user};
  request.budget = run.settings.budget;
  request.history = run.settings.history;
  if (ticket.event.origin == turn_origin::event) {
    constexpr auto usual_duration =
      std::chrono::milliseconds{limits::event_run_duration}.count();
    auto& caps = request.budget = run.settings.event_budget;
    if (caps.max_duration_ms == 0)
      caps.max_duration_ms = usual_duration;
    if (caps.max_llm_calls == 0)
      caps.max_llm_calls = limits::event_run_calls;
    if (caps.max_cost_micro == 0)
      caps.max_cost_micro = limits::event_run_cost_micro;
  }
  // A hash that changes between turns shows that the prompt lost its cache.
  kit::log::debug(
    label_, "system prompt: " + std::to_string(request.system_prompt.size())
              + " bytes, sha256 "
              + text::sha256_hex(request.system_prompt).substr(0, 8));
  run.at = stage::prompting;
  auto number = run.number;
  kit::bounded_request(self_, harness_, limits::run_timeout, atom::prompt_v,
                       std::move(request))
    .then(
      [this, number](const prompt_outcome& outcome) {
        if (is_at(number, stage::prompting))
          prompt_settled(outcome);
      },
      [this, number](const caf::error& reason) {
        if (is_at(number, stage::prompting))
          prompt_failed(reason);
      });
  pass_on_early();
}

} // namespace bureau::runner
