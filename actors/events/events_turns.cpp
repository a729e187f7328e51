#include "actors/events/events_state.hpp"
#include "actors/kit/log.hpp"
#include "messages/text/utf8.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <utility>

namespace bureau::events {

namespace {

constexpr const char* record_path = "events.jsonl";
/// A turn that waits and runs, and its answer on the way, may take this long.
constexpr auto end_timeout = limits::run_timeout + limits::delivery_timeout;

} // namespace

// -- the record ---------------------------------------------------------------

void events_state::append(std::string text, durability level,
                          std::function<void(const caf::error&)> then) {
  appended next{std::move(text), level, std::move(then)};
  if (rewriting_)
    waiting_lines_.push_back(std::move(next));
  else
    send(std::move(next));
}

void events_state::send(appended next) {
  journal_record record;
  record.root = journal_root::state;
  record.path = record_path;
  record.level = next.level;
  // Half a line that a power cut has left must not swallow this one.
  record.bytes = torn_ ? "\n" + next.text : next.text;
  auto length = record.bytes.size();
  ++appending_;
  kit::bounded_request(self_, deps_.journal, limits::disk_timeout,
                       atom::append_v, std::move(record))
    .then(
      [this, length, then = next.then](uint64_t offset) {
        --appending_;
        torn_ = false;
        record_size_ = std::max(record_size_, offset + length);
        then(caf::none);
        compact_if_long();
        finish_stop();
      },
      [this, then = next.then](const caf::error& reason) {
        --appending_;
        then(reason);
        compact_if_long();
        finish_stop();
      });
}

void events_state::compact_if_long() {
  if (stopping_ || rewriting_ || appending_ > 0 || !scanned_
      || record_size_ <= rewrite_at_)
    return;
  rewriting_ = true;
  kit::bounded_request(self_, deps_.journal, limits::disk_timeout, atom::seal_v,
                       journal_root::state, std::string{record_path})
    .then(
      [this](caf::ok_atom) { rewrite(); },
      [this](const caf::error& reason) { rewritten(record_size_, reason); });
}

void events_state::rewrite() {
  auto living = core_.living();
  living.insert(writing_.begin(), writing_.end());
  file_job job;
  job.reason = "events";
  job.op = file_op::write_atomic;
  job.root = deps_.ws.state_dir;
  job.path = record_path;
  job.bytes = core_.runs().compact(living, now().wall_ms);
  auto length = job.bytes.size();
  ask_files(
    std::move(job),
    [this, length](const file_outcome&) { rewritten(length, caf::none); },
    [this](const caf::error& reason) {
      // It may still be under way; what is asked now is answered behind it.
      file_job look;
      look.reason = "events";
      look.op = file_op::stat;
      look.root = deps_.ws.state_dir;
      look.path = record_path;
      ask_files(
        std::move(look),
        [this, reason](const file_outcome& found) {
          rewritten(found.size, reason);
        },
        [this, reason](const caf::error&) {
          rewrite_timer_.arm(
            self_, std::chrono::milliseconds{limits::ledger_retry_delay},
            [this, reason] { rewritten(record_size_, reason); });
        });
    });
}

void events_state::rewritten(uint64_t size, const caf::error& reason) {
  if (reason)
    kit::log::warning(name, "the record of schedules was not made shorter: "
                              + sentence_of(reason));
  rewriting_ = false;
  record_size_ = size;
  // What stays long is not written again and again.
  rewrite_at_ = std::max<uint64_t>(limits::event_log_bytes, 2 * size);
  for (auto& next : std::exchange(waiting_lines_, {}))
    send(std::move(next));
  finish_stop();
}

// -- turns --------------------------------------------------------------------

void events_state::dispatch(const schedule_effect& effect) {
  intake_request request;
  auto& event = request.event;
  event.address = effect.target.conversation;
  event.session_key = session_key_of(event.address, effect.file);
  event.kind = effect.target.kind;
  event.origin = turn_origin::event;
  event.message_id = occurrence_id(effect.file, effect.occurrence);
  event.user = effect.user;
  event.text = effect.text;
  event.sent_ms = occurrence_ms(effect.occurrence);
  request.scope = stop_scope::never;
  auto file = effect.file;
  kit::bounded_request(self_, desk_, limits::disk_timeout, atom::intake_v,
                       std::move(request))
    .then(
      [this, file](const intake_reply&) {
        count("taken");
        carry_out(core_.dispatched(file, dispatch_outcome::taken, {}, now()));
      },
      [this, file](const caf::error& reason) {
        kit::log::warning(
          name, file + ": its turn was not taken: " + sentence_of(reason));
        auto never = code_of(reason) == errc::bad_identity;
        carry_out(core_.dispatched(
          file, never ? dispatch_outcome::never : dispatch_outcome::again,
          never ? sentence_of(reason) : to_string(code_of(reason)), now()));
      });
}

void events_state::follow(const std::string& file,
                          const std::string& occurrence,
                          const event_target& target) {
  auto ended = [this, file, occurrence](log_line end) {
    count(end.why == "sent" || end.why == "silent" ? "answered" : "unanswered");
    carry_out(core_.ended(file, occurrence, end, now()));
  };
  kit::bounded_request(
    self_, desk_, end_timeout, atom::settled_v,
    entry_query{target.conversation, occurrence_id(file, occurrence)})
    .then(
      [ended](const entry_end& found) {
        log_line end;
        end.why = found.outcome;
        end.run = found.run;
        auto text = text::sanitize_utf8(found.text);
        end.text = text::prefix_bytes(text, limits::event_answer_bytes);
        end.text_cut = end.text.size() < text.size();
        ended(std::move(end));
      },
      [this, file, occurrence, target, ended](const caf::error& reason) {
        if (code_of(reason) == errc::not_found) {
          // It ended while nobody looked.
          log_line end;
          end.why = "unknown";
          ended(std::move(end));
        } else if (!stopping_) {
          unfollowed_[{file, occurrence}] = target;
        }
      });
}

void events_state::follow_again() {
  for (const auto& [run, target] : std::exchange(unfollowed_, {}))
    follow(run.first, run.second, target);
}

} // namespace bureau::events
