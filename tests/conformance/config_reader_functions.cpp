#include "messages/codec/json_support.hpp"
#include "messages/contracts/config_readers.hpp"
#include "messages/errc.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

using namespace bureau::contracts;

/// A string argument, or none.
raw_value raw_at(const bj::array& args, size_t index) {
  auto text = argument(args, index).if_string();
  return text != nullptr ? raw_value{*text} : std::nullopt;
}

caf::error refuse(std::string, const config_fault&) {
  return make_failure(errc::bad_config, "config_error");
}

template <class T>
outcome outcome_of(const caf::expected<T>& value) {
  return value ? answer(bj::value(*value))
               : failure(sentence_of(value.error()));
}

outcome outcome_of(const std::optional<std::string>& text) {
  return text ? answer(bj::value(*text)) : nothing();
}

outcome optional_string_case(const bj::array& args) {
  return outcome_of(normalize_optional_string(raw_at(args, 0)));
}

outcome string_case(const bj::array& args) {
  return answer(
    bj::value(read_string(raw_at(args, 0), text_of(argument(args, 1)))));
}

outcome required_case(const bj::array& args) {
  return outcome_of(
    read_required(raw_at(args, 0), text_of(argument(args, 1)), refuse));
}

outcome csv_case(const bj::array& args) {
  bj::array result;
  for (const auto& item : read_csv(raw_at(args, 0)))
    result.emplace_back(item);
  return answer(std::move(result));
}

outcome boolean_case(const bj::array& args) {
  return outcome_of(read_boolean(raw_at(args, 0), text_of(argument(args, 1)),
                                 argument(args, 2).as_bool(), refuse));
}

outcome integer_case(const bj::array& args) {
  integer_bounds bounds;
  if (auto given = argument(args, 3).if_object()) {
    bounds.min = json::int_member(*given, "min");
    bounds.max = json::int_member(*given, "max");
  }
  return outcome_of(read_integer(raw_at(args, 0), text_of(argument(args, 1)),
                                 argument(args, 2).as_int64(), refuse, bounds));
}

outcome choice_case(const bj::array& args) {
  std::vector<std::string> choices;
  for (const auto& choice : argument(args, 2).as_array())
    choices.push_back(text_of(choice));
  return outcome_of(read_choice(raw_at(args, 0), text_of(argument(args, 1)),
                                choices, text_of(argument(args, 3)), refuse));
}

outcome record_case(const bj::array& args) {
  return answer(read_record(argument(args, 0)));
}

outcome section_case(const bj::array& args) {
  return answer(read_json_section(argument(args, 0).as_object(),
                                  text_of(argument(args, 1))));
}

outcome encode_case(const bj::array& args) {
  if (!has_argument(args, 0))
    return nothing();
  auto kind = parse_env_encode_kind(text_of(argument(args, 1)));
  return outcome_of(
    encode_json_env_value(args[0], kind.value_or(env_encode_kind::string)));
}

std::optional<env_encode_kind> kind_of(const bj::object& object) {
  return parse_env_encode_kind(json::text_or_empty(object, "kind"));
}

outcome mappings_case(const bj::array& args) {
  std::vector<json_env_field_spec> specs;
  for (const auto& element : argument(args, 1).as_array()) {
    const auto& given = element.as_object();
    json_env_field_spec spec;
    spec.id = json::text_or_empty(given, "id");
    spec.env = json::text_or_empty(given, "env");
    spec.kind = kind_of(given);
    spec.secret = json::bool_member(given, "secret").value_or(false);
    spec.from_json = [name = json::text_or_empty(given, "fromJson")](
                       const bj::object& section) {
      return section.if_contains(name);
    };
    specs.push_back(std::move(spec));
  }
  bj::array result;
  for (const auto& mapping :
       field_spec_mappings(argument(args, 0).as_object(), specs)) {
    bj::object entry{{"env", mapping.env}};
    if (mapping.value)
      entry["value"] = *mapping.value;
    if (mapping.kind)
      entry["kind"] = to_string(*mapping.kind);
    result.push_back(std::move(entry));
  }
  return answer(std::move(result));
}

outcome layer_case(const bj::array& args) {
  environment env;
  for (const auto& entry : argument(args, 0).as_object())
    env[entry.key()] = text_of(entry.value());
  std::vector<json_env_mapping> mappings;
  for (const auto& element : argument(args, 1).as_array()) {
    const auto& given = element.as_object();
    json_env_mapping mapping;
    mapping.env = json::text_or_empty(given, "env");
    if (auto value = given.if_contains("value"))
      mapping.value = *value;
    mapping.kind = kind_of(given);
    mappings.push_back(std::move(mapping));
  }
  bj::object result;
  for (const auto& [name, value] : layer_json_onto_env(env, mappings))
    result[name] = value;
  return answer(std::move(result));
}

outcome secret_case(const bj::array& args) {
  return answer(to_json(redacted_secret(raw_at(args, 0))));
}

const registration all[] = {
  {"normalizeOptionalString", optional_string_case},
  {"readString", string_case},
  {"readRequired", required_case},
  {"readCsv", csv_case},
  {"readBoolean", boolean_case},
  {"readInteger", integer_case},
  {"readChoice", choice_case},
  {"readRecord", record_case},
  {"readJsonSection", section_case},
  {"encodeJsonEnvValue", encode_case},
  {"fieldSpecMappings", mappings_case},
  {"layerJsonOntoEnv", layer_case},
  {"redactedSecret", secret_case},
};

} // namespace

} // namespace bureau::conformance
