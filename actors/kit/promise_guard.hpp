#pragma once

#include "messages/errc.hpp"

#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <map>
#include <utility>

namespace bureau::kit {

/// Open answers of an actor, owned by its state. CAF never answers a promise
/// that is dropped; the destructor of this guard answers all that are left.
template <class... Ts>
class promise_guard {
public:
  using promise = caf::typed_response_promise<Ts...>;

  promise_guard() = default;
  promise_guard(const promise_guard&) = delete;
  promise_guard& operator=(const promise_guard&) = delete;

  ~promise_guard() {
    fail_all(make_failure(errc::shutting_down, "the component is ending"));
  }

  /// Keeps a promise; the id names it from now on.
  uint64_t keep(promise answer) {
    auto id = ++last_id_;
    open_.emplace(id, std::move(answer));
    return id;
  }

  /// Answers; an id that is gone is ignored.
  template <class... Xs>
  void deliver(uint64_t id, Xs&&... xs) {
    auto entry = open_.extract(id);
    if (!entry.empty())
      entry.mapped().deliver(std::forward<Xs>(xs)...);
  }

  void fail(uint64_t id, caf::error reason) {
    auto entry = open_.extract(id);
    if (!entry.empty())
      entry.mapped().deliver(std::move(reason));
  }

  void fail_all(const caf::error& reason) {
    auto all = std::exchange(open_, {});
    for (auto& entry : all)
      entry.second.deliver(reason);
  }

  template <class... Xs>
  void deliver_all(const Xs&... xs) {
    auto all = std::exchange(open_, {});
    for (auto& entry : all)
      entry.second.deliver(xs...);
  }

  size_t size() const { return open_.size(); }
  bool empty() const { return open_.empty(); }

private:
  std::map<uint64_t, promise> open_;
  uint64_t last_id_ = 0;
};

} // namespace bureau::kit
