#pragma once

#include "config/environment.hpp"
#include "config/settings_file.hpp"
#include "messages/contracts/channel.hpp"

#include <string>
#include <vector>

/// What the process would be told, for display: every setting with its value
/// and where that comes from (agent contracts, 2.5). Of a secret nothing but
/// whether it is set. Pure.
namespace bureau::config {

using contracts::config_view_section;

/// The global settings, in sections: the environment over the file over the
/// defaults.
std::vector<config_view_section> config_view(const environment& env,
                                             const settings_document& settings);

/// The report of `bureau config`: lines with their newlines.
std::string config_text(const std::vector<config_view_section>& sections);

/// The same as one JSON object.
std::string config_json(const std::vector<config_view_section>& sections);

} // namespace bureau::config
