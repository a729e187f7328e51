#include "actors/harness/tools/core_tools.hpp"

#include <utility>

namespace bureau::harness {

namespace {

tool_definition define(const char* name, const char* label,
                       const char* description, const char* parameters,
                       bool sequential) {
  tool_definition result;
  result.name = name;
  result.label = label;
  result.description = description;
  result.parameters = json_text{parameters};
  result.sequential = sequential;
  return result;
}

constexpr const char* read_text =
  "Shows a file of your workspace. Text comes back as it is, without line "
  "numbers, at most 2000 lines or 50 KB at once; a notice at the end tells how "
  "to read on with offset (first line, counted from 1) and limit (number of "
  "lines), or with byteOffset inside a single very long line. Images (jpg, "
  "jpeg, png, gif, webp) are shown as pictures. Other binary files are "
  "refused: examine them with bash.";

constexpr const char* read_schema = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What you are reading and why, in a few words; shown to the user"},
    "path": {"type": "string", "description": "File to read, absolute or relative to the working directory"},
    "offset": {"type": "number", "description": "First line to show, counted from 1"},
    "limit": {"type": "number", "description": "Number of lines to show"},
    "byteOffset": {"type": "number", "description": "Where to go on inside a line that is too long to show whole"}
  },
  "required": ["label", "path"]
})";

constexpr const char* bash_text =
  "Runs one shell command in the working directory of this conversation and "
  "returns what it printed: standard output, then standard error. Only the "
  "last 2000 lines or 50 KB are returned; longer output is kept in a file that "
  "the result names. A non-zero exit code is an error. There is no time limit "
  "unless you give one. The command is over when its shell exits: background "
  "processes do not survive it, so wait for what you start, and do not try to "
  "leave a server running.";

constexpr const char* background_text =
  " For work that takes long, set background: the command goes on after your "
  "turn as a job, at most an hour unless you give a timeout, and you are woken "
  "with the end of its output when it ends. Let it write output that you want "
  "to read in full to a file.";

constexpr const char* bash_schema = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What the command does, in a few words; shown to the user"},
    "command": {"type": "string", "description": "Program text for the shell"},
    "timeout": {"type": "number", "description": "Seconds after which the command is ended; no limit when absent"}
  },
  "required": ["label", "command"]
})";

constexpr const char* background_schema = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What the command does, in a few words; shown to the user"},
    "command": {"type": "string", "description": "Program text for the shell"},
    "timeout": {"type": "number", "description": "Seconds after which the command is ended; no limit when absent"},
    "background": {"type": "boolean", "description": "Run as a job that goes on after this turn; the result is its id"}
  },
  "required": ["label", "command"]
})";

constexpr const char* edit_text =
  "Replaces one passage of a text file. oldText must occur in the file exactly "
  "once, character for character, white space and line ends included; take a "
  "few surrounding lines along when it would be ambiguous. For a new file, or "
  "to replace a whole file, use write.";

constexpr const char* edit_schema = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What you are changing, in a few words; shown to the user"},
    "path": {"type": "string", "description": "File to change, absolute or relative to the working directory"},
    "oldText": {"type": "string", "description": "Passage to replace, exactly as it is in the file"},
    "newText": {"type": "string", "description": "Passage to put in its place"}
  },
  "required": ["label", "path", "oldText", "newText"]
})";

constexpr const char* write_text =
  "Writes a whole file: creates it and its directories, or replaces what was "
  "there. To change a part of an existing file, use edit.";

constexpr const char* write_schema = R"({
  "type": "object",
  "properties": {
    "label": {"type": "string", "description": "What you are writing, in a few words; shown to the user"},
    "path": {"type": "string", "description": "File to write, absolute or relative to the working directory"},
    "content": {"type": "string", "description": "The whole new content"}
  },
  "required": ["label", "path", "content"]
})";

} // namespace

std::vector<tool_definition> core_tool_definitions(bool background) {
  auto bash = define("bash", "bash", bash_text,
                     background ? background_schema : bash_schema, true);
  if (background)
    bash.description += background_text;
  return {
    define("read", "read", read_text, read_schema, false),
    std::move(bash),
    define("edit", "edit", edit_text, edit_schema, true),
    define("write", "write", write_text, write_schema, true),
  };
}

} // namespace bureau::harness
