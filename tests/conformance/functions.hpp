#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

/// Golden cases: one JSON object a line, `{"id", "fn", "args", "want" |
/// "throws"}`, checked against the functions that the rooms register.
namespace bureau::conformance {

namespace bj = boost::json;

/// What a function answered.
struct outcome {
  /// Nothing: the function returned no value.
  std::optional<bj::value> value;
  /// Class of the failure, empty for success.
  std::string failure;
};

/// The function returned this.
outcome answer(bj::value value);

/// The function returned no value.
outcome nothing();

/// The function failed with this class.
outcome failure(std::string error_class);

/// Adapts one function of ours to decoded arguments.
using function = std::function<outcome(const bj::array& args)>;

/// All functions by the name that the cases use.
std::map<std::string, function>& functions();

/// Registers a function before main runs: one object at namespace scope in the
/// file of its topic, and a line in CMakeLists.txt for the file.
struct registration {
  registration(const char* name, function body);
};

/// Whether an argument is there with a value. Use it for optional arguments; a
/// JSON null counts as a value.
bool has_argument(const bj::array& args, size_t index);

/// An argument, or null when it is absent.
const bj::value& argument(const bj::array& args, size_t index);

/// A string argument or member; empty when it is something else. Functions that
/// must tell wrong types apart look at the value itself.
std::string text_of(const bj::value& value);

} // namespace bureau::conformance
