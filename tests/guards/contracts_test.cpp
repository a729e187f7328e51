#include "tests/guards/source_tree.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace bureau::guards;

namespace {

/// Symbols that nothing stands for yet.
const std::set<std::string> not_built = {"BoundedHttpResponseWriter",
                                         "BoundedHttpResponseWriterOptions"};

/// A row of the table in docs/contracts.md.
struct entry {
  std::string symbol;
  std::string name;
  std::string header;
  std::string user;
  std::string test;
};

std::string cell(std::istringstream& row) {
  std::string text;
  std::getline(row, text, '|');
  auto begin = text.find_first_not_of(" `");
  auto end = text.find_last_not_of(" `");
  return begin == text.npos ? std::string{}
                            : text.substr(begin, end - begin + 1);
}

std::vector<entry> entries() {
  std::vector<entry> result;
  std::istringstream lines{read("docs/contracts.md")};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `"))
      continue;
    std::istringstream row{line.substr(1)};
    entry next;
    next.symbol = cell(row);
    next.name = cell(row);
    next.header = cell(row);
    next.user = cell(row);
    next.test = cell(row);
    result.push_back(std::move(next));
  }
  return result;
}

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool contains_word(const std::string& text, const std::string& word) {
  for (auto at = text.find(word); at != text.npos;
       at = text.find(word, at + 1)) {
    auto end = at + word.size();
    if ((at == 0 || !is_word_char(text[at - 1]))
        && (end == text.size() || !is_word_char(text[end])))
      return true;
  }
  return false;
}

} // namespace

TEST_CASE("docs/contracts.md lists every symbol of the contracts once") {
  std::multiset<std::string> listed;
  for (const auto& row : entries())
    listed.insert(row.symbol);
  std::istringstream symbols{read("tests/golden/contract-symbols.txt")};
  size_t count = 0;
  for (std::string symbol; std::getline(symbols, symbol); ++count) {
    CAPTURE(symbol);
    CHECK(listed.count(symbol) == 1);
  }
  CHECK(count > 200);
  CHECK(listed.size() == count);
}

TEST_CASE("what stands for a symbol exists, and so does its test") {
  std::set<std::string> missing;
  for (const auto& row : entries()) {
    CAPTURE(row.symbol);
    CHECK_FALSE(row.user.empty());
    if (row.name == "not built") {
      missing.insert(row.symbol);
      continue;
    }
    CAPTURE(row.header);
    CHECK(exists(row.header));
    CAPTURE(row.name);
    CHECK(contains_word(read(row.header), row.name));
    CAPTURE(row.test);
    CHECK_FALSE(row.test.empty());
    CHECK(exists(row.test));
  }
  CHECK(missing == not_built);
}
