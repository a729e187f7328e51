#include "messages/contracts/config_readers.hpp"

#include "messages/errc.hpp"
#include "messages/text/utf8.hpp"
#include "tests/fuzz/entry.hpp"

#include <algorithm>

using namespace bureau;
using namespace bureau::contracts;

namespace {

caf::error refuse(std::string sentence, const config_fault& fault) {
  fuzz::require(fault.env == "NAME", "an error names the variable");
  return make_failure(errc::bad_config, std::move(sentence));
}

bool is_trimmed(std::string_view text) {
  return !text.empty() && text::trim(text) == text;
}

void check_values(std::string_view raw) {
  auto items = read_csv(raw);
  fuzz::require(std::all_of(items.begin(), items.end(), is_trimmed),
                "items are trimmed");
  fuzz::require(std::none_of(items.begin(), items.end(),
                             [](const std::string& item) {
                               return item.find(',') != item.npos;
                             }),
                "items hold no comma");
  if (auto text = normalize_optional_string(raw)) {
    fuzz::require(is_trimmed(*text), "text is trimmed");
    fuzz::require(normalize_optional_string(*text) == text,
                  "trimming twice is trimming once");
    fuzz::require(read_string(raw, "else") == *text,
                  "a value hides its default");
  } else {
    fuzz::require(read_string(raw, "else") == "else", "blank is absent");
  }
  integer_bounds bounds{-5, 1'000'000};
  if (auto number = read_integer(raw, "NAME", 7, refuse, bounds))
    fuzz::require(*number >= -5 && *number <= 1'000'000, "bounds hold");
  if (auto digits = parse_digits(raw))
    fuzz::require(*digits >= 0, "digits have no sign");
  if (auto flag = read_boolean(raw, "NAME", true, refuse))
    fuzz::require(*flag || raw.find("false") != raw.npos, "false is said");
  const std::vector<std::string> choices{"one", "two"};
  if (auto choice = read_choice(raw, "NAME", choices, "one", refuse))
    fuzz::require(*choice == "one" || *choice == "two", "choices are closed");
  static_cast<void>(read_required(raw, "NAME", refuse));
  fuzz::require(redacted_secret(raw).present == !raw.empty(),
                "of a secret only its presence is told");
}

void check_layers(std::string_view raw, const bj::value& value) {
  std::vector<json_env_mapping> mappings;
  for (auto kind : {env_encode_kind::string, env_encode_kind::boolean,
                    env_encode_kind::integer, env_encode_kind::csv})
    mappings.push_back({"V", value, kind});
  auto layered = layer_json_onto_env({{"V", std::string{raw}}}, mappings);
  fuzz::require(layered.at("V") == raw, "the environment is above");
  layered = layer_json_onto_env({}, mappings);
  auto known = value.is_string() || value.is_bool() || value.is_array();
  if (known)
    fuzz::require(layered.contains("V"), "a value of a known type is told");
  read_record(value);
}

} // namespace

void fuzz::try_input(std::string_view input) {
  check_values(input);
  reader in{input};
  auto raw = in.text();
  check_layers(raw, json_of(in.rest()));
}
