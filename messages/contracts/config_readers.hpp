#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <caf/expected.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reading configuration from environment variables over JSON over defaults
/// (agent contracts, 3.15). A variable set to nothing still hides the JSON
/// value and then counts as absent.
namespace bureau::contracts {

namespace bj = boost::json;

/// What an error of a reader is about.
struct config_fault {
  std::string env;
  /// The offending value, where the rule tells it.
  std::optional<std::string> reason;
};

/// Makes the caller's own error from a sentence.
using config_error_factory =
  std::function<caf::error(std::string sentence, const config_fault& fault)>;

/// A value that may be absent.
using raw_value = std::optional<std::string_view>;

/// One or more ASCII digits and nothing else, as far as 64 bits hold them.
std::optional<int64_t> parse_digits(std::string_view text);

/// Exactly `true` or `false`.
std::optional<bool> parse_boolean(std::string_view text);

/// The text without white space around it; nothing when that is empty.
std::optional<std::string> normalize_optional_string(raw_value raw);

std::string read_string(raw_value raw, std::string_view fallback);

caf::expected<std::string> read_required(raw_value raw, std::string_view name,
                                         const config_error_factory& missing);

/// Comma separated, each item trimmed, blank items dropped.
std::vector<std::string> read_csv(raw_value raw);

/// Exactly `true` or `false`.
caf::expected<bool> read_boolean(raw_value raw, std::string_view name,
                                 bool fallback,
                                 const config_error_factory& invalid);

/// Inclusive bounds.
struct integer_bounds {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
};

/// ASCII digits only, within the bounds.
caf::expected<int64_t> read_integer(raw_value raw, std::string_view name,
                                    int64_t fallback,
                                    const config_error_factory& invalid,
                                    integer_bounds bounds = {});

/// One of the choices, exactly.
caf::expected<std::string> read_choice(raw_value raw, std::string_view name,
                                       const std::vector<std::string>& choices,
                                       std::string_view fallback,
                                       const config_error_factory& invalid);

/// The value if it is an object, else an empty one.
const bj::object& read_record(const bj::value& value);

/// The same for a member.
const bj::object& read_json_section(const bj::object& json,
                                    std::string_view key);

/// How a JSON value is written as the value of a variable.
enum class env_encode_kind : uint8_t { string, boolean, integer, csv };

std::optional<env_encode_kind> parse_env_encode_kind(std::string_view name);
std::string to_string(env_encode_kind kind);

/// The value as a variable; nothing for a wrong type. A list without one string
/// is present and empty.
std::optional<std::string> encode_json_env_value(
  const bj::value& value, env_encode_kind kind = env_encode_kind::string);

/// A JSON value that stands behind a variable.
struct json_env_mapping {
  std::string env;
  std::optional<bj::value> value;
  std::optional<env_encode_kind> kind;
};

/// A field of a section: how it is called and where it is found.
struct json_env_field_spec {
  std::string id;
  std::string env;
  std::optional<env_encode_kind> kind;
  bool secret = false;
  /// The field in the section, null when it is absent.
  std::function<const bj::value*(const bj::object& section)> from_json;
};

/// One mapping for every field, in order.
std::vector<json_env_mapping> field_spec_mappings(
  const bj::object& section, const std::vector<json_env_field_spec>& specs);

using environment = std::map<std::string, std::string>;

/// The environment over the encoded mappings. Of two mappings to one variable
/// the last that can be encoded counts.
environment layer_json_onto_env(const environment& env,
                                const std::vector<json_env_mapping>& mappings);

/// What may be told about a secret.
struct redacted_secret_value {
  bool present = false;
  friend bool operator==(const redacted_secret_value&,
                         const redacted_secret_value&) = default;
};

redacted_secret_value redacted_secret(raw_value value);

bj::object to_json(const redacted_secret_value& value);

} // namespace bureau::contracts
