#pragma once

#include "messages/json_text.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <vector>

/// Arguments of tool calls against the tool's JSON Schema (note on the harness,
/// section 4.8). Models often send "5" for 5; such scalars are converted, then
/// everything is checked.
///
/// Known keywords: type (one or a list), properties, required, items,
/// additionalProperties, enum, const, anyOf, oneOf, allOf, minimum, maximum,
/// exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems,
/// maxItems. All others are ignored.
namespace bureau::harness {

/// One thing that is wrong with the arguments.
struct argument_fault {
  /// `items[2].name`; empty for the arguments as a whole.
  std::string path;
  std::string problem;
};

/// Arguments after conversion, and what is wrong with them.
struct checked_arguments {
  json_text arguments;
  std::vector<argument_fault> faults;
};

/// Converts and checks. Absent arguments count as an empty object; a schema
/// that is no JSON object accepts every object.
/// @pre the texts are at most limits::json_text_bytes
checked_arguments check_arguments(const json_text& schema,
                                  const json_text& received);

/// Converts scalars in place where the schema wants another type.
void coerce_arguments(const boost::json::value& schema,
                      boost::json::value& value);

/// What is wrong with a value; nothing when it is valid. A check that takes
/// more than limits::schema_steps steps ends with a fault that says so.
std::vector<argument_fault> validate_arguments(const boost::json::value& schema,
                                               const boost::json::value& value);

/// The text of the error result for the model: the faults, one a line, and the
/// arguments that were received.
std::string argument_report(const std::string& tool,
                            const std::vector<argument_fault>& faults,
                            const json_text& received);

} // namespace bureau::harness
