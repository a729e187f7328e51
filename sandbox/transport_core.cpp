#include "sandbox/transport_core.hpp"

#include "messages/text/utf8.hpp"

#include <algorithm>
#include <charconv>

namespace bureau::sandbox {

namespace {

/// Exit codes of our own programs, outside what shells and utilities use.
enum program_code : int32_t {
  code_absent = 80,
  code_directory = 81,
  code_irregular = 82,
  code_unreadable = 83,
};

constexpr size_t longest_name = 255;

std::string parent_of(std::string_view path) {
  auto slash = path.rfind('/');
  if (slash == std::string_view::npos)
    return ".";
  return slash == 0 ? "/" : std::string{path.substr(0, slash)};
}

std::string_view name_of(std::string_view path) {
  auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string stage_of(std::string_view path, std::string_view suffix) {
  auto tail = ".bureau-stage." + std::string{suffix};
  auto name = name_of(path);
  // The staging name must fit where the target's own name fits.
  name = text::prefix_bytes(name, longest_name - tail.size() - 1);
  auto directory = parent_of(path);
  if (!directory.ends_with('/'))
    directory += '/';
  return directory + "." + std::string{name} + tail;
}

std::string octal(int32_t mode) {
  char buffer[8] = {};
  auto end = std::to_chars(buffer, buffer + sizeof(buffer),
                           static_cast<uint32_t>(mode) & 07777u, 8);
  return {buffer, end.ptr};
}

std::optional<uint64_t> leading_number(std::string_view text) {
  uint64_t value = 0;
  auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{})
    return std::nullopt;
  return value;
}

bool mentions(std::string_view text, std::string_view phrase) {
  return text.find(phrase) != std::string_view::npos;
}

/// The code behind the English text of a utility (LANG is C.UTF-8 inside).
errc code_of_text(std::string_view err) {
  if (mentions(err, "Read-only file system")
      || mentions(err, "Permission denied")
      || mentions(err, "Operation not permitted"))
    return errc::denied;
  if (mentions(err, "No space left on device")
      || mentions(err, "Disk quota exceeded")
      || mentions(err, "File too large"))
    return errc::disk;
  if (mentions(err, "Is a directory"))
    return errc::is_directory;
  if (mentions(err, "No such file or directory")
      || mentions(err, "Not a directory"))
    return errc::not_found;
  return errc::transport;
}

std::string_view reason_of(errc code) {
  switch (code) {
  case errc::not_found:
    return "no such file or directory";
  case errc::is_directory:
    return "it is a directory";
  case errc::denied:
    return "permission denied or read-only";
  case errc::disk:
    return "the disk refused; it may be full";
  case errc::too_large:
    return "it is too large for one transfer";
  case errc::queue_full:
    return "too many file operations are waiting; try again";
  case errc::shutting_down:
    return "the environment is ending";
  case errc::timeout:
    return "it took too long";
  case errc::aborted:
    return "it was aborted";
  case errc::bad_request:
    return "the path is malformed";
  default:
    return "the transfer broke";
  }
}

transfer_end fault_of(std::string_view doing, std::string_view path,
                      const program_output& output) {
  transfer_end end;
  std::string detail{text::trim(output.err)};
  switch (output.code) {
  case code_absent:
    end.fault = errc::not_found;
    break;
  case code_directory:
    end.fault = errc::is_directory;
    break;
  case code_irregular:
    end.fault = errc::denied;
    detail = "it is not a regular file";
    break;
  case code_unreadable:
    end.fault = errc::denied;
    break;
  default:
    end.fault = code_of_text(output.err);
    break;
  }
  end.sentence = file_sentence(doing, path, end.fault, detail);
  return end;
}

} // namespace

std::string file_sentence(std::string_view doing, std::string_view path,
                          errc code, std::string_view detail) {
  std::string sentence = "cannot ";
  sentence += doing;
  sentence += ' ';
  sentence += path;
  sentence += ": ";
  sentence += detail.empty() ? reason_of(code) : detail;
  return sentence;
}

std::string quote(std::string_view text) {
  std::string result = "'";
  for (auto c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  result += '\'';
  return result;
}

std::string read_program(std::string_view path, uint64_t offset,
                         uint64_t length) {
  auto exit_with = [](program_code code) {
    return "exit " + std::to_string(code);
  };
  std::string program = "p=" + quote(path) + "\n";
  program += "[ -d \"$p\" ] && " + exit_with(code_directory) + "\n";
  program += "[ -e \"$p\" ] || " + exit_with(code_absent) + "\n";
  // Opening a pipe or a device could wait for ever.
  program += "[ -f \"$p\" ] || " + exit_with(code_irregular) + "\n";
  program += "[ -r \"$p\" ] || " + exit_with(code_unreadable) + "\n";
  program += "exec <\"$p\" || exit 1\n";
  program += "stat -L -c %s -- \"$p\" >&2 || exit 1\n";
  auto slice = "head -c " + std::to_string(length);
  if (offset > 0)
    slice = "tail -c +" + std::to_string(offset + 1) + " | " + slice;
  return program + slice + "\n";
}

std::string write_program(std::string_view path, std::string_view stage_suffix,
                          uint64_t size, int32_t mode) {
  std::string program = "p=" + quote(path) + "\n";
  program += "d=" + quote(parent_of(path)) + "\n";
  program += "s=" + quote(stage_of(path, stage_suffix)) + "\n";
  program += "[ -d \"$p\" ] && exit " + std::to_string(code_directory) + "\n";
  program += "mkdir -p -- \"$d\" || exit 1\n";
  program += "old=\n"
             "if [ -f \"$p\" ] && [ ! -L \"$p\" ]; then\n"
             "  old=$(stat -c %a -- \"$p\")\n"
             "elif [ -e \"$p\" ] && [ ! -L \"$p\" ]; then\n"
             "  exit "
             + std::to_string(code_irregular)
             + "\n"
               "fi\n";
  if (mode >= 0)
    program += "new=" + octal(mode) + "\n";
  else
    program += "new=${old:-644}\n";
  // Where nothing can be staged beside it, only the file itself is writable: a
  // single mounted file. That one case is not atomic.
  program += "if [ -w \"$d\" ]; then\n"
             "  cat >\"$s\" && [ \"$(wc -c <\"$s\")\" -eq "
             + std::to_string(size)
             + " ] && chmod \"$new\" -- \"$s\" ||\n"
               "    { c=$?; rm -f -- \"$s\"; exit \"$c\"; }\n"
               "  if ! e=$(mv -f -- \"$s\" \"$p\" 2>&1); then\n"
               "    case $e in\n"
               "    *busy*) cat \"$s\" >\"$p\"; c=$? ;;\n"
               "    *) printf '%s\\n' \"$e\" >&2; c=1 ;;\n"
               "    esac\n"
               "    rm -f -- \"$s\"\n"
               "    [ \"$c\" -eq 0 ] || exit \"$c\"\n"
               "  fi\n"
               "else\n"
               "  cat >\"$p\" || exit 1\n";
  if (mode >= 0)
    program += "  chmod \"$new\" -- \"$p\" || exit 1\n";
  program += "fi\n"
             "wc -c <\"$p\"\n";
  return program;
}

std::string cleanup_program(std::string_view path,
                            std::string_view stage_suffix) {
  return "rm -f -- " + quote(stage_of(path, stage_suffix)) + "\n";
}

transfer_end end_of_read(std::string_view path, uint64_t offset,
                         uint64_t length, program_output output) {
  if (output.code != 0)
    return fault_of("read", path, output);
  auto size = leading_number(output.err);
  transfer_end end;
  auto left = size && *size > offset ? *size - offset : 0;
  auto expected = std::min(left, length);
  // More than the size said is fine: the file grew, or lives in /proc.
  if (output.cut || !size || output.out.size() < expected
      || output.out.size() > length) {
    end.fault = errc::transport;
    end.sentence = file_sentence(
      "read", path, end.fault,
      "it changed during the transfer or the transfer was cut; try again");
    return end;
  }
  end.end_of_file =
    output.out.size() < length || offset + output.out.size() == *size;
  end.bytes = std::move(output.out);
  return end;
}

transfer_end end_of_write(std::string_view path, uint64_t size,
                          const program_output& output) {
  if (output.code != 0)
    return fault_of("write", path, output);
  transfer_end end;
  if (leading_number(text::trim(output.out)) == size)
    return end;
  end.fault = errc::transport;
  end.sentence = file_sentence("write", path, end.fault,
                               "not all bytes arrived; write it again");
  return end;
}

} // namespace bureau::sandbox
