#include "messages/contracts/config_readers.hpp"

#include "messages/contracts/vocabulary.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bureau::contracts {

namespace {

constexpr std::array<std::string_view, 4> encode_names = {"string", "boolean",
                                                          "integer", "csv"};

std::string joined(const std::vector<std::string>& items) {
  std::string result;
  for (const auto& item : items)
    result += (result.empty() ? "" : ", ") + item;
  return result;
}

std::string range_of(const integer_bounds& bounds) {
  if (bounds.min && bounds.max)
    return " from " + std::to_string(*bounds.min) + " to "
           + std::to_string(*bounds.max);
  if (bounds.min)
    return " of at least " + std::to_string(*bounds.min);
  if (bounds.max)
    return " of at most " + std::to_string(*bounds.max);
  return "";
}

std::optional<std::string> encoded_integer(const bj::value& value) {
  if (auto number = value.if_int64())
    return std::to_string(*number);
  if (auto number = value.if_uint64())
    return std::to_string(*number);
  if (auto number = value.if_double())
    if (std::isfinite(*number) && std::trunc(*number) == *number)
      return wire_number(*number);
  return std::nullopt;
}

std::optional<std::string> encoded_list(const bj::value& value) {
  auto list = value.if_array();
  if (list == nullptr)
    return std::nullopt;
  std::string result;
  auto first = true;
  for (const auto& item : *list)
    if (auto text = item.if_string()) {
      if (!first)
        result += ',';
      first = false;
      result += *text;
    }
  return result;
}

} // namespace

std::optional<int64_t> parse_digits(std::string_view text) {
  auto is_digit = [](char c) {
    return c >= '0' && c <= '9';
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit))
    return std::nullopt;
  int64_t value = 0;
  auto end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end)
    return std::nullopt;
  return value;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true")
    return true;
  if (text == "false")
    return false;
  return std::nullopt;
}

std::optional<std::string> normalize_optional_string(raw_value raw) {
  auto trimmed = raw ? text::trim(*raw) : std::string_view{};
  if (trimmed.empty())
    return std::nullopt;
  return std::string{trimmed};
}

std::string read_string(raw_value raw, std::string_view fallback) {
  return normalize_optional_string(raw).value_or(std::string{fallback});
}

caf::expected<std::string> read_required(raw_value raw, std::string_view name,
                                         const config_error_factory& missing) {
  if (auto text = normalize_optional_string(raw))
    return std::move(*text);
  return missing(std::string{name} + " is not set; set it",
                 {std::string{name}, {}});
}

std::vector<std::string> read_csv(raw_value raw) {
  std::vector<std::string> result;
  auto rest = raw.value_or(std::string_view{});
  for (size_t pos = 0; pos <= rest.size();) {
    auto end = std::min(rest.find(',', pos), rest.size());
    if (auto item = normalize_optional_string(rest.substr(pos, end - pos)))
      result.push_back(std::move(*item));
    pos = end + 1;
  }
  return result;
}

caf::expected<bool> read_boolean(raw_value raw, std::string_view name,
                                 bool fallback,
                                 const config_error_factory& invalid) {
  auto text = normalize_optional_string(raw);
  if (!text)
    return fallback;
  if (auto value = parse_boolean(*text))
    return *value;
  return invalid(std::string{name} + " must be true or false",
                 {std::string{name}, *text});
}

caf::expected<int64_t> read_integer(raw_value raw, std::string_view name,
                                    int64_t fallback,
                                    const config_error_factory& invalid,
                                    integer_bounds bounds) {
  auto text = normalize_optional_string(raw);
  if (!text)
    return fallback;
  auto value = parse_digits(*text);
  if (value && (!bounds.min || *value >= *bounds.min)
      && (!bounds.max || *value <= *bounds.max))
    return *value;
  return invalid(std::string{name} + " must be a whole number"
                   + range_of(bounds),
                 {std::string{name}, {}});
}

caf::expected<std::string> read_choice(raw_value raw, std::string_view name,
                                       const std::vector<std::string>& choices,
                                       std::string_view fallback,
                                       const config_error_factory& invalid) {
  auto text = normalize_optional_string(raw);
  if (!text)
    return std::string{fallback};
  if (std::find(choices.begin(), choices.end(), *text) != choices.end())
    return std::move(*text);
  return invalid(std::string{name} + " must be one of: " + joined(choices),
                 {std::string{name}, *text});
}

const bj::object& read_record(const bj::value& value) {
  static const bj::object empty;
  auto object = value.if_object();
  return object != nullptr ? *object : empty;
}

const bj::object& read_json_section(const bj::object& json,
                                    std::string_view key) {
  static const bj::value absent;
  auto value = json.if_contains(key);
  return read_record(value != nullptr ? *value : absent);
}

std::optional<env_encode_kind> parse_env_encode_kind(std::string_view name) {
  return find_in<env_encode_kind>(encode_names, name);
}

std::string to_string(env_encode_kind kind) {
  return name_in(encode_names, kind);
}

std::optional<std::string> encode_json_env_value(const bj::value& value,
                                                 env_encode_kind kind) {
  switch (kind) {
  case env_encode_kind::string:
    if (auto text = value.if_string())
      return std::string{*text};
    return std::nullopt;
  case env_encode_kind::boolean:
    if (auto flag = value.if_bool())
      return std::string{*flag ? "true" : "false"};
    return std::nullopt;
  case env_encode_kind::integer:
    return encoded_integer(value);
  case env_encode_kind::csv:
    return encoded_list(value);
  }
  return std::nullopt;
}

std::vector<json_env_mapping> field_spec_mappings(
  const bj::object& section, const std::vector<json_env_field_spec>& specs) {
  std::vector<json_env_mapping> result;
  for (const auto& spec : specs) {
    json_env_mapping mapping;
    mapping.env = spec.env;
    if (auto value = spec.from_json ? spec.from_json(section) : nullptr)
      mapping.value = *value;
    mapping.kind = spec.kind;
    result.push_back(std::move(mapping));
  }
  return result;
}

environment layer_json_onto_env(const environment& env,
                                const std::vector<json_env_mapping>& mappings) {
  environment result = env;
  environment layered;
  for (const auto& mapping : mappings)
    if (mapping.value)
      if (auto text = encode_json_env_value(
            *mapping.value, mapping.kind.value_or(env_encode_kind::string)))
        layered[mapping.env] = std::move(*text);
  // What the environment already has stays.
  result.merge(layered);
  return result;
}

redacted_secret_value redacted_secret(raw_value value) {
  return {value && !value->empty()};
}

bj::object to_json(const redacted_secret_value& value) {
  return {{"present", value.present}, {"redacted", true}};
}

} // namespace bureau::contracts
