#pragma once

#include "messages/errc.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace bureau::test {

/// A directory of the test alone, gone at its end.
class own_directory {
public:
  own_directory() {
    auto pattern =
      (std::filesystem::temp_directory_path() / "bureau-sandbox-XXXXXX")
        .string();
    path = ::mkdtemp(pattern.data());
  }
  own_directory(const own_directory&) = delete;
  own_directory& operator=(const own_directory&) = delete;
  ~own_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

inline std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

inline void put_file(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(
    std::filesystem::path{path}.parent_path());
  std::ofstream out{path, std::ios::binary};
  out << bytes;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The end of a request: a value, or the code and the sentence.
template <class T>
struct answer {
  std::optional<T> value;
  errc code = errc::none;
  std::string sentence;
};

} // namespace bureau::test
