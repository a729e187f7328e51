#include "messages/contracts/activity_line.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/provider_status.hpp"
#include "messages/contracts/subagent_outcome.hpp"
#include "messages/text/utf8.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::contracts;
namespace bj = boost::json;

namespace {

const path_roots roots{"/ws", "/home/agent"};

std::string line(std::string_view name, std::string_view arguments) {
  auto parsed = json::parse(arguments);
  return format_tool_activity_line(name, parsed.value, roots);
}

} // namespace

TEST_CASE("lines of tool calls") {
  struct row {
    const char* name;
    const char* arguments;
    const char* want;
  };
  const row rows[] = {
    {"Agent", R"({"name":"researcher"})", "🤖 Starting agent \"researcher\""},
    {"Agent", "{}", "🤖 Starting a subagent"},
    {"ReadSkill", R"({"name":"review","path":"/s/SKILL.md"})",
     "📚 Reading \"review\""},
    {"ReadSkill", R"({"path":"/s/SKILL.md"})", "📚 Reading"},
    {"MemoryRecall", R"({"query":"anything"})", "🧠 Recalling memory"},
    {"memory_write", R"({"target":"preferences","content":"private"})",
     "🧠 Updating memory preferences"},
    {"Bash", R"({"command":"ls","description":"List files"})",
     "🖥️ List files"},
    {"Bash", R"({"command":"ls","description":"   "})", "🖥️ Running ls"},
    {"bash", R"({"label":"count","command":"wc -l a"})",
     "🖥️ Running wc -l a"},
    {"Bash", R"({"command":"cd /ws && ls -la"})", "🖥️ Running ls -la"},
    {"Bash", R"({"command":"cd '/ws/' ; make"})", "🖥️ Running make"},
    {"Bash", R"({"command":"cd /ws/sub && ls"})",
     "🖥️ Running cd sub && ls"},
    {"Bash", R"({"command":"cd /ws"})", "🖥️ Running cd /ws"},
    {"Bash", R"({"command":"cd"})", "🖥️ Running cd"},
    {"Bash", R"({"command":"c"})", "🖥️ Running c"},
    {"code", R"-({"code":"cd /ws && f()"})-", "🐍 Running code cd /ws && f()"},
    {"Exec", R"({"executable":"git","args":["status",3,"--short"]})",
     "🖥️ Running git status"},
    {"Exec", R"({"args":["x"]})", "🖥️ Running"},
    {"Exec",
     R"({"executable":"pnpm","args":["--filter","@acme/desktop-toolkit-pkg","test","--run"]})",
     "🖥️ Running pnpm --filter @acme/…lkit-pkg test --run"},
    {"Read",
     R"({"path":"/srv/project/packages/agent/src/components/very-long-name.test.ts"})",
     "📖 Reading /srv/project/…nts/very-long-name.test.ts"},
    {"Bash",
     R"({"command":"python3 scripts/run.py --input data/raw/file.csv --output data/out/file.json"})",
     "🖥️ Running python3 scripts/run.… data/out/file.json"},
    {"mcp__browser__browser_console", "{}", "🔧 Browser console"},
    {"getUserInfo", "null", "🔧 Get User Info"},
    {"HTTPServer", "null", "🔧 HTTPServer"},
    {"日本語", "{}", "🔧 日本語"},
    {"éclair", "{}", "🔧 Éclair"},
    {"😀", "{}", "🔧 Tool"},
    {"researcher▸Read", R"({"path":"/ws/a"})", "📖 Reading a"},
    {"WebSearch", R"({"query":["x"],"q":true})",
     "🌐 Searching the web for true"},
    {"WebSearch", R"({"query":1e21})", "🌐 Searching the web for 1e+21"},
    {"WebSearch", R"(["query"])", "🌐 Searching the web"},
    {"write", R"({"path":"a.txt","content":"token=abc"})", "📝 Writing a.txt"},
    {"edit", R"({"oldText":"a","newText":"b"})", "✏️ Editing"},
    {"view_image", R"({"path":"/home/agent/a.png"})",
     "👁️ Looking at the image ~/a.png"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.arguments);
    CHECK(line(row.name, row.arguments) == row.want);
  }
}

TEST_CASE("a preview is redacted before it is cut") {
  CHECK(
    line(
      "Bash",
      R"({"command":"deploy --env production --region eu-west-1 --token=abcdefghijklmnopqrstuvwxyz"})")
    == "🖥️ Running deploy --env product… --token [redacted]");
  CHECK(line("Bash", R"({"command":"echo\u0000a\u001b[31mred\u202eevil"})")
        == "🖥️ Running echo a [31mred evil");
}

TEST_CASE("a root that is empty or / shortens nothing") {
  auto parsed = json::parse(R"({"command":"cd / && cat /ws/a /home/agent/b"})");
  for (const auto& none : {path_roots{"/", ""}, path_roots{"", "/"}})
    CHECK(format_tool_activity_line("Bash", parsed.value, none)
          == "🖥️ Running cd / && cat /ws/a /home/agent/b");
}

TEST_CASE("the three ways to cut") {
  const std::string text = "abcdefghij";
  CHECK(cut_to(text, 10, cut_shape::head) == text);
  CHECK(cut_to(text, 7, cut_shape::head) == "abcdef…");
  CHECK(cut_to(text, 7, cut_shape::middle) == "ab…ghij");
  CHECK(cut_to(text, 8, cut_shape::balanced) == "abcd…hij");
  CHECK(cut_to(text, 1, cut_shape::middle) == "…");
  CHECK(cut_to("😀😀😀", 2, cut_shape::head) == "😀…");
}

TEST_CASE("lines of messages that reach a run") {
  CHECK(
    format_live_input_activity_line(
      "Please look at the second failing test and explain why it breaks", roots)
    == "↪️ Steered: “Please look at the second failing test …”");
  CHECK(format_live_input_activity_line(" \n", roots) == "↪️ Steered");
  CHECK(format_live_input_activity_line("token=abc", roots)
        == "↪️ Steered: “token=[redacted]”");
}

TEST_CASE("lines of the router of models") {
  contracts::stream_event event;
  CHECK(format_provider_status_line(event).empty());
  event.kind = stream_event_kind::provider_status;
  CHECK(format_provider_status_line(event).empty());
  event.phase = provider_phase::failover_started;
  CHECK(format_provider_status_line(event) == "⚠️ Failed over: ? → ?");
  event.from = std::string{"a"};
  event.to = std::string{"b"};
  event.reason = std::string{"overloaded"};
  CHECK(format_provider_status_line(event)
        == "⚠️ Failed over: a → b (overloaded)");
  event.reason = std::string{};
  event.phase = provider_phase::retry_started;
  CHECK(format_provider_status_line(event) == "⏳ Retrying ? — attempt 2");
  event.model = std::string{"m"};
  event.retry_index = 2;
  CHECK(format_provider_status_line(event) == "⏳ Retrying m — attempt 3");
}

TEST_CASE("a megabyte becomes one short line") {
  for (auto unit : {"a://u@", "\"", "cd ", "\n", "\x80", "😀", "--token '"}) {
    CAPTURE(unit);
    std::string text;
    while (text.size() < 1u << 20)
      text += unit;
    CHECK(text::code_point_length(format_live_input_activity_line(text, roots))
          <= 60);
    boost::json::object arguments{{"command", text}, {"query", text}};
    for (auto name : {std::string{"bash"}, std::string{"other"}, text})
      CHECK(text::code_point_length(
              format_tool_activity_line(name, arguments, roots))
            <= 100);
  }
}

TEST_CASE("a secret at the end of what is looked at is not shown by halves") {
  const std::string token = "ghp_Qx7Kd0Wm3Tz9Lp2VQx7Kd0Wm3Tz9";
  auto check = [&token](const std::string& before) {
    for (size_t shift = 0; shift < token.size(); ++shift) {
      // The window ends after `shift` characters of the token.
      std::string text(preview_scan_chars - shift, 'x');
      text.replace(text.size() - before.size(), before.size(), before);
      text += token + " and more";
      auto content = "<subagent>\nnote: " + std::string(4096 - 18 - shift, 'x');
      content += "\n" + token + " and more\n</subagent>";
      auto outcome =
        format_subagent_outcome_activity_line(content, false, roots);
      CHECK(outcome.find("Qx7") == std::string::npos);
      for (std::string field : {"command", "path", "code"}) {
        bj::object arguments{{field, text}};
        auto tool = field == "code" ? "python" : "bash";
        auto shown = format_tool_activity_line(tool, arguments, roots);
        CAPTURE(shown);
        CHECK(shown.find("Qx7") == std::string::npos);
      }
    }
  };
  check(" ");
  check("/");
  // What is no secret is cut where it is.
  auto shown = format_tool_activity_line(
    "bash", bj::object{{"command", std::string(5000, 'x')}}, roots);
  CHECK(shown.ends_with("xxx…"));
}
