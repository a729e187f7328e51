#include "messages/text/base64.hpp"

#include <doctest/doctest.h>

#include <string>

using bureau::text::base64;

TEST_CASE("base64 by length") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
}

TEST_CASE("base64 of bytes that are no text") {
  CHECK(base64("\xff\xfe\xfd") == "//79");
  CHECK(base64(std::string{"\xff\xfe\x00", 3}) == "//4A");
}
