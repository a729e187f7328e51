#include "web/http/response_writer.hpp"

#include <Poco/Clock.h>

#include <algorithm>
#include <utility>

namespace bureau::web {

namespace {

/// Bytes of one piece of a longer answer.
constexpr size_t piece_bytes = 32u << 10;

} // namespace

response_writer::response_writer(byte_sink& sink,
                                 response_writer_options options)
  : sink_(sink), options_(std::move(options)) {
  if (options_.max_pending_bytes == 0)
    options_.max_pending_bytes = response_pending_bytes;
  if (options_.drain_timeout <= std::chrono::milliseconds::zero())
    options_.drain_timeout = response_drain_timeout;
}

std::optional<std::string> response_writer::write(std::string_view bytes) {
  std::unique_lock lock{mutex_};
  if (failure_)
    return failure_;
  if (bytes.size() > options_.max_pending_bytes - pending_) {
    fail(lock, "More than " + std::to_string(options_.max_pending_bytes)
                 + " bytes wait for a client that does not read them.");
    return failure_;
  }
  pending_ += bytes.size();
  auto ticket = drawn_++;
  turn_.wait(lock, [&] { return served_ == ticket; });
  auto fault = failure_;
  if (!fault) {
    lock.unlock();
    fault = put(bytes);
    lock.lock();
  }
  pending_ -= bytes.size();
  ++served_;
  turn_.notify_all();
  // Another one may have failed the writer meanwhile; the first stays.
  if (fault && !failure_)
    fail(lock, std::move(*fault));
  return failure_;
}

std::optional<std::string> response_writer::write_all(std::string_view bytes) {
  auto most = std::min(piece_bytes, options_.max_pending_bytes);
  do {
    auto piece = bytes.substr(0, most);
    bytes.remove_prefix(piece.size());
    if (auto fault = write(piece))
      return fault;
  } while (!bytes.empty());
  return std::nullopt;
}

std::optional<std::string> response_writer::put(std::string_view bytes) {
  std::optional<Poco::Clock> waits;
  while (!bytes.empty()) {
    auto result = sink_.push(bytes);
    if (result.what == byte_sink::state::broken)
      return result.sentence;
    if (result.what == byte_sink::state::taken && result.count > 0) {
      bytes.remove_prefix(std::min(result.count, bytes.size()));
      continue;
    }
    if (!waits)
      waits.emplace();
    auto left = options_.drain_timeout
                - std::chrono::milliseconds{waits->elapsed() / 1000};
    auto drained = left > std::chrono::milliseconds::zero()
                     ? sink_.await_room(left)
                     : byte_sink::drain::late;
    if (drained == byte_sink::drain::broken)
      return "The client closed its connection.";
    if (drained == byte_sink::drain::late)
      return "The client did not read for "
             + std::to_string(options_.drain_timeout.count()) + " ms.";
  }
  return std::nullopt;
}

void response_writer::fail(std::unique_lock<std::mutex>& lock,
                           std::string sentence) {
  failure_ = std::move(sentence);
  auto told = *failure_;
  auto listener = std::exchange(options_.on_failure, {});
  if (!listener)
    return;
  lock.unlock();
  listener(told);
  lock.lock();
}

size_t response_writer::pending() const {
  std::lock_guard lock{mutex_};
  return pending_;
}

} // namespace bureau::web
