/// How fast the parsers and text functions of the agent contracts go through
/// what strangers write. Usual input and the slowest classes known, one row
/// each: megabytes a second, the share of memcpy in the same run, and how many
/// times longer twice the input takes.
///
///   bench_contracts [GOLDEN_VECTORS_DIRECTORY]
///
/// Usual frames should go at 100 MB/s at least, everything at 30 MB/s, and the
/// double of any input should take at most 2.3 times as long. Inputs are as
/// long as the longest line that is written, texts a megabyte.

#include "messages/codec/json_support.hpp"
#include "messages/contracts/activity_line.hpp"
#include "messages/contracts/redact.hpp"
#include "messages/contracts/reply_parts.hpp"
#include "messages/contracts/stream_frame.hpp"
#include "messages/contracts/text_split.hpp"
#include "messages/contracts/tool_names.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace bureau;
using namespace bureau::contracts;
namespace bj = boost::json;

constexpr double usual_target = 100;
constexpr double slowest_target = 30;
constexpr double doubling_target = 2.3;
constexpr int attempts = 4;
constexpr size_t megabyte = 1u << 20;
constexpr size_t line_bytes = frame_line_bytes;

/// Kept so that no work is optimised away.
size_t sink = 0;

constexpr double per_second = CLOCKS_PER_SEC;

/// Whether enough passes of some work were measured.
bool is_enough(size_t passes, std::clock_t begun) {
  return passes >= 7
         && static_cast<double>(std::clock() - begun) >= 0.1 * per_second;
}

/// Takes the time of one pass down when it is the best so far: time of the
/// processor, so that others who use the machine count less.
template <class Work>
void take_time(double& best, Work work) {
  auto begin = std::clock();
  sink += work();
  auto spent = static_cast<double>(std::clock() - begin) / per_second;
  best = std::min(best, std::max(spent, 1e-6));
}

/// Best time of one pass in seconds.
template <class Work>
double best_time(Work work) {
  double best = 1e9;
  auto begun = std::clock();
  for (size_t pass = 0; !is_enough(pass, begun); ++pass)
    take_time(best, work);
  return best;
}

double memcpy_speed() {
  std::string from(4 * megabyte, 'x');
  std::string to(from.size(), '\0');
  auto seconds = best_time([&] {
    std::memcpy(to.data(), from.data(), from.size());
    return static_cast<size_t>(to[sink % to.size()]);
  });
  return static_cast<double>(from.size()) / 1e6 / seconds;
}

std::string repeated(std::string_view unit, size_t bytes) {
  std::string result;
  result.reserve(bytes + unit.size());
  while (result.size() < bytes)
    result += unit;
  return result;
}

/// One kind of input: lines that are taken one by one.
struct input_class {
  const char* name;
  bool usual;
  /// Makes an input of about so many bytes.
  std::function<std::vector<std::string>(size_t bytes)> make;
};

using function_under_test = std::function<size_t(const std::string&)>;

class table {
public:
  explicit table(double yardstick) : yardstick_(yardstick) {
    std::printf("memcpy %.0f MB/s\n%-24s %-22s %9s %9s %8s %8s\n", yardstick,
                "function", "input", "MB/s", "target", "memcpy/", "double");
  }

  void row(const char* function, const function_under_test& work,
           const input_class& input, size_t bytes) {
    auto target = input.usual ? usual_target : slowest_target;
    auto lines = input.make(bytes);
    auto more = input.make(2 * bytes);
    double single = 0;
    double twice = 0;
    auto ratio = 0.0;
    auto met = false;
    // What misses is measured again: others use the machine, too.
    for (auto attempt = 0; attempt < attempts && !met; ++attempt) {
      auto speeds = measure(work, lines, more);
      single = std::max(single, speeds.first);
      twice = std::max(twice, speeds.second);
      // Twice the input is not exactly twice as long: per byte, then.
      ratio = 2 * single / twice;
      met = single >= target && ratio <= doubling_target;
    }
    std::printf("%-24s %-22s %9.1f %9.0f %8.0f %8.2f %s\n", function,
                input.name, single, target, yardstick_ / single, ratio,
                met ? "" : "missed");
    missed_ += met ? 0 : 1;
  }

  size_t missed() const { return missed_; }

private:
  /// Megabytes a second of both inputs, which take turns: a machine that
  /// becomes slower does so for both.
  static std::pair<double, double> measure(
    const function_under_test& work, const std::vector<std::string>& lines,
    const std::vector<std::string>& more) {
    auto size_of = [](const std::vector<std::string>& input) {
      size_t bytes = 0;
      for (const auto& line : input)
        bytes += line.size();
      return static_cast<double>(bytes) / 1e6;
    };
    auto pass = [&work](const std::vector<std::string>& input) {
      return [&work, &input] {
        size_t count = 0;
        for (const auto& line : input)
          count += work(line);
        return count;
      };
    };
    double single = 1e9;
    double twice = 1e9;
    auto begun = std::clock();
    for (size_t passes = 0; !is_enough(passes, begun); ++passes) {
      take_time(single, pass(lines));
      take_time(twice, pass(more));
    }
    return {size_of(lines) / single, size_of(more) / twice};
  }

  double yardstick_;
  size_t missed_ = 0;
};

/// A class of one line that repeats a piece.
input_class repeating(const char* name, std::string unit,
                      std::string before = {}, std::string after = {}) {
  return {name, false, [=](size_t bytes) {
            return std::vector{before + repeated(unit, bytes) + after};
          }};
}

/// A class of lines that come again and again.
input_class cycling(const char* name, std::vector<std::string> lines) {
  return {name, false, [lines = std::move(lines)](size_t bytes) {
            std::vector<std::string> result;
            for (size_t sum = 0, i = 0; sum < bytes; ++i) {
              result.push_back(lines[i % lines.size()]);
              sum += result.back().size();
            }
            return result;
          }};
}

input_class usual(input_class input) {
  input.usual = true;
  return input;
}

/// The first arguments of the vectors of some functions, as JSON or as text.
std::vector<std::string> golden(const std::string& path,
                                std::string_view functions) {
  std::vector<std::string> result;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    auto row = json::parse(line);
    if (!row || !row.value.is_object())
      continue;
    auto name = json::text_or_empty(row.value.get_object(), "fn");
    auto args = json::member(row.value, "args");
    if (functions.find(name) == functions.npos || args == nullptr
        || !args->is_array() || args->get_array().empty())
      continue;
    const auto& first = args->get_array().front();
    auto text = first.if_string();
    result.push_back(text != nullptr ? std::string{*text} : json::print(first));
    // A frame that is refused is not usual.
    if (name.ends_with("StreamFrame") && !parse_frame(result.back()))
      result.pop_back();
  }
  return result;
}

size_t frame_work(const std::string& line) {
  auto frame = parse_frame(line);
  return frame ? frame->size() : 1;
}

size_t outcome_work(const std::string& text) {
  return sanitize_outcomes(json::parse(text).value).size();
}

size_t redact_work(const std::string& text) {
  return redact(text).size();
}

size_t line_work(const std::string& command) {
  static const path_roots roots{"/work/agent", "/home/agent"};
  auto hint = tool_hint_for("mcp__shell__bash");
  auto line =
    format_tool_activity_line("bash", bj::object{{"command", command}}, roots);
  return hint.size() + line.size();
}

size_t split_work(const std::string& text) {
  return split_text_for_chat(text, 3800)->size();
}

const char* const prose =
  "The build went through, and all tests but one passed. The one that failed "
  "waits for a file that nobody writes any more.\nIt is in the list of the "
  "second suite; see `tests/list.txt`.\n\n";

const char* const command =
  "cd /work/agent && grep -rn --include='*.cpp' 'parse_frame' messages actors "
  "| head -n 20 && curl -s -H 'Accept: text/plain' https://host.test/a/b?c=d "
  "> out.txt ";

} // namespace

int main(int argc, char** argv) {
  std::string vectors = argc > 1 ? argv[1] : "tests/golden/vectors";
  auto frames = golden(vectors + "/stream-frames.jsonl",
                       "serializeAgentStreamFrame parseAgentStreamFrame");
  auto outcomes = golden(vectors + "/reply-part-outcomes.jsonl",
                         "sanitizeReplyPartDeliveryOutcomes");
  if (frames.empty() || outcomes.empty()) {
    std::fprintf(stderr, "no golden vectors in %s\n", vectors.c_str());
    return 2;
  }
  table rows{memcpy_speed()};

  const std::string open = R"({"kind":"x","a":)";
  const input_class frame_classes[] = {
    usual(cycling("golden frames", frames)),
    usual(
      cycling("deltas of answers",
              {json::print(bj::object{{"kind", "append"}, {"delta", prose}})})),
    repeating("one long text", "some words of an answer. ",
              R"({"kind":"append","delta":")", "\"}"),
    repeating("escapes", "\\u00e9", R"({"kind":"append","delta":")", "\"}"),
    repeating("small numbers", "1,", open + "[", "1]}"),
    repeating("fractions", "0.1234567890123,", open + "[", "1]}"),
    repeating("empty lists", "[],", open + "[", "1]}"),
    repeating("empty texts", "\"\",", open + "[", "1]}"),
    {"many members", false,
     [](size_t bytes) {
       std::string text = R"({"kind":"x")";
       for (size_t i = 0; text.size() < bytes; ++i)
         text += ",\"m" + std::to_string(i) + "\":1";
       return std::vector{text + "}"};
     }},
    {"deep nesting", false,
     [](size_t bytes) {
       auto line = R"({"kind":"x","a":)" + std::string(200, '[')
                   + std::string(200, ']') + "}";
       return std::vector(bytes / line.size() + 1, line);
     }},
  };
  for (const auto& input : frame_classes)
    rows.row("parse_frame", frame_work, input, line_bytes);

  const input_class outcome_classes[] = {
    cycling("golden outcomes", outcomes),
    repeating("many nulls", "null,", "[", "null]"),
    repeating("many objects", R"({"status":"failed"},)", "[", "null]"),
  };
  for (const auto& input : outcome_classes)
    rows.row("sanitize_outcomes", outcome_work, input, line_bytes);

  const input_class redact_classes[] = {
    cycling("commands", {command}),
    cycling("prose", {prose}),
    repeating("addresses", "https://u:p@h/ "),
    repeating("schemes without end", "a://"),
    repeating("colons", ":"),
    repeating("assignments", "token=x "),
    repeating("names", "a-"),
    repeating("flags", "-u "),
    repeating("quotes", "\"' "),
    repeating("digits", "1234567:"),
    repeating("beginnings of tokens", "sk-eyJ"),
    repeating("mysql", "mysql -p "),
    repeating("spaces", " "),
    repeating("two-byte spaces", "\u00A0="),
  };
  for (const auto& input : redact_classes)
    rows.row("redact", redact_work, input, megabyte);

  const input_class line_classes[] = {
    cycling("commands", {command}),
    cycling("long commands", {repeated(command, 4000)}),
  };
  for (const auto& input : line_classes)
    rows.row("hint and activity line", line_work, input, megabyte);

  const input_class split_classes[] = {
    {"prose", false,
     [](size_t bytes) {
       return std::vector{repeated(prose, bytes)};
     }},
    repeating("one word", "x"),
    repeating("spaces", " "),
    repeating("line ends", "\n"),
    repeating("a word a line", "x\n"),
    repeating("emoji", "😀"),
    repeating("wide spaces", "\u3000"),
  };
  for (const auto& input : split_classes)
    rows.row("split_text_for_chat", split_work, input, megabyte);

  std::printf("%zu missed (%zu)\n", rows.missed(), sink % 10);
  return rows.missed() == 0 ? 0 : 1;
}
