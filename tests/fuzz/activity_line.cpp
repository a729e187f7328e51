// What is shown of a run: bounded, one line, and no secret in it.
#include "messages/contracts/activity_line.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/contracts/code_points.hpp"
#include "messages/contracts/notify_suppression.hpp"
#include "messages/contracts/redact.hpp"
#include "messages/contracts/subagent_outcome.hpp"
#include "messages/contracts/tool_names.hpp"
#include "messages/text/utf8.hpp"
#include "tests/fuzz/entry.hpp"

#include <iterator>
#include <string>

using namespace bureau;
using namespace bureau::contracts;
namespace bj = boost::json;

namespace {

/// Secrets of well-known kinds; the core of each is what must not be seen.
constexpr struct {
  std::string_view before;
  std::string_view core;
  std::string_view after;
} secrets[] = {
  {" sk-proj-", "Qx7Kd0Wm3Tz9Lp2V", " "},
  {" ghp_", "Qx7Kd0Wm3Tz9Lp2VQx7Kd0Wm", " "},
  {" xoxb-", "7390215846-Qx7Kd0Wm", " "},
  {" AKIA", "QX7KD0WM3TZ9LP2V", " "},
  {" 7390215846:", "Qx7Kd0Wm3Tz9Lp2VQx7Kd0Wm", " "},
  {" eyJ", "Qx7Kd0Wm.Qx7Kd0Wm3Tz.9Lp2VQx7Kd0Wm", " "},
  {" --api-key ", "Qx7Kd0Wm3Tz9Lp2V", " "},
  {" PASSWORD=", "Qx7Kd0Wm3Tz9Lp2V", " "},
  {" https://h/?token=", "Qx7Kd0Wm3Tz9Lp2V", " "},
  {" https://u:", "Qx7Kd0Wm3Tz9Lp2V", "@host/ "},
  {" Bearer ", "Qx7Kd0Wm3Tz9Lp2V", " "},
};

/// Lengths of the fixed words of a line, the quotes and a name that is quoted
/// as JSON: six bytes for a character at worst.
constexpr size_t line_chars = 400;

/// A secret that is planted, and the input, which may hold pieces of it as
/// well.
struct planted {
  std::string_view core;
  std::string_view input;
};

void check_line(std::string_view line, planted secret) {
  fuzz::require(forward_by(line, 0, line_chars) == line.size(),
                "a line has a bound");
  fuzz::require(line.find('\n') == line.npos && line.find('\r') == line.npos,
                "a line is one line");
  fuzz::require(text::is_valid_utf8(line), "a line is text");
  // Not even a piece of it.
  constexpr size_t length = 8;
  for (size_t at = 0; at + length <= secret.core.size(); ++at) {
    auto piece = secret.core.substr(at, length);
    fuzz::require(line.find(piece) == line.npos
                    || secret.input.find(piece) != secret.input.npos,
                  "no secret is shown");
  }
}

constexpr std::string_view tools[] = {"Bash",   "Read",  "WebSearch",
                                      "Agent",  "Grep",  "Python",
                                      "update", "other", "memory_write"};
constexpr std::string_view fields[] = {"command", "file_path", "query", "name",
                                       "code",    "url",       "text"};

/// @param choice which tool, and which of its arguments
void check_lines(const std::string& text, size_t choice, planted secret) {
  const path_roots roots{"/w/agent", "/home/u"};
  auto tool = tools[choice % std::size(tools)];
  auto field = fields[choice / std::size(tools) % std::size(fields)];
  check_line(format_tool_activity_line(tool, bj::object{{field, text}}, roots),
             secret);
  check_line(
    format_tool_activity_line(
      "Bash", bj::object{{"executable", "x"}, {"args", {text}}}, roots),
    secret);
  check_line(format_live_input_activity_line(text, roots), secret);
  check_line(format_subagent_outcome_activity_line(text, true, roots), secret);
  check_line(format_subagent_outcome_activity_line(text, false, roots), secret);
}

} // namespace

void fuzz::try_input(std::string_view input) {
  // Previews look at 4096 characters; what is behind them only takes time.
  if (input.size() > 8192)
    return;
  auto plain = redact(input);
  require(plain.size() <= 4 * input.size() + 64, "redacting has a bound");
  tool_hint_for(input);
  is_subagent_launch_tool_name(input);
  split_subagent_tool_name(input);
  classify_notify_suppression(input);
  check_line(format_tool_activity_line(input, {}, {}), {});

  reader in{input};
  auto choice = in.below(std::size(tools) * std::size(fields));
  check_lines(std::string{in.rest()}, choice, {});
  const auto& secret = secrets[in.below(std::size(secrets))];
  // Mostly near the beginning, at times where a preview stops to look.
  auto padding = in.byte() % 8 == 0 ? in.below(4200) : in.below(64);
  std::string before{in.text()};
  std::string text = before + std::string(padding, '.');
  text += secret.before;
  text += secret.core;
  text += secret.after;
  text += in.rest();
  // That a second pass changes nothing is not required: it sees a text that was
  // redacted as any other, and may take what stood behind a quoted secret.
  require(redact(text).find(secret.core) == text.npos
            || input.find(secret.core) != input.npos,
          "a planted secret is redacted");
  check_lines(text, choice, {secret.core, input});
}
