#pragma once

#include "tests/conformance/functions.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bureau::conformance {

/// Decodes the tags of the case files. Members without a value disappear;
/// elements without one, and integers of another type, stay as their tag object
/// so that a function can see that they are no ordinary value. Holes and
/// unreadable elements become null; a list too long to exist stays its tag
/// object, too. Bytes become a string of these bytes.
bj::value decode(const bj::value& raw);

/// Whether a decoded element is "present but without a value".
bool is_undefined(const bj::value& decoded);

/// Whether two decoded values agree: numbers as doubles, strings exactly,
/// arrays in order, objects by their set of members.
bool agree(const bj::value& left, const bj::value& right);

/// Cases whose original answer we deliberately do not give, with the reason.
using deviations = std::map<std::string, std::string>;

/// Reads `{"cases": [{"id", "reason"}…]}`; the sentence of the fault if it
/// cannot be read.
std::string read_deviations(std::string_view text, deviations& into);

/// Counts and messages of a run.
struct report {
  size_t passed = 0;
  size_t failed = 0;
  size_t skipped = 0;
  /// One line for every failed case.
  std::vector<std::string> failures;
  /// Functions nobody registered, with the number of their cases.
  std::map<std::string, size_t> unknown;
};

/// Checks all cases of one file.
/// @param file name for messages
void check(std::string_view file, std::string_view text,
           const deviations& known, report& result);

} // namespace bureau::conformance
