#include "messages/codec/ledger_record.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <array>

namespace bureau {

namespace {

namespace bj = boost::json;

constexpr int ledger_version = 1;

constexpr std::array<std::string_view, 7> state_names = {
  "accepted", "running", "produced", "sending", "sent", "ambiguous", "dead"};
constexpr std::array<std::string_view, 5> notes = {
  "silent", "command", "not_triggered", "steered", "collected"};
constexpr std::array<std::string_view, 6> reasons = {
  "stopped",       "superseded", "interrupted",
  "undeliverable", "refused",    "attachment"};
constexpr std::array<turn_origin, 3> origins = {
  turn_origin::user, turn_origin::event, turn_origin::action};
constexpr std::array<outbound_op, 3> operations = {
  outbound_op::post, outbound_op::edit, outbound_op::upload};

bj::string clean(std::string_view text) {
  return bj::string(text::sanitize_utf8(text));
}

void put(bj::object& into, std::string_view name, std::string_view value) {
  if (!value.empty())
    into.emplace(name, clean(value));
}

void put_json(bj::object& into, std::string_view name, const json_text& value) {
  if (value.empty())
    return;
  auto parsed = json::parse(value.text);
  if (parsed)
    into.emplace(name, std::move(parsed.value));
}

bj::array print_ids(const std::vector<std::string>& ids) {
  bj::array result;
  for (auto& id : ids)
    result.emplace_back(clean(id));
  return result;
}

std::vector<std::string> parse_ids(const bj::object& line,
                                   std::string_view name) {
  std::vector<std::string> result;
  auto list = json::member(line, name);
  if (list != nullptr && list->is_array())
    for (auto& id : list->get_array())
      if (id.is_string())
        result.emplace_back(id.get_string());
  return result;
}

bj::array print_parts(const std::vector<contracts::reply_part>& parts) {
  bj::array result;
  for (auto& part : parts)
    result.emplace_back(contracts::to_json(part));
  return result;
}

std::vector<contracts::reply_part> parse_parts(const bj::object& line) {
  std::vector<contracts::reply_part> result;
  auto list = json::member(line, "parts");
  if (list == nullptr || !list->is_array())
    return result;
  for (auto& part : list->get_array())
    if (result.size() < contracts::max_reply_parts)
      result.push_back(contracts::parse_reply_part(part));
  return result;
}

bj::object print_event(const ledger_record& record) {
  const auto& event = record.event;
  bj::object result;
  result.emplace("ts", clean(event.message_id));
  put(result, "threadTs", event.thread_ts);
  result.emplace("kind", to_string(event.kind));
  result.emplace("type", event.origin == turn_origin::user
                           ? std::string{"message"}
                           : to_string(event.origin));
  result.emplace("user", clean(event.user));
  put(result, "userName", event.user_name);
  put(result, "displayName", record.display_name);
  result.emplace("text", clean(event.text));
  bj::array attachments;
  for (auto& item : event.attachments) {
    bj::object entry;
    entry.emplace("name", clean(item.name));
    put(entry, "ref", item.ref);
    put(entry, "localPath", item.local_path);
    put(entry, "fault", item.fault);
    attachments.emplace_back(std::move(entry));
  }
  result.emplace("attachments", std::move(attachments));
  if (event.sent_ms != 0)
    result.emplace("sentMs", event.sent_ms);
  if (event.from_bot)
    result.emplace("isMessagingBot", true);
  put(result, "botId", event.bot_id);
  put(result, "appId", event.app_id);
  put(result, "subtype", event.subtype);
  return result;
}

conversation_event parse_event(const bj::object& line, const bj::object& ev) {
  conversation_event event;
  event.session_key = json::text_or_empty(line, "key");
  event.message_id = json::text_or_empty(line, "id");
  auto origin = json::text_or_empty(line, "origin");
  for (auto known : origins)
    if (to_string(known) == origin)
      event.origin = known;
  if (auto target = json::member(line, "target"))
    event.target = json_text{json::print(*target)};
  event.thread_ts = json::text_or_empty(ev, "threadTs");
  event.kind = parse_conversation_kind(json::text_or_empty(ev, "kind"))
                 .value_or(conversation_kind::direct);
  event.user = json::text_or_empty(ev, "user");
  event.user_name = json::text_or_empty(ev, "userName");
  event.text = json::text_or_empty(ev, "text");
  event.sent_ms = json::int_member(ev, "sentMs").value_or(0);
  event.from_bot = json::bool_member(ev, "isMessagingBot").value_or(false);
  event.bot_id = json::text_or_empty(ev, "botId");
  event.app_id = json::text_or_empty(ev, "appId");
  event.subtype = json::text_or_empty(ev, "subtype");
  auto attachments = json::member(ev, "attachments");
  if (attachments != nullptr && attachments->is_array())
    for (auto& entry : attachments->get_array())
      if (auto object = entry.if_object())
        event.attachments.push_back({json::text_or_empty(*object, "name"),
                                     json::text_or_empty(*object, "localPath"),
                                     json::text_or_empty(*object, "ref"),
                                     json::text_or_empty(*object, "fault")});
  return event;
}

void put_part(bj::object& line, const ledger_record& record) {
  put(line, "run", record.run);
  line.emplace("part", record.part);
  line.emplace("of", record.of);
}

void print_fields(bj::object& line, const ledger_record& record) {
  switch (record.state) {
  case ledger_state::accepted:
    line.emplace("key", clean(record.event.session_key));
    line.emplace("origin", to_string(record.event.origin));
    line.emplace("ev", print_event(record));
    put_json(line, "target", record.event.target);
    if (record.unlogged)
      line.emplace("unlogged", true);
    break;
  case ledger_state::running:
    line.emplace("run", clean(record.run));
    line.emplace("attempt", record.attempt);
    break;
  case ledger_state::produced: {
    line.emplace("run", clean(record.run));
    if (!record.text)
      break;
    line.emplace("text", clean(*record.text));
    line.emplace("parts", print_parts(record.parts));
    put_json(line, "target", record.target);
    line.emplace("covers", print_ids(record.covers));
    put(line, "provisional", record.provisional);
    break;
  }
  case ledger_state::sending:
    put_part(line, record);
    line.emplace("op", to_string(record.op));
    put(line, "ref", record.ref);
    if (record.labelled)
      line.emplace("labelled", true);
    break;
  case ledger_state::sent:
    if (!record.note.empty()) {
      line.emplace("note", record.note);
      // What a command said is delivered like an answer.
      put(line, "ref", record.ref);
      break;
    }
    put_part(line, record);
    put(line, "ref", record.ref);
    if (bj::value outcomes = contracts::to_json(record.outcomes);
        contracts::is_outcomes(outcomes))
      line.emplace("replyPartOutcomes", std::move(outcomes));
    break;
  case ledger_state::ambiguous:
    put(line, "run", record.run);
    line.emplace("part", record.part);
    put(line, "why", record.why);
    break;
  case ledger_state::dead:
    line.emplace("why", clean(record.why));
    line.emplace("told", record.told);
    break;
  }
}

uint32_t small_number(const bj::object& line, std::string_view name,
                      uint32_t otherwise) {
  constexpr int64_t cap = 1'000'000;
  auto value = json::int_member(line, name);
  if (!value || *value < 0 || *value > cap)
    return otherwise;
  return static_cast<uint32_t>(*value);
}

template <size_t N>
bool contains(const std::array<std::string_view, N>& names,
              std::string_view text) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

} // namespace

std::string to_string(ledger_state state) {
  auto index = static_cast<size_t>(state);
  return std::string{index < state_names.size() ? state_names[index]
                                                : "unknown"};
}

std::optional<ledger_state> parse_ledger_state(std::string_view name) {
  for (size_t i = 0; i < state_names.size(); ++i)
    if (state_names[i] == name)
      return static_cast<ledger_state>(i);
  return std::nullopt;
}

bool is_ledger_note(std::string_view text) {
  return contains(notes, text);
}

bool is_death_reason(std::string_view text) {
  return contains(reasons, text);
}

std::string print_ledger_line(const ledger_record& record) {
  bj::object line;
  line.emplace("v", ledger_version);
  line.emplace("at", record.at);
  if (!record.closed.empty()) {
    line.emplace("closed", print_ids(record.closed));
    return json::print(line) + "\n";
  }
  line.emplace("id", clean(record.id));
  line.emplace("st", to_string(record.state));
  print_fields(line, record);
  return json::print(line) + "\n";
}

std::optional<ledger_record> parse_ledger_line(std::string_view text) {
  auto parsed = json::parse(text);
  auto line = parsed ? parsed.value.if_object() : nullptr;
  if (line == nullptr || json::int_member(*line, "v") != ledger_version)
    return std::nullopt;
  ledger_record record;
  record.at = json::text_or_empty(*line, "at");
  record.closed = parse_ids(*line, "closed");
  if (!record.closed.empty())
    return record;
  auto state = parse_ledger_state(json::text_or_empty(*line, "st"));
  record.id = json::text_or_empty(*line, "id");
  if (!state || record.id.empty())
    return std::nullopt;
  record.state = *state;
  if (record.state == ledger_state::accepted) {
    auto ev = json::member(*line, "ev");
    if (ev == nullptr || !ev->is_object())
      return std::nullopt;
    record.event = parse_event(*line, ev->get_object());
    record.display_name = json::text_or_empty(ev->get_object(), "displayName");
    record.unlogged = json::bool_member(*line, "unlogged").value_or(false);
    return record;
  }
  record.run = json::text_or_empty(*line, "run");
  record.attempt = small_number(*line, "attempt", 1);
  record.text = json::string_member(*line, "text");
  record.covers = parse_ids(*line, "covers");
  record.provisional = json::text_or_empty(*line, "provisional");
  record.parts = parse_parts(*line);
  if (auto target = json::member(*line, "target"))
    record.target = json_text{json::print(*target)};
  record.part = small_number(*line, "part", 0);
  record.of = std::max(small_number(*line, "of", 1), record.part + 1);
  auto op = json::text_or_empty(*line, "op");
  for (auto known : operations)
    if (to_string(known) == op)
      record.op = known;
  record.ref = json::text_or_empty(*line, "ref");
  record.labelled = json::bool_member(*line, "labelled").value_or(false);
  if (auto outcomes = json::member(*line, "replyPartOutcomes"))
    record.outcomes = contracts::sanitize_outcomes(*outcomes);
  record.note = json::text_or_empty(*line, "note");
  record.why = json::text_or_empty(*line, "why");
  record.told = json::bool_member(*line, "told").value_or(false);
  return record;
}

ledger_contents read_ledger(std::string_view text) {
  ledger_contents result;
  result.torn = !text.empty() && text.back() != '\n';
  size_t number = 0;
  for (size_t pos = 0; pos < text.size();) {
    auto end = text.find('\n', pos);
    if (end == std::string_view::npos)
      end = text.size();
    auto line = text.substr(pos, end - pos);
    pos = end + 1;
    ++number;
    if (line.empty())
      continue;
    if (auto record = parse_ledger_line(line)) {
      result.records.push_back(std::move(*record));
      continue;
    }
    if (result.skipped++ == 0)
      result.first_skipped = number;
  }
  return result;
}

} // namespace bureau
