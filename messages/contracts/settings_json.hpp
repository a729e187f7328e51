#pragma once

#include <boost/json/object.hpp>
#include <caf/expected.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Text of a settings file: reading it, and the text that a change makes of it
/// (agent contracts, 3.15). Pure; reading and replacing the file is its
/// owner's.
namespace bureau::contracts {

namespace bj = boost::json;

/// The one code of a settings error; its sentence begins with it.
inline constexpr std::string_view invalid_json_source = "invalid_json_source";

/// Largest settings file, before and after a change.
inline constexpr size_t max_settings_bytes = 4u << 20;

/// The mode that a settings file gets.
inline constexpr unsigned settings_file_mode = 0600;

/// What a settings file holds.
struct settings_json {
  bj::object json;
  /// SHA-256 of the bytes, empty for a file that is not there.
  std::string version;
  bool missing = false;
};

/// Reads the text of a file, nothing for a file that is not there. A blank file
/// is an empty object; anything else than an object is an error that names the
/// file and says why.
/// @param path for the error
caf::expected<settings_json> parse_settings_json(
  std::optional<std::string_view> text, std::string_view path);

/// A member, by the names on the way to it.
using settings_path = std::vector<std::string>;

/// A change: members that get a value, and members that go.
struct settings_patch {
  /// Objects are merged into objects; everything else replaces.
  bj::object set;
  /// Applied after `set`; what is not there is no fault.
  std::vector<settings_path> remove;
};

/// Applies a change. Members keep their order, new ones come last.
void apply_patch(bj::object& json, const settings_patch& patch);

/// New text of a file, and the version that it will have.
struct settings_text {
  std::string text;
  std::string version;
};

/// Text of a file after a change: an indent of two spaces, one line end. A file
/// that cannot be read must not be overwritten: it is the same error as above.
caf::expected<settings_text>
patched_settings_text(std::optional<std::string_view> current,
                      const settings_patch& patch, std::string_view path);

} // namespace bureau::contracts
