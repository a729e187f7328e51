#include "messages/contracts/closed_object.hpp"

#include "messages/text/utf8.hpp"

#include <cmath>

namespace bureau::contracts {

namespace {

/// Reads fixed-width decimal fields one after the other.
class field_reader {
public:
  explicit field_reader(std::string_view text) : rest_(text) {}

  bool literal(char expected) {
    if (rest_.empty() || rest_.front() != expected)
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool digits(size_t count, int& value) {
    if (rest_.size() < count)
      return false;
    value = 0;
    for (auto c : rest_.substr(0, count)) {
      if (c < '0' || c > '9')
        return false;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return true;
  }

  bool empty() const { return rest_.empty(); }

private:
  std::string_view rest_;
};

int days_of(int year, int month) {
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  auto leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : days[month - 1];
}

template <class T>
caf::optional<T> bridged(std::optional<T> value) {
  if (value)
    return std::move(*value);
  return caf::none;
}

} // namespace

std::optional<int64_t> safe_integer(const bj::value& value) {
  if (auto number = value.if_int64()) {
    if (*number >= -max_safe_integer && *number <= max_safe_integer)
      return *number;
    return std::nullopt;
  }
  if (auto number = value.if_uint64()) {
    if (*number <= static_cast<uint64_t>(max_safe_integer))
      return static_cast<int64_t>(*number);
    return std::nullopt;
  }
  if (auto number = value.if_double())
    if (std::trunc(*number) == *number
        && std::fabs(*number) <= static_cast<double>(max_safe_integer))
      return static_cast<int64_t>(*number);
  return std::nullopt;
}

std::optional<double> finite_number(const bj::value& value) {
  if (auto number = value.if_int64())
    return static_cast<double>(*number);
  if (auto number = value.if_uint64())
    return static_cast<double>(*number);
  if (auto number = value.if_double())
    if (std::isfinite(*number))
      return *number;
  return std::nullopt;
}

bool is_instant(std::string_view text) {
  field_reader reader{text};
  auto after = !text.empty() && text.front() == '+';
  auto before = !text.empty() && text.front() == '-';
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int millisecond = 0;
  if (after || before) {
    reader.literal(text.front());
    // Only what four digits cannot express has a sign.
    if (!reader.digits(6, year) || (after ? year < 10'000 : year == 0))
      return false;
  } else if (!reader.digits(4, year)) {
    return false;
  }
  if (!reader.literal('-') || !reader.digits(2, month) || !reader.literal('-')
      || !reader.digits(2, day) || !reader.literal('T')
      || !reader.digits(2, hour) || !reader.literal(':')
      || !reader.digits(2, minute) || !reader.literal(':')
      || !reader.digits(2, second) || !reader.literal('.')
      || !reader.digits(3, millisecond) || !reader.literal('Z')
      || !reader.empty())
    return false;
  if (month < 1 || month > 12 || day < 1 || day > days_of(year, month)
      || hour > 23 || minute > 59 || second > 59)
    return false;
  // The peers' clocks end 100 million days from 1970.
  if (after)
    return text <= "+275760-09-13T00:00:00.000Z";
  if (before)
    return year < 271'821
           || (year == 271'821 && text >= "-271821-04-20T00:00:00.000Z");
  return true;
}

const bj::value* closed_object::take(std::string_view name) {
  auto value = members_ != nullptr ? members_->if_contains(name) : nullptr;
  if (value != nullptr)
    ++taken_;
  return value;
}

const bj::value* closed_object::require(std::string_view name) {
  auto value = take(name);
  expect(value != nullptr);
  return value;
}

std::optional<std::string> closed_object::text_of(const bj::value* value,
                                                  byte_limits limits) {
  auto text = value != nullptr ? value->if_string() : nullptr;
  if (text == nullptr || text->size() < limits.min || text->size() > limits.max
      || (limits.filled && text::is_blank(*text))) {
    refuse();
    return std::nullopt;
  }
  return std::string{*text};
}

std::optional<std::string> closed_object::instant_of(const bj::value* value) {
  auto text = value != nullptr ? value->if_string() : nullptr;
  if (text == nullptr || !is_instant(*text)) {
    refuse();
    return std::nullopt;
  }
  return std::string{*text};
}

std::optional<int64_t> closed_object::integer_of(const bj::value* value,
                                                 int64_t min, int64_t max) {
  auto number = value != nullptr ? safe_integer(*value) : std::nullopt;
  if (!number || *number < min || *number > max) {
    refuse();
    return std::nullopt;
  }
  return number;
}

std::string closed_object::text(std::string_view name, byte_limits limits) {
  return text_of(require(name), limits).value_or(std::string{});
}

std::string closed_object::instant(std::string_view name) {
  return instant_of(require(name)).value_or(std::string{});
}

bool closed_object::boolean(std::string_view name) {
  auto value = require(name);
  auto flag = value != nullptr ? value->if_bool() : nullptr;
  expect(flag != nullptr);
  return flag != nullptr && *flag;
}

int64_t closed_object::integer(std::string_view name, int64_t min,
                               int64_t max) {
  return integer_of(require(name), min, max).value_or(min);
}

caf::optional<std::string> closed_object::optional_text(std::string_view name,
                                                        byte_limits limits) {
  auto value = take(name);
  if (value == nullptr)
    return caf::none;
  return bridged(text_of(value, limits));
}

caf::optional<std::string>
closed_object::optional_instant(std::string_view name) {
  auto value = take(name);
  if (value == nullptr)
    return caf::none;
  return bridged(instant_of(value));
}

caf::optional<bool> closed_object::optional_boolean(std::string_view name) {
  auto value = take(name);
  if (value == nullptr)
    return caf::none;
  if (auto flag = value->if_bool())
    return *flag;
  refuse();
  return caf::none;
}

caf::optional<int64_t> closed_object::optional_integer(std::string_view name,
                                                       int64_t min,
                                                       int64_t max) {
  auto value = take(name);
  if (value == nullptr)
    return caf::none;
  return bridged(integer_of(value, min, max));
}

caf::optional<double> closed_object::optional_amount(std::string_view name) {
  auto value = take(name);
  if (value == nullptr)
    return caf::none;
  auto number = finite_number(*value);
  expect(number && *number >= 0);
  return bridged(number);
}

const bj::object* closed_object::optional_record(std::string_view name) {
  auto value = take(name);
  if (value == nullptr)
    return nullptr;
  expect(value->is_object());
  return value->if_object();
}

bool closed_object::optional_mark(std::string_view name) {
  auto value = take(name);
  if (value == nullptr)
    return false;
  auto flag = value->if_bool();
  expect(flag != nullptr && *flag);
  return true;
}

caf::optional<std::string> closed_object::nullable_text(std::string_view name,
                                                        byte_limits limits) {
  auto value = require(name);
  if (value != nullptr && value->is_null())
    return caf::none;
  return bridged(text_of(value, limits));
}

caf::optional<std::string>
closed_object::nullable_instant(std::string_view name) {
  auto value = require(name);
  if (value != nullptr && value->is_null())
    return caf::none;
  return bridged(instant_of(value));
}

caf::optional<int64_t> closed_object::nullable_integer(std::string_view name,
                                                       int64_t min,
                                                       int64_t max) {
  auto value = require(name);
  if (value != nullptr && value->is_null())
    return caf::none;
  return bridged(integer_of(value, min, max));
}

} // namespace bureau::contracts
