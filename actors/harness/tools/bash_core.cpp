#include "actors/harness/tools/bash_core.hpp"

#include "actors/harness/tools/outcome_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/product.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::harness {

namespace {

constexpr int32_t signal_base = 128;
constexpr int32_t last_signal = 64;

std::string notice_of(const truncation& shown, const std::string& spilled,
                      bool capture_cut) {
  std::string text = "[Showing ";
  if (shown.last_line_partial) {
    text += "the last " + size_text(shown.output_bytes) + " of line "
            + std::to_string(shown.total_lines) + ", which is "
            + size_text(shown.last_line_bytes);
  } else {
    auto first = shown.total_lines - shown.output_lines + 1;
    text += "lines " + std::to_string(first) + "-"
            + std::to_string(shown.total_lines) + " of "
            + std::to_string(shown.total_lines);
    if (shown.truncated_by == cut_by::bytes)
      text += " (" + size_text(limits::tool_output_bytes) + " limit)";
  }
  text += capture_cut ? ". What was kept of it: " : ". Full output: ";
  text += spilled.empty() ? "not available" : spilled;
  return text + "]";
}

std::string end_of(int32_t code) {
  auto text = "Command exited with code " + std::to_string(code);
  if (code > signal_base && code <= signal_base + last_signal)
    text += " (signal " + std::to_string(code - signal_base) + ")";
  return text;
}

} // namespace

std::string combined_output(const exec_result& result) {
  auto text = result.out;
  if (!result.out.empty() && !result.err.empty())
    text += '\n';
  return text + result.err;
}

std::string spill_path(const std::string& cwd, const std::string& hex) {
  return cwd + "/." + product::name + "/bash-output/" + hex + ".log";
}

command_view view_output(std::string output) {
  command_view result;
  result.shown = truncate_tail(text::sanitize_utf8(output));
  if (result.shown.truncated())
    result.spill = std::move(output);
  return result;
}

tool_outcome command_outcome(const command_view& view, const command_end& end,
                             const std::string& spilled) {
  const auto& shown = view.shown;
  auto text = shown.content.empty() ? "(no output)" : shown.content;
  if (shown.truncated())
    text += "\n\n" + notice_of(shown, spilled, end.capture_cut);
  if (end.capture_cut)
    text += "\n\n[The command printed more than "
            + size_text(limits::exec_output_bytes)
            + " on one stream; the rest was dropped. Redirect it to a file.]";
  if (end.code && *end.code != 0)
    text += "\n\n" + end_of(*end.code);
  auto failed = !end.code || *end.code != 0;
  auto result = failed ? failed_outcome(text) : text_outcome(text);
  if (shown.truncated()) {
    boost::json::object details;
    details["truncation"] = to_json(shown);
    if (!spilled.empty())
      details["fullOutputPath"] = spilled;
    result.details = json_text{json::print(details)};
  }
  return result;
}

} // namespace bureau::harness
