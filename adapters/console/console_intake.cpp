#include "adapters/console/console_state.hpp"

#include "adapters/console/attach_core.hpp"
#include "messages/codec/log_record.hpp"

#include <caf/all.hpp>

namespace bureau::console {

namespace log = kit::log;

void console_state::carry_out(console_effects effects) {
  for (auto& item : effects)
    std::visit([this](auto& effect) { apply(effect); }, item);
}

void console_state::apply(effect::read_log& item) {
  screen_->meet(item.name);
  auto place = make_office(deps_.ws, {platform_id::console, item.name});
  file_job job;
  job.reason = "console";
  job.op = file_op::stat;
  job.root = deps_.ws.root;
  job.path = place.key + "/log.jsonl";
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       job)
    .then(
      [this, name = item.name, job](const file_outcome& found) {
        if (found.kind == file_kind::regular)
          read_tail(name, job, found.size);
        else
          carry_out(core_->log_read(name, {}, now()));
      },
      [this, name = item.name](caf::error& reason) {
        log_unread(name, reason);
      });
}

void console_state::read_tail(const std::string& conversation, file_job job,
                              uint64_t size) {
  job.op = file_op::read_range;
  job.length = limits::console_log_tail_bytes;
  job.offset = size > job.length ? size - job.length : 0;
  auto whole = job.offset == 0;
  kit::bounded_request(self_, deps_.files, limits::disk_timeout, atom::file_v,
                       std::move(job))
    .then(
      [this, conversation, whole](const file_outcome& found) {
        carry_out(core_->log_read(conversation,
                                  log_tail_ids(found.bytes, whole), now()));
      },
      [this, conversation](caf::error& reason) {
        log_unread(conversation, reason);
      });
}

void console_state::log_unread(const std::string& conversation,
                               const caf::error& reason) {
  log::warning("console", "the chat log was not read, message ids go by the "
                          "clock alone: "
                            + sentence_of(reason));
  carry_out(core_->log_read(conversation, {}, now()));
}

void console_state::apply(effect::submit& item) {
  if (frames_)
    frames_->begin(item.id, item.name, item.line);
  intake_request request;
  auto& event = request.event;
  event.address = {platform_id::console, item.name};
  event.session_key = item.name;
  event.message_id = item.id;
  event.user = options_.user;
  event.user_name = options_.user;
  event.text = std::move(item.text);
  if (!item.file.empty())
    event.attachments.push_back(
      {file_name_of(item.file), {}, make_file_ref(item.file), {}});
  event.target = json_text{"{}"};
  event.sent_ms = now();
  request.display_name = options_.user;
  kit::bounded_request(self_, deps_.offices, limits::disk_timeout,
                       atom::intake_v, std::move(request))
    .then(
      [this, name = item.name, id = item.id](const intake_reply& reply) {
        carry_out(core_->taken(name, id, reply.outcome, now()));
      },
      [this, name = item.name, id = item.id](caf::error& reason) {
        carry_out(
          core_->not_taken(name, id, code_of(reason), sentence_of(reason)));
      });
}

void console_state::apply(effect::settled& item) {
  if (!frames_)
    return;
  if (item.line > 0)
    frames_->begin(item.id, item.name, item.line);
  write_frames(0, frames_->settled(item.id, item.outcome, item.fault));
}

void console_state::apply(effect::stop_any& item) {
  ask_to_stop(std::move(item.names));
}

void console_state::ask_to_stop(std::vector<std::string> names) {
  if (names.empty()) {
    carry_out(core_->stop_answered({}));
    return;
  }
  stop_request request;
  request.conversation = {platform_id::console, names.front()};
  request.target = json_text{"{}"};
  names.erase(names.begin());
  kit::bounded_request(self_, deps_.offices, limits::mailbox_timeout,
                       atom::stop_v, std::move(request))
    .then(
      [this, names](const stop_report& report) {
        if (report.found)
          carry_out(core_->stop_answered(report.message_id));
        else
          ask_to_stop(names);
      },
      [this, names](caf::error&) { ask_to_stop(names); });
}

void console_state::apply(effect::retry& item) {
  retries_[item.name].arm(
    self_, std::chrono::milliseconds{item.delay_ms},
    [this, name = item.name] { carry_out(core_->retry_due(name, now())); });
}

void console_state::apply(effect::say& item) {
  print(0, screen_->own(item.text));
}

void console_state::apply(effect::allow& item) {
  deps_.port->allow(item.bytes);
}

void console_state::apply(effect::prompt& item) {
  deps_.port->prompt(item.name + "> ");
  tell_summary();
}

void console_state::say(const std::string& text) {
  effect::say line{text};
  apply(line);
}

} // namespace bureau::console
