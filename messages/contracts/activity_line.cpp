#include "messages/contracts/activity_line.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/contracts/closed_object.hpp"
#include "messages/contracts/tool_names.hpp"
#include "messages/contracts/wire_json.hpp"
#include "messages/text/utf8.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace bureau::contracts {

namespace {

/// Tools that are told alike.
struct family {
  /// Normalised leaves; unused places are empty.
  std::array<std::string_view, 9> leaves;
  std::string_view action;
  /// Without a preview.
  std::string_view bare_action;
  /// Arguments that may be shown, in order; unused places are empty.
  std::array<std::string_view, 8> fields;
  bool quoted = false;
  /// Falls back to `executable` and `args`.
  bool takes_argv = false;
};

constexpr std::string_view command_action = "🖥️ Running";
constexpr std::string_view intent_action = "🖥️";

constexpr family families[] = {
  {{"agent", "task", "subagent", "dispatchagent"},
   "🤖 Starting agent",
   "🤖 Starting a subagent",
   {"name", "subagent", "agent", "profile"},
   true},
  {{"websearch", "searchquery", "searchweb", "internetsearch", "googlesearch",
    "bingsearch"},
   "🌐 Searching the web for",
   "🌐 Searching the web",
   {"query", "q", "search_query", "text", "prompt"}},
  {{"webfetch", "browse", "browseurl", "browseropen", "fetchurl", "navigate",
    "open", "openurl", "fetch"},
   "🌐 Browsing",
   "🌐 Browsing",
   {"url", "href", "uri", "ref_id"}},
  {{"readskill"}, "📚 Reading", "📚 Reading", {"name"}, true},
  {{"read", "readfile"},
   "📖 Reading",
   "📖 Reading",
   {"file_path", "path", "name", "skill", "skill_name"}},
  {{"glob", "grep", "searchfiles"},
   "🔎 Searching files for",
   "🔎 Searching files",
   {"pattern", "query", "glob", "path"}},
  {{"write", "writefile"},
   "📝 Writing",
   "📝 Writing",
   {"file_path", "path", "destination", "name"}},
  {{"applypatch", "edit", "editfile", "patch"},
   "✏️ Editing",
   "✏️ Editing",
   {"file_path", "path", "destination", "name"}},
  {{"bash", "exec", "execcommand", "runcommand", "shell", "terminal"},
   command_action,
   command_action,
   {"description", "command", "cmd", "script"},
   false,
   true},
  {{"code", "codeinterpreter", "executecode", "noderepl", "python",
    "pythoncode", "runcode"},
   "🐍 Running code",
   "🐍 Running code",
   {"code", "source", "script"}},
  {{"analyzeimage", "image", "lookatimage", "viewimage", "vision"},
   "👁️ Looking at the image",
   "👁️ Looking at the image",
   {"question", "prompt", "path", "file_path", "name"}},
  {{"memoryrecall"}, "🧠 Recalling memory", "🧠 Recalling memory", {}},
};

/// Every other tool whose leaf speaks of memory; what it keeps is not shown.
constexpr family memory_family = {{},
                                  "🧠 Updating memory",
                                  "🧠 Updating memory",
                                  {"action", "target", "path", "name"}};

constexpr std::array<std::string_view, 8> other_fields = {
  "query", "url", "path", "name", "action", "target", "command", "cmd"};

const family* family_of(std::string_view leaf) {
  if (leaf.empty())
    return nullptr;
  for (const auto& row : families)
    if (std::find(row.leaves.begin(), row.leaves.end(), leaf)
        != row.leaves.end())
      return &row;
  auto remembers = leaf == "remember" || leaf.find("memory") != leaf.npos;
  return remembers ? &memory_family : nullptr;
}

preview_style style_of(std::string_view field) {
  if (field == "file_path" || field == "path" || field == "destination")
    return {cut_shape::middle};
  if (field == "command" || field == "cmd" || field == "script")
    return {cut_shape::balanced, true};
  if (field == "code" || field == "source")
    return {cut_shape::balanced};
  return {};
}

/// A string, a finite number or a truth value as text.
std::optional<std::string> scalar_text(const bj::value* value) {
  if (value == nullptr)
    return std::nullopt;
  if (auto text = value->if_string())
    return std::string{*text};
  if (auto flag = value->if_bool())
    return *flag ? "true" : "false";
  if (auto number = finite_number(*value))
    return wire_number(*number);
  return std::nullopt;
}

/// What of a call may be shown.
struct excerpt {
  std::string text;
  std::string_view field;
};

excerpt first_preview(const bj::object& arguments,
                      const std::array<std::string_view, 8>& fields,
                      const path_roots& roots) {
  for (auto field : fields) {
    auto text =
      field.empty() ? std::nullopt : scalar_text(arguments.if_contains(field));
    if (!text)
      continue;
    auto preview = preview_of(*text, style_of(field), roots);
    if (!preview.empty())
      return {std::move(preview), field};
  }
  return {};
}

/// The command line of a call that names a program and its arguments.
std::string argv_preview(const bj::object& arguments, const path_roots& roots) {
  auto line = scalar_text(arguments.if_contains("executable"));
  if (!line)
    return {};
  auto list = arguments.if_contains("args");
  if (auto args = list != nullptr ? list->if_array() : nullptr) {
    size_t consumed = 0;
    for (const auto& element : *args) {
      auto text = element.if_string();
      if (text == nullptr || consumed >= preview_scan_chars)
        break;
      consumed += text::utf16_length(*text) + 1;
      *line += ' ';
      *line += *text;
    }
  }
  return preview_of(*line, {cut_shape::balanced, true}, roots);
}

/// "getUserInfo" → "Get User Info".
std::string humanized(std::string_view leaf) {
  std::string words;
  auto gap = false;
  auto before = '\0';
  for (size_t pos = 0; pos < leaf.size();) {
    auto next = text::decode_at(leaf, pos);
    auto c = leaf[pos];
    auto hump = is_upper(c) && is_alnum(before) && !is_upper(before);
    gap = gap || hump;
    if (is_any_letter_or_digit(next.code_point)) {
      if (gap && !words.empty())
        words += ' ';
      gap = false;
      text::append_code_point(words, next.code_point);
    } else {
      gap = true;
    }
    before = c;
    pos += next.bytes;
  }
  if (words.empty())
    words = "Tool";
  words = cut_to(words, preview_chars, cut_shape::head);
  auto first = text::decode_at(words, 0);
  // Characters beyond the first plane are two units; they keep their case.
  if (first.code_point > 0xFFFF)
    return words;
  std::string result;
  text::append_code_point(result, to_any_upper(first.code_point));
  return result + words.substr(first.bytes);
}

} // namespace

std::string format_tool_activity_line(std::string_view tool_name,
                                      const bj::value& arguments,
                                      const path_roots& roots) {
  auto tool = split_subagent_tool_name(tool_name).tool;
  auto row = family_of(normalized_tool_leaf(tool));
  excerpt shown;
  if (auto object = arguments.if_object()) {
    shown = first_preview(*object, row != nullptr ? row->fields : other_fields,
                          roots);
    if (shown.text.empty() && row != nullptr && row->takes_argv)
      shown.text = argv_preview(*object, roots);
  }
  if (row == nullptr) {
    auto line = "🔧 " + humanized(tool_name_leaf(tool));
    return shown.text.empty() ? line : line + ' ' + shown.text;
  }
  if (shown.text.empty())
    return std::string{row->bare_action};
  std::string line{shown.field == "description" ? intent_action : row->action};
  line += ' ';
  if (row->quoted)
    append_wire_text(line, shown.text);
  else
    line += shown.text;
  return line;
}

std::string format_live_input_activity_line(std::string_view text,
                                            const path_roots& roots) {
  auto preview = preview_of(text, {}, roots);
  std::string line = "↪️ Steered";
  return preview.empty() ? line : line + ": “" + preview + "”";
}

} // namespace bureau::contracts
