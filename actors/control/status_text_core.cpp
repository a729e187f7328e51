#include "actors/control/status_text_core.hpp"

#include "messages/text/utf8.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace bureau::control {

namespace {

namespace bj = json::bj;

/// Rows of texts with their columns aligned; the last one is not padded.
class table {
public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string print() const {
    std::vector<size_t> widths;
    for (const auto& row : rows_)
      for (size_t i = 0; i < row.size(); ++i) {
        if (i == widths.size())
          widths.push_back(0);
        widths[i] = std::max(widths[i], text::code_point_length(row[i]));
      }
    std::string out;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (size_t i = 0; i < row.size(); ++i) {
        line += ' ' + row[i];
        line.append(widths[i] - text::code_point_length(row[i]) + 1, ' ');
      }
      out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return out;
  }

private:
  std::vector<std::vector<std::string>> rows_;
};

std::string word(const bj::object& from, std::string_view name) {
  return terminal_text(json::text_or_empty(from, name));
}

std::string number(const bj::object& from, std::string_view name) {
  return std::to_string(json::int_member(from, name).value_or(0));
}

/// Objects of a list, or none.
std::vector<const bj::object*> objects(const bj::object& from,
                                       std::string_view name) {
  std::vector<const bj::object*> result;
  auto found = json::member(from, name);
  if (found == nullptr || !found->is_array())
    return result;
  for (const auto& item : found->get_array())
    if (auto object = item.if_object())
      result.push_back(object);
  return result;
}

std::string section(std::string title, const bj::object& result,
                    std::string_view name,
                    std::initializer_list<std::string_view> columns) {
  table rows;
  auto items = objects(result, name);
  if (items.empty())
    return {};
  for (auto item : items) {
    std::vector<std::string> row;
    for (auto column : columns)
      row.push_back(word(*item, column));
    rows.add(std::move(row));
  }
  return std::move(title) + '\n' + rows.print();
}

/// Channels that are wanted; a running one has no reason.
std::string channels(const bj::object& result) {
  table rows;
  auto any = false;
  for (auto item : objects(result, "channels")) {
    auto found = json::member(*item, "status");
    if (found == nullptr || !found->is_object())
      continue;
    const auto& status = found->get_object();
    auto state = word(status, "status");
    if (state == "disabled")
      continue;
    any = true;
    rows.add({word(*item, "channel"), state, word(status, "reason")});
  }
  return any ? "channels:\n" + rows.print() : std::string{};
}

std::string sessions(const bj::object& result) {
  auto items = objects(result, "sessions");
  if (items.empty())
    return {};
  table rows;
  for (auto item : items)
    rows.add({word(*item, "sessionKey"), word(*item, "state"),
              number(*item, "waiting") + " waiting"});
  auto out = "sessions: " + number(result, "sessionsTotal") + '\n';
  out += rows.print();
  auto total = json::int_member(result, "sessionsTotal").value_or(0);
  auto shown = static_cast<int64_t>(items.size());
  if (total > shown)
    out += "  and " + std::to_string(total - shown) + " more\n";
  return out;
}

} // namespace

std::string status_text(const bj::object& result) {
  std::string out =
    word(result, "product") + ' ' + word(result, "version") + ", pid "
    + number(result, "pid") + ", since " + word(result, "startedAt") + " ("
    + duration_text(json::int_member(result, "uptimeMs").value_or(0)) + ")\n";
  if (auto state = word(result, "state"); !state.empty())
    out += "state: " + state + '\n';
  if (auto found = json::member(result, "offices");
      found != nullptr && found->is_object())
    out += "offices: " + number(found->get_object(), "known") + " known, "
           + number(found->get_object(), "active") + " active, "
           + number(result, "openEntries") + " open entries\n";
  out += "log level: " + word(result, "logLevel") + '\n';
  out +=
    section("components:", result, "components", {"label", "state", "detail"});
  out += section("adapters:", result, "adapters", {"label", "state", "detail"});
  out += channels(result);
  out += sessions(result);
  out += section("degraded:", result, "degraded", {"component", "reason"});
  out += section("no answer:", result, "silent", {"part", "message"});
  return out;
}

std::string notify_text(const bj::object& result) {
  if (!json::bool_member(result, "delivered").value_or(false)) {
    auto reason = word(result, "reason");
    return reason.empty() ? "Not delivered: " + word(result, "code") + '.'
                          : reason;
  }
  std::string out = "Delivered";
  if (auto id = word(result, "deliveryId"); !id.empty())
    out += " as " + id;
  if (!json::bool_member(result, "historyRecorded").value_or(true))
    out += ", but it is not in the history (" + word(result, "historyErrorCode")
           + ')';
  return out + '.';
}

std::string destinations_text(const bj::object& result) {
  std::string out;
  for (auto item : objects(result, "destinations"))
    out += word(*item, "conversationId") + '\n';
  if (json::bool_member(result, "cut").value_or(false))
    out += "There are more.\n";
  return out;
}

std::string duration_text(int64_t milliseconds) {
  auto two = [](int64_t value) {
    return (value < 10 ? "0" : "") + std::to_string(value);
  };
  auto seconds = std::max<int64_t>(milliseconds, 0) / 1000;
  if (seconds < 60)
    return std::to_string(seconds) + " s";
  auto minutes = seconds / 60;
  if (minutes < 60)
    return std::to_string(minutes) + " min";
  auto hours = minutes / 60;
  if (hours < 48)
    return std::to_string(hours) + " h " + two(minutes % 60) + " min";
  return std::to_string(hours / 24) + " d " + std::to_string(hours % 24) + " h";
}

std::string terminal_text(std::string_view text) {
  auto clean = text::sanitize_utf8(text);
  std::string out;
  for (size_t at = 0; at < clean.size();) {
    auto next = text::decode_at(clean, at);
    auto control = next.code_point < 0x20
                   || (next.code_point >= 0x7F && next.code_point < 0xA0);
    if (control)
      out += ' ';
    else
      out.append(clean, at, next.bytes);
    at += next.bytes;
  }
  return out;
}

} // namespace bureau::control
