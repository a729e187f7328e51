#include "messages/codec/event_file.hpp"

#include "messages/schedule/cron.hpp"
#include "tests/fuzz/entry.hpp"

using namespace bureau;

namespace {

/// Half a year of summer, half a year of winter, and no more.
class two_seasons final : public zone_rules {
public:
  zone_span at(int64_t unix_s) const override {
    constexpr int64_t change = 1'790'000'000;
    constexpr auto open = zone_span{};
    return unix_s < change ? zone_span{open.begin_s, change, 7200}
                           : zone_span{change, open.end_s, 3600};
  }
  const std::string& name() const override { return name_; }

private:
  std::string name_ = "two seasons";
};

} // namespace

void fuzz::try_input(std::string_view input) {
  if (auto read = parse_event_file(input, "f.json")) {
    auto built = build_event(read.payload);
    require(built && built.payload == read.payload,
            "what is read can be written");
    auto again = parse_event_file(print_event_file(built.payload), "f.json");
    require(again && again.payload == built.payload, "what is written is read");
    if (built.payload.type == event_type::one_shot)
      require(event_instant_ms(built.payload.at).has_value(),
              "a one-shot has an instant");
  }
  require(is_event_file_name(sanitize_event_name(input) + ".json"),
          "a sanitized name is a name");
  auto pattern = parse_cron(input);
  if (!pattern)
    return;
  constexpr int64_t start = 1'780'000'000;
  two_seasons zone;
  auto at = start;
  for (auto i = 0; i < 4; ++i) {
    auto next = next_run_s(*pattern, zone, at);
    if (!next)
      return;
    require(*next > at, "runs go on");
    at = *next;
  }
}
