#include "actors/jobs/job_record_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::jobs {

namespace {

constexpr std::string_view id_head = "pj-";
constexpr size_t id_digits = 16;
constexpr std::string_view wake_head = job_wake_id_head;
constexpr int64_t format_version = 1;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

boost::json::object
print_environment(const contracts::tool_environment& environment) {
  boost::json::object values;
  for (const auto& [name, value] : environment.values)
    values[name] = value;
  boost::json::array paths;
  for (const auto& path : environment.path_prepend)
    paths.emplace_back(path);
  return {{"values", std::move(values)}, {"pathPrepend", std::move(paths)}};
}

contracts::tool_environment
parse_environment(const boost::json::value& variables) {
  contracts::tool_environment result;
  const auto* members = variables.if_object();
  if (members == nullptr)
    return result;
  if (const auto* values = json::member(*members, "values"))
    if (const auto* object = values->if_object())
      for (const auto& [name, value] : *object)
        if (value.is_string())
          result.values[std::string{name}] =
            std::string{std::string_view{value.get_string()}};
  if (const auto* paths = json::member(*members, "pathPrepend"))
    if (const auto* array = paths->if_array())
      for (const auto& path : *array)
        if (path.is_string())
          result.path_prepend.emplace_back(std::string_view{path.get_string()});
  return result;
}

} // namespace

bool is_job_id(std::string_view name) {
  return name.starts_with(id_head) && name.size() == id_head.size() + id_digits
         && std::all_of(name.begin() + id_head.size(), name.end(), is_hex);
}

std::string wake_id(std::string_view job_id) {
  return std::string{wake_head} + std::string{job_id};
}

std::string_view job_of_wake(std::string_view message_id) {
  if (!message_id.starts_with(wake_head))
    return {};
  message_id.remove_prefix(wake_head.size());
  return is_job_id(message_id) ? message_id : std::string_view{};
}

int64_t instant_ms(const std::string& iso) {
  return text::parse_iso(iso).value_or(-1);
}

int64_t instant_ms(const caf::optional<std::string>& iso) {
  return iso ? instant_ms(*iso) : -1;
}

std::string print_job(const job_record& job) {
  boost::json::object file;
  file["version"] = format_version;
  file["command"] = job.command;
  file["cwd"] = job.cwd;
  if (auto target = json::parse(job.target.text))
    file["target"] = std::move(target.value);
  if (job.environment != contracts::tool_environment{})
    file["environment"] = print_environment(job.environment);
  if (job.disposition)
    file["disposition"] = to_string(*job.disposition);
  if (job.context)
    file["originContext"] = contracts::to_json(*job.context);
  file["projection"] = contracts::to_json(job.shown);
  return json::print(file) + "\n";
}

std::optional<job_record> parse_job(std::string_view text,
                                    std::string_view id) {
  auto file = json::parse(text);
  if (!file || !file.value.is_object())
    return std::nullopt;
  const auto& members = file.value.get_object();
  const auto* projection = json::member(members, "projection");
  if (json::int_member(members, "version") != format_version
      || projection == nullptr)
    return std::nullopt;
  auto shown = contracts::parse_process_job_projection(*projection);
  if (!shown || shown.projection.job_id != id)
    return std::nullopt;
  // The reply route is the only record of the conversation.
  auto route =
    contracts::parse_contract_id(shown.projection.origin.conversation_id);
  if (!route)
    return std::nullopt;
  // What has not ended has woken nobody.
  if (!contracts::is_ended(shown.projection.state)
      && shown.projection.wake.state
           != contracts::process_job_wake_state::pending)
    return std::nullopt;
  job_record job;
  job.shown = std::move(shown.projection);
  job.conversation = std::move(route->address);
  job.session_key = std::move(route->session_key);
  job.command = json::text_or_empty(members, "command");
  if (job.shown.state == contracts::process_job_state::queued
      && text::is_blank(job.command))
    return std::nullopt;
  job.cwd = json::text_or_empty(members, "cwd");
  if (const auto* target = json::member(members, "target"))
    job.target = json_text{json::print(*target)};
  if (const auto* variables = json::member(members, "environment"))
    job.environment = parse_environment(*variables);
  if (auto word = json::text_or_empty(members, "disposition"); !word.empty())
    for (auto known : {contracts::wake_disposition::steered,
                       contracts::wake_disposition::follow_up})
      if (word == to_string(known))
        job.disposition = known;
  // Without it the wake is built from the history as it is.
  if (const auto* context = json::member(members, "originContext"))
    if (auto kept = contracts::parse_continuation_context(*context))
      job.context = std::move(*kept);
  return job;
}

} // namespace bureau::jobs
