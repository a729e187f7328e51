#include "actors/system/office_study_core.hpp"

#include "actors/office/registry_core.hpp"
#include "actors/session/store_core.hpp"
#include "messages/codec/conversation_names.hpp"
#include "messages/codec/log_record.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <utility>

namespace bureau::system {

namespace {

namespace bj = json::bj;

constexpr const char* log_name = "log.jsonl";
constexpr const char* ledger_name = "ledger.jsonl";
constexpr std::string_view sessions_prefix = "sessions/";

bj::string shown(std::string_view text) {
  return bj::string{text::sanitize_utf8(text)};
}

bj::value text_or_null(std::string_view text) {
  return text.empty() ? bj::value() : bj::value(shown(text));
}

office place_of(const workspace& place, const office_address& address) {
  if (check_conversation_id(address.conversation_id) != address_fault::none)
    return {};
  return make_office(place, address);
}

} // namespace

office_study::office_study(workspace place, office_address address)
  : place_(std::move(place)),
    office_(place_of(place_, address)), log_{line_reader{
                                          [this](std::string_view line) {
                                            last_line_ = line;
                                          }}},
    session_{line_reader{[](std::string_view) {
    }}},
    ledger_{line_reader{[this](std::string_view line) {
      take_ledger_line(line);
    }}},
    entries_(address) {
  if (office_.key.empty()) {
    fault_ = make_failure(errc::bad_identity,
                          "that is no conversation id: control characters and "
                          "path separators cannot be in one");
    step_ = step::done;
  }
}

std::optional<file_job> office_study::next() const {
  switch (step_) {
  case step::registry: {
    auto result =
      job(file_op::read, place_.state_dir, std::string{registry_file_name});
    result.length = limits::registry_file_bytes;
    return result;
  }
  case step::directory:
    return job(file_op::stat, {}, office_.dir);
  case step::log:
    return part_of(office_.dir, log_name, log_);
  case step::pointer: {
    auto result =
      job(file_op::read, office_.dir,
          std::string{sessions_prefix} + std::string{session::pointer_name});
    result.length = limits::session_pointer_bytes;
    return result;
  }
  case step::session:
    return part_of(office_.dir, std::string{sessions_prefix} + session_file_,
                   session_);
  case step::ledger:
    return part_of(office_.state_dir, ledger_name, ledger_);
  case step::done:
    break;
  }
  return std::nullopt;
}

void office_study::take(const file_outcome& found) {
  switch (step_) {
  case step::registry:
    look_up(found.bytes);
    break;
  case step::directory:
    directory_exists_ = found.kind == file_kind::directory;
    if (!directory_exists_ && found.kind != file_kind::absent)
      notes_.push_back("The directory of the office is none: " + office_.dir);
    step_ = directory_exists_ ? step::log : step::ledger;
    break;
  case step::log:
    take_part(log_, found, step::pointer);
    break;
  case step::pointer:
    session_file_ =
      session::pointer_target(found.bytes).value_or(std::string{});
    if (session_file_.empty())
      notes_.push_back("The pointer to the current session is damaged.");
    step_ = session_file_.empty() ? step::ledger : step::session;
    break;
  case step::session:
    take_part(session_, found, step::ledger);
    break;
  case step::ledger:
    take_part(ledger_, found, step::done);
    break;
  case step::done:
    break;
  }
}

void office_study::fail(const caf::error& reason) {
  auto absent = code_of(reason) == errc::not_found;
  if (step_ == step::registry) {
    if (absent)
      look_up({});
    else
      fault_ = reason;
    if (fault_)
      step_ = step::done;
    return;
  }
  if (!absent)
    notes_.push_back(sentence_of(reason));
  switch (step_) {
  case step::log:
    step_ = step::pointer;
    break;
  case step::ledger:
    step_ = step::done;
    break;
  default:
    step_ = step::ledger;
  }
}

void office_study::look_up(const std::string& text) {
  registry_file registry;
  if (!text.empty())
    registry =
      parse_registry(text, join_path(place_.state_dir, registry_file_name));
  if (!registry) {
    fault_ = make_failure(errc::corrupt, registry.fault);
    step_ = step::done;
    return;
  }
  const auto& address = office_.address;
  if (auto found = offices::find_office(registry.state, address))
    record_ = *found;
  auto moved = offices::find_migration(registry.state, address.conversation_id);
  if (moved != nullptr
      && moved->owner.value_or(address.platform) == address.platform)
    migration_ = *moved;
  step_ = step::directory;
  if (!record_ && !migration_) {
    fault_ =
      make_failure(errc::not_found,
                   "no office is recorded for " + to_string(address.platform)
                     + ' ' + address.conversation_id
                     + "; `bureau office list` names those that are");
    step_ = step::done;
  }
}

void office_study::take_part(file_view& view, const file_outcome& part,
                             step after) {
  view.found = true;
  view.reader.feed(part.bytes);
  view.offset += part.bytes.size();
  view.whole = part.end_of_file || part.bytes.empty();
  if (!view.whole && view.offset < study_file_bytes)
    return;
  view.reader.finish();
  step_ = after;
}

void office_study::take_ledger_line(std::string_view line) {
  // A line that cannot be read is the node's affair: it says so at its start.
  if (auto record = parse_ledger_line(line))
    entries_.replay(*record, text::parse_iso(record->at).value_or(0));
}

file_job office_study::job(file_op op, const std::string& root,
                           std::string path) const {
  file_job result;
  result.reason = "control";
  result.op = op;
  result.root = root;
  result.path = std::move(path);
  return result;
}

file_job office_study::part_of(const std::string& root, std::string path,
                               const file_view& view) const {
  auto result = job(file_op::read_range, root, std::move(path));
  result.offset = view.offset;
  result.length = study_part_bytes;
  return result;
}

json::bj::object office_study::result() const {
  bj::array notes;
  for (const auto& note : notes_)
    notes.push_back(shown(note));
  return {
    {"platform", to_string(office_.address.platform)},
    {"id", shown(office_.address.conversation_id)},
    {"key", office_.key},
    {"directory", shown(office_.dir)},
    {"directoryExists", directory_exists_},
    {"stateDirectory", shown(office_.state_dir)},
    {"recordedAt", record_ ? text_or_null(record_->recorded_at) : bj::value{}},
    {"log", log_value()},
    {"session", session_value()},
    {"ledger", ledger_value()},
    {"migration", migration_value()},
    {"notes", std::move(notes)}};
}

json::bj::value office_study::log_value() const {
  if (!log_.found)
    return nullptr;
  auto last = parse_log_line(last_line_);
  // What is not read to its end has its last line elsewhere.
  return bj::object{
    {"lines", log_.reader.lines()},
    {"complete", log_.whole},
    {"lastDate", log_.whole && last ? text_or_null(last->date) : bj::value{}}};
}

json::bj::value office_study::session_value() const {
  if (!session_.found)
    return nullptr;
  // The first line is the header.
  auto lines = session_.reader.lines();
  return bj::object{{"file", shown(session_file_)},
                    {"entries", lines == 0 ? 0 : lines - 1},
                    {"complete", session_.whole}};
}

json::bj::value office_study::ledger_value() const {
  if (!ledger_.found)
    return nullptr;
  bj::array open;
  for (const auto* entry : entries_.open()) {
    if (open.size() == study_entries)
      break;
    bj::object item{{"id", shown(entry->id)},
                    {"state", to_string(entry->state)},
                    {"acceptedAt", text::iso_utc(entry->accepted_ms)},
                    {"sessionKey", shown(entry->event.session_key)},
                    {"attempt", entry->attempt}};
    if (!entry->run.empty())
      item["run"] = shown(entry->run);
    open.push_back(std::move(item));
  }
  return bj::object{{"open", entries_.open_count()},
                    {"entries", std::move(open)},
                    {"complete", ledger_.whole}};
}

json::bj::value office_study::migration_value() const {
  if (!migration_)
    return nullptr;
  bj::object result{{"status", to_string(migration_->status)},
                    {"source", shown(migration_->source_dir)},
                    {"target", text_or_null(migration_->target_dir)},
                    {"updatedAt", text_or_null(migration_->updated_at)}};
  if (!migration_->error.empty())
    result["error"] = shown(migration_->error);
  return result;
}

} // namespace bureau::system
