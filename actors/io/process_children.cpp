#include "actors/io/process_children.hpp"

#include "actors/io/pidfd.hpp"
#include "actors/io/process_reaper.hpp"
#include "actors/io/process_tag.hpp"
#include "actors/kit/log.hpp"
#include "messages/limits.hpp"

#include <caf/send.hpp>

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace bureau::io {

namespace {

/// What one pipe may still deliver after its child's end.
constexpr uint64_t drain_bytes = 1u << 20;

owned_fd& pipe_of(spawned_child& ours, int stream) {
  return stream == 2 ? ours.error_output : ours.output;
}

} // namespace

// -- commands -----------------------------------------------------------------

void process_children::add(proc_spec spec, process_sink_actor sink) {
  auto added = std::make_unique<child>();
  added->spec = std::move(spec);
  added->sink = std::move(sink);
  if (stopping_) {
    reject(*added, errc::shutting_down, "processes are ending");
    return;
  }
  waiting_.push_back(std::move(added));
  start_waiting();
}

void process_children::feed(proc_input input) {
  auto to = find(input.id);
  if (to == nullptr || to->input_ends || to->spec.input != stdin_kind::pipe)
    return;
  to->input_size += input.bytes.size();
  if (to->input_size > limits::process_input_bytes) {
    kit::log::warning("process", shown_name(to->spec)
                                   + " does not read its input and is killed");
    hard_kill(*to);
    return;
  }
  if (!input.bytes.empty())
    to->input.push_back(std::move(input.bytes));
  to->input_ends = input.eof;
  if (to->ours.pid != 0)
    write_input(*to);
}

void process_children::acknowledge(const proc_ack& ack) {
  auto found = running_.find(ack.id);
  if (found == running_.end() || (ack.stream != 1 && ack.stream != 2))
    return;
  auto& from = *found->second;
  auto index = static_cast<size_t>(ack.stream - 1);
  if (from.windows[index].acknowledged(ack.bytes) && !from.exited)
    watch_output(ack.id, ack.stream);
}

void process_children::kill(const proc_kill& request) {
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry)
    if ((*entry)->spec.id == request.id) {
      reject(**entry, errc::aborted,
             shown_name((*entry)->spec) + " was stopped before it started");
      waiting_.erase(entry);
      return;
    }
  auto found = running_.find(request.id);
  if (found == running_.end())
    return;
  auto& victim = *found->second;
  if (victim.exited) {
    conclude(request.id);
    return;
  }
  victim.killed = true;
  if (request.grace_ms == 0) {
    hard_kill(victim);
    return;
  }
  if (victim.kill_timer != 0)
    return;
  ::kill(-victim.ours.pid, SIGTERM);
  victim.kill_timer = events_.after(std::chrono::milliseconds{request.grace_ms},
                                    [this, id = request.id] {
                                      if (auto late = find(id))
                                        hard_kill(*late);
                                    });
}

void process_children::abandon(uint64_t id) {
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry)
    if ((*entry)->spec.id == id) {
      waiting_.erase(entry);
      if (owner_)
        caf::anon_send(owner_, atom::closed_v, id);
      return;
    }
  auto found = running_.find(id);
  if (found == running_.end())
    return;
  found->second->reported = true;
  found->second->killed = true;
  if (found->second->exited)
    conclude(id);
  else
    hard_kill(*found->second);
}

void process_children::stop() {
  stopping_ = true;
  for (auto& entry : waiting_)
    reject(*entry, errc::shutting_down, "processes are ending");
  waiting_.clear();
  std::vector<uint64_t> ended;
  std::set<std::string> tags;
  for (const auto& [id, live] : running_) {
    strike(*live);
    live->tag_swept = true;
    if (!live->spec.exec_tag.empty())
      tags.insert(live->spec.exec_tag);
    if (live->exited)
      ended.push_back(id);
  }
  kill_tagged(tags);
  for (auto id : ended)
    conclude(id);
}

bool process_children::finished() const {
  // What even SIGKILL does not end is left behind.
  return stopping_
         && std::all_of(
           running_.begin(), running_.end(),
           [](const auto& entry) { return entry.second->reported; });
}

void process_children::say_farewell() {
  if (owner_)
    caf::anon_send(owner_, atom::drain_v);
  owner_ = nullptr;
}

// -- start --------------------------------------------------------------------

process_children::child* process_children::find(uint64_t id) {
  if (auto found = running_.find(id); found != running_.end())
    return found->second.get();
  for (auto& entry : waiting_)
    if (entry->spec.id == id)
      return entry.get();
  return nullptr;
}

void process_children::reject(const child& refused, errc code,
                              std::string sentence) {
  if (owner_)
    caf::anon_send(owner_, atom::failed_v, refused.spec.id,
                   make_failure(code, std::move(sentence)));
}

void process_children::start_waiting() {
  if (start_scheduled_)
    return;
  for (size_t count = 0; count < limits::process_spawns_per_turn; ++count) {
    if (waiting_.empty() || running_.size() >= limits::processes_running)
      return;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(next));
  }
  // The pipes of those that run come first.
  start_scheduled_ = true;
  events_.after(std::chrono::milliseconds{0}, [this] {
    start_scheduled_ = false;
    start_waiting();
  });
}

void process_children::start(child_ptr added) {
  auto& spec = added->spec;
  auto id = spec.id;
  added->started = event_loop::now();
  added->ours = spawn_child(spec, reaper_);
  if (!added->ours.failure.empty()) {
    reject(*added, errc::spawn_failed, added->ours.failure);
    return;
  }
  added->out = capture{spec.cap_out};
  added->err = capture{spec.cap_err};
  added->extra.assign(added->ours.extra.size(),
                      capture{limits::process_extra_bytes});
  if (spec.input == stdin_kind::bytes) {
    added->input.push_front(std::move(spec.input_bytes));
    added->input_ends = true;
  }
  // Values that may be secret are the child's alone now.
  spec.env.clear();
  spec.fds.clear();
  spec.input_bytes.clear();
  auto pid = added->ours.pid;
  pids_[pid] = id;
  auto& live = *(running_[id] = std::move(added));
  live.backstop_timer =
    events_.after(std::chrono::duration_cast<std::chrono::milliseconds>(
                    limits::process_backstop),
                  [this, id] {
                    if (auto old = find(id))
                      hard_kill(*old);
                  });
  if (owner_)
    caf::anon_send(owner_, atom::ready_v, proc_started{id, pid});
  events_.watch(live.ours.pidfd.get(), EPOLLIN,
                [this, id](uint32_t) { pid_fired(id); });
  watch_output(id, 1);
  watch_output(id, 2);
  for (size_t index = 0; index < live.ours.extra.size(); ++index)
    watch_extra(id, index);
  write_input(live);
}

// -- pipes --------------------------------------------------------------------

void process_children::watch_output(uint64_t id, int stream) {
  auto& fd = pipe_of(running_[id]->ours, stream);
  if (fd)
    events_.watch(fd.get(), EPOLLIN,
                  [this, id, stream](uint32_t) { read_output(id, stream); });
}

void process_children::watch_extra(uint64_t id, size_t index) {
  events_.watch(running_[id]->ours.extra[index].get(), EPOLLIN,
                [this, id, index](uint32_t) { read_extra(id, index); });
}

void process_children::read_output(uint64_t id, int stream) {
  auto found = running_.find(id);
  if (found == running_.end())
    return;
  auto& from = *found->second;
  auto& fd = pipe_of(from.ours, stream);
  auto got = ::read(fd.get(), buffer_.data(), buffer_.size());
  if (got > 0) {
    take_output(from, stream, {buffer_.data(), static_cast<size_t>(got)});
    return;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  close_fd(fd);
  conclude_if_dry(from);
}

void process_children::read_extra(uint64_t id, size_t index) {
  auto found = running_.find(id);
  if (found == running_.end())
    return;
  auto& from = *found->second;
  auto& fd = from.ours.extra[index];
  auto got = ::read(fd.get(), buffer_.data(), buffer_.size());
  if (got > 0) {
    from.extra[index].take({buffer_.data(), static_cast<size_t>(got)});
    return;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  close_fd(fd);
  conclude_if_dry(from);
}

void process_children::take_output(child& from, int stream,
                                   std::string_view bytes) {
  if (from.is_run()) {
    (stream == 2 ? from.err : from.out).take(bytes);
    return;
  }
  if (!from.reported)
    caf::anon_send(from.sink, atom::p_out_v,
                   proc_output{from.spec.id, stream, std::string{bytes}});
  auto& window = from.windows[static_cast<size_t>(stream - 1)];
  // A hang-up is reported whatever one waits for: pausing means not watching.
  if (window.sent(bytes.size()) && !from.exited)
    events_.forget(pipe_of(from.ours, stream).get());
}

void process_children::write_input(child& to) {
  auto& fd = to.ours.input;
  if (!fd)
    return;
  while (!to.input.empty()) {
    auto& front = to.input.front();
    auto rest = std::string_view{front}.substr(to.input_offset);
    auto put = rest.empty() ? 0 : ::write(fd.get(), rest.data(), rest.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0 && errno == EAGAIN) {
      if (!events_.watches(fd.get()))
        events_.watch(fd.get(), EPOLLOUT, [this, id = to.spec.id](uint32_t) {
          if (auto found = running_.find(id); found != running_.end())
            write_input(*found->second);
        });
      return;
    }
    if (put < 0) {
      // The child has closed its end; that is its right.
      to.input.clear();
      to.input_ends = true;
      break;
    }
    to.input_offset += static_cast<size_t>(put);
    to.input_size -= std::min(to.input_size, static_cast<uint64_t>(put));
    if (to.input_offset == front.size()) {
      to.input.pop_front();
      to.input_offset = 0;
    }
  }
  if (to.input_ends)
    close_fd(fd);
  else
    events_.forget(fd.get());
}

void process_children::close_fd(owned_fd& fd) {
  if (!fd)
    return;
  events_.forget(fd.get());
  fd.reset();
}

// -- end ----------------------------------------------------------------------

void process_children::pid_fired(uint64_t id) {
  auto found = running_.find(id);
  if (found == running_.end())
    return;
  auto& ended = *found->second;
  if (ended.exited)
    return;
  siginfo_t info{};
  auto waited = ::waitid(static_cast<idtype_t>(P_PIDFD),
                         static_cast<id_t>(ended.ours.pidfd.get()), &info,
                         WEXITED | WNOHANG | WNOWAIT);
  if (waited == 0 && info.si_pid == 0)
    return;
  events_.forget(ended.ours.pidfd.get());
  start_drain(ended);
}

void process_children::start_drain(child& ended) {
  ended.exited = true;
  events_.cancel(ended.kill_timer);
  events_.cancel(ended.confirm_timer);
  auto id = ended.spec.id;
  close_fd(ended.ours.input);
  ended.input.clear();
  if (ended.reported) {
    conclude(id);
    return;
  }
  for (auto stream : {1, 2})
    if (auto& fd = pipe_of(ended.ours, stream);
        fd && !events_.watches(fd.get()))
      watch_output(id, stream);
  ended.drain_timer =
    events_.after(limits::process_drain, [this, id] { conclude(id); });
  conclude_if_dry(ended);
}

void process_children::conclude_if_dry(child& ended) {
  if (!ended.exited || ended.ours.output || ended.ours.error_output)
    return;
  for (const auto& fd : ended.ours.extra)
    if (fd)
      return;
  conclude(ended.spec.id);
}

void process_children::read_rest(child& ended) {
  for (auto stream : {1, 2}) {
    auto& fd = pipe_of(ended.ours, stream);
    for (uint64_t total = 0; fd && total < drain_bytes;) {
      auto got = ::read(fd.get(), buffer_.data(), buffer_.size());
      if (got <= 0)
        break;
      total += static_cast<uint64_t>(got);
      if (!ended.reported)
        take_output(ended, stream, {buffer_.data(), static_cast<size_t>(got)});
    }
  }
  for (size_t index = 0; index < ended.ours.extra.size(); ++index) {
    auto& fd = ended.ours.extra[index];
    for (uint64_t total = 0; fd && total < drain_bytes;) {
      auto got = ::read(fd.get(), buffer_.data(), buffer_.size());
      if (got <= 0)
        break;
      total += static_cast<uint64_t>(got);
      ended.extra[index].take({buffer_.data(), static_cast<size_t>(got)});
    }
  }
}

void process_children::conclude(uint64_t id) {
  auto found = running_.find(id);
  if (found == running_.end())
    return;
  auto& ended = *found->second;
  if (ended.killed || ended.spec.on_exit == on_exit_rule::kill_rest)
    ::kill(-ended.ours.pid, SIGKILL);
  if (ended.killed && !ended.tag_swept && !ended.spec.exec_tag.empty())
    kill_tagged({ended.spec.exec_tag});
  read_rest(ended);
  // Not later: once it is reaped, its number may become somebody else's.
  if (reaper_ != nullptr)
    reaper_->ended(ended.ours.pid);
  auto exit = reap(ended);
  for (auto timer : {ended.drain_timer, ended.kill_timer, ended.confirm_timer,
                     ended.backstop_timer})
    events_.cancel(timer);
  close_fd(ended.ours.input);
  close_fd(ended.ours.output);
  close_fd(ended.ours.error_output);
  for (auto& fd : ended.ours.extra)
    close_fd(fd);
  close_fd(ended.ours.pidfd);
  report(ended, exit);
  pids_.erase(ended.ours.pid);
  running_.erase(found);
  if (owner_)
    caf::anon_send(owner_, atom::closed_v, id);
  reap_orphans();
  start_waiting();
}

proc_exit process_children::first_words(const child& ended) const {
  proc_exit result;
  result.id = ended.spec.id;
  result.out_dropped = ended.out.dropped();
  result.err_dropped = ended.err.dropped();
  result.ms = milliseconds_between(ended.started, event_loop::now());
  return result;
}

proc_exit process_children::reap(child& ended) {
  auto result = first_words(ended);
  siginfo_t info{};
  rusage usage{};
  // The library's waitid has no room for the resource usage.
  auto waited = ::syscall(SYS_waitid, P_PIDFD, ended.ours.pidfd.get(), &info,
                          WEXITED | WNOHANG, &usage);
  if (waited != 0 || info.si_pid == 0) {
    kit::log::error("process", "the end of " + shown_name(ended.spec)
                                 + " was taken by somebody else");
    result.code = -1;
    return result;
  }
  if (info.si_code == CLD_EXITED)
    result.code = info.si_status;
  else
    result.signal = info.si_status;
  result.cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000
                  + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  result.max_rss_kib = usage.ru_maxrss;
  return result;
}

void process_children::strike(child& victim) {
  victim.killed = true;
  if (victim.exited)
    return;
  ::kill(-victim.ours.pid, SIGKILL);
  signal_pidfd(victim.ours.pidfd.get(), SIGKILL);
  if (victim.confirm_timer == 0)
    victim.confirm_timer =
      events_.after(limits::kill_confirm_timeout,
                    [this, id = victim.spec.id] { give_up(id); });
}

void process_children::hard_kill(child& victim) {
  if (victim.ours.pid == 0)
    return;
  strike(victim);
  victim.tag_swept = true;
  if (!victim.spec.exec_tag.empty())
    kill_tagged({victim.spec.exec_tag});
}

void process_children::give_up(uint64_t id) {
  // A busy loop may not have come to the news of its end.
  pid_fired(id);
  auto found = running_.find(id);
  if (found == running_.end() || found->second->exited)
    return;
  auto& stuck = *found->second;
  kit::log::error("process", shown_name(stuck.spec) + " (process "
                               + std::to_string(stuck.ours.pid)
                               + ") does not end although it was killed");
  auto exit = first_words(stuck);
  exit.unkillable = true;
  report(stuck, exit);
}

void process_children::report(child& ended, proc_exit exit) {
  if (ended.reported)
    return;
  ended.reported = true;
  if (!ended.is_run()) {
    caf::anon_send(ended.sink, atom::p_exit_v, std::move(exit));
    return;
  }
  exit.out_dropped = ended.out.dropped();
  exit.err_dropped = ended.err.dropped();
  proc_result result;
  result.out = ended.out.release();
  result.err = ended.err.release();
  for (auto& kept : ended.extra)
    result.extra.push_back(kept.release());
  result.exit = std::move(exit);
  result.killed = ended.killed;
  if (owner_)
    caf::anon_send(owner_, atom::done_v, std::move(result));
}

void process_children::reap_orphans() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0
        || info.si_pid == 0)
      return;
    // One of ours is reaped when its pipes are read; then we look again.
    if (pids_.count(info.si_pid) > 0)
      return;
    ::waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG);
  }
}

} // namespace bureau::io
