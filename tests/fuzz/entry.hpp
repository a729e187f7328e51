#pragma once

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// What the fuzz targets share. A target defines try_input, which states with
/// require() what holds for every input whatever.
namespace bureau::fuzz {

namespace bj = boost::json;

/// Does with one input what the target is about.
void try_input(std::string_view input);

/// Ends the program unless a property holds; the fuzzer keeps the input.
void require(bool holds, const char* property);

/// An input taken apart from its front. Once it is used up, everything is 0 and
/// empty.
class reader {
public:
  explicit reader(std::string_view input) : rest_(input) {}

  uint8_t byte();
  /// A number below `bound`, of two bytes.
  size_t below(size_t bound);
  /// Text up to the next byte 0.
  std::string_view text();
  std::string_view rest() const { return rest_; }

private:
  std::string_view rest_;
};

/// The input as JSON; null when it is none.
bj::value json_of(std::string_view input);

/// Whether two values are the same on the wire: 2 and 2.0 are.
bool same_on_wire(const bj::value& left, const bj::value& right);

} // namespace bureau::fuzz
