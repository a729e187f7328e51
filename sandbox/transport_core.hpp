#pragma once

#include "messages/errc.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Files through commands (decision B29): one shell program for a read, one for
/// a write fed on its standard input. Both report byte counts, so that a cut
/// transfer can never look like a short file.
namespace bureau::sandbox {

/// Quotes text as one word for a POSIX shell.
std::string quote(std::string_view text);

/// A shell program that prints `length` bytes of a file from `offset`. Its
/// standard error starts with the size of the file.
std::string read_program(std::string_view path, uint64_t offset,
                         uint64_t length);

/// A shell program that replaces a file by its standard input. Parents are
/// created, the mode of an existing regular file is kept, a link is replaced by
/// a file, and a target that cannot be renamed over is written in place.
/// @param stage_suffix unique per write, for example 8 hex digits
/// @param mode permission bits, -1 = the file's own or 0644
std::string write_program(std::string_view path, std::string_view stage_suffix,
                          uint64_t size, int32_t mode);

/// A shell program that removes what an interrupted write_program left.
std::string cleanup_program(std::string_view path,
                            std::string_view stage_suffix);

/// Result of a file program: a fault with its sentence, or none.
struct transfer_end {
  errc fault = errc::none;
  std::string sentence;
  std::string bytes;
  bool end_of_file = false;
};

/// What a finished program reported.
struct program_output {
  std::string out;
  std::string err;
  int32_t code = 0;
  /// Output beyond the capture cap was thrown away.
  bool cut = false;
};

transfer_end end_of_read(std::string_view path, uint64_t offset,
                         uint64_t length, program_output output);

transfer_end end_of_write(std::string_view path, uint64_t size,
                          const program_output& output);

/// The sentence of a file error: "cannot read <path>: <reason>".
std::string file_sentence(std::string_view doing, std::string_view path,
                          errc code, std::string_view detail = {});

} // namespace bureau::sandbox
