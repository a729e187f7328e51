#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// The one list of all settings (note 05 B1, decisions A33, B11 and B33).
namespace bureau::config {

/// What a setting holds.
enum class value_kind : uint8_t {
  text,
  /// One word of `choices`.
  choice,
  boolean,
  integer,
  /// Any number above 0.
  number,
  text_list,
  /// Strings or integers: platform ids are written both ways.
  id_list,
  object_list,
  /// An object whose members are all strings.
  text_map,
  /// An object whose members are all objects.
  object_map,
};

/// Which of the two files may set it.
enum class setting_scope : uint8_t { both, global };

/// When a change takes effect (note 05 D1). A new setting needs a class: the
/// table does not compile without it.
enum class lifecycle : uint8_t {
  runner_cache,
  next_use,
  next_harness,
  next_process,
};

/// One setting.
struct setting_spec {
  /// Dotted path: "queue.mode".
  std::string_view path;
  value_kind kind;
  setting_scope scope;
  lifecycle takes_effect;
  /// Value when neither file sets it; "" = none.
  std::string_view standard{};
  /// Words of a choice, separated by '|'.
  std::string_view choices{};
  int64_t min = 0;
  int64_t max = 0;
  /// Shown as set or unset only.
  bool secret = false;
  /// Nothing in this version reads it: another value than `actual` is warned
  /// about, so that nobody relies on it.
  bool inert = false;
  /// The value that describes what happens anyway; "" = none does.
  std::string_view actual{};
};

/// All settings, sorted by group.
std::span<const setting_spec> settings_schema();

/// The setting at a dotted path; for a path inside a map, the map. Null when
/// there is none.
const setting_spec* find_setting(std::string_view path);

/// Whether some setting lies below a dotted path.
bool is_settings_group(std::string_view path);

} // namespace bureau::config
