#include "adapters/console/console_state.hpp"

#include "messages/contracts/identity.hpp"
#include "messages/text/harmless.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace bureau::console {

console_state::delivery_promise
console_state::on_deliver(const outbound& operation) {
  auto promise = self_->make_response_promise<delivery_promise>();
  auto id = deliveries_.keep(promise);
  pending(1);
  if (output_lost_) {
    conclude(id, lost());
    return promise;
  }
  if (!started_ || port_ended_) {
    conclude(id, failed("The console is not open."));
    return promise;
  }
  // A final that comes after the drop was sent in spite of it: the gate
  // knows.
  if (operation.rank != outbound_class::final_answer && is_dropped(operation)) {
    conclude(id, dropped());
    return promise;
  }
  switch (operation.op) {
  case outbound_op::post:
  case outbound_op::edit:
    if (operation.rank == outbound_class::final_answer)
      ask_gate(id, operation);
    else
      show(id, operation);
    return promise;
  case outbound_op::remove:
    // What was printed stays; it only cannot be continued any more.
    screen_->forget(operation.ref);
    conclude(id, delivered{});
    return promise;
  case outbound_op::typing:
  case outbound_op::react:
    conclude(id, delivered{});
    return promise;
  case outbound_op::upload:
    if (operation.file && config().uploads) {
      ask_gate(id, operation);
    } else {
      auto outcome = failed("The console cannot show files.");
      outcome.fault = delivery_fault::permanent;
      conclude(id, std::move(outcome));
    }
    return promise;
  }
  return promise;
}

void console_state::conclude(uint64_t id, delivered outcome) {
  auto word = outcome.fault == delivery_fault::none      ? "sent"
              : outcome.fault == delivery_fault::dropped ? "dropped"
                                                         : "failed";
  pending(-1);
  count(metric::outbound, {"console", word}, 1);
  deliveries_.deliver(id, std::move(outcome));
}

void console_state::pending(int64_t change) {
  count(metric::outbox_pending, {"console"}, change);
}

void console_state::count(metric id, std::vector<std::string> labels,
                          int64_t value) {
  if (deps_.metrics)
    self_->send(deps_.metrics, atom::add_v,
                metric_sample{id, std::move(labels), value});
}

void console_state::ask_gate(uint64_t id, const outbound& operation) {
  delivery_key key;
  key.conversation = operation.conversation;
  key.message_id = operation.message_id;
  key.run = operation.run;
  key.part = operation.part;
  key.op = operation.op;
  key.ref = operation.ref;
  at_gate_.emplace(id, operation.run);
  kit::bounded_request(self_, deps_.offices, limits::disk_timeout,
                       atom::may_send_v, std::move(key))
    .then(
      [this, id, operation](caf::ok_atom) {
        if (at_gate_.erase(id) > 0)
          show(id, operation);
        else
          conclude(id, dropped());
      },
      [this, id](caf::error& reason) {
        auto stopped =
          at_gate_.erase(id) == 0 || code_of(reason) == errc::aborted;
        conclude(id, stopped ? dropped() : failed(sentence_of(reason)));
      });
}

void console_state::show(uint64_t id, const outbound& operation) {
  if (operation.op == outbound_op::upload) {
    tell_file(id, operation);
    return;
  }
  auto ref = operation.op == outbound_op::edit && !operation.ref.empty()
               ? operation.ref
               : core_->next_id(now());
  std::string preface;
  if (operation.rank == outbound_class::final_answer)
    preface = core_->preface_of(operation.message_id);
  core_->met(operation.conversation.conversation_id);
  auto lines = frames_ ? frames_of(operation, ref, preface)
                       : screen_->show(operation, ref, preface);
  if (lines.empty() || port_ended_) {
    delivered outcome;
    outcome.ref = std::move(ref);
    conclude(id, port_ended_ ? failed("The console has ended.") : outcome);
    return;
  }
  auto token = ++last_token_;
  writes_[token] = {id, std::move(ref)};
  print(token, std::move(lines));
}

void console_state::tell_file(uint64_t id, const outbound& operation) {
  const auto& place = operation.conversation;
  auto number = offered_.add(
    contracts::contract_id(place, place.conversation_id), *operation.file);
  outbound line = operation;
  line.op = outbound_op::post;
  line.file = caf::none;
  line.text = file_line(*offered_.find(number));
  show(id, line);
}

printed console_state::frames_of(const outbound& operation,
                                 const std::string& ref,
                                 const std::string& preface) {
  printed result;
  if (operation.content == outbound_content::notice) {
    auto frame = frames_->notice(operation);
    if (!frame)
      return screen_->show(operation, ref);
    result.out = safe_frames(std::move(*frame));
  } else if (operation.rank == outbound_class::final_answer) {
    std::string lines;
    if (!preface.empty())
      lines = frames_->warning(operation, preface);
    lines += frames_->answer(operation);
    result.out = safe_frames(std::move(lines));
  }
  return result;
}

void console_state::tell(const outbound& what,
                         std::string (frame_core::*verb)(const outbound&)) {
  if (frames_ && !is_dropped(what))
    write_frames(0, (*frames_.*verb)(what));
}

void console_state::write_frames(uint64_t token, std::string lines) {
  if (!lines.empty() && !port_ended_ && !output_lost_)
    print(token, {safe_frames(std::move(lines)), {}});
}

std::string console_state::safe_frames(std::string lines) const {
  if (!options_.output_is_terminal)
    return lines;
  std::string result;
  std::string_view rest = lines;
  while (!rest.empty()) {
    auto end = rest.find('\n');
    result += text::harmless(rest.substr(0, end)) + '\n';
    rest.remove_prefix(end + 1);
  }
  return result;
}

void console_state::print(uint64_t token, printed lines) {
  deps_.port->write(token, std::move(lines.out), std::move(lines.err));
}

void console_state::on_written(uint64_t token, bool fine) {
  auto entry = writes_.extract(token);
  if (!entry.empty()) {
    delivered outcome;
    outcome.ref = std::move(entry.mapped().ref);
    conclude(entry.mapped().promise, fine ? outcome : lost());
  }
  if (fine || std::exchange(output_lost_, true))
    return;
  tell_host(channel_event::degraded, "Standard output is closed.");
  carry_out(core_->output_lost());
}

void console_state::on_drop(const std::string& run) {
  if (run.empty())
    return;
  screen_->forget_run(run);
  std::erase_if(at_gate_, [&](const auto& item) { return item.second == run; });
  dropped_runs_.push_back(run);
  if (dropped_runs_.size() > limits::console_visible_messages)
    dropped_runs_.pop_front();
}

bool console_state::is_dropped(const outbound& operation) const {
  return operation.rank != outbound_class::control && !operation.run.empty()
         && std::find(dropped_runs_.begin(), dropped_runs_.end(), operation.run)
              != dropped_runs_.end();
}

} // namespace bureau::console
