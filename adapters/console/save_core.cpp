#include "adapters/console/save_core.hpp"

#include "messages/limits.hpp"

#include <algorithm>
#include <utility>

namespace bureau::console {

uint64_t offered_files::add(std::string conversation_id,
                            contracts::attachment_part file) {
  files_.push_back({++last_, std::move(conversation_id), std::move(file)});
  if (files_.size() > limits::console_visible_messages)
    files_.pop_front();
  return last_;
}

const offered_file* offered_files::find(uint64_t number) const {
  auto found = std::find_if(files_.begin(), files_.end(),
                            [&](const auto& x) { return x.number == number; });
  return found == files_.end() ? nullptr : &*found;
}

std::string file_line(const offered_file& offered) {
  const auto& file = offered.file;
  return "File " + std::to_string(offered.number) + ": " + file.name + " ("
         + std::to_string(file.size_bytes) + " bytes, " + file.media_type
         + "). /save " + std::to_string(offered.number) + " keeps it.";
}

std::string target_of(const std::string& typed, const std::string& name,
                      const std::string& working_dir) {
  // A name is for display; it must lead nowhere.
  auto plain = name;
  std::replace(plain.begin(), plain.end(), '/', '_');
  if (plain.empty() || plain == "." || plain == "..")
    plain = "file";
  if (!typed.empty() && !typed.ends_with('/'))
    return typed;
  auto directory = typed.empty() ? working_dir : typed;
  if (directory.empty())
    return {};
  return directory + (directory.ends_with('/') ? "" : "/") + plain;
}

std::string sentence_of_fault(contracts::part_failure_code fault) {
  switch (fault) {
  case contracts::part_failure_code::artifact_expired:
    return "That file has expired: files of answers are kept for a week.";
  case contracts::part_failure_code::artifact_integrity_failed:
    return "What is kept of that file is not what the agent attached; it was "
           "not saved.";
  default:
    return "That file is not kept any more.";
  }
}

} // namespace bureau::console
