#include "messages/codec/log_record.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <unordered_set>

namespace bureau {

namespace {

std::string_view without_space(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\v\f";
  auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos)
    return {};
  auto end = text.find_last_not_of(space);
  return text.substr(begin, end - begin + 1);
}

/// Calls `visit(line)` for every non-empty line, trimmed.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    auto end = text.find('\n');
    auto line = without_space(text.substr(0, end));
    text =
      end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (!line.empty())
      visit(line);
  }
}

void set_text(json::bj::object& object, std::string_view name,
              const std::string& value) {
  object[name] =
    text::is_valid_utf8(value) ? value : text::sanitize_utf8(value);
}

void set_optional(json::bj::object& object, std::string_view name,
                  const std::string& value) {
  if (!value.empty())
    set_text(object, name, value);
}

std::string id_member(const json::bj::object& object, std::string_view name) {
  if (auto number = json::int_member(object, name))
    return std::to_string(*number);
  return json::text_or_empty(object, name);
}

std::vector<log_attachment> attachments_of(const json::bj::object& object) {
  std::vector<log_attachment> result;
  auto list = json::member(object, "attachments");
  if (list == nullptr || !list->is_array())
    return result;
  for (const auto& element : list->get_array()) {
    auto item = element.if_object();
    if (item == nullptr)
      continue;
    auto original = json::string_member(*item, "original");
    if (!original)
      original = json::text_or_empty(*item, "name");
    result.push_back({*original, json::text_or_empty(*item, "localPath")});
  }
  return result;
}

bool continues(const log_record& previous, const log_record& next) {
  return previous.from_bot && next.from_bot && !previous.ts.empty()
         && previous.ts == next.ts && previous.thread_ts == next.thread_ts
         && previous.user == next.user;
}

std::string_view complete_part(std::string_view part, bool whole) {
  if (whole)
    return part;
  auto end = part.find('\n');
  return end == std::string_view::npos ? std::string_view{}
                                       : part.substr(end + 1);
}

} // namespace

std::string print_log_line(const log_record& record) {
  json::bj::object object;
  set_text(object, "date", record.date);
  set_text(object, "ts", record.ts);
  set_optional(object, "threadTs", record.thread_ts);
  set_text(object, "user", record.user);
  set_optional(object, "userName", record.user_name);
  set_optional(object, "displayName", record.display_name);
  set_text(object, "text", record.text);
  json::bj::array attachments;
  for (const auto& item : record.attachments) {
    json::bj::object entry;
    set_text(entry, "original", item.original);
    set_text(entry, "localPath", item.local_path);
    attachments.push_back(std::move(entry));
  }
  object["attachments"] = std::move(attachments);
  object["isMessagingBot"] = record.from_bot;
  set_optional(object, "platform", record.platform);
  set_optional(object, "botId", record.bot_id);
  set_optional(object, "appId", record.app_id);
  set_optional(object, "subtype", record.subtype);
  set_optional(object, "replyTo", record.reply_to);
  set_optional(object, "sessionKey", record.session_key);
  return json::print(object) + '\n';
}

std::optional<log_record> parse_log_line(std::string_view line) {
  auto parsed = json::parse(line);
  if (!parsed || !parsed.value.is_object())
    return std::nullopt;
  const auto& object = parsed.value.get_object();
  log_record result;
  result.date = json::text_or_empty(object, "date");
  result.ts = id_member(object, "ts");
  result.thread_ts = id_member(object, "threadTs");
  result.user = id_member(object, "user");
  result.user_name = json::text_or_empty(object, "userName");
  result.display_name = json::text_or_empty(object, "displayName");
  result.text = json::text_or_empty(object, "text");
  result.attachments = attachments_of(object);
  result.from_bot = json::bool_member(object, "isMessagingBot").value_or(false);
  result.platform = json::text_or_empty(object, "platform");
  result.reply_to = json::text_or_empty(object, "replyTo");
  result.session_key = json::text_or_empty(object, "sessionKey");
  result.bot_id = json::text_or_empty(object, "botId");
  result.app_id = json::text_or_empty(object, "appId");
  result.subtype = json::text_or_empty(object, "subtype");
  return result;
}

log_contents read_log(std::string_view text, std::string_view file) {
  log_contents result;
  size_t index = 0;
  for_each_line(text, [&](std::string_view line) {
    auto number = index++;
    auto record = parse_log_line(line);
    if (!record) {
      ++result.skipped;
      if (result.warnings.size() < limits::log_warnings)
        result.warnings.push_back(
          "Skipped a malformed line of " + std::string{file} + ", line "
          + std::to_string(number + 1) + ": it is not a JSON object.");
      return;
    }
    if (!result.entries.empty()
        && continues(result.entries.back().record, *record))
      result.entries.back().record.text += record->text;
    else
      result.entries.push_back({std::move(*record), number});
  });
  return result;
}

log_contents read_log_tail(std::string_view part, bool whole,
                           std::string_view file) {
  return read_log(complete_part(part, whole), file);
}

std::vector<std::string> log_tail_ids(std::string_view part, bool whole) {
  std::vector<std::string> result;
  std::unordered_set<std::string> seen;
  for_each_line(complete_part(part, whole), [&](std::string_view line) {
    auto record = parse_log_line(line);
    if (record && !record->ts.empty() && seen.insert(record->ts).second)
      result.push_back(record->ts);
  });
  return result;
}

} // namespace bureau
