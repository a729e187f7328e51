#include "sandbox/profile.hpp"

namespace bureau::sandbox {

checked_spec check_command(const command_text& text) {
  checked_spec checked;
  auto refuse = [&](std::string sentence) {
    checked.fault = errc::bad_request;
    checked.sentence = std::move(sentence);
    return checked;
  };
  if (text.command.find('\0') != std::string::npos)
    return refuse("the command holds a NUL byte; remove it");
  if (text.cwd.find('\0') != std::string::npos)
    return refuse("the working directory holds a NUL byte; remove it");
  if (text.command.size() > limits::exec_command_bytes)
    return refuse("the command is longer than "
                  + std::to_string(limits::exec_command_bytes)
                  + " bytes; write it into a file and run that");
  return checked;
}

} // namespace bureau::sandbox
