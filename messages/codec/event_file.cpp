#include "messages/codec/event_file.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/schedule/cron.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <array>

namespace bureau {

namespace {

namespace bj = boost::json;

constexpr std::string_view extension = ".json";
constexpr size_t file_name_bytes = 255;

event_reading refuse(event_fault fault, std::string sentence,
                     std::string field = {}) {
  event_reading result;
  result.fault = fault;
  result.field = std::move(field);
  result.sentence = std::move(sentence);
  return result;
}

/// The rules of a type, which readers and writers share. `where` begins the
/// sentence.
event_reading check_type(event_payload payload, const std::string& where) {
  using enum event_fault;
  switch (payload.type) {
  case event_type::immediate:
    payload.at.clear();
    payload.schedule.clear();
    payload.timezone.clear();
    break;
  case event_type::one_shot:
    if (payload.at.empty())
      return refuse(missing_at, where + "a one-shot event needs `at`");
    if (!event_instant_ms(payload.at))
      return refuse(invalid_at, where + "`at` is '" + payload.at
                                  + "'; it must be an ISO 8601 instant with an "
                                    "offset, such as "
                                    "2027-05-01T09:30:00+02:00");
    payload.schedule.clear();
    payload.timezone.clear();
    break;
  case event_type::periodic:
    if (payload.schedule.empty())
      return refuse(missing_schedule,
                    where + "a periodic event needs `schedule`");
    if (payload.timezone.empty())
      return refuse(missing_timezone,
                    where + "a periodic event needs `timezone`");
    payload.at.clear();
    break;
  }
  event_reading result;
  result.payload = std::move(payload);
  return result;
}

/// A member that has to be text when it is there.
bool read_text(const bj::object& object, std::string_view name,
               std::optional<std::string>& into) {
  auto found = json::member(object, name);
  if (found == nullptr)
    return true;
  if (!found->is_string())
    return false;
  into = std::string{found->get_string()};
  return true;
}

/// Digits from `at` on; -1 when there are not so many.
int digits(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size())
    return -1;
  auto value = 0;
  for (auto c : text.substr(at, count)) {
    if (c < '0' || c > '9')
      return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool is_char(std::string_view text, size_t at, char wanted) {
  return at < text.size() && text[at] == wanted;
}

/// Takes the offset that ends an instant, in minutes.
std::optional<int> read_offset(std::string_view text) {
  if (text == "Z")
    return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':')
    return std::nullopt;
  auto hours = digits(text, 1, 2);
  auto minutes = digits(text, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
    return std::nullopt;
  auto value = hours * 60 + minutes;
  return text[0] == '-' ? -value : value;
}

} // namespace

std::string to_string(event_fault fault) {
  switch (fault) {
  case event_fault::none:
    return "none";
  case event_fault::malformed:
    return "malformed";
  case event_fault::not_an_object:
    return "not_an_object";
  case event_fault::missing_fields:
    return "missing_fields";
  case event_fault::missing_at:
    return "missing_at";
  case event_fault::invalid_at:
    return "invalid_at";
  case event_fault::missing_schedule:
    return "missing_schedule";
  case event_fault::missing_timezone:
    return "missing_timezone";
  }
  return "unknown";
}

event_reading parse_event_file(std::string_view content,
                               std::string_view filename) {
  using enum event_fault;
  auto where = std::string{filename} + ": ";
  auto parsed = json::parse(content);
  if (!parsed)
    return refuse(
      malformed, where + "malformed: line " + std::to_string(parsed.fault->line)
                   + ", column " + std::to_string(parsed.fault->column) + ": "
                   + parsed.fault->what);
  if (!parsed.value.is_object())
    return refuse(not_an_object, where + "the top level must be an object");
  const auto& object = parsed.value.get_object();
  struct text_member {
    std::string_view name;
    std::optional<std::string> value;
  };
  std::array<text_member, 10> members = {{{"type", {}},
                                          {"platform", {}},
                                          {"conversationId", {}},
                                          {"channelId", {}},
                                          {"conversationKind", {}},
                                          {"userId", {}},
                                          {"text", {}},
                                          {"at", {}},
                                          {"schedule", {}},
                                          {"timezone", {}}}};
  for (auto& item : members)
    if (!read_text(object, item.name, item.value))
      return refuse(malformed,
                    where + "malformed: `" + std::string{item.name}
                      + "` must be text",
                    std::string{item.name});
  auto& [type, platform, conversation, channel, kind, user, text, at, schedule,
         timezone] = members;
  event_payload payload;
  if (type.value) {
    auto known = parse_event_type(*type.value);
    if (!known)
      return refuse(malformed,
                    where
                      + "malformed: `type` must be immediate, one-shot or "
                        "periodic",
                    "type");
    payload.type = *known;
  }
  if (kind.value) {
    auto known = parse_conversation_kind(*kind.value);
    if (!known)
      return refuse(malformed,
                    where
                      + "malformed: `conversationKind` must be direct or "
                        "shared",
                    "conversationKind");
    payload.kind = *known;
  }
  if (auto allowed = json::member(object, "allowSchedules")) {
    if (!allowed->is_bool())
      return refuse(malformed,
                    where + "malformed: `allowSchedules` must be true or false",
                    "allowSchedules");
    payload.allow_schedules = allowed->get_bool();
  }
  payload.conversation_id =
    (conversation.value ? conversation.value : channel.value).value_or("");
  payload.text = text.value.value_or("");
  if (!type.value || payload.conversation_id.empty() || payload.text.empty())
    return refuse(missing_fields, where
                                    + "`type`, `conversationId` and `text` are "
                                      "required");
  if (platform.value)
    payload.platform = *platform.value;
  if (user.value)
    payload.user_id = *user.value;
  payload.at = at.value.value_or("");
  payload.schedule = schedule.value.value_or("");
  payload.timezone = timezone.value.value_or("");
  return check_type(std::move(payload), where);
}

event_reading build_event(event_payload input) {
  return check_type(std::move(input), {});
}

bj::object to_json(const event_payload& payload) {
  auto clean = [](std::string_view text) {
    return bj::string(text::sanitize_utf8(text));
  };
  bj::object result;
  result.emplace("type", to_string(payload.type));
  if (payload.platform)
    result.emplace("platform", clean(*payload.platform));
  result.emplace("conversationId", clean(payload.conversation_id));
  if (payload.kind)
    result.emplace("conversationKind", to_string(*payload.kind));
  if (payload.user_id)
    result.emplace("userId", clean(*payload.user_id));
  if (payload.allow_schedules)
    result.emplace("allowSchedules", true);
  result.emplace("text", clean(payload.text));
  if (payload.type == event_type::one_shot)
    result.emplace("at", clean(payload.at));
  if (payload.type == event_type::periodic) {
    result.emplace("schedule", clean(payload.schedule));
    result.emplace("timezone", clean(payload.timezone));
  }
  return result;
}

std::string print_event_file(const event_payload& payload) {
  return json::print(to_json(payload)) + '\n';
}

std::optional<int64_t> event_instant_ms(std::string_view text) {
  constexpr std::array<int, 13> month_days = {0,  31, 28, 31, 30, 31, 30,
                                              31, 31, 30, 31, 30, 31};
  auto year = digits(text, 0, 4);
  auto month = digits(text, 5, 2);
  auto day = digits(text, 8, 2);
  auto hour = digits(text, 11, 2);
  auto minute = digits(text, 14, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23
      || minute < 0 || minute > 59 || !is_char(text, 4, '-')
      || !is_char(text, 7, '-') || !is_char(text, 10, 'T')
      || !is_char(text, 13, ':'))
    return std::nullopt;
  auto leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day
      > month_days[static_cast<size_t>(month)] + (month == 2 && leap ? 1 : 0))
    return std::nullopt;
  size_t at = 16;
  auto second = 0;
  int64_t fraction_ms = 0;
  if (is_char(text, at, ':')) {
    second = digits(text, at + 1, 2);
    if (second < 0 || second > 59)
      return std::nullopt;
    at += 3;
    if (is_char(text, at, '.')) {
      auto first = ++at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9')
        ++at;
      auto fraction = text.substr(first, at - first);
      if (fraction.empty())
        return std::nullopt;
      for (size_t i = 0; i < 3; ++i)
        fraction_ms =
          fraction_ms * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
      // Never before its instant.
      if (fraction.size() > 3
          && fraction.find_first_not_of('0', 3) != std::string_view::npos)
        ++fraction_ms;
    }
  }
  auto offset = read_offset(text.substr(at));
  if (!offset)
    return std::nullopt;
  auto days = days_from_civil(year, month, day);
  auto seconds = ((days * 24 + hour) * 60 + minute - *offset) * 60 + second;
  return seconds * 1000 + fraction_ms;
}

bool is_event_file_name(std::string_view name) {
  return name.size() > extension.size() && name.size() <= file_name_bytes
         && name.ends_with(extension) && text::is_valid_utf8(name)
         && name.front() != '.' && name.find("..") == std::string_view::npos
         && std::none_of(name.begin(), name.end(), [](char c) {
              return c == '/' || c == '\\' || (c >= 0 && c < ' ') || c == 0x7f;
            });
}

std::string_view event_name_of(std::string_view filename) {
  if (filename.ends_with(extension))
    filename.remove_suffix(extension.size());
  return filename;
}

std::string sanitize_event_name(std::string_view wish) {
  constexpr size_t kept = 80;
  std::string result;
  auto gap = false;
  for (auto c : wish) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
    auto plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'
                 || c == '-' || (c == '.' && !result.ends_with('.'));
    if (!plain) {
      gap = true;
      continue;
    }
    if (gap && !result.empty())
      result += '-';
    gap = false;
    result += c;
  }
  result.resize(std::min(result.size(), kept));
  auto first = result.find_first_not_of("-.");
  if (first == std::string::npos)
    return "event";
  auto last = result.find_last_not_of("-.");
  return result.substr(first, last - first + 1);
}

} // namespace bureau
