#include "messages/codec/log_record.hpp"

#include "messages/limits.hpp"
#include "messages/text/history_line.hpp"
#include "tests/fuzz/entry.hpp"

#include <algorithm>

using namespace bureau;

void fuzz::try_input(std::string_view input) {
  if (auto record = parse_log_line(input)) {
    auto line = print_log_line(*record);
    require(line.find('\n') == line.size() - 1, "a record is one line");
    auto again =
      parse_log_line(std::string_view{line}.substr(0, line.size() - 1));
    require(again.has_value(), "a record reads back");
    require(print_log_line(*again) == line, "a record settles");
  }
  auto lines =
    1 + static_cast<size_t>(std::count(input.begin(), input.end(), '\n'));
  auto whole = read_log(input, "log.jsonl");
  require(whole.entries.size() + whole.skipped <= lines,
          "a line is one record at most");
  require(whole.warnings.size() <= limits::log_warnings,
          "warnings have a bound");
  auto tail = read_log_tail(input, false, "log.jsonl");
  require(tail.entries.size() + tail.skipped <= lines, "a tail is no more");
  auto ids = log_tail_ids(input, true);
  std::sort(ids.begin(), ids.end());
  require(std::adjacent_find(ids.begin(), ids.end()) == ids.end(),
          "an id is told once");
}
