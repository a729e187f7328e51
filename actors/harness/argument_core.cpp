#include "actors/harness/argument_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace bureau::harness {

namespace {

namespace bj = boost::json;

constexpr size_t faults_shown = 20;
constexpr size_t received_shown = 4000;

/// Schemas come from strangers too: their nested alternatives must not cost
/// more than this.
struct step_budget {
  size_t left = limits::schema_steps;
  bool spend() {
    if (left == 0)
      return false;
    --left;
    return true;
  }
};

bool is_integral(const bj::value& value) {
  if (value.is_int64() || value.is_uint64())
    return true;
  return value.is_double() && std::isfinite(value.get_double())
         && std::floor(value.get_double()) == value.get_double();
}

double as_double(const bj::value& value) {
  if (value.is_int64())
    return static_cast<double>(value.get_int64());
  if (value.is_uint64())
    return static_cast<double>(value.get_uint64());
  return value.is_double() ? value.get_double() : 0.0;
}

bool has_type(const bj::value& value, std::string_view type) {
  if (type == "object")
    return value.is_object();
  if (type == "array")
    return value.is_array();
  if (type == "string")
    return value.is_string();
  if (type == "boolean")
    return value.is_bool();
  if (type == "null")
    return value.is_null();
  if (type == "integer")
    return is_integral(value);
  if (type == "number")
    return value.is_number();
  return true;
}

/// The types a schema allows; empty = any.
std::vector<std::string_view> types_of(const bj::object& schema) {
  std::vector<std::string_view> result;
  const auto* type = json::member(schema, "type");
  if (type == nullptr)
    return result;
  if (type->is_string())
    result.emplace_back(type->get_string());
  else if (type->is_array())
    for (const auto& entry : type->get_array())
      if (entry.is_string())
        result.emplace_back(entry.get_string());
  return result;
}

bool same(const bj::value& left, const bj::value& right) {
  if (left.is_number() && right.is_number())
    return as_double(left) == as_double(right);
  return left == right;
}

// -- conversion ---------------------------------------------------------------

/// A string that is a JSON number, whole.
std::optional<bj::value> number_in(std::string_view text, bool integral) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ')
    return std::nullopt;
  auto parsed = json::parse(text);
  if (!parsed || !parsed.value.is_number())
    return std::nullopt;
  if (integral && !is_integral(parsed.value))
    return std::nullopt;
  return std::move(parsed.value);
}

std::optional<bj::value> to_number(const bj::value& value, bool integral) {
  if (value.is_string())
    return number_in(value.get_string(), integral);
  if (value.is_bool())
    return bj::value(value.get_bool() ? 1 : 0);
  if (value.is_null())
    return bj::value(0);
  return std::nullopt;
}

std::optional<bj::value> to_boolean(const bj::value& value) {
  if (value.is_null())
    return bj::value(false);
  if (value.is_string()) {
    if (value.get_string() == "true")
      return bj::value(true);
    if (value.get_string() == "false")
      return bj::value(false);
    return std::nullopt;
  }
  if (value.is_number()) {
    if (as_double(value) == 1.0)
      return bj::value(true);
    if (as_double(value) == 0.0)
      return bj::value(false);
  }
  return std::nullopt;
}

/// A number as people write it: 5.0 is "5".
std::string number_text(const bj::value& value) {
  constexpr auto exact = 9007199254740992.0;
  if (value.is_double() && is_integral(value)
      && std::fabs(value.get_double()) < exact)
    return std::to_string(static_cast<int64_t>(value.get_double()));
  if (value.is_double()) {
    char buffer[64];
    auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value.get_double());
    return std::string(buffer, end.ptr);
  }
  return json::print(value);
}

std::optional<bj::value> to_string_value(const bj::value& value) {
  if (value.is_null())
    return bj::value(bj::string{});
  if (value.is_bool())
    return bj::value(value.get_bool() ? "true" : "false");
  if (value.is_number())
    return bj::value(number_text(value));
  return std::nullopt;
}

std::optional<bj::value> to_null(const bj::value& value) {
  auto empty = (value.is_string() && value.get_string().empty())
               || (value.is_bool() && !value.get_bool())
               || (value.is_number() && as_double(value) == 0.0);
  return empty ? std::optional<bj::value>{bj::value(nullptr)} : std::nullopt;
}

std::optional<bj::value> convert(const bj::value& value,
                                 std::string_view type) {
  if (type == "integer" || type == "number")
    return to_number(value, type == "integer");
  if (type == "boolean")
    return to_boolean(value);
  if (type == "string")
    return to_string_value(value);
  if (type == "null")
    return to_null(value);
  return std::nullopt;
}

// -- validation ---------------------------------------------------------------

class validator {
public:
  explicit validator(step_budget& budget) : budget_(budget) {}

  bool check(const bj::value& schema, const bj::value& value,
             const std::string& path) {
    if (!budget_.spend()) {
      fault(path, "the check takes too long; send simpler arguments");
      return false;
    }
    if (schema.is_bool()) {
      if (!schema.get_bool())
        fault(path, "must not be given");
      return schema.get_bool();
    }
    if (!schema.is_object())
      return true;
    const auto& rules = schema.get_object();
    auto before = faults_.size();
    check_type(rules, value, path);
    if (faults_.size() == before) {
      check_choices(rules, value, path);
      check_bounds(rules, value, path);
      if (value.is_object())
        check_object(rules, value.get_object(), path);
      if (value.is_array())
        check_array(rules, value.get_array(), path);
      check_alternatives(rules, value, path);
    }
    return faults_.size() == before;
  }

  std::vector<argument_fault> take() { return std::move(faults_); }

private:
  void fault(const std::string& path, std::string problem) {
    if (faults_.size() < faults_shown)
      faults_.push_back({path, std::move(problem)});
  }

  void check_type(const bj::object& rules, const bj::value& value,
                  const std::string& path) {
    auto types = types_of(rules);
    auto fits = [&value](std::string_view type) {
      return has_type(value, type);
    };
    if (types.empty() || std::any_of(types.begin(), types.end(), fits))
      return;
    std::string list;
    for (auto type : types)
      list += (list.empty() ? "" : " or ") + std::string{type};
    fault(path, "must be " + list);
  }

  void check_choices(const bj::object& rules, const bj::value& value,
                     const std::string& path) {
    if (const auto* constant = json::member(rules, "const");
        constant != nullptr && !same(*constant, value))
      fault(path, "must be " + json::print(*constant));
    const auto* choices = json::member(rules, "enum");
    if (choices == nullptr || !choices->is_array())
      return;
    std::string list;
    for (const auto& choice : choices->get_array()) {
      if (same(choice, value))
        return;
      list += (list.empty() ? "" : ", ") + json::print(choice);
    }
    fault(path, "must be one of " + list);
  }

  void check_bounds(const bj::object& rules, const bj::value& value,
                    const std::string& path) {
    if (value.is_number()) {
      auto number = as_double(value);
      bound(rules, "minimum", path,
            "must be >= ", [number](double limit) { return number >= limit; });
      bound(rules, "maximum", path,
            "must be <= ", [number](double limit) { return number <= limit; });
      bound(rules, "exclusiveMinimum", path, "must be > ",
            [number](double limit) { return number > limit; });
      bound(rules, "exclusiveMaximum", path, "must be < ",
            [number](double limit) { return number < limit; });
    } else if (value.is_string()) {
      auto length =
        static_cast<double>(text::code_point_length(value.get_string()));
      bound(rules, "minLength", path, "length must be >= ",
            [length](double limit) { return length >= limit; });
      bound(rules, "maxLength", path, "length must be <= ",
            [length](double limit) { return length <= limit; });
    } else if (value.is_array()) {
      auto count = static_cast<double>(value.get_array().size());
      bound(rules, "minItems", path, "number of items must be >= ",
            [count](double limit) { return count >= limit; });
      bound(rules, "maxItems", path, "number of items must be <= ",
            [count](double limit) { return count <= limit; });
    }
  }

  template <class Test>
  void bound(const bj::object& rules, std::string_view keyword,
             const std::string& path, const std::string& words, Test holds) {
    const auto* limit = json::member(rules, keyword);
    if (limit != nullptr && limit->is_number() && !holds(as_double(*limit)))
      fault(path, words + number_text(*limit));
  }

  void check_object(const bj::object& rules, const bj::object& value,
                    const std::string& path) {
    if (const auto* required = json::member(rules, "required");
        required != nullptr && required->is_array())
      for (const auto& name : required->get_array())
        if (name.is_string() && !value.contains(name.get_string()))
          fault(below(path, name.get_string()), "is required but missing");
    const auto* properties = json::member(rules, "properties");
    const auto* others = json::member(rules, "additionalProperties");
    for (const auto& entry : value) {
      const auto* rule = properties == nullptr
                           ? nullptr
                           : json::member(*properties, entry.key());
      auto inner = below(path, entry.key());
      if (rule != nullptr)
        check(*rule, entry.value(), inner);
      else if (others != nullptr && others->is_bool() && !others->get_bool())
        fault(inner, "is not a known property");
      else if (others != nullptr)
        check(*others, entry.value(), inner);
    }
  }

  void check_array(const bj::object& rules, const bj::array& value,
                   const std::string& path) {
    const auto* items = json::member(rules, "items");
    if (items == nullptr || items->is_array())
      return;
    for (size_t i = 0; i < value.size(); ++i)
      check(*items, value[i], path + "[" + std::to_string(i) + "]");
  }

  void check_alternatives(const bj::object& rules, const bj::value& value,
                          const std::string& path) {
    if (const auto* all = json::member(rules, "allOf");
        all != nullptr && all->is_array())
      for (const auto& part : all->get_array())
        check(part, value, path);
    for (auto keyword : {"anyOf", "oneOf"}) {
      const auto* variants = json::member(rules, keyword);
      if (variants == nullptr || !variants->is_array())
        continue;
      size_t fitting = 0;
      for (const auto& variant : variants->get_array()) {
        validator probe{budget_};
        if (probe.check(variant, value, path))
          ++fitting;
      }
      if (fitting == 0)
        fault(path, "fits none of the allowed forms");
      else if (fitting > 1 && keyword == std::string_view{"oneOf"})
        fault(path, "fits more than one of the allowed forms");
    }
  }

  static std::string below(const std::string& path, std::string_view name) {
    return path.empty() ? std::string{name} : path + "." + std::string{name};
  }

  step_budget& budget_;
  std::vector<argument_fault> faults_;
};

bool fits(const bj::value& schema, const bj::value& value,
          step_budget& budget) {
  validator probe{budget};
  return probe.check(schema, value, {});
}

void coerce(const bj::value& schema, bj::value& value, step_budget& budget);

/// A variant that the value already fits is preferred over one that it would
/// have to be converted for.
void coerce_variants(const bj::value& variants, bj::value& value,
                     step_budget& budget) {
  for (const auto& variant : variants.get_array())
    if (fits(variant, value, budget))
      return;
  for (const auto& variant : variants.get_array()) {
    auto copy = value;
    coerce(variant, copy, budget);
    if (fits(variant, copy, budget)) {
      value = std::move(copy);
      return;
    }
  }
}

void coerce_members(const bj::object& rules, bj::object& value,
                    step_budget& budget) {
  const auto* properties = json::member(rules, "properties");
  const auto* others = json::member(rules, "additionalProperties");
  for (auto& entry : value) {
    const auto* rule =
      properties == nullptr ? nullptr : json::member(*properties, entry.key());
    if (rule != nullptr)
      coerce(*rule, entry.value(), budget);
    else if (others != nullptr && others->is_object())
      coerce(*others, entry.value(), budget);
  }
}

void coerce(const bj::value& schema, bj::value& value, step_budget& budget) {
  if (!schema.is_object() || !budget.spend())
    return;
  const auto& rules = schema.get_object();
  auto types = types_of(rules);
  auto matches = [&value](std::string_view type) {
    return has_type(value, type);
  };
  if (std::none_of(types.begin(), types.end(), matches)) {
    for (auto type : types) {
      if (auto converted = convert(value, type)) {
        value = std::move(*converted);
        break;
      }
    }
  }
  if (value.is_object())
    coerce_members(rules, value.get_object(), budget);
  if (const auto* items = json::member(rules, "items");
      items != nullptr && value.is_array())
    for (auto& element : value.get_array())
      coerce(*items, element, budget);
  if (const auto* all = json::member(rules, "allOf");
      all != nullptr && all->is_array())
    for (const auto& part : all->get_array())
      coerce(part, value, budget);
  for (auto keyword : {"anyOf", "oneOf"})
    if (const auto* variants = json::member(rules, keyword);
        variants != nullptr && variants->is_array())
      coerce_variants(*variants, value, budget);
}

} // namespace

void coerce_arguments(const bj::value& schema, bj::value& value) {
  step_budget budget;
  coerce(schema, value, budget);
}

std::vector<argument_fault> validate_arguments(const bj::value& schema,
                                               const bj::value& value) {
  step_budget budget;
  validator check{budget};
  check.check(schema, value, {});
  return check.take();
}

checked_arguments check_arguments(const json_text& schema,
                                  const json_text& received) {
  checked_arguments result;
  auto value =
    json::parse(received.empty() ? std::string_view{"{}"} : received.text);
  if (!value) {
    result.faults.push_back({{}, "not JSON: " + value.fault->what});
    return result;
  }
  if (!value.value.is_object()) {
    result.faults.push_back({{}, "must be object"});
    return result;
  }
  auto rules = json::parse(schema.empty() ? std::string_view{"{}"}
                                          : std::string_view{schema.text});
  if (rules) {
    coerce_arguments(rules.value, value.value);
    result.faults = validate_arguments(rules.value, value.value);
  }
  result.arguments = json_text{json::print(value.value)};
  return result;
}

std::string argument_report(const std::string& tool,
                            const std::vector<argument_fault>& faults,
                            const json_text& received) {
  auto text = "The arguments of " + tool + " are not valid, so it did not run.";
  for (const auto& fault : faults)
    text += "\n- " + (fault.path.empty() ? "arguments" : fault.path) + ": "
            + fault.problem;
  auto parsed =
    json::parse(received.empty() ? std::string_view{"{}"} : received.text);
  auto shown = parsed ? json::print_pretty(parsed.value)
                      : text::sanitize_utf8(received.text);
  if (shown.size() > received_shown)
    shown = std::string{text::prefix_bytes(shown, received_shown)} + "…";
  return text + "\nReceived arguments:\n" + shown;
}

} // namespace bureau::harness
