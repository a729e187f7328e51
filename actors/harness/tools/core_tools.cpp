#include "actors/harness/tools/core_tools.hpp"

#include "actors/harness/tools/bash_core.hpp"
#include "actors/harness/tools/edit_core.hpp"
#include "actors/harness/tools/jobs_core.hpp"
#include "actors/harness/tools/outcome_core.hpp"
#include "actors/harness/tools/read_core.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/requests.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace bureau::harness {

namespace {

constexpr int spill_digits = 16;

/// Whether a value is a number above 0 and not above a bound.
bool is_number_up_to(const boost::json::value& value, int64_t most) {
  if (!value.is_number())
    return false;
  auto number = value.to_number<double>();
  return number > 0 && number <= static_cast<double>(most);
}

/// Handlers:
///   (call, tool_invocation) → tool_outcome ⇒ call
///   (abort, call id)                       ⇒ abort
class core_tools_state {
public:
  static inline const char* name = "core_tools";

  using pointer = tool_actor::stateful_pointer<core_tools_state>;

  explicit core_tools_state(pointer self) : self_(self) {}

  void init(tool_pack_args args, std::shared_ptr<entropy> chance,
            jobs_actor jobs) {
    conversation_ = std::move(args.place.address);
    session_key_ = std::move(args.session_key);
    jobs_actor_ = std::move(jobs);
    executor_ = std::move(args.executor);
    cwd_ = std::move(args.paths.cwd);
    chance_ = std::move(chance);
    self_->set_down_handler([this](caf::down_msg&) { executor_ended(); });
    self_->monitor(executor_);
  }

  tool_actor::behavior_type make_behavior() {
    return {
      [this](atom::call, const tool_invocation& request) {
        return call(request);
      },
      [this](atom::abort, const std::string& call_id) { abort(call_id); },
    };
  }

private:
  enum class tool : uint8_t { read, image, bash, edit, write };

  /// A running call.
  struct job {
    std::string call_id;
    tool kind = tool::read;
    /// Runtime path.
    std::string path;
    // -- read, image ----------------------------------------------------------
    std::optional<text_scan> scan;
    uint64_t offset = 0;
    std::string mime_type;
    // -- bash -----------------------------------------------------------------
    uint64_t command_id = 0;
    bool command_runs = false;
    command_view view;
    command_end end;
    // -- edit -----------------------------------------------------------------
    std::string old_text;
    std::string new_text;
    std::string before;
    // -- edit, write, spill ---------------------------------------------------
    std::string outgoing;
    size_t sent = 0;
    uint32_t part = 0;
    uint64_t write_id = 0;
    /// An answer now would hide that the write may still happen, or that a job
    /// was admitted.
    bool writing = false;
  };

  using job_id = uint64_t;

  // -- handlers ---------------------------------------------------------------

  caf::result<tool_outcome> call(const tool_invocation& request);
  void abort(const std::string& call_id);
  void executor_ended();

  // -- steps ------------------------------------------------------------------

  void begin(job_id id, const tool_invocation& request,
             const boost::json::object& arguments);
  void begin_command(job_id id, const tool_invocation& call,
                     const boost::json::object& arguments);
  void begin_background(job_id id, const tool_invocation& call,
                        const boost::json::object& arguments);
  void command_done(job_id id, const exec_result& result);
  void command_failed(job_id id, const caf::error& reason);
  void spill(job_id id);
  void read_slice(job_id id, uint64_t length);
  void took_slice(job_id id, const exec_slice& slice);
  void took_text(job_id id, const exec_slice& slice);
  void took_image(job_id id, const exec_slice& slice);
  void took_original(job_id id, const exec_slice& slice);
  void write_all(job_id id, const std::string& path);
  void write_next(job_id id, const std::string& path);
  void written(job_id id, bool done, const std::string& path);
  void write_failed(job_id id, const caf::error& reason);

  // -- ends -------------------------------------------------------------------

  void finish(job_id id, tool_outcome outcome);
  void fail(job_id id, std::string text);
  std::string runtime_path(const std::string& path) const;
  static std::string reason_text(const caf::error& reason);
  job* find(job_id id);

  pointer self_;
  executor_actor executor_;
  std::string cwd_;
  office_address conversation_;
  std::string session_key_;
  jobs_actor jobs_actor_;
  std::shared_ptr<entropy> chance_;
  std::map<job_id, job> jobs_;
  kit::promise_guard<tool_outcome> answers_;
};

// -- handlers -----------------------------------------------------------------

caf::result<tool_outcome>
core_tools_state::call(const tool_invocation& request) {
  auto arguments = json::parse(request.arguments.text);
  if (!arguments || !arguments.value.is_object())
    return failed_outcome("The arguments are not a JSON object.");
  auto answer = self_->make_response_promise<tool_outcome>();
  auto id = answers_.keep(answer);
  jobs_[id].call_id = request.call_id;
  begin(id, request, arguments.value.get_object());
  return answer;
}

void core_tools_state::abort(const std::string& call_id) {
  std::vector<job_id> idle;
  for (const auto& [id, entry] : jobs_) {
    if (entry.call_id != call_id)
      continue;
    if (entry.command_runs)
      kit::urgent_send(self_, executor_, atom::abort_v, entry.command_id);
    else if (!entry.writing)
      idle.push_back(id);
  }
  for (auto id : idle) {
    auto* entry = find(id);
    if (entry != nullptr && entry->kind == tool::bash)
      finish(id, command_outcome(entry->view, entry->end, {}));
    else
      fail(id, "Operation aborted.");
  }
}

void core_tools_state::executor_ended() {
  while (!jobs_.empty())
    fail(jobs_.begin()->first,
         "The environment in which tools run ended unexpectedly; whether this "
         "call had an effect is unknown.");
}

// -- steps --------------------------------------------------------------------

void core_tools_state::begin(job_id id, const tool_invocation& request,
                             const boost::json::object& arguments) {
  auto& entry = jobs_[id];
  const auto& tool_name = request.name;
  if (tool_name == "bash") {
    if (json::bool_member(arguments, "background").value_or(false))
      begin_background(id, request, arguments);
    else
      begin_command(id, request, arguments);
    return;
  }
  auto path = json::text_or_empty(arguments, "path");
  if (path.empty()) {
    fail(id, "path is empty. Name the file.");
    return;
  }
  entry.path = runtime_path(path);
  if (tool_name == "read") {
    entry.mime_type = image_mime_type(path);
    if (!entry.mime_type.empty()) {
      entry.kind = tool::image;
      read_slice(id, limits::tool_image_bytes + 1);
      return;
    }
    read_window window;
    window.offset = integer_argument(arguments, "offset", 0);
    window.limit = integer_argument(arguments, "limit", 0);
    window.byte_offset = integer_argument(arguments, "byteOffset", 0);
    entry.kind = tool::read;
    entry.scan.emplace(window);
    read_slice(id, limits::exec_file_bytes);
  } else if (tool_name == "edit") {
    entry.kind = tool::edit;
    entry.old_text = json::text_or_empty(arguments, "oldText");
    entry.new_text = json::text_or_empty(arguments, "newText");
    read_slice(id, limits::exec_file_bytes);
  } else if (tool_name == "write") {
    entry.kind = tool::write;
    entry.outgoing = json::text_or_empty(arguments, "content");
    write_all(id, entry.path);
  } else {
    fail(id, "There is no tool named \"" + tool_name + "\" here.");
  }
}

void core_tools_state::begin_command(job_id id, const tool_invocation& call,
                                     const boost::json::object& arguments) {
  auto& entry = jobs_[id];
  entry.kind = tool::bash;
  entry.command_id = chance_->next();
  entry.command_runs = true;
  exec_request request;
  request.id = entry.command_id;
  request.command = json::text_or_empty(arguments, "command");
  request.cwd = cwd_;
  request.environment = call.environment;
  auto longest = std::chrono::milliseconds{limits::run_timeout}.count();
  request.timeout_ms = seconds_argument(arguments, "timeout", longest);
  kit::bounded_request(self_, executor_, limits::run_timeout, atom::exec_v,
                       std::move(request))
    .then([this, id](const exec_result& result) { command_done(id, result); },
          [this, id](const caf::error& reason) { command_failed(id, reason); });
}

void core_tools_state::begin_background(job_id id, const tool_invocation& call,
                                        const boost::json::object& arguments) {
  using enum contracts::process_job_error_code;
  auto& entry = jobs_[id];
  if (!jobs_actor_) {
    fail(id, std::string{contracts::public_message(background_unsupported)});
    return;
  }
  constexpr int64_t longest_seconds = 24 * 60 * 60;
  if (const auto* given = json::member(arguments, "timeout");
      given != nullptr && !is_number_up_to(*given, longest_seconds)) {
    fail(id, "timeout is a number of seconds above 0, at most "
               + std::to_string(longest_seconds)
               + " (a day). Leave it out for an hour.");
    return;
  }
  entry.kind = tool::bash;
  entry.writing = true;
  job_request request;
  request.conversation = conversation_;
  request.session_key = session_key_;
  request.run = call.run;
  request.message_id = call.message_id;
  request.target = call.target;
  request.environment = call.environment;
  request.wake = call.wake;
  request.environment = call.environment;
  request.command = json::text_or_empty(arguments, "command");
  request.cwd = cwd_;
  constexpr auto longest = std::chrono::hours{24};
  request.max_runtime_ms = seconds_argument(
    arguments, "timeout", std::chrono::milliseconds{longest}.count());
  kit::bounded_request(self_, jobs_actor_, limits::disk_timeout, atom::submit_v,
                       std::move(request))
    .then(
      [this, id](const job_answer& answer) {
        finish(id, admission_outcome(answer));
      },
      [this, id](const caf::error&) {
        fail(id, std::string{contracts::public_message(
                   process_job_controller_unavailable)});
      });
}

void core_tools_state::command_done(job_id id, const exec_result& result) {
  auto* entry = find(id);
  if (entry == nullptr)
    return;
  entry->command_runs = false;
  entry->view = view_output(combined_output(result));
  entry->end.code = result.code;
  entry->end.capture_cut = result.out_truncated || result.err_truncated;
  spill(id);
}

void core_tools_state::command_failed(job_id id, const caf::error& reason) {
  auto* entry = find(id);
  if (entry == nullptr)
    return;
  entry->command_runs = false;
  auto code = code_of(reason);
  if (code != errc::timeout && code != errc::aborted) {
    fail(id, reason_text(reason));
    return;
  }
  // The sentence is the output so far and how the command was ended.
  entry->view = view_output(reason_text(reason));
  if (code == errc::timeout)
    spill(id);
  else
    finish(id, command_outcome(entry->view, entry->end, {}));
}

/// Keeps output that is too long to show where the model can read it.
void core_tools_state::spill(job_id id) {
  auto& entry = jobs_[id];
  if (entry.view.spill.empty()) {
    finish(id, command_outcome(entry.view, entry.end, {}));
    return;
  }
  entry.path = spill_path(cwd_, random_hex(*chance_, spill_digits));
  entry.outgoing = std::move(entry.view.spill);
  write_all(id, entry.path);
  entry.writing = false;
}

void core_tools_state::read_slice(job_id id, uint64_t length) {
  auto& entry = jobs_[id];
  exec_read request;
  request.path = entry.path;
  request.offset = entry.offset;
  request.length = length;
  kit::bounded_request(self_, executor_, limits::disk_timeout, atom::read_v,
                       std::move(request))
    .then(
      [this, id](const exec_slice& slice) { took_slice(id, slice); },
      [this, id](const caf::error& reason) { fail(id, reason_text(reason)); });
}

void core_tools_state::took_slice(job_id id, const exec_slice& slice) {
  auto* entry = find(id);
  if (entry == nullptr)
    return;
  if (entry->kind == tool::image)
    took_image(id, slice);
  else if (entry->kind == tool::edit)
    took_original(id, slice);
  else
    took_text(id, slice);
}

void core_tools_state::took_text(job_id id, const exec_slice& slice) {
  auto& entry = jobs_[id];
  entry.scan->feed(slice.bytes);
  entry.offset += slice.bytes.size();
  if (slice.eof || slice.bytes.empty())
    finish(id, entry.scan->finish());
  else if (entry.offset >= limits::tool_scan_bytes)
    fail(id, entry.path + " is larger than "
               + size_text(limits::tool_scan_bytes)
               + ". Cut out the part you need with bash (head, tail, sed).");
  else
    read_slice(id, limits::exec_file_bytes);
}

void core_tools_state::took_image(job_id id, const exec_slice& slice) {
  auto& entry = jobs_[id];
  if (slice.bytes.size() > limits::tool_image_bytes || !slice.eof)
    fail(id, entry.path + " is larger than "
               + size_text(limits::tool_image_bytes)
               + ". Make a smaller copy of the image with bash and read that.");
  else
    finish(id, image_outcome(entry.path, entry.mime_type, slice.bytes));
}

void core_tools_state::took_original(job_id id, const exec_slice& slice) {
  auto& entry = jobs_[id];
  if (!slice.eof) {
    fail(id, entry.path + " is larger than "
               + size_text(limits::exec_file_bytes)
               + ". Change it with bash, for example with sed.");
    return;
  }
  auto edited =
    apply_edit(entry.path, slice.bytes, entry.old_text, entry.new_text);
  if (!edited.fault.empty()) {
    fail(id, std::move(edited.fault));
    return;
  }
  entry.before = slice.bytes;
  entry.outgoing = std::move(edited.content);
  write_all(id, entry.path);
}

void core_tools_state::write_all(job_id id, const std::string& path) {
  auto& entry = jobs_[id];
  entry.writing = true;
  if (entry.outgoing.size() > limits::exec_file_bytes) {
    entry.write_id = chance_->next();
    write_next(id, path);
    return;
  }
  exec_write request;
  request.path = path;
  request.bytes = entry.outgoing;
  kit::bounded_request(self_, executor_, limits::disk_timeout, atom::write_v,
                       std::move(request))
    .then([this, id, path](uint64_t) { written(id, true, path); },
          [this, id](const caf::error& reason) { write_failed(id, reason); });
}

void core_tools_state::write_next(job_id id, const std::string& path) {
  auto& entry = jobs_[id];
  exec_write_part request;
  request.id = entry.write_id;
  request.path = path;
  request.seq = entry.part++;
  request.bytes = entry.outgoing.substr(entry.sent, limits::exec_file_bytes);
  entry.sent += request.bytes.size();
  request.last = entry.sent == entry.outgoing.size();
  auto last = request.last;
  kit::bounded_request(self_, executor_, limits::disk_timeout,
                       atom::write_part_v, std::move(request))
    .then([this, id, path, last](uint64_t) { written(id, last, path); },
          [this, id](const caf::error& reason) { write_failed(id, reason); });
}

void core_tools_state::written(job_id id, bool done, const std::string& path) {
  auto* entry = find(id);
  if (entry == nullptr)
    return;
  if (!done)
    write_next(id, path);
  else if (entry->kind == tool::bash)
    finish(id, command_outcome(entry->view, entry->end, path));
  else if (entry->kind == tool::edit)
    finish(id, edit_outcome(path, entry->before, entry->outgoing,
                            entry->old_text, entry->new_text));
  else
    finish(id, write_outcome(path, entry->outgoing.size()));
}

void core_tools_state::write_failed(job_id id, const caf::error& reason) {
  auto* entry = find(id);
  if (entry == nullptr)
    return;
  // Output that cannot be kept is no failure of the command.
  if (entry->kind == tool::bash)
    finish(id, command_outcome(entry->view, entry->end, {}));
  else
    fail(id, reason_text(reason));
}

// -- ends ---------------------------------------------------------------------

void core_tools_state::finish(job_id id, tool_outcome outcome) {
  jobs_.erase(id);
  answers_.deliver(id, std::move(outcome));
}

void core_tools_state::fail(job_id id, std::string text) {
  finish(id, failed_outcome(std::move(text)));
}

std::string core_tools_state::runtime_path(const std::string& path) const {
  return path.front() == '/' ? path : cwd_ + "/" + path;
}

std::string core_tools_state::reason_text(const caf::error& reason) {
  if (reason.category() == caf::atom("bureau"))
    return sentence_of(reason);
  return "The environment in which tools run does not answer. Try again; if "
         "it happens again, tell the user.";
}

core_tools_state::job* core_tools_state::find(job_id id) {
  auto entry = jobs_.find(id);
  return entry == jobs_.end() ? nullptr : &entry->second;
}

} // namespace

tool_actor core_tools(caf::actor_system& system, const tool_pack_args& args,
                      std::shared_ptr<entropy> chance, jobs_actor jobs) {
  return kit::spawn_stateful<tool_actor, core_tools_state>(
    system, args, std::move(chance), std::move(jobs));
}

bool background_jobs::serves(platform_id platform) const {
  return jobs
         && std::find(channels.begin(), channels.end(), platform)
              != channels.end();
}

tool_pack_factory make_core_tools(std::shared_ptr<entropy> chance,
                                  background_jobs jobs) {
  return [chance = std::move(chance), jobs = std::move(jobs)](
           caf::actor_system& system, const tool_pack_args& args) {
    auto background = jobs.serves(args.place.address.platform);
    auto owner =
      core_tools(system, args, chance, background ? jobs.jobs : jobs_actor{});
    std::vector<tool_binding> result;
    for (auto& definition : core_tool_definitions(background))
      result.push_back({std::move(definition), owner});
    return result;
  };
}

} // namespace bureau::harness
