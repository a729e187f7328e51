#include "actors/kit/log.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bureau;

namespace {

/// The log goes to a text while this lives.
struct log_world {
  log_world() {
    kit::log::to_sink([this](kit::log::level, std::string_view line) {
      text += std::string{line} + "\n";
    });
    kit::log::set_level(kit::log::level::info);
  }
  ~log_world() {
    kit::log::to_stderr();
    kit::log::set_level(kit::log::level::info);
  }

  std::string text;
};

} // namespace

TEST_CASE_FIXTURE(log_world, "a record is one line, whatever is in it") {
  kit::log::warning("models", "first\r\nsecond\nthird");
  CHECK(text.find("] warning models: first  second third\n")
        != std::string::npos);
}

TEST_CASE_FIXTURE(log_world,
                  "no record can steer the terminal it is shown on") {
  kit::log::error("a\x1b[2J", "b\x1b]0;owned\x07 c\xc2\x9b"
                              "2J d\xff e\tf");
  CHECK(text.find("] error a\uFFFD[2J: b\uFFFD]0;owned\uFFFD c\uFFFD2J d\uFFFD "
                  "e\tf\n")
        != std::string::npos);
}
