#include "tests/guards/source_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace bureau::guards;

namespace {

/// Symbols that nothing in the tree uses: their first consumer is an MCP client
/// …
const std::set<std::string> for_apps = {
  "AgentMcpAppHostRequest",    "AgentMcpAppLoadRequest",
  "AgentMcpAppResource",       "AgentReplyMcpAppPart",
  "MCP_APPS_EXTENSION_ID",     "MCP_APP_RESOURCE_MIME_TYPE",
  "MCP_APP_SUPPORTED_VERSIONS"};

/// … or an adapter of a chat platform.
const std::set<std::string> for_platforms = {
  "AGENT_PRECEDING_MESSAGES_MAX_COUNT",
  "AGENT_PRECEDING_MESSAGES_MAX_TOTAL_BYTES",
  "AGENT_PRECEDING_MESSAGE_MAX_TEXT_BYTES",
  "AgentPrecedingMessage",
  "AgentSurfaceMessageBudget",
  "EnvEncodeKind",
  "InboundHttpHeaders",
  "JsonEnvFieldSpec",
  "JsonEnvMapping",
  "encodeJsonEnvValue",
  "fieldSpecMappings",
  "layerJsonOntoEnv",
  "sanitizeInboundHttpHeaders",
  "splitTextByCodePoints"};

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
  auto begin = text.find_first_not_of(' ');
  auto end = text.find_last_not_of(' ');
  return begin == text.npos ? std::string{}
                            : text.substr(begin, end - begin + 1);
}

std::string quoted(const std::string& text) {
  auto begin = text.find('`');
  auto end = text.find('`', begin + 1);
  return end == text.npos ? std::string{}
                          : text.substr(begin + 1, end - begin - 1);
}

std::vector<entry> entries() {
  std::vector<entry> result;
  std::istringstream lines{read("docs/contracts.md")};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `"))
      continue;
    std::istringstream row{line.substr(1)};
    entry next;
    next.symbol = quoted(cell(row));
    next.name = quoted(cell(row));
    next.header = quoted(cell(row));
    next.user = cell(row);
    next.test = quoted(cell(row));
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

/// Code of a file, without comments and texts; empty when there is none.
const std::string& code_of(const std::string& path) {
  static const auto codes = [] {
    std::map<std::string, std::string> result;
    for (const auto& file : all_sources())
      result.emplace(file.path, file.code);
    return result;
  }();
  static const std::string none;
  auto found = codes.find(path);
  return found == codes.end() ? none : found->second;
}

/// Whether one file of the contracts has both words.
bool contracts_join(const std::string& left, const std::string& right) {
  return std::any_of(
    all_sources().begin(), all_sources().end(), [&](const source_file& file) {
      return file.in("messages/contracts/") && contains_word(file.code, left)
             && contains_word(file.code, right);
    });
}

/// What is wrong with the user of a row; empty when nothing is.
std::string fault_of_user(const entry& row) {
  constexpr std::string_view unused = "value only, first consumer: ";
  if (row.user.starts_with(unused)) {
    if (for_apps.count(row.symbol) > 0)
      return row.user.ends_with("an MCP client") ? "" : "wrong consumer";
    return for_platforms.count(row.symbol) > 0 ? "" : "it must have a user";
  }
  auto path = quoted(row.user);
  if (path.starts_with("messages/contracts/") || path.starts_with("tests/")
      || path == row.header)
    return path + " does not count as a user";
  if (code_of(path).empty())
    return "there is no file '" + path + "'";
  constexpr std::string_view through = " through ";
  auto at = row.user.find(through);
  if (at == row.user.npos)
    return contains_word(code_of(path), row.name)
             ? ""
             : path + " does not use " + row.name;
  // Used by another function of the contracts, which the file uses.
  auto other = quoted(row.user.substr(at));
  if (!contains_word(code_of(path), other))
    return path + " does not use " + other;
  return contracts_join(row.name, other)
           ? ""
           : other + " has nothing to do with " + row.name;
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

TEST_CASE("what stands for a symbol exists, is used and is tested") {
  for (const auto& row : entries()) {
    CAPTURE(row.symbol);
    CAPTURE(row.name);
    CAPTURE(row.header);
    CHECK(contains_word(code_of(row.header), row.name));
    CAPTURE(row.user);
    CHECK(fault_of_user(row) == "");
    CAPTURE(row.test);
    CHECK(row.test.starts_with("tests/"));
    CHECK(contains_word(code_of(row.test), row.name));
  }
}
