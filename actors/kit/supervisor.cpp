#include "actors/kit/supervisor.hpp"

#include "actors/kit/log.hpp"
#include "messages/errc.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_clock.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>

namespace bureau::kit {

namespace {

int64_t clock_ms(caf::scheduled_actor* self) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
           self->clock().now().time_since_epoch())
    .count();
}

} // namespace

void supervisor::install(caf::scheduled_actor* self, verdict give_up,
                         restart_listener restarted,
                         stranger_handler stranger) {
  self_ = self;
  give_up_ = std::move(give_up);
  restarted_ = std::move(restarted);
  stranger_ = std::move(stranger);
  self->set_down_handler([this](caf::scheduled_actor*, caf::down_msg& down) {
    handle_down(down.source, down.reason);
  });
}

caf::actor supervisor::add(child_spec spec) {
  auto& entry = children_[spec.label];
  entry.spec = std::move(spec);
  start(entry);
  return entry.handle;
}

void supervisor::start(child& entry) {
  entry.handle = entry.spec.start();
  if (entry.handle)
    self_->monitor(entry.handle);
}

void supervisor::release(const caf::actor_addr& address) {
  std::erase_if(children_, [&](const auto& item) {
    return item.second.handle && item.second.handle.address() == address;
  });
}

caf::actor supervisor::find(const std::string& label) const {
  auto entry = children_.find(label);
  return entry != children_.end() ? entry->second.handle : caf::actor{};
}

void supervisor::handle_down(const caf::actor_addr& source,
                             const caf::error& reason) {
  auto entry =
    std::find_if(children_.begin(), children_.end(), [&](const auto& item) {
      return item.second.handle && item.second.handle.address() == source;
    });
  if (entry == children_.end()) {
    if (stranger_)
      stranger_(source, reason);
    return;
  }
  auto& fallen = entry->second;
  auto label = entry->first;
  fallen.handle = nullptr;
  auto now = clock_ms(self_);
  auto& history = fallen.restarts_ms;
  while (!history.empty() && now - history.front() > fallen.spec.window.count())
    history.pop_front();
  if (history.size() >= fallen.spec.max_restarts) {
    log::error(label, "given up after " + std::to_string(history.size())
                        + " restarts: " + sentence_of(reason));
    children_.erase(entry);
    give_up_(label, reason);
    return;
  }
  auto doublings = std::min<size_t>(history.size(), 4);
  auto delay = fallen.spec.backoff * (1 << doublings);
  history.push_back(now);
  log::warning(label, "ended (" + sentence_of(reason) + "), restarting");
  fallen.retry.arm(self_, delay, [this, label] {
    auto position = children_.find(label);
    if (position == children_.end())
      return;
    start(position->second);
    if (restarted_)
      restarted_(label);
  });
}

} // namespace bureau::kit
