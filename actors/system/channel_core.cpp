#include "actors/system/channel_core.hpp"

#include "messages/codec/json_support.hpp"

#include <utility>

namespace bureau::system {

namespace {

using contracts::channel_state;

constexpr const char* is_starting = "It is starting.";
constexpr const char* was_stopped = "It was stopped.";

bool is_record(const json_text& text) {
  auto parsed = json::parse(text.text);
  return parsed && parsed.value.is_object();
}

} // namespace

channel_core::channel_core(platform_id platform) : platform_(platform) {
  status_.state = channel_state::disabled;
  status_.reason = "It is not configured.";
}

bool channel_core::publish(channel_state state, std::string reason) {
  contracts::channel_status next;
  next.state = state;
  next.reason = std::move(reason);
  if (state == channel_state::running)
    next.summary = summary_;
  if (next == status_)
    return false;
  status_ = std::move(next);
  return true;
}

bool channel_core::configured(const channel_plan& plan) {
  if (!plan.disabled.empty()) {
    publish(channel_state::disabled, plan.disabled);
    return false;
  }
  if (!plan.waiting.empty()) {
    publish(channel_state::waiting_for_config, plan.waiting);
    return false;
  }
  publish(channel_state::waiting_for_config, is_starting);
  return true;
}

uint64_t channel_core::start() {
  ++generation_;
  exists_ = true;
  starting_ = true;
  summary_ = json_text{"{}"};
  publish(channel_state::waiting_for_config, is_starting);
  return generation_;
}

bool channel_core::started(uint64_t generation) {
  if (generation != generation_ || !exists_ || !starting_)
    return false;
  starting_ = false;
  return publish(channel_state::running);
}

bool channel_core::failed(uint64_t generation, const std::string& reason) {
  if (generation != generation_ || !exists_)
    return false;
  exists_ = false;
  starting_ = false;
  return publish(channel_state::failed, reason);
}

bool channel_core::tell(const channel_news& news) {
  if (news.platform != platform_ || news.generation != generation_ || !exists_)
    return false;
  switch (news.what) {
  case channel_event::failed:
    return failed(news.generation, news.reason);
  case channel_event::degraded:
    starting_ = false;
    return publish(channel_state::degraded, news.reason);
  case channel_event::recovered:
    return status_.state == channel_state::degraded
           && publish(channel_state::running);
  case channel_event::summary_changed:
    if (!is_record(news.summary))
      return false;
    summary_ = news.summary;
    return status_.state == channel_state::running
           && publish(channel_state::running);
  }
  return false;
}

bool channel_core::stopped(bool host_ends) {
  if (!std::exchange(exists_, false))
    return false;
  starting_ = false;
  return publish(host_ends ? channel_state::disabled
                           : channel_state::waiting_for_config,
                 host_ends ? "The node is ending." : was_stopped);
}

channel_report channel_core::report() const {
  return {platform_, status_, generation_};
}

} // namespace bureau::system
