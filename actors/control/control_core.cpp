#include "actors/control/control_core.hpp"

#include "messages/codec/conversation_names.hpp"
#include "messages/codec/event_file.hpp"
#include "messages/contracts/identity.hpp"
#include "messages/limits.hpp"
#include "messages/product.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace bureau::control {

namespace {

namespace bj = json::bj;

/// Bytes of a sentence that goes into an answer: it may quote the call.
constexpr size_t sentence_bytes = 1000;

constexpr std::array<std::string_view, 4> levels = {"debug", "info", "warning",
                                                    "error"};

/// Text that came from anywhere, as JSON can hold it.
bj::string shown(std::string_view text) {
  return bj::string{text::sanitize_utf8(text)};
}

std::string envelope(std::string_view id, std::string_view member,
                     std::string_view value) {
  std::string line = R"({"jsonrpc":"2.0","id":)";
  line += id.empty() ? std::string_view{"null"} : id;
  line += ",\"";
  line += member;
  line += "\":";
  line += value;
  line += '}';
  return line;
}

std::string error_line(std::string_view id, int code, std::string_view sentence,
                       std::string_view failure, bool cancelled = false) {
  auto message = text::sanitize_utf8(sentence);
  bj::object error{
    {"code", code},
    {"message", bj::string{text::prefix_bytes(message, sentence_bytes)}}};
  if (!failure.empty())
    error["data"] = bj::object{{"errc", failure}};
  if (cancelled)
    error["data"].as_object()["cancelled"] = true;
  return envelope(id, "error", json::print(error));
}

/// The parameters of a method: read by name, unknown ones refused.
class parameters {
public:
  explicit parameters(const bj::value* given) {
    if (given == nullptr)
      return;
    members_ = given->if_object();
    if (members_ == nullptr)
      fault_ = "The parameters must be an object.";
  }

  /// Names everything that the method takes.
  void expect(std::string_view method,
              std::initializer_list<std::string_view> names) {
    if (members_ == nullptr)
      return;
    for (const auto& member : *members_)
      if (std::find(names.begin(), names.end(), member.key()) == names.end())
        complain(std::string{method} + " takes no parameter '"
                 + std::string{member.key()} + "'.");
  }

  std::string text(std::string_view name) {
    auto value = find(name);
    if (value == nullptr || !value->is_string()) {
      complain("The parameter '" + std::string{name} + "' must be a string.");
      return {};
    }
    return std::string{std::string_view{value->get_string()}};
  }

  std::string text_or(std::string_view name, std::string_view fallback) {
    return find(name) == nullptr ? std::string{fallback} : text(name);
  }

  bool flag(std::string_view name) {
    auto value = find(name);
    if (value == nullptr)
      return false;
    if (!value->is_bool())
      complain("The parameter '" + std::string{name}
               + "' must be true or false.");
    return value->is_bool() && value->get_bool();
  }

  /// A conversation id of the contracts.
  std::string conversation() {
    auto id = text("conversationId");
    if (fault_.empty() && !contracts::parse_contract_id(id))
      complain("The parameter 'conversationId' must be PLATFORM:ID.");
    return id;
  }

  /// All of them, as a value.
  const bj::object& all() const {
    static const bj::object none;
    return members_ == nullptr ? none : *members_;
  }

  std::optional<int64_t> number_if_given(std::string_view name, int64_t most) {
    if (find(name) == nullptr)
      return std::nullopt;
    auto number = json::int_member(*members_, name);
    if (!number || *number < 0 || *number > most)
      complain("The parameter '" + std::string{name}
               + "' must be a whole number from 0 to " + std::to_string(most)
               + '.');
    return number;
  }

  /// Remembers the first complaint.
  void complain(std::string sentence) {
    if (fault_.empty())
      fault_ = std::move(sentence);
  }

  const std::string& fault() const { return fault_; }

private:
  const bj::value* find(std::string_view name) const {
    return members_ == nullptr ? nullptr : json::member(*members_, name);
  }

  const bj::object* members_ = nullptr;
  std::string fault_;
};

office_address read_address(parameters& params) {
  auto platform = params.text("platform");
  auto id = params.text("id");
  if (!params.fault().empty())
    return {};
  auto address = make_address(platform, id);
  if (!address)
    params.complain(sentence_of(address.fault, platform, id));
  return std::move(address.address);
}

method_call read_level(parameters& params) {
  params.expect("log.level", {"level"});
  log_level_call call{params.text("level")};
  if (std::find(levels.begin(), levels.end(), call.level) == levels.end())
    params.complain("The parameter 'level' must be debug, info, warning or "
                    "error.");
  return call;
}

method_call read_notify(parameters& params) {
  params.expect("notify", {"conversationId", "text", "verbatim", "deliveryKey",
                           "jobId", "runId"});
  notify_call call;
  call.request.conversation_id = params.conversation();
  call.request.text = params.text("text");
  call.request.verbatim = params.flag("verbatim");
  if (auto key = params.text_or("deliveryKey", {}); !key.empty())
    call.request.delivery_key = std::move(key);
  auto job = params.text_or("jobId", {});
  auto run = params.text_or("runId", {});
  if (job.empty() != run.empty())
    params.complain("The parameters 'jobId' and 'runId' come together.");
  else if (!job.empty())
    call.request.context =
      contracts::notify_context{std::move(job), std::move(run)};
  return call;
}

method_call read_turn(parameters& params) {
  params.expect("turn.run", {"conversationId", "text", "id"});
  turn_call call;
  call.request.conversation_id = params.conversation();
  call.request.text = params.text("text");
  if (auto id = params.text_or("id", {}); !id.empty())
    call.request.metadata = json_text{json::print(bj::object{{"id", id}})};
  contracts::message_sender sender;
  sender.display_name = "operator";
  call.request.sender = std::move(sender);
  return call;
}

method_call read_offer(parameters& params) {
  params.expect("turn.offer", {"conversationId", "id", "text", "receivedAt",
                               "deliveryKey", "targetRunId"});
  offer_call call;
  auto conversation = params.conversation();
  auto target = params.text_or("targetRunId", {});
  if (!params.fault().empty())
    return call;
  auto body = params.all();
  body.erase("conversationId");
  body.erase("targetRunId");
  auto request = contracts::parse_live_input(body, conversation);
  if (!request) {
    params.complain(sentence_of(request.error()));
    return call;
  }
  call.request = std::move(*request);
  if (!target.empty())
    call.request.target_run_id = std::move(target);
  return call;
}

method_call read_cancel(parameters& params) {
  params.expect("turn.cancel", {"conversationId", "all", "reason"});
  cancel_call call;
  call.request.conversation_id = params.conversation();
  call.request.all = params.flag("all");
  auto reason = contracts::channel_user_cancel("control");
  if (reason)
    call.request.reason = std::move(*reason);
  if (auto said = params.text_or("reason", {}); !said.empty())
    call.request.reason.message = std::move(said);
  return call;
}

method_call read_jobs_list(parameters& params) {
  params.expect("jobs.list", {"state"});
  jobs_list_call call;
  auto word = params.text_or("state", {});
  if (word.empty())
    return call;
  call.state = contracts::parse_process_job_state(word);
  if (!contracts::is_process_job_state(bj::value(word)))
    params.complain("The parameter 'state' is no state of a job.");
  return call;
}

std::string read_job_id(std::string_view method, parameters& params) {
  params.expect(method, {"id"});
  return params.text("id");
}

method_call read_events_show(parameters& params) {
  params.expect("events.show", {"id", "run", "limit", "before"});
  events_show_call call;
  call.query.job_id = params.text("id");
  call.query.run_id = params.text_or("run", {});
  auto most = static_cast<int64_t>(contracts::max_cron_run_page);
  auto limit = params.number_if_given("limit", most);
  auto digits = std::to_string(limit.value_or(0));
  auto before = params.text_or("before", {});
  auto page = contracts::parse_cron_runs_query(
    limit ? std::optional<std::string_view>{digits} : std::nullopt,
    before.empty() ? std::nullopt : std::optional<std::string_view>{before});
  if (page)
    call.query.page = *page;
  else
    params.complain(sentence_of(page.error()));
  return call;
}

/// Nothing when there is no such method.
std::optional<method_call> read_method(std::string_view method,
                                       parameters& params) {
  if (method == "status") {
    params.expect(method, {});
    return status_call{};
  }
  if (method == "shutdown") {
    params.expect(method, {"deadlineMs"});
    return shutdown_call{params.number_if_given("deadlineMs", deadline_ms_max)};
  }
  if (method == "office.list") {
    params.expect(method, {});
    return office_list_call{};
  }
  if (method == "office.show") {
    params.expect(method, {"platform", "id"});
    return office_show_call{read_address(params)};
  }
  if (method == "office.claim") {
    params.expect(method, {"platform", "id", "workspace"});
    return office_claim_call{read_address(params),
                             params.text_or("workspace", "")};
  }
  if (method == "log.level")
    return read_level(params);
  if (method == "notify")
    return read_notify(params);
  if (method == "notify.destinations") {
    params.expect(method, {});
    return destinations_call{};
  }
  if (method == "turn.run")
    return read_turn(params);
  if (method == "turn.offer")
    return read_offer(params);
  if (method == "turn.cancel")
    return read_cancel(params);
  if (method == "jobs.list")
    return read_jobs_list(params);
  if (method == "jobs.show")
    return jobs_show_call{read_job_id(method, params)};
  if (method == "jobs.cancel")
    return jobs_cancel_call{read_job_id(method, params)};
  if (method == "events.list") {
    params.expect(method, {});
    return events_list_call{};
  }
  if (method == "events.show")
    return read_events_show(params);
  if (method == "events.delete") {
    params.expect(method, {"filename"});
    return events_delete_call{params.text("filename")};
  }
  return std::nullopt;
}

/// The id of a call; an object without one is a notification.
struct call_id {
  std::string text;
  bool valid = true;
  bool given = false;
};

call_id read_id(const bj::object& call) {
  auto found = json::member(call, "id");
  if (found == nullptr)
    return {};
  call_id result{json::print(*found), true, true};
  result.valid = (found->is_string() || found->is_int64() || found->is_uint64()
                  || found->is_null())
                 && result.text.size() <= id_bytes;
  if (!result.valid)
    result.text.clear();
  return result;
}

incoming refuse(const call_id& id, int code, std::string_view sentence) {
  incoming result;
  result.id = id.text;
  result.refusal = error_line(id.text, code, sentence, {});
  return result;
}

bj::array lines_of(const std::vector<status_line>& lines) {
  bj::array result;
  for (const auto& line : lines)
    result.push_back(bj::object{{"label", shown(line.label)},
                                {"state", shown(line.state)},
                                {"detail", shown(line.detail)}});
  return result;
}

bj::object session_of(const session_snapshot& session) {
  bj::object result{{"sessionKey", shown(session.session_key)},
                    {"state", shown(session.state)},
                    {"waiting", session.waiting}};
  if (!session.run.empty())
    result["run"] = shown(session.run);
  if (!session.message_id.empty())
    result["messageId"] = shown(session.message_id);
  return result;
}

/// What has work comes first: the list may be cut.
std::vector<session_snapshot> ordered(std::vector<session_snapshot> sessions) {
  auto resting = [](const session_snapshot& session) {
    return session.waiting == 0
           && (session.state == "idle" || session.state == "absent");
  };
  std::stable_sort(sessions.begin(), sessions.end(),
                   [&](const auto& left, const auto& right) {
                     if (resting(left) != resting(right))
                       return resting(right);
                     return left.last_access_ms > right.last_access_ms;
                   });
  return sessions;
}

void add_node(bj::object& result, const node_report& node) {
  result["state"] = shown(node.node.state);
  result["components"] = lines_of(node.services);
  result["adapters"] = lines_of(node.adapters);
  bj::array degraded;
  for (const auto& part : node.degraded)
    degraded.push_back(bj::object{{"component", shown(part.component)},
                                  {"reason", shown(part.reason)}});
  result["degraded"] = std::move(degraded);
  bj::array channels;
  for (const auto& item : node.channels) {
    auto status = contracts::to_json(item.status);
    if (auto reason = status.if_contains("reason"))
      *reason = shown(item.status.reason);
    channels.push_back(bj::object{{"channel", to_string(item.platform)},
                                  {"starts", item.generation},
                                  {"status", std::move(status)}});
  }
  result["channels"] = std::move(channels);
}

void add_runtime(bj::object& result, const runtime_snapshot& runtime) {
  result["offices"] = bj::object{{"known", runtime.offices_known},
                                 {"active", runtime.offices_active}};
  result["openEntries"] = runtime.open_entries;
  result["sessionsTotal"] = runtime.sessions.size();
  bj::array sessions;
  for (const auto& session : ordered(runtime.sessions)) {
    if (sessions.size() == sessions_shown)
      break;
    sessions.push_back(session_of(session));
  }
  result["sessions"] = std::move(sessions);
}

} // namespace

incoming parse_call(std::string_view line) {
  auto parsed = json::parse(line);
  if (!parsed)
    return refuse({}, parse_error,
                  "The line is no JSON: " + parsed.fault->what + " at column "
                    + std::to_string(parsed.fault->column) + '.');
  auto call = parsed.value.if_object();
  if (call == nullptr)
    return refuse({}, invalid_request,
                  "A call is one JSON object a line; batches are not taken.");
  auto id = read_id(*call);
  if (!id.valid)
    return refuse(id, invalid_request,
                  "The id must be a string, a whole number or null, and "
                  "short.");
  auto method = json::string_member(*call, "method");
  if (json::string_member(*call, "jsonrpc") != "2.0" || !method)
    return refuse(id, invalid_request,
                  "A call needs \"jsonrpc\":\"2.0\" and a method.");
  parameters params{json::member(*call, "params")};
  auto wanted = read_method(*method, params);
  incoming result;
  result.id = id.text;
  if (!wanted)
    result = refuse(id, unknown_method,
                    "There is no method '" + *method
                      + "'; there are status, shutdown, office.list, "
                        "office.show, office.claim, log.level, notify, "
                        "notify.destinations, turn.run, turn.offer, "
                        "turn.cancel, jobs.list, jobs.show and jobs.cancel.");
  else if (!params.fault().empty())
    result = refuse(id, bad_params, params.fault());
  else
    result.call = std::move(wanted);
  if (!id.given)
    result.refusal.clear();
  return result;
}

std::string result_line(std::string_view id, std::string_view result) {
  auto line = envelope(id, "result", result);
  if (line.size() > limits::json_text_bytes)
    return failure_line(id, errc::too_large,
                        "The answer is larger than one line may be.");
  return line;
}

std::string failure_line(std::string_view id, errc code,
                         std::string_view sentence) {
  auto cancelled =
    contracts::is_response_cancelled(make_failure(code, std::string{sentence}));
  return error_line(id, service_failed, sentence, to_string(code), cancelled);
}

std::string refusal_line(std::string_view id,
                         contracts::process_job_error_code code) {
  return error_line(id, service_failed, contracts::public_message(code),
                    to_string(code));
}

std::string call_line(std::string_view method, const json::bj::object& params) {
  bj::object call{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}};
  if (!params.empty())
    call["params"] = params;
  return json::print(call);
}

namespace {

/// Errors of jobs have one sentence each, whatever came over the wire.
std::optional<std::string> job_sentence(const bj::object& error) {
  auto found = json::member(error, "data");
  auto data = found == nullptr ? nullptr : found->if_object();
  auto code = data == nullptr ? nullptr : json::member(*data, "errc");
  if (code == nullptr || !contracts::is_process_job_error_code(*code))
    return std::nullopt;
  auto known = contracts::parse_process_job_error_code(code->get_string());
  return std::string{contracts::public_message(*known)};
}

} // namespace

reply parse_reply(std::string_view line) {
  reply answer;
  auto parsed = json::parse(line);
  auto root = parsed ? parsed.value.if_object() : nullptr;
  auto result = root == nullptr ? nullptr : json::member(*root, "result");
  if (result != nullptr && result->is_object()) {
    answer.result = result->get_object();
    return answer;
  }
  auto found = root == nullptr ? nullptr : json::member(*root, "error");
  auto error = found == nullptr ? nullptr : found->if_object();
  answer.code = parse_error;
  answer.sentence = "The node said something that is no answer.";
  if (error != nullptr) {
    answer.code = json::int_member(*error, "code").value_or(parse_error);
    answer.sentence = json::text_or_empty(*error, "message");
    if (auto told = job_sentence(*error))
      answer.sentence = std::move(*told);
  }
  return answer;
}

json::bj::object status_result(const status_parts& parts) {
  bj::object result{
    {"product", product::name},    {"version", parts.facts.version},
    {"pid", parts.facts.pid},      {"startedAt", parts.facts.started_at},
    {"uptimeMs", parts.uptime_ms}, {"logLevel", parts.log_level}};
  if (parts.node)
    add_node(result, *parts.node);
  if (parts.runtime)
    add_runtime(result, *parts.runtime);
  bj::array silent;
  for (const auto& part : parts.silent)
    silent.push_back(bj::object{{"part", part.part},
                                {"errc", to_string(part.code)},
                                {"message", shown(part.sentence)}});
  result["silent"] = std::move(silent);
  return result;
}

json::bj::object shutdown_result(int64_t deadline_ms) {
  return {{"deadlineMs", deadline_ms}};
}

json::bj::object office_list_result(const office_inventory& inventory) {
  bj::array platforms;
  for (auto platform : inventory.enabled_platforms)
    platforms.push_back(bj::string{to_string(platform)});
  bj::array offices;
  for (const auto& record : inventory.offices) {
    if (offices.size() == offices_shown)
      break;
    offices.push_back(
      bj::object{{"platform", to_string(record.address.platform)},
                 {"id", shown(record.address.conversation_id)},
                 {"key", office_key(record.address)},
                 {"recordedAt", shown(record.recorded_at)}});
  }
  return {{"enabledPlatforms", std::move(platforms)},
          {"offices", std::move(offices)},
          {"total", inventory.offices.size()}};
}

json::bj::object office_claim_result(const office_address& claimed) {
  return {{"platform", to_string(claimed.platform)},
          {"id", shown(claimed.conversation_id)},
          {"status", "prepared"}};
}

json::bj::object destinations_result(const notify_destinations& found) {
  bj::array list;
  for (const auto& place : found.list) {
    bj::object member{{"conversationId", shown(place.conversation_id)},
                      {"channelId", shown(place.channel_id)}};
    if (place.last_seen)
      member["lastSeen"] = shown(*place.last_seen);
    if (place.from_allowlist)
      member["fromAllowlist"] = true;
    list.push_back(std::move(member));
  }
  return {{"destinations", std::move(list)}, {"cut", found.cut}};
}

json::bj::object turn_result(const contracts::turn_response& response) {
  bj::object result;
  if (response.text)
    result["text"] = shown(*response.text);
  if (!response.parts.empty()) {
    bj::array parts;
    for (const auto& part : response.parts)
      parts.push_back(contracts::to_json(part));
    result["parts"] = std::move(parts);
  }
  auto metadata = json::parse(response.metadata.text);
  if (metadata && metadata.value.is_object())
    result["metadata"] = std::move(metadata.value);
  return result;
}

json::bj::object cancel_result(const turn_cancelled& what) {
  bj::object result{{"turns", what.turns}};
  if (!what.message_id.empty())
    result["messageId"] = shown(what.message_id);
  return result;
}

json::bj::object jobs_result(
  const job_list& list, std::optional<contracts::process_job_state> state) {
  bj::array jobs;
  size_t total = 0;
  for (const auto& job : list.jobs) {
    if (state && job.state != *state)
      continue;
    if (total++ < jobs_shown)
      jobs.push_back(contracts::to_json(job));
  }
  return {{"jobs", std::move(jobs)}, {"total", static_cast<int64_t>(total)}};
}

json::bj::object job_result(const job_answer& answer) {
  bj::object result{{"job", contracts::to_json(answer.job)}};
  if (answer.disposition)
    result["disposition"] = to_string(*answer.disposition);
  return result;
}

json::bj::object log_level_result(std::string_view level,
                                  std::string_view before) {
  return {{"level", level}, {"before", before}};
}

bj::object events_result(const contracts::cron_overview& overview,
                         const event_list& files) {
  bj::array shown_files;
  for (const auto& file : files.events) {
    bj::object entry{{"filename", shown(file.filename)},
                     {"state", to_string(file.state)},
                     {"author", to_string(file.author)},
                     {"size", file.size},
                     {"mtimeMs", file.modified_ms}};
    if (file.payload)
      entry["payload"] = to_json(*file.payload);
    else
      entry["payload"] = nullptr;
    if (!file.fault.empty())
      entry["error"] = shown(file.fault);
    shown_files.push_back(std::move(entry));
  }
  return {{"overview", contracts::to_json(overview)},
          {"files", std::move(shown_files)}};
}

bj::object event_runs_result(const contracts::cron_run_page& page) {
  return contracts::to_json(page);
}

bj::object event_run_result(const contracts::cron_run& run) {
  return {{"run", contracts::to_json(run)}};
}

bj::object event_deleted_result(bool was_there) {
  return {{"deleted", was_there}};
}

} // namespace bureau::control
