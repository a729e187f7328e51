#include "actors/control/control_core.hpp"

#include "messages/codec/conversation_names.hpp"
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
                       std::string_view failure) {
  auto message = text::sanitize_utf8(sentence);
  bj::object error{
    {"code", code},
    {"message", bj::string{text::prefix_bytes(message, sentence_bytes)}}};
  if (!failure.empty())
    error["data"] = bj::object{{"errc", failure}};
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

method_call read_show(parameters& params) {
  params.expect("office.show", {"platform", "id"});
  auto platform = params.text("platform");
  auto id = params.text("id");
  if (!params.fault().empty())
    return office_show_call{};
  auto address = make_address(platform, id);
  if (!address)
    params.complain(sentence_of(address.fault, platform, id));
  return office_show_call{std::move(address.address)};
}

method_call read_level(parameters& params) {
  params.expect("log.level", {"level"});
  log_level_call call{params.text("level")};
  if (std::find(levels.begin(), levels.end(), call.level) == levels.end())
    params.complain("The parameter 'level' must be debug, info, warning or "
                    "error.");
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
  if (method == "office.show")
    return read_show(params);
  if (method == "log.level")
    return read_level(params);
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
                        "office.show and log.level.");
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
  return error_line(id, service_failed, sentence, to_string(code));
}

std::string call_line(std::string_view method, const json::bj::object& params) {
  bj::object call{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}};
  if (!params.empty())
    call["params"] = params;
  return json::print(call);
}

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

json::bj::object log_level_result(std::string_view level,
                                  std::string_view before) {
  return {{"level", level}, {"before", before}};
}

} // namespace bureau::control
