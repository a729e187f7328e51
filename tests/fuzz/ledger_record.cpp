#include "messages/codec/ledger_record.hpp"

#include "tests/fuzz/entry.hpp"

#include <algorithm>

using namespace bureau;

void fuzz::try_input(std::string_view input) {
  if (auto record = parse_ledger_line(input)) {
    auto line = print_ledger_line(*record);
    require(line.find('\n') == line.size() - 1, "a record is one line");
    auto again =
      parse_ledger_line(std::string_view{line}.substr(0, line.size() - 1));
    require(again.has_value(), "a record reads back");
    require(print_ledger_line(*again) == line, "a record settles");
  }
  auto contents = read_ledger(input);
  auto lines =
    1 + static_cast<size_t>(std::count(input.begin(), input.end(), '\n'));
  require(contents.records.size() + contents.skipped <= lines,
          "a line is one record at most");
  require(contents.torn == (!input.empty() && input.back() != '\n'),
          "a torn end is told");
}
