#include "actors/system/control_commands.hpp"

#include "actors/control/control_core.hpp"
#include "actors/control/event_text_core.hpp"
#include "actors/control/job_text_core.hpp"
#include "actors/control/status_text_core.hpp"
#include "actors/io/control_client.hpp"
#include "actors/io/event_loop.hpp"
#include "actors/io/file_jobs.hpp"
#include "actors/office/office_command.hpp"
#include "actors/system/office_study_core.hpp"
#include "actors/system/office_text_core.hpp"
#include "config/boot_config.hpp"
#include "config/instance_lock.hpp"
#include "config/os/durable.hpp"
#include "config/os/machine.hpp"
#include "config/os/posix_file_system.hpp"
#include "config/os/system_entropy.hpp"
#include "messages/codec/event_file.hpp"

#include <poll.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace bureau::system {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A node that works answers a mutating call at once (decision B12).
constexpr auto call_patience = seconds{2};
/// `status` asks every part of the node, and each has its own bound.
constexpr auto status_patience = control::part_timeout + seconds{2};
/// Reading an office through the node; without an answer it is read here.
constexpr auto show_patience = seconds{5};
/// A notification is delivered meanwhile, or kept.
constexpr auto notify_patience = control::notify_timeout + seconds{2};
/// What a node needs besides the deadline of its shutdown: closing files,
/// stopping services, the last actors.
constexpr auto closing_time = seconds{30};
/// How often a lock that is still held is looked at.
constexpr auto look_interval = milliseconds{20};

/// What every command of these needs.
struct place {
  os::posix_file_system disk;
  os::system_entropy chance;
  os::machine_facts machine = os::read_machine_facts(disk);
  std::string state_dir;
  std::string fault;

  place(const config::cli_plan& plan, const config::environment& env) {
    state_dir = config::resolve_state_dir(plan, env, machine, fault);
  }
};

/// Prints a sentence and answers the code of a failure.
int refuse(const std::string& sentence) {
  std::fprintf(stderr, "bureau: %s\n",
               control::terminal_text(sentence).c_str());
  return config::exit_failure;
}

std::string name_of(const config::lock_holder& holder) {
  if (!holder.record)
    return "The node";
  return "The node with pid " + std::to_string(holder.record->pid);
}

/// Why nobody answered on the control socket.
std::string silence(const place& here, const config::lock_holder& holder) {
  if (holder.error != 0)
    return "The lock of " + here.state_dir
           + " cannot be looked at: " + os::errno_text(holder.error) + '.';
  if (!holder.held)
    return "No node runs on " + here.state_dir + '.';
  auto sentence = name_of(holder) + " holds " + here.state_dir
                  + " and does not answer on its control socket; it is "
                    "starting, ending or stuck.";
  if (holder.record)
    sentence +=
      " A signal ends it too: kill " + std::to_string(holder.record->pid) + '.';
  return sentence;
}

/// Asks a connected node; nothing when it does not answer.
std::optional<control::reply> ask(io::control_client& node,
                                  std::string_view method,
                                  const json::bj::object& params,
                                  milliseconds patience) {
  auto line = node.call(control::call_line(method, params), patience);
  if (!line)
    return std::nullopt;
  return control::parse_reply(*line);
}

/// Whether the lock is still the one that a holder had.
bool holds_still(place& here, const config::lock_holder& before) {
  auto now = config::find_lock_holder(here.disk, here.state_dir);
  if (!now.held || !now.record || !before.record)
    return now.held;
  return now.record->pid == before.record->pid
         && now.record->start_ticks == before.record->start_ticks;
}

/// Connects to the node that holds the lock; one that is just starting is
/// waited for.
io::control_client connect(place& here) {
  auto until = io::event_loop::now() + call_patience;
  for (;;) {
    io::control_client node{here.state_dir};
    if (node || io::event_loop::now() >= until
        || !config::find_lock_holder(here.disk, here.state_dir).held)
      return node;
    ::poll(nullptr, 0, static_cast<int>(look_interval.count()));
  }
}

/// Waits until a node that was asked to end has ended.
bool await_end(place& here, io::control_client& node,
               const config::lock_holder& holder, milliseconds patience) {
  auto until = io::event_loop::now() + patience;
  // The socket is closed shortly before the lock is freed.
  node.wait_for_end(patience);
  while (holds_still(here, holder)) {
    if (io::event_loop::now() >= until)
      return false;
    ::poll(nullptr, 0, static_cast<int>(look_interval.count()));
  }
  return true;
}

/// A path as the person typed it, from where they stand.
std::string absolute(const place& here, const std::string& path) {
  if (path.starts_with('/'))
    return join_path(path, "");
  return join_path(here.machine.working_dir, path);
}

int print_office(const json::bj::object& office) {
  std::fputs(office_text(office).c_str(), stdout);
  return config::exit_ok;
}

/// Reads an office in this process.
int study_office(place& here, const std::string& workspace_root,
                 const office_address& address) {
  office_study study{make_workspace(workspace_root, here.state_dir), address};
  while (auto job = study.next()) {
    auto outcome = io::run_file_job(here.disk, here.chance, *job);
    if (outcome)
      study.take(*outcome);
    else
      study.fail(outcome.error());
  }
  if (study.fault())
    return refuse(sentence_of(study.fault()) + '.');
  return print_office(study.result());
}

} // namespace

int status_command(const config::cli_plan& plan,
                   const config::environment& env) {
  place here{plan, env};
  if (!here.fault.empty())
    return refuse(here.fault);
  auto node = connect(here);
  auto answer = ask(node, "status", {}, status_patience);
  if (!answer)
    return refuse(
      silence(here, config::find_lock_holder(here.disk, here.state_dir)));
  if (!answer->result)
    return refuse(answer->sentence);
  auto text = plan.status.json ? json::print(*answer->result) + '\n'
                               : control::status_text(*answer->result);
  std::fputs(text.c_str(), stdout);
  return config::exit_ok;
}

int shutdown_command(const config::cli_plan& plan,
                     const config::environment& env) {
  place here{plan, env};
  if (!here.fault.empty())
    return refuse(here.fault);
  auto holder = config::find_lock_holder(here.disk, here.state_dir);
  if (!holder.held)
    return refuse(silence(here, holder));
  json::bj::object params;
  if (plan.shutdown.timeout_s)
    params["deadlineMs"] = *plan.shutdown.timeout_s * 1000;
  auto node = connect(here);
  auto answer = ask(node, "shutdown", params, call_patience);
  if (!answer)
    return refuse(silence(here, holder));
  if (!answer->result)
    return refuse(answer->sentence);
  auto deadline =
    milliseconds{json::int_member(*answer->result, "deadlineMs").value_or(0)};
  if (await_end(here, node, holder, deadline + closing_time))
    return config::exit_ok;
  return refuse(name_of(holder) + " was asked to end and has not ended yet.");
}

namespace {

/// Calls a method; nothing when nobody answered or it failed, which is said.
std::optional<json::bj::object> call_node(const config::cli_plan& plan,
                                          const config::environment& env,
                                          std::string_view method,
                                          const json::bj::object& params,
                                          milliseconds patience) {
  place here{plan, env};
  if (!here.fault.empty()) {
    refuse(here.fault);
    return std::nullopt;
  }
  auto node = connect(here);
  auto answer = ask(node, method, params, patience);
  if (!answer)
    refuse(silence(here, config::find_lock_holder(here.disk, here.state_dir)));
  else if (!answer->result)
    refuse(answer->sentence);
  else
    return std::move(answer->result);
  return std::nullopt;
}

int print_line(const std::string& text) {
  std::fputs((control::terminal_text(text) + '\n').c_str(), stdout);
  return config::exit_ok;
}

} // namespace

int notify_command(const config::cli_plan& plan,
                   const config::environment& env) {
  const auto& wanted = plan.notify;
  if (wanted.list) {
    auto found = call_node(plan, env, "notify.destinations", {}, show_patience);
    if (!found)
      return config::exit_failure;
    std::fputs(control::destinations_text(*found).c_str(), stdout);
    return config::exit_ok;
  }
  json::bj::object params{{"conversationId", wanted.conversation},
                          {"text", wanted.text},
                          {"verbatim", wanted.verbatim}};
  if (wanted.key)
    params["deliveryKey"] = *wanted.key;
  auto told = call_node(plan, env, "notify", params, notify_patience);
  if (!told)
    return config::exit_failure;
  auto text = control::notify_text(*told);
  if (json::bool_member(*told, "delivered").value_or(false))
    return print_line(text);
  refuse(text);
  // What is kept will arrive.
  return json::text_or_empty(*told, "code") == "delivery_pending"
           ? config::exit_ok
           : config::exit_failure;
}

int cancel_command(const config::cli_plan& plan,
                   const config::environment& env) {
  auto told = call_node(
    plan, env, "turn.cancel",
    {{"conversationId", plan.cancel.conversation}, {"all", plan.cancel.all}},
    status_patience);
  if (!told)
    return config::exit_failure;
  auto turns = json::int_member(*told, "turns").value_or(0);
  return print_line(turns == 0   ? "Nothing runs there."
                    : turns == 1 ? "1 turn ends."
                                 : std::to_string(turns) + " turns end.");
}

int jobs_command(const config::cli_plan& plan, const config::environment& env) {
  const auto& wanted = plan.jobs;
  auto list = wanted.action == config::jobs_action::list;
  auto cancels = wanted.action == config::jobs_action::cancel;
  json::bj::object params;
  if (!list)
    params["id"] = wanted.id;
  else if (wanted.state)
    params["state"] = *wanted.state;
  auto told = call_node(plan, env,
                        list      ? "jobs.list"
                        : cancels ? "jobs.cancel"
                                  : "jobs.show",
                        params, show_patience);
  if (!told)
    return config::exit_failure;
  auto text = wanted.json ? json::print(*told) + '\n'
              : list      ? control::jobs_text(*told)
                          : control::job_text(*told);
  std::fputs(text.c_str(), stdout);
  return config::exit_ok;
}

int events_command(const config::cli_plan& plan,
                   const config::environment& env) {
  const auto& wanted = plan.events;
  auto print = [](const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return config::exit_ok;
  };
  json::bj::object params;
  if (wanted.action == config::events_action::remove) {
    auto name = std::string{event_name_of(wanted.name)} + ".json";
    params["filename"] = name;
    auto told = call_node(plan, env, "events.delete", params, show_patience);
    if (!told)
      return config::exit_failure;
    if (json::bool_member(*told, "deleted").value_or(false))
      return print_line(name + " is deleted.");
    return refuse("There is no schedule " + name + '.');
  }
  auto list = wanted.action == config::events_action::list;
  if (!list) {
    params["id"] = event_name_of(wanted.name);
    if (wanted.run)
      params["run"] = *wanted.run;
    if (wanted.before)
      params["before"] = *wanted.before;
  }
  auto told = call_node(plan, env, list ? "events.list" : "events.show", params,
                        show_patience);
  if (!told)
    return config::exit_failure;
  if (wanted.json)
    return print(json::print(*told) + '\n');
  return print(list         ? control::events_text(*told)
               : wanted.run ? control::event_run_text(*told)
                            : control::event_runs_text(*told));
}

int office_claim_command(const config::cli_plan& plan,
                         const config::environment& env) {
  place here{plan, env};
  if (!here.fault.empty())
    return refuse(here.fault);
  office_address claimed{plan.office.platform, plan.office.raw_id};
  auto holder = config::find_lock_holder(here.disk, here.state_dir);
  auto node = connect(here);
  json::bj::object params{{"platform", to_string(claimed.platform)},
                          {"id", claimed.conversation_id}};
  if (plan.workspace)
    params["workspace"] = absolute(here, *plan.workspace);
  auto answer = ask(node, "office.claim", params, call_patience);
  if (!answer)
    return refuse(silence(here, holder));
  if (!answer->result)
    return refuse(answer->sentence);
  std::fputs(offices::claim_confirmation(claimed).c_str(), stdout);
  return config::exit_ok;
}

int office_show_command(const config::cli_plan& plan,
                        const config::environment& env) {
  place here{plan, env};
  if (!here.fault.empty())
    return refuse(here.fault);
  office_address address{plan.office.platform, plan.office.raw_id};
  if (plan.workspace)
    return study_office(here, absolute(here, *plan.workspace), address);
  // A running node knows its workspace.
  io::control_client node{here.state_dir};
  auto answer = ask(node, "office.show",
                    {{"platform", to_string(address.platform)},
                     {"id", address.conversation_id}},
                    show_patience);
  if (answer && answer->result)
    return print_office(*answer->result);
  if (answer && answer->code == control::service_failed)
    return refuse(answer->sentence + '.');
  return study_office(here, join_path(here.state_dir, "workspace"), address);
}

} // namespace bureau::system
