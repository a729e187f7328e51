#include "actors/jobs/job_record_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>

namespace bureau::jobs {

namespace {

constexpr std::string_view id_head = "pj-";
constexpr size_t id_digits = 16;
constexpr std::string_view wake_head = "job:";
constexpr int64_t format_version = 1;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
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
  job_record job;
  job.shown = std::move(shown.projection);
  job.conversation = std::move(route->address);
  job.session_key = std::move(route->session_key);
  job.command = json::text_or_empty(members, "command");
  job.cwd = json::text_or_empty(members, "cwd");
  return job;
}

} // namespace bureau::jobs
