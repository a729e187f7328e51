#include "tests/conformance/functions.hpp"

#include "tests/conformance/cases.hpp"

namespace bureau::conformance {

outcome answer(bj::value value) {
  return {std::move(value), {}};
}

outcome nothing() {
  return {std::nullopt, {}};
}

outcome failure(std::string error_class) {
  return {std::nullopt, std::move(error_class)};
}

std::map<std::string, function>& functions() {
  static std::map<std::string, function> all;
  return all;
}

registration::registration(const char* name, function body) {
  functions().emplace(name, std::move(body));
}

bool has_argument(const bj::array& args, size_t index) {
  return index < args.size() && !is_undefined(args[index]);
}

const bj::value& argument(const bj::array& args, size_t index) {
  static const bj::value null;
  return has_argument(args, index) ? args[index] : null;
}

std::string text_of(const bj::value& value) {
  return value.is_string() ? std::string{value.get_string()} : std::string{};
}

} // namespace bureau::conformance
