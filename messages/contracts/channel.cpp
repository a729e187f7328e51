#include "messages/contracts/channel.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/vocabulary.hpp"

#include <algorithm>

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 5> state_names = {
  "disabled", "waiting_for_config", "running", "degraded", "failed"};
constexpr std::array<std::string_view, 3> source_names = {"env", "json",
                                                          "default"};
constexpr std::array<std::string_view, 2> disposition_names = {"steered",
                                                               "follow_up"};
constexpr std::array<std::string_view, 3> posted_names = {"working", "done",
                                                          "failed"};

template <class T>
void put(bj::object& into, const char* name, const caf::optional<T>& value) {
  if (value)
    into[name] = *value;
}

notify_delivery_result refused(std::string code, bool retryable) {
  notify_delivery_result result;
  result.code = std::move(code);
  result.retryable = retryable;
  return result;
}

/// The reply route of a job: its conversation without the rollover bucket.
std::string_view route_of(const process_job_origin& origin) {
  std::string_view id = origin.conversation_id;
  if (!origin.bucket)
    return id;
  auto suffix = "#" + *origin.bucket;
  if (id.ends_with(suffix))
    id.remove_suffix(suffix.size());
  return id;
}

} // namespace

std::string to_string(channel_state state) {
  return name_in(state_names, state);
}

std::string to_string(config_source source) {
  return name_in(source_names, source);
}

std::string to_string(wake_disposition disposition) {
  return name_in(disposition_names, disposition);
}

std::string to_string(posted_state state) {
  return name_in(posted_names, state);
}

bj::object to_json(const channel_status& status) {
  bj::object result{{"status", to_string(status.state)}};
  if (status.state != channel_state::running) {
    result["reason"] = status.reason;
    return result;
  }
  auto summary = json::parse(status.summary.text);
  result["summary"] = summary && summary.value.is_object()
                        ? std::move(summary.value)
                        : bj::value(bj::object{});
  return result;
}

bj::object to_json(const config_view_section& section) {
  bj::array fields;
  for (const auto& field : section.fields) {
    bj::object member{{"id", field.id},
                      {"label", field.label},
                      {"value", field.value},
                      {"source", to_string(field.source)}};
    if (field.redacted)
      member["redacted"] = true;
    put(member, "envKey", field.env_key);
    fields.push_back(std::move(member));
  }
  return {{"id", section.id},
          {"label", section.label},
          {"status", section.active ? "active" : "disabled"},
          {"fields", std::move(fields)}};
}

bj::object to_json(const notify_delivery_result& result) {
  bj::object fields{{"delivered", result.delivered}};
  put(fields, "reason", result.reason);
  put(fields, "code", result.code);
  put(fields, "retryable", result.retryable);
  put(fields, "ambiguous", result.ambiguous);
  put(fields, "deliveryId", result.delivery_id);
  put(fields, "channelId", result.channel_id);
  put(fields, "historyRecorded", result.history_recorded);
  put(fields, "historyErrorCode", result.history_error_code);
  if (result.disposition)
    fields["disposition"] = to_string(*result.disposition);
  return fields;
}

bool is_conversation_scheme(std::string_view scheme) {
  constexpr size_t max_length = 64;
  auto is_letter = [](char c) {
    return c >= 'a' && c <= 'z';
  };
  return !scheme.empty() && scheme.size() <= max_length
         && is_letter(scheme.front())
         && std::all_of(scheme.begin(), scheme.end(), [&](char c) {
              return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
            });
}

std::optional<notify_delivery_result>
check_job_route(const process_job_delivery& delivery) {
  const auto& origin = delivery.job.origin;
  if (delivery.conversation_id != route_of(origin)
      || delivery.delivery_key != delivery.job.wake.delivery_key
      || !delivery.conversation_id.starts_with(origin.channel + ":"))
    return refused("process_job_origin_mismatch", false);
  return std::nullopt;
}

notify_delivery_result no_job_channel() {
  return refused("background_unsupported_channel", false);
}

notify_delivery_result job_channel_not_running() {
  return refused("destination_channel_unavailable", true);
}

notify_delivery_result job_wake_failed() {
  return refused("process_job_wake_failed", false);
}

} // namespace bureau::contracts
