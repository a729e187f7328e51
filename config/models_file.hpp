#pragma once

#include "config/file_report.hpp"
#include "messages/model/model_descriptor.hpp"

#include <string>
#include <string_view>
#include <vector>

/// models.json (note 03, 2.16 and 3.20) and the catalogue that is built in
/// (decision B37).
namespace bureau::config {

/// A model that this version cannot call.
struct unusable_model {
  std::string id;
  /// Pointer and reason.
  std::string fault;
  friend bool operator==(const unusable_model&,
                         const unusable_model&) = default;
};

/// One provider with its models.
struct provider_entry {
  std::string id;
  std::string name;
  /// "" when the entry only overrides a built-in provider.
  std::string api;
  std::string base_url;
  /// Literal key of models.json.
  secret_text api_key;
  std::vector<header_field> headers;
  /// JSON object, empty = none.
  json_text compat;
  /// In file order; the descriptors are complete.
  std::vector<model_descriptor> models;
  /// Models that are left out: their api is not spoken, or they have no
  /// address.
  std::vector<unusable_model> unusable;
  /// Why this entry is out of use; "" = it is fine. An entry whose models are
  /// all unusable is out of use.
  std::string fault;
  // -- built-in providers only ------------------------------------------------
  /// Id of the model that is chosen when none is named.
  std::string default_model;
  /// Environment variables with a key, the first set one counts.
  std::vector<std::string> env;
  /// Whether a stored sign-in can be its credential.
  bool oauth = false;
  friend bool operator==(const provider_entry&,
                         const provider_entry&) = default;
};

/// Providers in file order.
struct models_file {
  std::vector<provider_entry> providers;
  const provider_entry* find(std::string_view id) const;
};

/// Checks a models file. Text that is not JSON, or not `{"providers": {…}}`, is
/// a fault; a bad provider entry, and a model that this version cannot call, is
/// kept with its fault and one warning, and the rest stays in force (decision
/// B9). Unknown keys are warnings.
/// @param path for the messages
reading<models_file> parse_models(std::string_view text, std::string_view path);

/// Reads and checks a models file; an absent one has no provider.
reading<models_file> load_models(file_system& fs, const std::string& path);

/// The providers that every build knows.
struct model_catalogue {
  /// Date of the data, YYYY-MM-DD.
  std::string as_of;
  models_file file;
};

/// Parsed at the first call. Prices are dollars of that date.
const model_catalogue& builtin_models();

/// The catalogue as it is embedded.
std::string_view builtin_models_text();

} // namespace bureau::config
