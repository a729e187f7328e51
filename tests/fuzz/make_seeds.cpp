/// Writes inputs to begin with, made of the golden data: every argument of
/// every vector, and every file and line of the fixture of small size.
///
///   fuzz_make_seeds GOLDEN_DIRECTORY SEED_DIRECTORY

#include "messages/codec/json_line.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/codec/ledger_record.hpp"
#include "messages/text/sha256.hpp"

#include <boost/json/array.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using namespace bureau;

constexpr size_t max_seed_bytes = 64u << 10;

/// The seeds by the hash of what they hold, so that each is there once.
class seed_directory {
public:
  explicit seed_directory(fs::path root) : root_(std::move(root)) {
    fs::create_directories(root_);
  }

  void add(std::string_view seed) {
    if (seed.empty() || seed.size() > max_seed_bytes)
      return;
    std::ofstream file{root_ / text::sha256_hex(seed), std::ios::binary};
    file << seed;
  }

private:
  fs::path root_;
};

std::string read_whole(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void add_lines(seed_directory& seeds, const std::string& text) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    seeds.add(line);
}

void add_vectors(seed_directory& seeds, const std::string& text) {
  std::istringstream lines{text};
  json::line_reader reader;
  for (std::string line; std::getline(lines, line);)
    reader.read(line, [&seeds](const boost::json::object& row) {
      auto args = row.if_contains("args");
      if (args == nullptr || !args->is_array())
        return;
      for (const auto& arg : args->get_array())
        if (auto text = arg.if_string())
          seeds.add(std::string_view{*text});
        else
          seeds.add(json::print(arg));
    });
}

/// The fixture is older than the ledger.
void add_ledger(seed_directory& seeds) {
  ledger_record record;
  record.at = "2026-01-02T03:04:05.678Z";
  record.id = "17";
  std::string all;
  for (auto state :
       {ledger_state::accepted, ledger_state::running, ledger_state::produced,
        ledger_state::sending, ledger_state::sent, ledger_state::ambiguous,
        ledger_state::dead}) {
    record.state = state;
    record.run = "r1";
    record.text = "answer";
    record.covers = {"17", "18"};
    record.why = state == ledger_state::dead ? "stopped" : "";
    auto line = print_ledger_line(record);
    seeds.add(std::string_view{line}.substr(0, line.size() - 1));
    all += line;
  }
  record.closed = {"1", "2"};
  seeds.add(all + print_ledger_line(record));
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fuzz_make_seeds GOLDEN SEEDS\n");
    return 2;
  }
  seed_directory seeds{argv[2]};
  for (const auto& entry : fs::recursive_directory_iterator(argv[1])) {
    if (!entry.is_regular_file())
      continue;
    auto text = read_whole(entry.path());
    if (entry.path().extension() == ".jsonl"
        && entry.path().parent_path().filename() == "vectors") {
      add_vectors(seeds, text);
      continue;
    }
    seeds.add(text);
    if (entry.path().extension() == ".jsonl")
      add_lines(seeds, text);
  }
  add_ledger(seeds);
  return 0;
}
