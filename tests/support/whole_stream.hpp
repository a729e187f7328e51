#pragma once

#include "actors/delivery/final_delivery_core.hpp"
#include "actors/delivery/stream_end_core.hpp"
#include "actors/runner/resilient_stream_core.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace bureau::test {

using whole_effect =
  std::variant<runner::stream_effect, delivery::wait, delivery::delivery_error>;
using whole_effects = std::vector<whole_effect>;

/// Previews and delivery as one, as the agent contracts describe a stream. At
/// work an office stands between them and records what it delivers.
class whole_stream {
public:
  /// @param rules without their placeholder
  whole_stream(runner::stream_options options, delivery::delivery_rules rules,
               bool splits_oversized = false)
    : budget_(static_cast<size_t>(options.max_message_chars)),
      splits_oversized_(splits_oversized), rules_(std::move(rules)),
      core_(std::move(options)) {}

  bool is_open() const { return core_.is_open(); }
  void shorten(contracts::path_roots roots) { core_.shorten(std::move(roots)); }

  whole_effects status(std::string_view text, int64_t now) {
    return take(core_.status(text, now));
  }
  whole_effects append(const std::string& delta, int64_t now) {
    return take(core_.append(delta, now));
  }
  whole_effects replace(std::string text, int64_t now) {
    return take(core_.replace(std::move(text), now));
  }
  whole_effects event(const contracts::stream_event& event, int64_t now) {
    return take(core_.event(event, now));
  }
  whole_effects debounce_due() { return take(core_.debounce_due()); }
  whole_effects settle_timeout() { return take(core_.settle_timeout()); }
  whole_effects dismiss() { return take(core_.dismiss()); }
  whole_effects finish(delivery::stream_end end) {
    return take(core_.finish(std::move(end)));
  }

  whole_effects answered(uint64_t call, delivery::call_outcome outcome,
                         int64_t now) {
    if (call != last_ || !pending_)
      return {};
    auto inner = *std::exchange(pending_, std::nullopt);
    if (inner == 0)
      return follow(delivery_->answered(head_, outcome));
    // Nothing is made anew for a run that was aborted.
    if (aborted_ && outcome.kind == delivery::send_outcome::recreate)
      outcome.kind = delivery::send_outcome::fatal;
    return take(core_.answered(inner, outcome, now));
  }

  whole_effects wait_over() {
    if (!std::exchange(waiting_, false))
      return {};
    return follow(delivery_->waited(head_));
  }

  whole_effects abort() {
    aborted_ = true;
    if (delivery_)
      delivery_->abort();
    return wait_over();
  }

private:
  whole_effects take(runner::stream_effects effects) {
    whole_effects out;
    for (auto& item : effects) {
      if (auto end = std::get_if<runner::stream::produce>(&item)) {
        for (auto& step : deliver(std::move(*end)))
          out.push_back(std::move(step));
        continue;
      }
      if (auto send = std::get_if<runner::stream::send>(&item);
          send != nullptr && send->call != 0) {
        pending_ = send->call;
        send->call = ++last_;
      }
      out.emplace_back(std::move(item));
    }
    return out;
  }

  whole_effects deliver(runner::stream::produce end) {
    head_ = std::move(end.head);
    auto fits = splits_oversized_ && rules_.markdown;
    auto text = delivery::answer_text({end.text, end.options});
    rules_.placeholder = std::move(end.placeholder);
    auto chunks =
      delivery::answer_chunks(text, budget_, fits ? rules_.render : nullptr);
    delivery_.emplace(rules_, delivery::text_pieces(std::move(chunks)));
    if (aborted_)
      delivery_->abort();
    return follow(delivery_->start(head_));
  }

  whole_effects follow(delivery::delivery_step step) {
    whole_effects out;
    if (auto next = std::get_if<delivery::call>(&step)) {
      pending_ = 0;
      out.emplace_back(runner::stream_effect{
        runner::stream::send{++last_, std::move(next->what), false}});
      return out;
    }
    if (auto pause = std::get_if<delivery::wait>(&step)) {
      waiting_ = true;
      out.emplace_back(*pause);
      return out;
    }
    auto ends = core_.recorded();
    if (auto fault = std::get_if<delivery::delivery_error>(&step)) {
      out.emplace_back(std::move(*fault));
      ends.erase(ends.begin());
    }
    for (auto& item : ends)
      out.emplace_back(std::move(item));
    return out;
  }

  size_t budget_;
  bool splits_oversized_;
  delivery::delivery_rules rules_;
  runner::resilient_stream_core core_;
  std::optional<delivery::final_delivery> delivery_;
  delivery::live_message head_;
  /// Call of the core that is under way; 0: one of the delivery.
  std::optional<uint64_t> pending_;
  uint64_t last_ = 0;
  bool waiting_ = false;
  bool aborted_ = false;
};

} // namespace bureau::test
