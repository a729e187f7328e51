#include "tests/conformance/cases.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

using namespace bureau::conformance;

namespace {

constexpr const char* usage =
  "usage: bureau_conformance [--deviations FILE] FILE...\n"
  "Checks golden cases, one JSON object a line. Exit: 0 all agree, 1 a case "
  "failed, 2 usage.\n";

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in)
    return std::nullopt;
  return std::string{std::istreambuf_iterator<char>{in}, {}};
}

bool load_deviations(const std::string& path, deviations& known) {
  auto text = read_file(path);
  auto fault = text ? read_deviations(*text, known)
                    : std::string{"the file cannot be read"};
  if (!fault.empty())
    std::cerr << path << ": " << fault << '\n';
  return fault.empty();
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  std::string deviations_file = BUREAU_CONFORMANCE_DEVIATIONS;
  if (args.size() >= 2 && args.front() == "--deviations") {
    deviations_file = args[1];
    args.erase(args.begin(), args.begin() + 2);
  }
  if (args.empty() || args.front().starts_with("--")) {
    std::cerr << usage;
    return 2;
  }
  deviations known;
  if (!load_deviations(deviations_file, known))
    return 2;
  report result;
  for (auto& file : args) {
    auto text = read_file(file);
    if (!text) {
      std::cerr << file << ": the file cannot be read\n";
      return 2;
    }
    check(file, *text, known, result);
  }
  for (auto& line : result.failures)
    std::cout << "FAILED " << line << '\n';
  for (auto& entry : result.unknown)
    std::cout << "SKIPPED unknown function " << entry.first << " ("
              << entry.second << " cases)\n";
  std::cout << result.passed << " passed, " << result.failed << " failed, "
            << result.skipped << " skipped\n";
  return result.failed == 0 ? 0 : 1;
}
