#include "actors/io/control_line_core.hpp"
#include "messages/codec/json_support.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace bureau;
using namespace bureau::io;

namespace {

using lines = std::vector<std::string>;

/// Feeds pieces and takes whatever is complete after each.
lines cut(const std::vector<std::string>& pieces, size_t most = 8) {
  line_splitter splitter{most};
  lines result;
  for (const auto& piece : pieces) {
    splitter.feed(piece);
    while (auto line = splitter.take())
      result.push_back(*line);
  }
  if (splitter.too_long())
    result.push_back("(too long)");
  else if (!splitter.empty())
    result.push_back("(more)");
  return result;
}

} // namespace

TEST_CASE("lines are cut out of whatever pieces come") {
  CHECK(cut({}) == lines{});
  CHECK(cut({"a\n"}) == lines{"a"});
  CHECK(cut({"a", "b", "\n", "c\nd\n"}) == lines{"ab", "c", "d"});
  CHECK(cut({"a\r\n\r\n\n"}) == lines{"a", "", ""});
  CHECK(cut({"a\nb"}) == lines{"a", "(more)"});
  CHECK(cut({std::string{"a\0b\n", 4}}) == lines{std::string{"a\0b", 3}});
}

TEST_CASE("a line that is too long ends it all") {
  CHECK(cut({"12345678\n"}) == lines{"12345678"});
  CHECK(cut({"123456789\n"}) == lines{"(too long)"});
  CHECK(cut({"a\n123456789", "0\nb\n"}) == lines{"a", "(too long)"});
  CHECK(cut({"1234", "5678", "9"}) == lines{"(too long)"});
  CHECK(cut({"1234", "5678", "\n"}) == lines{"12345678"});
}

TEST_CASE("many small lines and one long line take linear time") {
  line_splitter splitter{1u << 20};
  size_t taken = 0;
  splitter.feed(std::string(1u << 20, '\n'));
  while (splitter.take())
    ++taken;
  CHECK(taken == 1u << 20);
  taken = 0;
  for (size_t i = 0; i < 1u << 20; ++i) {
    splitter.feed("x");
    taken += splitter.take().has_value();
  }
  CHECK(taken == 0);
  splitter.feed("\n");
  CHECK((splitter.take() == std::string(1u << 20, 'x')));
}

TEST_CASE("the user of the node and root may connect") {
  CHECK(may_control(1000, 1000));
  CHECK(may_control(0, 1000));
  CHECK(may_control(0, 0));
  CHECK_FALSE(may_control(1001, 1000));
  CHECK_FALSE(may_control(1000, 0));
}

TEST_CASE("what the socket refuses is a JSON-RPC error") {
  auto parsed =
    json::parse(socket_error_line(-32600, "too_large", "Too long."));
  REQUIRE(parsed);
  CHECK(json::print(parsed.value)
        == R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
           R"("message":"Too long.","data":{"errc":"too_large"}}})");
}
