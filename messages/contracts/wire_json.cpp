#include "messages/contracts/wire_json.hpp"

#include "messages/text/utf8.hpp"

#include <boost/json/serialize.hpp>

#include <charconv>
#include <cmath>

namespace bureau::contracts {

namespace {

/// Digits and decimal exponent of a finite number above 0: 0.d1d2… × 10^point.
struct decimal {
  std::string digits;
  int point = 0;
};

decimal shortest(double number) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, number,
                           std::chars_format::scientific)
               .ptr;
  std::string_view text{buffer, static_cast<size_t>(end - buffer)};
  auto mark = text.find('e');
  decimal result;
  for (auto c : text.substr(0, mark))
    if (c != '.')
      result.digits += c;
  auto exponent = text.substr(mark + 1);
  if (exponent.front() == '+')
    exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(),
                  result.point);
  ++result.point;
  return result;
}

/// Prints one value and gives up at the first byte too many.
class printer {
public:
  printer(size_t max_bytes, bool pretty)
    : max_bytes_(max_bytes), pretty_(pretty) {}

  bool print(const bj::value& value, size_t depth) {
    if (depth >= wire_depth && value.is_structured())
      return false;
    if (auto object = value.if_object())
      return print_object(*object, depth);
    if (auto array = value.if_array())
      return print_array(*array, depth);
    if (auto text = value.if_string())
      return print_text(*text);
    if (auto number = value.if_double())
      return put(wire_number(*number));
    return put(bj::serialize(value));
  }

  std::string take() { return std::move(out_); }

private:
  bool put(std::string_view text) {
    if (text.size() > max_bytes_ - out_.size())
      return false;
    out_ += text;
    return true;
  }

  bool print_text(std::string_view text) {
    if (text.size() > max_bytes_ - out_.size())
      return false;
    append_wire_text(out_, text);
    return out_.size() <= max_bytes_;
  }

  bool line(size_t depth) {
    return !pretty_ || (put("\n") && put(std::string(2 * depth, ' ')));
  }

  bool print_object(const bj::object& object, size_t depth) {
    if (object.empty())
      return put("{}");
    std::string_view opening = "{";
    for (const auto& entry : object) {
      if (!put(opening) || !line(depth + 1) || !print_text(entry.key())
          || !put(pretty_ ? ": " : ":") || !print(entry.value(), depth + 1))
        return false;
      opening = ",";
    }
    return line(depth) && put("}");
  }

  bool print_array(const bj::array& array, size_t depth) {
    if (array.empty())
      return put("[]");
    std::string_view opening = "[";
    for (const auto& element : array) {
      if (!put(opening) || !line(depth + 1) || !print(element, depth + 1))
        return false;
      opening = ",";
    }
    return line(depth) && put("]");
  }

  size_t max_bytes_;
  bool pretty_;
  std::string out_;
};

std::optional<std::string> print_bounded(const bj::value& value,
                                         size_t max_bytes, bool pretty) {
  printer output{max_bytes, pretty};
  if (!output.print(value, 0))
    return std::nullopt;
  return output.take();
}

} // namespace

void append_wire_text(std::string& out, std::string_view text) {
  if (text::is_valid_utf8(text))
    out += bj::serialize(bj::string_view{text.data(), text.size()});
  else
    out += bj::serialize(text::sanitize_utf8(text));
}

size_t wire_width(char32_t code_point) {
  switch (code_point) {
  case '"':
  case '\\':
  case '\b':
  case '\f':
  case '\n':
  case '\r':
  case '\t':
    return 2;
  default:
    if (code_point < 0x20)
      return 6;
    if (code_point < 0x80)
      return 1;
    return code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
  }
}

std::string wire_number(double number) {
  if (!std::isfinite(number))
    return "null";
  if (number == 0)
    return "0";
  auto [digits, point] = shortest(std::fabs(number));
  auto count = static_cast<int>(digits.size());
  std::string result = number < 0 ? "-" : "";
  if (point > 21 || point < -5) {
    result += digits[0];
    if (count > 1)
      result += '.' + digits.substr(1);
    auto exponent = point - 1;
    result += exponent < 0 ? "e-" : "e+";
    result += std::to_string(std::abs(exponent));
  } else if (point <= 0) {
    result += "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  } else if (point >= count) {
    result += digits + std::string(static_cast<size_t>(point - count), '0');
  } else {
    auto whole = static_cast<size_t>(point);
    result += digits.substr(0, whole) + '.' + digits.substr(whole);
  }
  return result;
}

std::optional<std::string> print_wire(const bj::value& value,
                                      size_t max_bytes) {
  return print_bounded(value, max_bytes, false);
}

std::optional<std::string> print_wire_pretty(const bj::value& value,
                                             size_t max_bytes) {
  return print_bounded(value, max_bytes, true);
}

} // namespace bureau::contracts
