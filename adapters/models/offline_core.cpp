#include "adapters/models/offline_core.hpp"

#include "adapters/models/json_writer_core.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace bureau::models {

namespace {

constexpr std::string_view console_platform = "console";
constexpr std::string_view attachments_mark = "\n<slack_attachments>";
constexpr std::string_view thread_mark = " [in-thread:";
constexpr std::string_view console_help =
  "I am the offline responder: no language model is configured, so I cannot "
  "answer in my own words. To get a real agent, describe a provider in "
  "models.json in the state directory, or give a key to a known one in "
  "auth.json or in an environment variable such as ANTHROPIC_API_KEY, "
  "OPENAI_API_KEY or OPENROUTER_API_KEY. Until then I understand "
  "`run: <command>`, `background: <command>`, `read: <path>` and "
  "`write: <path> <text>`.";
constexpr std::string_view plain_help =
  "No language model is configured for me, so I cannot answer. Whoever runs "
  "me has to describe a provider in models.json or to give a key in "
  "auth.json or the environment.";
/// Text of an answer that nobody gets to see.
constexpr std::string_view silence = "[SILENT]";
constexpr int64_t hour_ms = 3'600'000;
/// Longest label of a call.
constexpr size_t label_bytes = 60;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `YYYY-MM-DD HH:MM:SS±HH:MM`
bool is_stamp(std::string_view text) {
  constexpr std::string_view shape = "dddd-dd-dd dd:dd:dd+dd:dd";
  if (text.size() != shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    auto fits = shape[i] == 'd'   ? is_digit(text[i])
                : shape[i] == '+' ? text[i] == '+' || text[i] == '-'
                                  : text[i] == shape[i];
    if (!fits)
      return false;
  }
  return true;
}

/// Takes `prefix` off; false when it is not there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string label_of(std::string_view what) {
  auto line = what.substr(0, what.find('\n'));
  auto cut = text::prefix_bytes(line, label_bytes);
  return std::string{cut} + (cut.size() < what.size() ? "…" : "");
}

struct verb_call {
  std::string tool;
  std::string arguments;
};

/// What a spoken line asks for.
struct request_line {
  std::optional<verb_call> call;
  /// Said instead when the line is a verb that cannot be followed.
  std::string complaint;
  /// News of a job, to be passed on.
  std::string heard;
};

std::string
arguments(std::initializer_list<std::pair<std::string_view, std::string_view>>
            members) {
  json_writer out;
  out.begin_object();
  for (const auto& [name, value] : members)
    out.member(name, value);
  out.end_object();
  return out.take();
}

std::string background_arguments(std::string_view command) {
  json_writer out;
  out.begin_object();
  out.member("label", "run " + label_of(command));
  out.member("command", command);
  out.member("background", true);
  out.end_object();
  return out.take();
}

request_line read_line(std::string_view spoken) {
  request_line result;
  auto rest = text::trim(spoken);
  if (rest.starts_with(job_wake_head)) {
    result.heard = rest;
  } else if (take(rest, "background:")) {
    auto command = text::trim(rest);
    if (command.empty())
      result.complaint = "Say what to run: `background: <command>`.";
    else
      result.call = {"bash", background_arguments(command)};
  } else if (take(rest, "run:")) {
    auto command = text::trim(rest);
    if (command.empty())
      result.complaint = "Say what to run: `run: <command>`.";
    else
      result.call = {"bash", arguments({{"label", "run " + label_of(command)},
                                        {"command", command}})};
  } else if (take(rest, "read:")) {
    auto path = text::trim(rest);
    if (path.empty())
      result.complaint = "Say what to read: `read: <path>`.";
    else
      result.call = {"read", arguments({{"label", "read " + label_of(path)},
                                        {"path", path}})};
  } else if (take(rest, "write:")) {
    rest = text::trim(rest);
    auto space = rest.find_first_of(" \t\n");
    auto path = rest.substr(0, space);
    if (path.empty() || space == std::string_view::npos)
      result.complaint = "Say where and what to write: `write: <path> <text>`.";
    else
      result.call = {"write", arguments({{"label", "write " + label_of(path)},
                                         {"path", path},
                                         {"content", rest.substr(space + 1)}})};
  }
  return result;
}

bool offers(const model_request& request, const std::string& tool) {
  return std::any_of(request.tools.begin(), request.tools.end(),
                     [&tool](const auto& x) { return x.name == tool; });
}

/// The outputs of the tool results at the end of the transcript.
std::string repeat_results(const std::vector<transcript_message>& messages) {
  auto first = messages.size();
  while (first > 0 && messages[first - 1].role == message_role::tool_result)
    --first;
  std::string result;
  for (auto i = first; i < messages.size(); ++i) {
    auto output = text_of(messages[i]);
    if (text::is_blank(output))
      output = "(no output)";
    if (!result.empty())
      result += "\n";
    if (messages[i].is_error)
      result += "The " + messages[i].tool_name + " tool failed:\n";
    result += output;
  }
  return result;
}

void answer_console(const model_request& request, entropy& ids,
                    transcript_message& answer) {
  std::string said;
  const auto& messages = request.messages;
  auto spoken = messages.empty() ? std::vector<std::string>{}
                                 : spoken_texts(text_of(messages.back()));
  for (const auto& line : spoken) {
    auto asked = read_line(line);
    auto complaint = asked.heard.empty() ? asked.complaint : asked.heard;
    if (asked.call && !offers(request, asked.call->tool))
      complaint = "The tool " + asked.call->tool + " is not offered here.";
    if (!complaint.empty()) {
      said += (said.empty() ? "" : "\n") + complaint;
      continue;
    }
    if (!asked.call)
      continue;
    content_block call;
    call.kind = block_kind::tool_call;
    call.id = "offline_" + random_hex(ids, 12);
    call.name = asked.call->tool;
    call.arguments = json_text{asked.call->arguments};
    answer.content.push_back(std::move(call));
  }
  if (!answer.content.empty())
    answer.stop = stop_reason::tool_use;
  else if (said.empty())
    said = console_help;
  if (!said.empty())
    answer.content.insert(answer.content.begin(), text_block(said));
}

/// Whether this session was told within the last hour that there is no model.
bool told_lately(const std::vector<transcript_message>& messages,
                 int64_t now_ms) {
  return std::any_of(messages.rbegin(), messages.rend(),
                     [now_ms](const transcript_message& message) {
                       return message.role == message_role::assistant
                              && message.timestamp_ms > now_ms - hour_ms
                              && message.timestamp_ms <= now_ms
                              && text_of(message) == plain_help;
                     });
}

} // namespace

std::optional<attributed_text> parse_attribution(std::string_view line) {
  constexpr size_t stamp_bytes = 25;
  auto rest = line;
  if (!take(rest, "[") || !is_stamp(rest.substr(0, stamp_bytes)))
    return std::nullopt;
  rest.remove_prefix(stamp_bytes);
  if (!take(rest, "] ["))
    return std::nullopt;
  // A name may hold brackets; the first one that is followed by the colon or
  // by the thread ends it.
  for (auto end = rest.find(']'); end != std::string_view::npos;
       end = rest.find(']', end + 1)) {
    auto name = rest.substr(0, end);
    if (name.find('\n') != std::string_view::npos)
      return std::nullopt;
    auto tail = rest.substr(end + 1);
    if (take(tail, thread_mark)) {
      auto close = tail.find(']');
      if (close == std::string_view::npos)
        return std::nullopt;
      tail.remove_prefix(close + 1);
    }
    if (take(tail, ": "))
      return attributed_text{std::string{name}, std::string{tail}};
    if (tail == ":")
      return attributed_text{std::string{name}, {}};
  }
  return std::nullopt;
}

std::vector<std::string> spoken_texts(std::string_view turn) {
  std::vector<std::string> result;
  auto attributed = false;
  auto rest = turn.substr(0, turn.find(attachments_mark));
  while (!rest.empty()) {
    auto end = rest.find('\n');
    auto line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (auto parsed = parse_attribution(line)) {
      result.push_back(std::move(parsed->text));
      attributed = true;
    } else if (attributed) {
      result.back() += "\n";
      result.back() += line;
    }
  }
  if (!attributed)
    result = {std::string{turn.substr(0, turn.find(attachments_mark))}};
  return result;
}

transcript_message offline_answer(const model_request& request, entropy& ids,
                                  int64_t now_ms) {
  transcript_message answer;
  answer.role = message_role::assistant;
  answer.api = request.choice.model.api;
  answer.provider = request.choice.model.provider;
  answer.model = request.choice.model.id;
  answer.timestamp_ms = now_ms;
  answer.stop = stop_reason::stop;
  const auto& messages = request.messages;
  auto after_tools =
    !messages.empty() && messages.back().role == message_role::tool_result;
  if (request.platform != console_platform)
    answer.content = {text_block(
      std::string{told_lately(messages, now_ms) ? silence : plain_help})};
  else if (after_tools)
    answer.content = {text_block(repeat_results(messages))};
  else
    answer_console(request, ids, answer);
  return answer;
}

std::vector<size_t> delta_lengths(std::string_view text) {
  // Long output goes in at most some two hundred pieces, words stay whole
  // where they can.
  auto goal = std::max<size_t>(24, text.size() / 200);
  std::vector<size_t> result;
  while (!text.empty()) {
    auto piece = text::prefix_bytes(text, goal);
    if (piece.size() < text.size()) {
      auto space = piece.find_last_of(" \n");
      if (space != std::string_view::npos && space > 0)
        piece = piece.substr(0, space + 1);
    }
    if (piece.empty())
      piece = text;
    result.push_back(piece.size());
    text.remove_prefix(piece.size());
  }
  return result;
}

} // namespace bureau::models
