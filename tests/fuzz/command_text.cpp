#include "messages/text/command_text.hpp"

#include "messages/text/utf8.hpp"
#include "tests/fuzz/entry.hpp"

#include <algorithm>

using namespace bureau;

void fuzz::try_input(std::string_view input) {
  const std::vector<std::string> spellings{"/new", "/stop", "/pi-new"};
  auto is_command = text::is_command_text(input);
  require(!is_command || text::trim(input).front() == '/',
          "a command begins with a slash");
  text::is_stop_word(input);
  for (auto strip : {false, true})
    if (auto line = text::match_command(input, spellings, strip)) {
      require(std::find(spellings.begin(), spellings.end(), line->command)
                != spellings.end(),
              "a command is one of those known");
      for (const auto& arg : line->args)
        require(!arg.empty() && input.find(arg) != input.npos,
                "an argument is a part of the message");
    }
}
