#include "actors/io/journal_target.hpp"

#include "actors/io/file_place.hpp"
#include "actors/io/io_errors.hpp"

#include <fcntl.h>

#include <cerrno>

namespace bureau::io {

namespace {

constexpr int append_flags = O_WRONLY | O_APPEND;

} // namespace

std::string journal_directory(const std::string& state_dir) {
  return state_dir + "/journal";
}

io_result<journal_target> open_journal_target(file_system& fs,
                                              const std::string& root,
                                              const std::string& path,
                                              bool may_create) {
  auto place = locate(fs, root, resolve_rule::no_links, path);
  if (!place)
    return {{}, place.error};
  journal_target result;
  auto opened = open_regular(fs, place.value, append_flags);
  if (!opened && opened.error == ENOENT && may_create) {
    opened =
      open_regular(fs, place.value, append_flags | O_CREAT | O_EXCL, 0600);
    result.created = static_cast<bool>(opened);
    // Somebody else was faster.
    if (!opened && opened.error == EEXIST)
      opened = open_regular(fs, place.value, append_flags);
  }
  if (!opened)
    return {{}, opened.error};
  auto facts = fs.stat(opened.value.get());
  if (!facts)
    return {{}, facts.error};
  // Whoever holds the other name could write what the journal vouches for.
  if (facts.value.st_nlink > 1)
    return {{}, EMLINK};
  result.size = static_cast<uint64_t>(facts.value.st_size);
  result.file = std::move(opened.value);
  return {std::move(result), 0};
}

io_status sync_journal_target(file_system& fs, const std::string& root,
                              const std::string& path, bool directory) {
  auto place = locate(fs, root, resolve_rule::no_links, path);
  auto is_gone = [](int error) {
    return error != 0 && code_for(error) != errc::disk;
  };
  if (!place)
    return {is_gone(place.error) ? 0 : place.error};
  auto opened = open_regular(fs, place.value, append_flags);
  if (!opened)
    return {is_gone(opened.error) ? 0 : opened.error};
  auto done = fs.sync_data(opened.value.get());
  if (!done || !directory)
    return done;
  auto named = sync_parents(fs, root, resolve_rule::no_links, path);
  return {is_gone(named.error) ? 0 : named.error};
}

} // namespace bureau::io
