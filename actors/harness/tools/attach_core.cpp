#include "actors/harness/tools/attach_core.hpp"

#include "actors/harness/tools/outcome_core.hpp"
#include "actors/harness/tools/truncate_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/workspace.hpp"
#include "messages/limits.hpp"
#include "messages/text/harmless.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bureau::harness {

namespace {

constexpr size_t shown_name_bytes = 180;

using row = std::pair<std::string_view, const char*>;

constexpr std::array<row, 46> media_types = {{
  {"aac", "audio/aac"},
  {"avif", "image/avif"},
  {"bmp", "image/bmp"},
  {"bz2", "application/x-bzip2"},
  {"c", "text/plain"},
  {"cpp", "text/plain"},
  {"css", "text/css"},
  {"csv", "text/csv"},
  {"doc", "application/msword"},
  {"docx", "application/"
           "vnd.openxmlformats-officedocument.wordprocessingml.document"},
  {"epub", "application/epub+zip"},
  {"flac", "audio/flac"},
  {"gif", "image/gif"},
  {"gz", "application/gzip"},
  {"hpp", "text/plain"},
  {"htm", "text/html"},
  {"html", "text/html"},
  {"ics", "text/calendar"},
  {"jpeg", "image/jpeg"},
  {"jpg", "image/jpeg"},
  {"js", "text/javascript"},
  {"json", "application/json"},
  {"log", "text/plain"},
  {"m4a", "audio/mp4"},
  {"md", "text/markdown"},
  {"mov", "video/quicktime"},
  {"mp3", "audio/mpeg"},
  {"mp4", "video/mp4"},
  {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
  {"odt", "application/vnd.oasis.opendocument.text"},
  {"ogg", "audio/ogg"},
  {"pdf", "application/pdf"},
  {"png", "image/png"},
  {"pptx", "application/"
           "vnd.openxmlformats-officedocument.presentationml.presentation"},
  {"py", "text/x-python"},
  {"svg", "image/svg+xml"},
  {"tar", "application/x-tar"},
  {"tsv", "text/tab-separated-values"},
  {"txt", "text/plain"},
  {"wav", "audio/wav"},
  {"webm", "video/webm"},
  {"webp", "image/webp"},
  {"xls", "application/vnd.ms-excel"},
  {"xlsx", "application/"
           "vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
  {"xml", "application/xml"},
  {"zip", "application/zip"},
}};

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

} // namespace

std::string media_type_of(std::string_view name) {
  auto dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    auto extension = lower(name.substr(dot + 1));
    for (const auto& [known, type] : media_types)
      if (known == extension)
        return type;
  }
  return "application/octet-stream";
}

std::string attachable_path(const path_context& paths, std::string_view named) {
  auto whole = named.starts_with('/') ? join_path("/", named.substr(1))
                                      : join_path(paths.cwd, named);
  auto root = join_path("/", paths.runtime_root);
  // The root itself is no file.
  return whole != root && is_path_inside(whole, root) ? whole : std::string{};
}

std::string_view leaf_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

tool_outcome attached_outcome(contracts::attachment_part part) {
  auto result = text_outcome(
    "Attached " + part.name + " (" + part.media_type + ", "
    + std::to_string(part.size_bytes)
    + " bytes). It goes out with your final answer; where files cannot be "
      "shown, a line there names it.");
  boost::json::object details;
  details["artifactId"] = part.artifact_id;
  result.details = json_text{json::print(details)};
  result.parts.emplace_back(std::move(part));
  return result;
}

tool_outcome unattached_outcome(std::string_view call_id,
                                contracts::part_failure_code code,
                                std::string_view name, std::string sentence) {
  contracts::failed_part part;
  part.id = "failed-" + std::string{call_id};
  part.code = code;
  part.message =
    std::string{text::prefix_bytes(text::harmless(name), shown_name_bytes)}
    + (code == contracts::part_failure_code::artifact_too_large
         ? " is too large to go with an answer."
         : " could not be attached.");
  auto result = failed_outcome(std::move(sentence));
  result.parts.emplace_back(std::move(part));
  return result;
}

std::string too_large_sentence(std::string_view path) {
  return std::string{path} + " is larger than "
         + size_text(limits::artifact_bytes)
         + ", the most that goes with an answer. Make it smaller with bash "
           "(compress it, or split it) and attach that.";
}

} // namespace bureau::harness
