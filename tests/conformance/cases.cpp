#include "tests/conformance/cases.hpp"

#include "messages/codec/json_support.hpp"

#include <cmath>
#include <cstdlib>
#include <exception>
#include <limits>

namespace bureau::conformance {

namespace {

/// Longest list that is built out of holes; no list of ours is longer.
constexpr size_t max_sparse_length = 1'000'000;

std::string tag_of(const bj::object& object) {
  return json::string_member(object, "$").value_or("");
}

size_t size_member(const bj::object& object, std::string_view name) {
  auto value = json::int_member(object, name).value_or(0);
  return value < 0 ? 0 : static_cast<size_t>(value);
}

std::string unhex(std::string_view digits) {
  std::string result;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    std::string pair{digits.substr(i, 2)};
    result += static_cast<char>(std::strtoul(pair.c_str(), nullptr, 16));
  }
  return result;
}

bj::value decode_number(const bj::object& object) {
  auto text = json::text_or_empty(object, "v");
  if (text == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  auto infinity = std::numeric_limits<double>::infinity();
  return text == "-Infinity" ? -infinity : infinity;
}

bj::value decode_object(const bj::object& object);

/// Value of a tag object; nothing when the tag means "keep as it is".
std::optional<bj::value> decode_tag(const bj::object& object) {
  auto tag = tag_of(object);
  if (tag == "str") {
    auto unit = text_of(decode(object.at("unit")));
    auto times = size_member(object, "times");
    bj::string result;
    result.reserve(unit.size() * times);
    for (size_t i = 0; i < times; ++i)
      result.append(unit);
    return bj::value(std::move(result));
  }
  if (tag == "cat") {
    bj::string result;
    for (auto& part : object.at("parts").as_array())
      result.append(text_of(decode(part)));
    return bj::value(std::move(result));
  }
  if (tag == "repeat") {
    bj::array result(size_member(object, "count"), decode(object.at("value")));
    return bj::value(std::move(result));
  }
  if (tag == "sparse") {
    auto length = size_member(object, "length");
    if (length > max_sparse_length)
      return object;
    bj::array result(length, bj::value());
    for (auto& item : object.at("items").as_object()) {
      auto index = std::strtoul(std::string{item.key()}.c_str(), nullptr, 10);
      if (index < result.size())
        result[index] = decode(item.value());
    }
    return bj::value(std::move(result));
  }
  if (tag == "accessor")
    return bj::value();
  if (tag == "bytes")
    return bj::value(bj::string(unhex(json::text_or_empty(object, "hex"))));
  if (tag == "num")
    return decode_number(object);
  return std::nullopt;
}

bj::value decode_object(const bj::object& object) {
  if (object.contains("$"))
    if (auto value = decode_tag(object))
      return *value;
  if (tag_of(object) == "undefined" || tag_of(object) == "bigint")
    return object;
  bj::object result;
  for (auto& member : object) {
    auto value = decode(member.value());
    if (!is_undefined(value))
      result.emplace(member.key(), std::move(value));
  }
  return result;
}

std::optional<double> number_of(const bj::value& value) {
  if (value.is_int64())
    return static_cast<double>(value.get_int64());
  if (value.is_uint64())
    return static_cast<double>(value.get_uint64());
  if (value.is_double())
    return value.get_double();
  return std::nullopt;
}

std::string shorten(std::string text) {
  constexpr size_t cap = 400;
  if (text.size() > cap)
    text =
      text.substr(0, cap) + "… (" + std::to_string(text.size()) + " bytes)";
  return text;
}

std::string describe(const outcome& seen) {
  if (!seen.failure.empty())
    return "throws " + seen.failure;
  return seen.value ? shorten(json::print(*seen.value)) : "nothing";
}

/// Empty when the answer is the wanted one, else what was wanted.
std::string mismatch(const bj::object& item, const outcome& seen) {
  if (auto wanted = json::string_member(item, "throws")) {
    if (seen.failure == *wanted)
      return {};
    return "throws " + *wanted;
  }
  auto raw = json::member(item, "want");
  if (raw == nullptr)
    return "a case with want or throws";
  auto wanted = decode(*raw);
  bool agreed =
    seen.failure.empty()
    && (is_undefined(wanted) ? !seen.value
                             : seen.value && agree(*seen.value, wanted));
  return agreed ? std::string{} : shorten(json::print(wanted));
}

outcome call(const function& body, const bj::array& args) {
  try {
    return body(args);
  } catch (const std::exception& ex) {
    return failure(std::string{"an exception: "} + ex.what());
  }
}

void check_case(const std::string& where, const bj::object& item,
                const deviations& known, report& result) {
  auto id = json::text_or_empty(item, "id");
  auto name = json::text_or_empty(item, "fn");
  auto args = json::member(item, "args");
  if (id.empty() || name.empty() || args == nullptr || !args->is_array()) {
    ++result.failed;
    result.failures.push_back(where + ": not a case (id, fn, args)");
    return;
  }
  auto found = functions().find(name);
  if (found == functions().end()) {
    ++result.skipped;
    ++result.unknown[name];
    return;
  }
  if (json::bool_member(item, "deviates").value_or(false)) {
    ++result.skipped;
    return;
  }
  auto seen = call(found->second, decode(*args).get_array());
  auto wanted = mismatch(item, seen);
  auto deviation = known.find(id);
  if (deviation == known.end() && wanted.empty()) {
    ++result.passed;
  } else if (deviation == known.end()) {
    ++result.failed;
    result.failures.push_back(id + " " + name + ": wanted " + wanted + ", got "
                              + describe(seen));
  } else if (wanted.empty()) {
    ++result.failed;
    result.failures.push_back(id + " " + name
                              + ": listed as a deviation but agrees; remove it "
                                "from the list");
  } else {
    ++result.skipped;
  }
}

} // namespace

bj::value decode(const bj::value& raw) {
  if (auto object = raw.if_object())
    return decode_object(*object);
  if (auto array = raw.if_array()) {
    bj::array result;
    result.reserve(array->size());
    for (auto& element : *array)
      result.push_back(decode(element));
    return result;
  }
  return raw;
}

bool is_undefined(const bj::value& decoded) {
  auto object = decoded.if_object();
  return object != nullptr && tag_of(*object) == "undefined";
}

bool agree(const bj::value& left, const bj::value& right) {
  auto x = number_of(left);
  auto y = number_of(right);
  if (x && y)
    return *x == *y || (std::isnan(*x) && std::isnan(*y));
  if (x || y)
    return false;
  if (left.is_array() && right.is_array()) {
    auto& xs = left.get_array();
    auto& ys = right.get_array();
    if (xs.size() != ys.size())
      return false;
    for (size_t i = 0; i < xs.size(); ++i)
      if (!agree(xs[i], ys[i]))
        return false;
    return true;
  }
  if (left.is_object() && right.is_object()) {
    auto& xs = left.get_object();
    auto& ys = right.get_object();
    if (xs.size() != ys.size())
      return false;
    for (auto& member : xs) {
      auto other = ys.if_contains(member.key());
      if (other == nullptr || !agree(member.value(), *other))
        return false;
    }
    return true;
  }
  return left == right;
}

std::string read_deviations(std::string_view text, deviations& into) {
  auto parsed = json::parse(text);
  if (!parsed)
    return "line " + std::to_string(parsed.fault->line) + ": "
           + parsed.fault->what;
  auto cases = json::member(parsed.value, "cases");
  if (cases == nullptr || !cases->is_array())
    return "the member \"cases\" must be a list";
  for (auto& entry : cases->get_array()) {
    auto object = entry.if_object();
    auto id = object ? json::text_or_empty(*object, "id") : std::string{};
    auto reason =
      object ? json::text_or_empty(*object, "reason") : std::string{};
    if (id.empty() || reason.empty())
      return "every deviation needs an id and a reason";
    if (!into.emplace(id, reason).second)
      return "the case " + id + " is listed twice";
  }
  return {};
}

void check(std::string_view file, std::string_view text,
           const deviations& known, report& result) {
  size_t line = 0;
  for (size_t pos = 0; pos < text.size();) {
    auto end = text.find('\n', pos);
    if (end == std::string_view::npos)
      end = text.size();
    auto row = text.substr(pos, end - pos);
    pos = end + 1;
    ++line;
    if (row.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    auto where = std::string{file} + ":" + std::to_string(line);
    auto parsed = json::parse(row);
    auto item = parsed ? parsed.value.if_object() : nullptr;
    if (item == nullptr) {
      ++result.failed;
      result.failures.push_back(where + ": not a JSON object");
      continue;
    }
    check_case(where, *item, known, result);
  }
}

} // namespace bureau::conformance
