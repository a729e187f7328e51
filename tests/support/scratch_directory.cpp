#include "tests/support/scratch_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bureau::test {

scratch_directory::scratch_directory() {
  auto pattern = std::filesystem::temp_directory_path() / "bureau-test-XXXXXX";
  auto name = pattern.string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error{"no scratch directory: " + name};
  // Canonical, so that tests can compare it with what realpath(3) answers.
  path_ = std::filesystem::canonical(name).string();
}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void put_file(const std::string& path, const std::string& bytes) {
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  out << bytes;
  out.close();
  if (!out)
    throw std::runtime_error{"cannot write " + path};
}

std::string get_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace bureau::test
