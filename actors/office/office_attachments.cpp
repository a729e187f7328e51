#include "actors/kit/log.hpp"
#include "actors/kit/requests.hpp"
#include "actors/office/office_state.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <utility>

namespace bureau::offices {

namespace {

constexpr const char* no_directory_fault =
  "the directory for files cannot be used";
constexpr uint32_t directory_mode = 0700;

/// The line of a message of a person; null when the log has none.
const log_record* line_of(const log_contents& known, const std::string& id) {
  for (const auto& entry : known.entries)
    if (entry.record.ts == id && entry.record.user != "bot")
      return &entry.record;
  return nullptr;
}

/// Why a fetched file is not to be kept; errc::none: it may be.
errc fault_of_file(const file_outcome& found) {
  if (found.kind == file_kind::absent)
    return errc::not_found;
  if (found.kind != file_kind::regular || found.links > 1)
    return errc::denied;
  return found.size > limits::attachment_bytes ? errc::too_large : errc::none;
}

} // namespace

// -- line
// -----------------------------------------------------------------------

bool office_state::waits_for_files(const std::string& session_key) const {
  return arrivals_->blocks(session_key)
         || std::any_of(pending_.begin(), pending_.end(), [&](const auto& it) {
              return it.second.late
                     && it.second.event.session_key == session_key;
            });
}

void office_state::line_up(const std::string& tail, bool whole) {
  std::vector<std::string> ids;
  std::set<std::string> keys;
  std::optional<log_contents> known;
  for (const auto* entry : core_->open()) {
    if (entry->state != ledger_state::accepted)
      continue;
    const auto& key = entry->event.session_key;
    if (entry->unlogged) {
      if (!known)
        known = read_log_tail(tail, whole, place_.log_path);
      if (auto line = line_of(*known, entry->id)) {
        auto done = make_record(entry->id, ledger_state::accepted);
        done.event = entry->event;
        done.event.attachments = files_in_log(entry->event.attachments, *line);
        note(std::move(done));
        continue;
      }
    }
    if (entry->unlogged || awaits_files(entry->event) || keys.contains(key)) {
      keys.insert(key);
      ids.push_back(entry->id);
      arrivals_->add(entry->event, entry->display_name, entry->unlogged);
    }
  }
  for (const auto& id : ids)
    gather(id);
}

// -- files
// ----------------------------------------------------------------------

file_job office_state::attachment_job(file_op op,
                                      const std::string& leaf) const {
  file_job job;
  job.reason = "office";
  job.op = op;
  job.root = deps_.place.root;
  job.path = place_.key + "/" + attachments_name;
  if (!leaf.empty())
    job.path += "/" + leaf;
  return job;
}

void office_state::gather(const std::string& id) {
  auto entry = core_->find(id);
  if (entry == nullptr)
    return;
  if (!awaits_files(entry->event)) {
    go_on(entry->event.session_key);
    return;
  }
  // The office first: it may have been deleted.
  restore_directories([this, id] {
    auto job = attachment_job(file_op::ensure_directory, {});
    job.mode = directory_mode;
    kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                         std::move(job))
      .then([this, id](const file_outcome&) { list_attachments(id); },
            [this, id](caf::error& reason) { no_directory(id, reason); });
  });
}

void office_state::list_attachments(const std::string& id) {
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       attachment_job(file_op::list, {}))
    .then(
      [this, id](const file_outcome& directory) {
        arrivals_->plan(id, directory.names, wall_ms());
        if (auto entry = core_->find(id))
          go_on(entry->event.session_key);
        pump_files();
      },
      [this, id](caf::error& reason) { no_directory(id, reason); });
}

void office_state::no_directory(const std::string& id,
                                const caf::error& reason) {
  // The next start fetches them.
  if (code_of(reason) == errc::shutting_down)
    return;
  kit::log::warning(label_, "no files of messages can be saved: "
                              + sentence_of(reason));
  arrivals_->give_up(id, no_directory_fault);
  if (auto entry = core_->find(id))
    go_on(entry->event.session_key);
}

void office_state::pump_files() {
  while (booted_ && transport_ready_ && !holding_) {
    auto order = arrivals_->next();
    if (!order)
      return;
    fetch(*order);
  }
}

void office_state::fetch(const file_order& order) {
  attachment_fetch what;
  what.conversation = place_.address;
  what.message_id = order.message_id;
  what.ref = order.ref;
  what.name = order.name;
  what.root = deps_.place.root;
  what.path = attachment_job(file_op::stat, order.staging).path;
  what.max_bytes = limits::attachment_bytes;
  kit::bounded_request(self_, transport_, limits::attachment_timeout,
                       atom::fetch_v, std::move(what))
    .then([this, order](uint64_t size) { fetched(order, size); },
          [this, order](caf::error& reason) { not_fetched(order, reason); });
}

// What the disk has counts, not what the adapter says.
void office_state::fetched(const file_order& order, uint64_t size) {
  if (!arrivals_->wanted(order.number) || size > limits::attachment_bytes) {
    not_fetched(order, make_failure(errc::too_large, order.name));
    return;
  }
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       attachment_job(file_op::stat, order.staging))
    .then(
      [this, order](const file_outcome& found) {
        auto fault = fault_of_file(found);
        if (fault == errc::none)
          keep_file(order);
        else
          not_fetched(order, make_failure(fault, order.name));
      },
      [this, order](caf::error& reason) { not_fetched(order, reason); });
}

void office_state::keep_file(const file_order& order) {
  auto job = attachment_job(file_op::rename, order.staging);
  job.to = attachment_job(file_op::rename, order.file).path;
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       std::move(job))
    .then(
      [this, order](const file_outcome&) {
        if (arrivals_->wanted(order.number))
          file_ended(order, {});
        else
          discard(order, order.file, [this, order] { file_ended(order, {}); });
      },
      [this, order](caf::error& reason) {
        kit::log::warning(label_, "a file of a message was not kept: "
                                    + sentence_of(reason));
        // Its sentence names paths of this machine.
        auto ending = code_of(reason) == errc::shutting_down;
        not_fetched(
          order,
          make_failure(ending ? errc::shutting_down : errc::disk, order.name));
      });
}

void office_state::not_fetched(const file_order& order,
                               const caf::error& reason) {
  auto code = code_of(reason);
  auto sentence = sentence_of(reason);
  discard(order, order.staging, [this, order, code, sentence] {
    // It is fetched when there is a transport again, or by the next start.
    if (code == errc::shutting_down || holding_) {
      arrivals_->put_back(order.number);
      return;
    }
    if (arrivals_->wanted(order.number))
      kit::log::warning(label_, "a file of message " + order.message_id
                                  + " did not come: " + to_string(code));
    file_ended(order, file_fault(code, sentence));
  });
}

void office_state::discard(const file_order& order, const std::string& leaf,
                           std::function<void()> then) {
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       attachment_job(file_op::remove, leaf))
    .then([then](const file_outcome&) { then(); },
          [this, id = order.message_id, then](caf::error& reason) {
            kit::log::warning(label_, "the rest of a file of message " + id
                                        + " stays: " + sentence_of(reason));
            then();
          });
}

void office_state::file_ended(const file_order& order,
                              const std::string& fault) {
  arrivals_->ended(order.number, fault);
  go_on(order.session_key);
  pump_files();
}

// -- going on
// ---------------------------------------------------------------------

void office_state::go_on(const std::string& session_key) {
  if (late_keys_.contains(session_key))
    return;
  auto front = arrivals_->ready(session_key);
  if (front == nullptr)
    return;
  auto missing = missing_files_notice(front->event);
  if (!front->closing.empty() || missing.empty()
      || !needs_every_file(place_.address.platform)) {
    late_keys_.insert(session_key);
    write_late(*front);
    return;
  }
  auto id = front->event.message_id;
  auto notice = make_notice(front->event, std::move(missing));
  for (const auto& path : arrivals_->drop_files(id))
    remove_leftover(deps_.place.root, path);
  close_dead(id, "attachment", true);
  post_notice(std::move(notice), session_key);
}

// Ledger and chat log in one frame: no crash may write the line twice, or fetch
// files again that it names.
void office_state::write_late(const arrival& message) {
  const auto& event = message.event;
  auto line = make_record(event.message_id, ledger_state::accepted);
  line.event = event;
  auto closed = !message.closing.empty();
  auto text = closed ? message.closing : print_ledger_line(line);
  auto then = [this, line, key = event.session_key,
               closed](const caf::error& reason) {
    late_written(line, key, closed, reason);
  };
  auto entry = core_->find(event.message_id);
  if (message.logs)
    ledger_.append_both(
      std::move(text), log_,
      print_log_line(log_line_of(event, message.display_name, wall_ms())),
      then);
  else if (closed || (entry != nullptr && awaits_files(entry->event)))
    ledger_.append(std::move(text), durability::sync, then);
  else
    then(caf::none);
}

void office_state::late_written(const ledger_record& line,
                                const std::string& session_key, bool closed,
                                const caf::error& reason) {
  late_keys_.erase(session_key);
  if (reason) {
    kit::log::warning(label_, "a message is not in the chat log yet: "
                                + sentence_of(reason));
    late_timer_.arm(self_, limits::ledger_retry_delay, [this] {
      for (const auto& key : arrivals_->keys())
        go_on(key);
    });
    return;
  }
  auto message = arrivals_->take(line.id);
  // Closed while its line was on the way.
  if (!closed && !message.closing.empty())
    ledger_.append(message.closing, durability::lazy, [](const caf::error&) {});
  core_->apply(line, wall_ms());
  auto entry = core_->find(line.id);
  if (entry != nullptr) {
    auto missing = missing_files_notice(entry->event);
    if (!missing.empty())
      post_notice(make_notice(entry->event, std::move(missing)), session_key);
    dispatch(*entry);
  }
  go_on(session_key);
}

void office_state::close_late(const ledger_record& line) {
  auto key = core_->find(line.id)->event.session_key;
  // And once more when the transport has answered.
  for (const auto& leaf : arrivals_->stagings_of(line.id))
    remove_leftover(deps_.place.root,
                    attachment_job(file_op::remove, leaf).path);
  arrivals_->close(line.id, print_ledger_line(line));
  core_->apply(line, wall_ms());
  go_on(key);
}

} // namespace bureau::offices
