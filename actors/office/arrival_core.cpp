#include "actors/office/arrival_core.hpp"

#include "actors/office/attachment_core.hpp"
#include "messages/text/harmless.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace bureau::offices {

namespace {

constexpr const char* stopped_fault = "the turn was stopped before it came";
constexpr const char* lost_fault = "it was not saved";
constexpr const char* no_ref_fault = "the platform offers no way to fetch it";
constexpr std::string_view staging_suffix = ".part";
/// Longest reason of another room, and longest file name in a notice.
constexpr size_t reason_bytes = 200;
constexpr size_t shown_name_bytes = 100;
/// Files that a notice names.
constexpr size_t shown_files = 10;

std::string too_many_fault() {
  return "only the first " + std::to_string(limits::attachments_per_message)
         + " files of a message are taken";
}

bool is_saved(const attachment& item) {
  return !item.local_path.empty();
}

/// A name between backquotes: nothing in it may end them or the line.
std::string quoted(const std::string& name) {
  auto clean = text::harmless(name);
  auto shown = std::string{text::prefix_bytes(clean, shown_name_bytes)};
  std::replace(shown.begin(), shown.end(), '`', '\'');
  return "`" + shown + (shown.size() < clean.size() ? "…" : "") + "`";
}

} // namespace

bool awaits_files(const conversation_event& event) {
  return std::any_of(event.attachments.begin(), event.attachments.end(),
                     [](const auto& item) { return !item.ref.empty(); });
}

bool needs_every_file(platform_id platform) {
  return platform == platform_id::slack;
}

std::vector<attachment> bounded_files(std::vector<attachment> files) {
  if (files.size() > announced_files)
    files.resize(announced_files);
  for (auto& item : files)
    item.name =
      text::prefix_bytes(text::sanitize_utf8(item.name), announced_name_bytes);
  return files;
}

bool is_staging_name(std::string_view name) {
  return name.starts_with('.') && name.ends_with(staging_suffix);
}

// -- messages -----------------------------------------------------------------

void arrival_core::add(const conversation_event& event,
                       std::string display_name, bool logs) {
  auto& entry = messages_[event.message_id];
  entry.what = {event, std::move(display_name), logs, {}};
  entry.planned = !awaits_files(event);
  lines_[event.session_key].push_back(event.message_id);
}

bool arrival_core::blocks(const std::string& session_key) const {
  return lines_.contains(session_key);
}

std::vector<std::string> arrival_core::keys() const {
  std::vector<std::string> result;
  for (const auto& [key, line] : lines_)
    result.push_back(key);
  return result;
}

void arrival_core::plan(const std::string& id,
                        const std::vector<std::string>& taken, int64_t now_ms) {
  auto found = messages_.find(id);
  if (found == messages_.end() || found->second.planned)
    return;
  auto& entry = found->second;
  entry.planned = true;
  std::set<std::string> names{taken.begin(), taken.end()};
  // What other messages are about to put there.
  for (const auto& [other, its] : messages_)
    for (const auto& [index, order] : its.files)
      names.insert(order.file);
  for (const auto& [number, other] : under_way_)
    names.insert(other.order.file);
  auto& event = entry.what.event;
  std::vector<incoming_attachment> items;
  std::vector<size_t> indices;
  for (size_t i = 0; i < event.attachments.size(); ++i) {
    auto& item = event.attachments[i];
    if (item.ref.empty()) {
      if (!is_saved(item) && item.fault.empty())
        item.fault = no_ref_fault;
      continue;
    }
    if (items.size() == limits::attachments_per_message) {
      item.ref.clear();
      item.fault = too_many_fault();
      continue;
    }
    items.push_back({item.name, event.sent_ms != 0 ? event.sent_ms : now_ms});
    indices.push_back(i);
  }
  auto planned =
    plan_attachments(office_key_, items, now_ms, [&](const std::string& name) {
      return names.contains(name);
    });
  for (size_t i = 0; i < planned.size(); ++i) {
    const auto& item = event.attachments[indices[i]];
    file_order order;
    order.message_id = id;
    order.session_key = event.session_key;
    order.ref = item.ref;
    order.name = item.name;
    order.file = planned[i].file;
    entry.files.emplace(indices[i], std::move(order));
    waiting_.push_back({id, indices[i]});
  }
}

void arrival_core::give_up(const std::string& id, const std::string& fault) {
  auto found = messages_.find(id);
  if (found == messages_.end())
    return;
  auto& entry = found->second;
  entry.planned = true;
  entry.files.clear();
  std::erase_if(waiting_, [&](const place& at) { return at.id == id; });
  for (auto& [number, file] : under_way_)
    if (file.at.id == id)
      file.at.id.clear();
  for (auto& item : entry.what.event.attachments)
    if (!is_saved(item)) {
      item.ref.clear();
      if (item.fault.empty())
        item.fault = fault;
    }
}

void arrival_core::close(const std::string& id, std::string closing) {
  give_up(id, stopped_fault);
  if (auto found = messages_.find(id); found != messages_.end())
    found->second.what.closing = std::move(closing);
}

std::vector<std::string>
arrival_core::stagings_of(const std::string& id) const {
  std::vector<std::string> result;
  for (const auto& [number, file] : under_way_)
    if (file.at.id == id)
      result.push_back(file.order.staging);
  return result;
}

std::vector<std::string> arrival_core::drop_files(const std::string& id) {
  std::vector<std::string> result;
  auto found = messages_.find(id);
  if (found == messages_.end())
    return result;
  for (auto& item : found->second.what.event.attachments)
    if (is_saved(item))
      result.push_back(std::exchange(item.local_path, {}));
  return result;
}

const arrival* arrival_core::ready(const std::string& session_key) const {
  auto line = lines_.find(session_key);
  if (line == lines_.end())
    return nullptr;
  const auto& first = messages_.at(line->second.front());
  return first.complete() ? &first.what : nullptr;
}

arrival arrival_core::take(const std::string& id) {
  auto entry = messages_.extract(id);
  auto what = std::move(entry.mapped().what);
  auto line = lines_.find(what.event.session_key);
  std::erase(line->second, id);
  if (line->second.empty())
    lines_.erase(line);
  return what;
}

// -- files --------------------------------------------------------------------

std::optional<file_order> arrival_core::next() {
  if (waiting_.empty() || under_way_.size() >= limits::attachments_in_flight)
    return std::nullopt;
  auto at = std::move(waiting_.front());
  waiting_.pop_front();
  auto order = messages_.at(at.id).files.at(at.index);
  // A transport that was given up on may still write: never into this file.
  order.number = ++last_number_;
  order.staging = "." + order.file + "." + std::to_string(order.number)
                  + std::string{staging_suffix};
  under_way_.emplace(order.number, asked{std::move(at), order});
  return order;
}

bool arrival_core::wanted(uint64_t number) const {
  auto found = under_way_.find(number);
  return found != under_way_.end() && !found->second.at.id.empty();
}

attachment& arrival_core::item(const place& at) {
  return messages_.at(at.id).what.event.attachments.at(at.index);
}

void arrival_core::ended(uint64_t number, const std::string& fault) {
  auto found = under_way_.extract(number);
  if (found.empty() || found.mapped().at.id.empty())
    return;
  const auto& at = found.mapped().at;
  auto& file = item(at);
  auto& orders = messages_.at(at.id).files;
  file.ref.clear();
  if (fault.empty())
    file.local_path =
      office_key_ + "/" + attachments_name + "/" + orders.at(at.index).file;
  else
    file.fault = fault;
  orders.erase(at.index);
}

void arrival_core::put_back(uint64_t number) {
  auto found = under_way_.extract(number);
  if (!found.empty() && !found.mapped().at.id.empty())
    waiting_.push_front(std::move(found.mapped().at));
}

bool arrival_core::fetches(const std::string& staging) const {
  return std::any_of(
    under_way_.begin(), under_way_.end(),
    [&](const auto& item) { return item.second.order.staging == staging; });
}

// -- wording ------------------------------------------------------------------

std::string file_fault(errc code, const std::string& sentence) {
  constexpr auto megabytes = limits::attachment_bytes >> 20;
  switch (code) {
  case errc::too_large:
    return "larger than " + std::to_string(megabytes) + " MB";
  case errc::not_found:
    return "no longer there";
  case errc::timeout:
    return "it did not arrive within "
           + std::to_string(limits::attachment_timeout.count()) + " seconds";
  case errc::denied:
    return "access to it was denied";
  case errc::disk:
    return "the disk did not take it";
  default: {
    auto reason =
      std::string{text::prefix_bytes(text::harmless(sentence), reason_bytes)};
    while (reason.ends_with('.'))
      reason.pop_back();
    return reason;
  }
  }
}

std::vector<attachment> files_in_log(const std::vector<attachment>& announced,
                                     const log_record& line) {
  auto result = announced;
  auto saved = line.attachments.begin();
  for (auto& item : result) {
    item.ref.clear();
    if (is_saved(item))
      continue;
    // Both lists have the order of the message.
    auto found =
      std::find_if(saved, line.attachments.end(), [&](const auto& entry) {
        return entry.original == item.name;
      });
    if (found == line.attachments.end()) {
      if (item.fault.empty())
        item.fault = lost_fault;
      continue;
    }
    item.local_path = found->local_path;
    saved = std::next(found);
  }
  return result;
}

std::string missing_files_notice(const conversation_event& event) {
  std::string list;
  size_t missing = 0;
  for (const auto& item : event.attachments) {
    if (is_saved(item) || item.fault.empty() || ++missing > shown_files)
      continue;
    if (!list.empty())
      list += ", ";
    list += quoted(item.name) + " (" + item.fault + ")";
  }
  if (missing == 0)
    return {};
  if (missing > shown_files)
    list += " and " + std::to_string(missing - shown_files) + " more";
  auto result = "I could not save " + list + ".";
  if (needs_every_file(event.address.platform))
    result += " So I did not start; send the message again.";
  return result;
}

} // namespace bureau::offices
