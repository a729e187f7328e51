#include "tests/fuzz/entry.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/wire_json.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>

namespace bureau::fuzz {

void require(bool holds, const char* property) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", property);
  std::abort();
}

uint8_t reader::byte() {
  if (rest_.empty())
    return 0;
  auto result = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return result;
}

size_t reader::below(size_t bound) {
  auto high = size_t{byte()};
  return (high * 256 + byte()) % bound;
}

std::string_view reader::text() {
  auto end = rest_.find('\0');
  auto result = rest_.substr(0, end);
  rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
  return result;
}

bj::value json_of(std::string_view input) {
  auto parsed = json::parse(input);
  return parsed ? std::move(parsed.value) : bj::value{};
}

bool same_on_wire(const bj::value& left, const bj::value& right) {
  constexpr auto unlimited = std::numeric_limits<size_t>::max();
  return contracts::print_wire(left, unlimited)
         == contracts::print_wire(right, unlimited);
}

} // namespace bureau::fuzz

// The name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bureau::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
