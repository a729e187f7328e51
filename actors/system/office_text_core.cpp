#include "actors/system/office_text_core.hpp"

#include "actors/control/status_text_core.hpp"

#include <string_view>

namespace bureau::system {

namespace {

namespace bj = json::bj;
using control::terminal_text;

std::string word(const bj::object& from, std::string_view name) {
  return terminal_text(json::text_or_empty(from, name));
}

int64_t number(const bj::object& from, std::string_view name) {
  auto found = json::member(from, name);
  return found != nullptr && found->is_number() ? found->to_number<int64_t>()
                                                : 0;
}

const bj::object* object(const bj::object& from, std::string_view name) {
  auto found = json::member(from, name);
  return found == nullptr ? nullptr : found->if_object();
}

/// "12 lines", "1 line"; a file that was not read to its end has more.
std::string counted(const bj::object& from, std::string_view name,
                    std::string_view one, std::string_view many) {
  auto count = number(from, name);
  std::string result =
    json::bool_member(from, "complete").value_or(true) ? "" : "more than ";
  result += std::to_string(count) + ' ';
  result += count == 1 ? one : many;
  return result;
}

std::string line(std::string_view title, std::string_view text) {
  constexpr size_t width = 11;
  std::string result{title};
  result.append(width - title.size(), ' ');
  result += text;
  return result + '\n';
}

std::string log_text(const bj::object* log) {
  if (log == nullptr)
    return "none";
  auto result = counted(*log, "lines", "line", "lines");
  if (auto date = word(*log, "lastDate"); !date.empty())
    result += ", the last of " + date;
  return result;
}

std::string session_text(const bj::object* session) {
  if (session == nullptr)
    return "none";
  return word(*session, "file") + ", "
         + counted(*session, "entries", "entry", "entries");
}

std::string ledger_lines(const bj::object* ledger) {
  if (ledger == nullptr)
    return line("ledger", "none");
  auto result =
    line("ledger", counted(*ledger, "open", "open entry", "open entries"));
  auto entries = json::member(*ledger, "entries");
  if (entries == nullptr || !entries->is_array())
    return result;
  for (const auto& value : entries->get_array())
    if (auto entry = value.if_object())
      result += "  " + word(*entry, "id") + "  " + word(*entry, "state")
                + "  since " + word(*entry, "acceptedAt") + "  session "
                + word(*entry, "sessionKey") + '\n';
  auto more =
    number(*ledger, "open") - static_cast<int64_t>(entries->get_array().size());
  if (more > 0)
    result += "  and " + std::to_string(more) + " more\n";
  return result;
}

std::string migration_text(const bj::object& migration) {
  auto result =
    word(migration, "status") + ", from " + word(migration, "source");
  if (auto error = word(migration, "error"); !error.empty())
    result += ": " + error;
  return result;
}

} // namespace

std::string office_text(const bj::object& result) {
  auto exists = json::bool_member(result, "directoryExists").value_or(false);
  auto recorded = word(result, "recordedAt");
  auto out = line("office", word(result, "platform") + ' ' + word(result, "id"))
             + line("key", word(result, "key"))
             + line("directory",
                    word(result, "directory") + (exists ? "" : " (not there)"))
             + line("state", word(result, "stateDirectory"))
             + line("recorded", recorded.empty() ? "no" : recorded)
             + line("log", log_text(object(result, "log")))
             + line("session", session_text(object(result, "session")))
             + ledger_lines(object(result, "ledger"));
  if (auto migration = object(result, "migration"))
    out += line("migration", migration_text(*migration));
  if (auto notes = json::member(result, "notes");
      notes != nullptr && notes->is_array())
    for (const auto& note : notes->get_array())
      if (note.is_string())
        out += line("note", terminal_text(std::string_view{note.get_string()}));
  return out;
}

} // namespace bureau::system
