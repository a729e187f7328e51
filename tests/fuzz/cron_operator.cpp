#include "messages/contracts/cron_operator.hpp"

#include "messages/contracts/wire_json.hpp"
#include "tests/fuzz/entry.hpp"

using namespace bureau;
using namespace bureau::contracts;

namespace {

template <class Parse>
void check(const bj::value& value, Parse parse) {
  auto parsed = parse(value);
  if (!parsed) {
    fuzz::require(parsed.error() == cron_wire_error(), "there is one error");
    return;
  }
  auto printed = to_json(*parsed);
  auto again = parse(printed);
  fuzz::require(again && *again == *parsed, "a value survives the wire");
  fuzz::require(fuzz::same_on_wire(to_json(*again), printed),
                "printing settles");
}

} // namespace

void fuzz::try_input(std::string_view input) {
  auto value = json_of(input);
  check(value, parse_cron_overview);
  check(value, parse_cron_job);
  check(value, parse_cron_run_summary);
  check(value, parse_cron_run_detail);
  check(value, parse_cron_run_page);
  if (auto page = parse_cron_run_page(value))
    require(print_wire(to_json(*page), max_cron_response_bytes).has_value(),
            "a page has a bound");
  reader in{input};
  auto limit = in.text();
  if (auto query = parse_cron_runs_query(limit, in.rest())) {
    require(query->limit >= 1
              && query->limit <= static_cast<int64_t>(max_cron_run_page),
            "a page holds 1 to 100 runs");
    require(query->before.size() <= max_cron_cursor_bytes,
            "a cursor has a bound");
  }
}
