#include "actors/events/events_state.hpp"
#include "actors/kit/log.hpp"

#include <caf/all.hpp>

#include <chrono>
#include <utility>

namespace bureau::events {

namespace {

using std::chrono::milliseconds;

constexpr const char* home = "events";
constexpr const char* record_path = "events.jsonl";
/// A record that was never made shorter is read up to here.
constexpr uint64_t record_bytes_read = 64u << 20;
/// Looks at the disk that are open at one time.
constexpr size_t disk_open_max = 16;
constexpr int64_t ns_per_ms = 1'000'000;

} // namespace

file_job events_state::event_job(file_op op, const std::string& file) const {
  file_job job;
  job.reason = "events";
  job.op = op;
  job.root = deps_.ws.root;
  job.path = std::string{home} + "/" + file;
  return job;
}

// -- the record ---------------------------------------------------------------

void events_state::load_record() {
  file_job job;
  job.reason = "events";
  job.op = file_op::read;
  job.root = deps_.ws.state_dir;
  job.path = record_path;
  job.length = record_bytes_read;
  ask_files(
    std::move(job),
    [this](const file_outcome& file) { record_read(file.bytes); },
    [this](const caf::error& reason) {
      if (code_of(reason) == errc::not_found) {
        record_read({});
        return;
      }
      // Without it nobody knows what has fired.
      record_trouble_ =
        "the record of schedules cannot be read: " + sentence_of(reason);
      kit::log::error(name, record_trouble_);
      release_held();
      finish_stop();
      if (!stopping_)
        scan_timer_.arm(self_, milliseconds{limits::event_scan_interval},
                        [this] { load_record(); });
    });
}

void events_state::record_read(const std::string& content) {
  record_trouble_.clear();
  torn_ = !content.empty() && content.back() != '\n';
  record_size_ = content.size();
  run_table table;
  size_t foreign = 0;
  for (size_t at = 0; at < content.size();) {
    auto end = std::min(content.find('\n', at), content.size());
    auto text = std::string_view{content}.substr(at, end - at);
    if (auto line = parse_log_line(text))
      table.apply(*line);
    else
      foreign += text.empty() ? 0 : 1;
    at = end + 1;
  }
  if (foreign > 0)
    kit::log::warning(name, std::string{record_path} + ": "
                              + std::to_string(foreign)
                              + " lines are not understood");
  auto under_way = table.under_way();
  schedule_rules rules;
  rules.platforms = deps_.platforms;
  rules.zones = deps_.zones;
  rules.catch_up_ms = milliseconds{deps_.catch_up}.count();
  core_.begin(std::move(rules), std::move(table));
  loaded_ = true;
  for (const auto& [file, occurrence] : under_way)
    if (auto run = core_.runs().find(file, occurrence))
      follow(file, occurrence, {run->conversation, conversation_kind::direct});
  scan();
}

// -- the directory ------------------------------------------------------------

void events_state::scan() {
  // The first look happens even when the node ends at once: what a start leaves
  // behind does not depend on how soon it is ended.
  if ((stopping_ && scanned_) || std::exchange(scanning_, true))
    return;
  follow_again();
  auto failed = [this](const caf::error& reason) {
    scanned(reason);
  };
  file_job ready;
  ready.reason = "events";
  ready.op = file_op::ensure_directory;
  ready.root = deps_.ws.root;
  ready.path = home;
  ready.mode = 0700;
  ask_files(
    std::move(ready),
    [this, failed](const file_outcome&) {
      // What happens from now on is told; what is there is listed after it.
      watch();
      file_job job;
      job.reason = "events";
      job.op = file_op::list;
      job.root = deps_.ws.root;
      job.path = home;
      ask_files(
        std::move(job),
        [this](const file_outcome& found) {
          auto effects = core_.listed(found.names, now());
          scanned(caf::none);
          if (!stopping_)
            carry_out(std::move(effects));
        },
        failed);
    },
    failed);
}

void events_state::scanned(const caf::error& reason) {
  scanning_ = false;
  scanned_ = true;
  auto trouble =
    reason ? "the directory of schedules cannot be read: " + sentence_of(reason)
           : std::string{};
  if (!trouble.empty() && trouble != trouble_)
    kit::log::warning(name, trouble);
  trouble_ = std::move(trouble);
  if (stopping_) {
    finish_stop();
    return;
  }
  auto wait = watched_ || reason ? milliseconds{limits::event_scan_interval}
                                 : milliseconds{limits::event_poll_interval};
  scan_timer_.arm(self_, wait, [this] { scan(); });
  release_held();
}

void events_state::watch() {
  if (watched_ || !deps_.watch || stopping_)
    return;
  watched_ = true;
  kit::bounded_request(self_, deps_.watch, limits::mailbox_timeout,
                       atom::watch_v, join_path(deps_.ws.root, home),
                       watch_sink_actor{events_actor{self_}})
    .then([](caf::ok_atom) {},
          [this](const caf::error& reason) {
            watched_ = false;
            kit::log::warning(name, "the directory of schedules is looked "
                                    "through instead of watched: "
                                      + sentence_of(reason));
            if (!stopping_ && scan_timer_.armed())
              scan_timer_.arm(self_, milliseconds{limits::event_poll_interval},
                              [this] { scan(); });
          });
}

// -- one file -----------------------------------------------------------------

void events_state::queue_disk(std::function<void()> begin) {
  if (disk_open_ >= disk_open_max) {
    disk_waiting_.push_back(std::move(begin));
    return;
  }
  ++disk_open_;
  begin();
}

void events_state::disk_done() {
  --disk_open_;
  if (disk_waiting_.empty())
    return;
  auto next = std::move(disk_waiting_.front());
  disk_waiting_.pop_front();
  ++disk_open_;
  next();
}

void events_state::look(const schedule_effect& effect) {
  queue_disk([this, file = effect.file, number = effect.number] {
    auto answer = [this, file, number](const file_look& found) {
      disk_done();
      carry_out(core_.looked(file, number, found, now()));
    };
    ask_files(
      event_job(file_op::stat, file),
      [answer](const file_outcome& found) {
        file_look look;
        look.what = found.kind == file_kind::absent ? file_look::kind::absent
                    : found.kind == file_kind::regular
                      ? file_look::kind::regular
                      : file_look::kind::other;
        look.modified_ms = found.modified_ns / ns_per_ms;
        look.size = found.size;
        answer(look);
      },
      [answer, file](const caf::error& reason) {
        file_look look;
        look.fault = file + ": " + sentence_of(reason);
        answer(look);
      });
  });
}

void events_state::read(const schedule_effect& effect) {
  queue_disk([this, file = effect.file, number = effect.number] {
    auto job = event_job(file_op::read, file);
    job.length = limits::event_file_bytes;
    ask_files(
      std::move(job),
      [this, file, number](const file_outcome& found) {
        disk_done();
        carry_out(core_.loaded(file, number, found.bytes, {}, now()));
      },
      [this, file, number](const caf::error& reason) {
        disk_done();
        carry_out(core_.loaded(file, number, {},
                               file + ": " + sentence_of(reason), now()));
      });
  });
}

// Never what was written since.
void events_state::remove(const schedule_effect& effect) {
  auto file = effect.file;
  auto done = [this, file](removal how) {
    carry_out(core_.removed(file, how, now()));
  };
  auto failed = [done](const caf::error&) {
    done(removal::failed);
  };
  ask_files(
    event_job(file_op::stat, file),
    [this, file, done, failed,
     known = effect.content](const file_outcome& found) {
      if (found.kind == file_kind::absent) {
        done(removal::gone);
      } else if (found.modified_ns / ns_per_ms != known.modified_ms
                 || found.size != known.size || writing_.contains(file)) {
        done(removal::changed);
      } else {
        ask_files(
          event_job(file_op::remove, file),
          [done](const file_outcome&) { done(removal::gone); }, failed);
      }
    },
    failed);
}

} // namespace bureau::events
