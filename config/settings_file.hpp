#pragma once

#include "config/file_report.hpp"
#include "config/settings_schema.hpp"
#include "messages/codec/json_support.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// settings.json, global and of a conversation: the same schema, layered.
namespace bureau::config {

/// Where a document came from.
struct settings_source {
  std::string path;
  std::string text;
};

/// One settings file that was checked, or the absence of one. Typed members are
/// addressed by the dotted paths of the schema; a blank text counts as unset.
/// Unknown members are kept.
class settings_document {
public:
  settings_document() = default;
  explicit settings_document(
    json::bj::object root,
    std::shared_ptr<const settings_source> source = nullptr)
    : root_(std::move(root)), source_(std::move(source)) {}

  const json::bj::object& root() const { return root_; }
  const json::bj::value* find(std::string_view path) const;
  std::optional<std::string> text(std::string_view path) const;
  std::optional<bool> boolean(std::string_view path) const;
  std::optional<int64_t> integer(std::string_view path) const;
  std::optional<double> number(std::string_view path) const;
  /// Entries trimmed; ids written as numbers become text.
  std::optional<std::vector<std::string>> list(std::string_view path) const;
  /// Any value in the form an environment variable would have: lists comma
  /// separated, objects as JSON.
  std::optional<std::string> as_variable(std::string_view path) const;

  /// fault_at for a setting whose value turned out wrong after the check of the
  /// file: `<path>:<line>:<column>: <setting> <what>. <to do>.`
  /// @param below pointer into the setting: "/0" is its first element
  std::string fault(std::string_view path, std::string_view what,
                    std::string_view to_do, std::string_view below = {}) const;

private:
  json::bj::object root_;
  /// Kept for the global file only.
  std::shared_ptr<const settings_source> source_;
};

/// Which file a text is: it decides which keys have an effect.
enum class settings_file_kind : uint8_t { global, conversation };

/// Checks a settings file (decision B9). Unknown keys, and keys that have no
/// effect in this file, are warnings; a wrong type or value, and one half of
/// the pair llm.provider, llm.model without the other, are faults.
/// @param path for the messages
reading<settings_document> parse_settings(std::string_view text,
                                          std::string_view path,
                                          settings_file_kind kind);

/// Reads and checks a settings file; an absent one is empty.
reading<settings_document> load_settings(file_system& fs,
                                         const std::string& path,
                                         settings_file_kind kind);

/// A model as settings name it.
struct model_name {
  std::string provider;
  std::string model;
  friend bool operator==(const model_name&, const model_name&) = default;
};

/// The pair that one file names.
std::optional<model_name> model_of(const settings_document& file);

/// What a conversation's runs may see of the workspace.
struct door {
  /// isolated | trusted.
  std::string policy = "isolated";
  /// Behind an isolated one conversation; behind a trusted one full when that
  /// is set, else shared-support (note 04, 14.2).
  std::string layout = "conversation";
  friend bool operator==(const door&, const door&) = default;
};

/// Global settings with those of a conversation over them, then the defaults of
/// the schema (note 05 B4). Cheap to make; both files must outlive it.
class layered_settings {
public:
  /// @param conversation may be null
  layered_settings(const settings_document& global,
                   const settings_document* conversation)
    : global_(&global), conversation_(conversation) {}

  std::string text(std::string_view path) const;
  bool boolean(std::string_view path) const;
  /// Nothing only when the schema has no default.
  std::optional<int64_t> integer(std::string_view path) const;
  std::optional<double> number(std::string_view path) const;
  std::vector<std::string> list(std::string_view path) const;
  /// Leaf by leaf, the legacy image.workspaceMount mapped within each file.
  door effective_door() const;

private:
  const settings_document* global_;
  const settings_document* conversation_;
};

} // namespace bureau::config
