#include "actors/io/directory_watches.hpp"

#include "actors/io/io_errors.hpp"
#include "messages/limits.hpp"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <caf/send.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace bureau::io {

namespace {

constexpr uint32_t entry_changes =
  IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE;
constexpr uint32_t own_end =
  IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;
constexpr uint32_t wanted = entry_changes | IN_DELETE_SELF | IN_MOVE_SELF
                            | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;
constexpr size_t buffer_bytes = 32u << 10;

caf::error why_not(const std::string& path, int error) {
  auto sentence = path + " cannot be watched: " + std::strerror(error);
  switch (error) {
  case ENOENT:
    return make_failure(errc::not_found, std::move(sentence));
  case ENOTDIR:
  case ELOOP:
  case EACCES:
    return make_failure(errc::denied, std::move(sentence));
  default:
    return make_failure(errc::not_ready, std::move(sentence));
  }
}

} // namespace

directory_watches::~directory_watches() {
  if (fd_)
    events_.forget(fd_.get());
}

bool directory_watches::open() {
  if (fd_)
    return true;
  owned_fd fd{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  if (!fd || !events_.watch(fd.get(), EPOLLIN, [this](uint32_t) { read(); }))
    return false;
  fd_ = std::move(fd);
  return true;
}

void directory_watches::begin(watch_begin command) {
  auto number =
    open() ? ::inotify_add_watch(fd_.get(), command.path.c_str(), wanted) : -1;
  if (number < 0) {
    caf::anon_send(command.owner, atom::failed_v, command.id,
                   why_not(command.path, errno));
    return;
  }
  auto id = command.id;
  caf::anon_send(command.owner, atom::ready_v, id);
  watched_[id] = {std::move(command), number};
}

void directory_watches::end(uint64_t id) {
  drop(id, false);
}

void directory_watches::end_all() {
  while (!watched_.empty())
    drop(watched_.begin()->first, true);
}

void directory_watches::drop(uint64_t id, bool told) {
  auto gone = watched_.extract(id);
  if (gone.empty())
    return;
  auto& [what, number] = gone.mapped();
  if (watchers_of(number).empty())
    ::inotify_rm_watch(fd_.get(), number);
  if (!told)
    return;
  caf::anon_send(what.sink, atom::changed_v, directory_change{{}, true, true});
  caf::anon_send(
    what.owner, atom::failed_v, id,
    make_failure(errc::not_found, what.path + " is not watched any more"));
}

std::vector<uint64_t> directory_watches::watchers_of(int number) const {
  std::vector<uint64_t> result;
  for (const auto& [id, place] : watched_)
    if (place.number == number)
      result.push_back(id);
  return result;
}

void directory_watches::read() {
  alignas(inotify_event) std::array<char, buffer_bytes> buffer;
  std::map<int, directory_change> news;
  auto lost = false;
  // What comes later waits for the next turn of the loop.
  auto got = ::read(fd_.get(), buffer.data(), buffer.size());
  for (ssize_t at = 0; at < got;) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof event);
    const auto* name = buffer.data() + at + sizeof event;
    at += static_cast<ssize_t>(sizeof event + event.len);
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      lost = true;
      continue;
    }
    auto& change = news[event.wd];
    change.ended = change.ended || (event.mask & own_end) != 0;
    if ((event.mask & entry_changes) == 0 || event.len == 0)
      continue;
    std::string entry{name, ::strnlen(name, event.len)};
    if (std::find(change.names.begin(), change.names.end(), entry)
        != change.names.end())
      continue;
    if (change.names.size() < limits::watch_names)
      change.names.push_back(std::move(entry));
    else
      change.everything = true;
  }
  for (const auto& [id, place] : watched_)
    if (lost || news.contains(place.number)) {
      auto change = news[place.number];
      change.everything = change.everything || lost || change.ended;
      if (!change.ended)
        caf::anon_send(place.what.sink, atom::changed_v, std::move(change));
    }
  for (const auto& [number, change] : news)
    if (change.ended)
      for (auto id : watchers_of(number))
        drop(id, true);
}

} // namespace bureau::io
