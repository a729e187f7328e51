#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Strict reading of values that came from outside: exact members, exact types,
/// limits in bytes.
namespace bureau::contracts {

namespace bj = boost::json;

/// Largest integer that every peer can represent.
inline constexpr int64_t max_safe_integer = (int64_t{1} << 53) - 1;

/// An integral number of at most that magnitude, 2.0 included.
std::optional<int64_t> safe_integer(const bj::value& value);

/// A finite number.
std::optional<double> finite_number(const bj::value& value);

/// Whether text is an instant in the only accepted form:
/// YYYY-MM-DDTHH:MM:SS.mmmZ, or a signed year of six digits where four do not
/// suffice.
bool is_instant(std::string_view text);

/// Allowed length of a string in UTF-8 bytes.
struct byte_limits {
  size_t max = 0;
  size_t min = 0;
  /// Something else than white space must be there.
  bool filled = false;
};

/// Reads the members of one object of a closed schema. Each member is taken
/// once; done() tells whether every one was right and none was left over.
class closed_object {
public:
  explicit closed_object(const bj::value& value)
    : members_(value.if_object()), valid_(members_ != nullptr) {}

  /// Member, or null when it is absent.
  const bj::value* take(std::string_view name);
  /// Member that must be there; null, and a violation, when it is absent.
  const bj::value* require(std::string_view name);

  std::string text(std::string_view name, byte_limits limits);
  std::string instant(std::string_view name);
  bool boolean(std::string_view name);
  int64_t integer(std::string_view name, int64_t min, int64_t max);

  /// Absent, or of the type; null is a violation.
  caf::optional<std::string> optional_text(std::string_view name,
                                           byte_limits limits);
  caf::optional<std::string> optional_instant(std::string_view name);
  caf::optional<bool> optional_boolean(std::string_view name);
  caf::optional<int64_t> optional_integer(std::string_view name, int64_t min,
                                          int64_t max);
  /// Finite and not below 0.
  caf::optional<double> optional_amount(std::string_view name);
  /// Any object.
  const bj::object* optional_record(std::string_view name);
  /// Absent or exactly true.
  bool optional_mark(std::string_view name);

  /// Present: null, or of the type.
  caf::optional<std::string> nullable_text(std::string_view name,
                                           byte_limits limits);
  caf::optional<std::string> nullable_instant(std::string_view name);
  caf::optional<int64_t> nullable_integer(std::string_view name, int64_t min,
                                          int64_t max);

  /// A word of a closed vocabulary.
  template <class Parse>
  auto word(std::string_view name, Parse parse) ->
    typename decltype(parse(name))::value_type {
    auto parsed = word_of(require(name), parse);
    return parsed ? *parsed : typename decltype(parse(name))::value_type{};
  }
  template <class Parse>
  auto optional_word(std::string_view name, Parse parse)
    -> caf::optional<typename decltype(parse(name))::value_type> {
    auto value = take(name);
    auto parsed = value != nullptr ? word_of(value, parse) : std::nullopt;
    if (parsed)
      return *parsed;
    return caf::none;
  }

  /// Notes a violation.
  void refuse() { valid_ = false; }
  /// Notes a violation unless the condition holds.
  void expect(bool condition) { valid_ = valid_ && condition; }

  /// No violation so far; members may be left over.
  bool valid() const { return valid_; }

  bool done() const { return valid_ && taken_ == members_->size(); }

private:
  std::optional<std::string> text_of(const bj::value* value,
                                     byte_limits limits);
  std::optional<std::string> instant_of(const bj::value* value);
  std::optional<int64_t> integer_of(const bj::value* value, int64_t min,
                                    int64_t max);

  template <class Parse>
  auto word_of(const bj::value* value, Parse parse)
    -> decltype(parse(std::string_view{})) {
    auto name = value != nullptr ? value->if_string() : nullptr;
    auto result = name != nullptr ? parse(std::string_view{*name})
                                  : decltype(parse(std::string_view{})){};
    expect(result.has_value());
    return result;
  }

  const bj::object* members_;
  bool valid_;
  size_t taken_ = 0;
};

} // namespace bureau::contracts
