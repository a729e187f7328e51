#include "tests/io/journal_world.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace bureau::test {

journal_world::journal_world()
  : disk(std::make_shared<os::posix_file_system>()),
    fs(std::make_shared<faulty_file_system>(disk)) {
  std::filesystem::create_directory(state());
  std::filesystem::create_directory(workspace());
}

std::unique_ptr<io::journal_writer> journal_world::writer() {
  return std::make_unique<io::journal_writer>(fs, state(), workspace());
}

io::replay_report journal_world::replay() {
  return io::replay_journal(*disk, state(), workspace());
}

size_t journal_world::segments() const {
  size_t count = 0;
  std::error_code absent;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator{state() + "/journal", absent})
    ++count;
  return count;
}

io::journal_append append_of(std::string path, std::string bytes,
                             durability level) {
  return {{journal_root::state, std::move(path), std::move(bytes), level},
          0,
          0,
          0,
          {}};
}

io::journal_append put(io::journal_writer& writer, std::string path,
                       std::string bytes, durability level) {
  std::vector<io::journal_append> batch;
  batch.push_back(append_of(std::move(path), std::move(bytes), level));
  writer.commit(batch);
  return batch.front();
}

size_t count_of(const faulty_file_system& fs, const std::string& name) {
  const auto& all = fs.operations();
  return static_cast<size_t>(std::count(all.begin(), all.end(), name));
}

bool has_note(const io::replay_report& report, const std::string& text) {
  return std::any_of(
    report.notes.begin(), report.notes.end(),
    [&](const auto& note) { return note.find(text) != std::string::npos; });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

read_segment scan_text(std::string_view bytes) {
  read_segment result;
  io::segment_scan scan{[&](uint64_t offset, size_t count) {
                          result.most_read = std::max(result.most_read, count);
                          return bytes.substr(static_cast<size_t>(offset),
                                              count);
                        },
                        bytes.size()};
  while (scan.next([&](const io::wal_entry& entry) {
    auto text = bytes.substr(static_cast<size_t>(entry.at), entry.length);
    result.records.push_back(
      {entry.target, entry.offset, std::string{text}, entry.is_seal});
    return true;
  }))
    ;
  result.frames = scan.frames();
  result.whole_bytes = static_cast<size_t>(scan.whole_bytes());
  result.torn = result.whole_bytes < bytes.size();
  result.damaged = result.torn && scan.frame_follows();
  return result;
}

std::string joined(io::frame_builder& builder) {
  std::string result;
  for (auto piece : builder.pieces())
    result += piece;
  return result;
}

} // namespace bureau::test
