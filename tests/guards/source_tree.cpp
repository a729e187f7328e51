#include "tests/guards/source_tree.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace bureau::guards {

namespace {

namespace fs = std::filesystem;

const fs::path root{BUREAU_TEST_SOURCE_DIR};

struct room_entry {
  std::string_view path;
  int level;
};

// Longest path first, so that a room inside a folder wins.
constexpr room_entry known_rooms[] = {
  {"actors/control", 3},
  {"actors/events", 3},
  {"actors/harness", 3},
  {"actors/interaction", 3},
  {"actors/io", 3},
  {"actors/jobs", 3},
  {"actors/kit", 2},
  {"actors/memory", 3},
  {"actors/metrics", 3},
  {"actors/office", 3},
  {"actors/runner", 3},
  {"actors/session", 3},
  {"actors/settings", 3},
  {"actors/artifacts", 3},
  {"actors/delivery", 2},
  {"actors/system", 4},
  {"adapters/console", 3},
  {"adapters/models", 3},
  {"config", 1},
  {"messages", 0},
  {"sandbox", 3},
  {"vault", 3},
  {"web", 3},
};

/// Blanks comments and the contents of literals; keeps line breaks.
std::string strip(const std::string& text) {
  std::string out = text;
  enum { code, line, block, quoted, character } state = code;
  for (size_t i = 0; i < out.size(); ++i) {
    auto c = text[i];
    auto next = i + 1 < text.size() ? text[i + 1] : '\0';
    switch (state) {
    case code:
      if (c == '/' && next == '/')
        state = line;
      else if (c == '/' && next == '*')
        state = block;
      else if (c == 'R' && next == '"') {
        // Raw string: skip to its end at once.
        auto open = text.find('(', i);
        auto mark = ")" + text.substr(i + 2, open - i - 2) + "\"";
        auto end = text.find(mark, open);
        for (auto j = open + 1; j < end && j < out.size(); ++j)
          if (out[j] != '\n')
            out[j] = ' ';
        i = end == std::string::npos ? out.size() : end + mark.size() - 1;
        continue;
      } else if (c == '"')
        state = quoted;
      else if (c == '\'' && (i == 0 || !std::isalnum(text[i - 1])))
        state = character;
      if (state == line || state == block)
        out[i] = ' ';
      break;
    case line:
      if (c == '\n')
        state = code;
      else
        out[i] = ' ';
      break;
    case block:
      if (c == '*' && next == '/') {
        out[i] = out[i + 1] = ' ';
        ++i;
        state = code;
      } else if (c != '\n')
        out[i] = ' ';
      break;
    case quoted:
    case character:
      if (c == '\\') {
        out[i] = ' ';
        if (i + 1 < out.size())
          out[++i] = ' ';
      } else if (c == (state == quoted ? '"' : '\''))
        state = code;
      else
        out[i] = ' ';
      break;
    }
  }
  return out;
}

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#include "))
      continue;
    auto begin = line.find_first_of("<\"");
    auto end = line.find_first_of(">\"", begin + 1);
    if (begin != std::string::npos && end != std::string::npos)
      result.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return result;
}

std::vector<source_file> load() {
  std::vector<source_file> result;
  for (auto it = fs::recursive_directory_iterator(root);
       it != fs::recursive_directory_iterator(); ++it) {
    auto name = it->path().filename().string();
    if (it->is_directory()
        && (name == "build" || name == "node_modules" || name.starts_with(".")))
      it.disable_recursion_pending();
    auto extension = it->path().extension();
    if (!it->is_regular_file() || (extension != ".hpp" && extension != ".cpp"))
      continue;
    source_file file;
    file.path = fs::relative(it->path(), root).generic_string();
    file.text = read(file.path);
    file.code = strip(file.text);
    file.includes = includes_of(file.text);
    result.push_back(std::move(file));
  }
  return result;
}

} // namespace

const std::vector<source_file>& all_sources() {
  static const auto files = load();
  return files;
}

std::string room_of(std::string_view path) {
  for (const auto& room : known_rooms)
    if (path.starts_with(room.path) && path.size() > room.path.size()
        && path[room.path.size()] == '/')
      return std::string{room.path};
  return {};
}

int level_of(std::string_view room) {
  for (const auto& entry : known_rooms)
    if (entry.path == room)
      return entry.level;
  return -1;
}

std::vector<std::string> rooms() {
  std::vector<std::string> result;
  for (const auto& entry : known_rooms)
    if (exists(std::string{entry.path} + "/CMakeLists.txt"))
      result.emplace_back(entry.path);
  return result;
}

std::string read(std::string_view relative) {
  std::ifstream file{root / relative, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool exists(std::string_view relative) {
  return fs::exists(root / relative);
}

} // namespace bureau::guards
