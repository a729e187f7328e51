#include "config/cli.hpp"

#include "messages/product.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <list>
#include <string_view>

namespace bureau::config {

namespace {

using arguments = std::vector<std::string>;

/// First words of commands that later versions bring.
constexpr std::array<std::string_view, 10> later_words = {
  "observe",  "scenario", "settings", "link",    "pair",
  "packages", "ext",      "sandbox",  "onboard", "download",
};

std::string see_help() {
  return std::string{" Run `"} + product::name + " help` for usage.";
}

cli_result refuse(std::string sentence) {
  cli_result result;
  result.usage_error = std::move(sentence);
  return result;
}

std::string not_available(std::string_view word) {
  return '`' + std::string{product::name} + ' ' + std::string{word}
         + "` is not available in this version." + see_help();
}

/// Checks what CLI11 leaves open: a value flag at the end, an empty value, and
/// a separate value that looks like a flag.
std::string check_values(const arguments& args,
                         const std::vector<std::string_view>& value_flags) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--")
      return {};
    for (auto flag : value_flags) {
      if (args[i] == std::string{flag} + '=')
        return std::string{flag} + " needs a value." + see_help();
      if (args[i] != flag)
        continue;
      if (i + 1 == args.size() || args[i + 1].empty())
        return std::string{flag} + " needs a value." + see_help();
      if (args[i + 1].front() == '-')
        return "The value of " + std::string{flag}
               + " begins with '-'; write it as " + std::string{flag} + '='
               + args[i + 1] + '.';
      ++i;
      break;
    }
  }
  return {};
}

/// A negative number is a word: chat ids look like that.
bool looks_like_flag(std::string_view word) {
  return word.size() > 1 && word.front() == '-'
         && !(word[1] >= '0' && word[1] <= '9');
}

/// One parser over CLI11: options of a command, last value wins.
class parser {
public:
  parser() {
    app_.set_help_flag();
    app_.allow_extras();
  }

  void value(const char* name, std::optional<std::string>& target) {
    value_flags_.push_back(name);
    auto& added = slots_.emplace_back();
    added.target = &target;
    added.option = app_.add_option(name, added.text)->take_last();
  }

  void flag(const char* names, bool& target) { app_.add_flag(names, target); }

  /// Parses; words that belong to no flag are left in `words`. Answers a usage
  /// error or "".
  std::string parse(const arguments& args, arguments& words) {
    if (auto fault = check_values(args, value_flags_); !fault.empty())
      return fault;
    arguments reversed{args.rbegin(), args.rend()};
    try {
      app_.parse(reversed);
    } catch (const CLI::ParseError& error) {
      return std::string{error.what()} + '.' + see_help();
    }
    for (auto& given : slots_)
      if (given.option->count() > 0)
        *given.target = std::move(given.text);
    auto only_words = false;
    for (const auto& word : app_.remaining()) {
      if (word == "--" && !only_words) {
        only_words = true;
        continue;
      }
      if (!only_words && looks_like_flag(word))
        return "Unknown flag: " + word + '.' + see_help();
      words.push_back(word);
    }
    return {};
  }

private:
  struct slot {
    std::string text;
    std::optional<std::string>* target = nullptr;
    CLI::Option* option = nullptr;
  };
  CLI::App app_;
  std::vector<std::string_view> value_flags_;
  /// A list: CLI11 keeps the addresses of the texts.
  std::list<slot> slots_;
};

cli_result parse_run(const arguments& args) {
  cli_result result;
  auto& plan = result.plan;
  auto help = false;
  auto version = false;
  auto onboard = false;
  std::optional<std::string> download;
  parser cli;
  cli.value("--state-dir", plan.state_dir);
  cli.value("--sandbox", plan.run.sandbox_text);
  cli.value("--console", plan.run.console);
  cli.value("--log", plan.run.log_file);
  cli.value("--download", download);
  cli.flag("--headless", plan.run.headless);
  cli.flag("--json", plan.run.json);
  cli.flag("--help,-h", help);
  cli.flag("--version,-v,-V", version);
  cli.flag("--onboard", onboard);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(std::move(fault));
  if (help || version) {
    plan.what = help ? command::help : command::version;
    return result;
  }
  if (onboard || download)
    return refuse(not_available(onboard ? "onboard" : "download"));
  if (!words.empty()) {
    if (words.back().empty())
      return refuse("The workspace directory is an empty word." + see_help());
    plan.workspace = words.back();
  }
  if (plan.run.console && !is_console_name(*plan.run.console))
    return refuse("The console conversation '" + *plan.run.console
                  + "' is no name of 1 to 32 characters of a-z, 0-9 and '-'.");
  if (plan.run.console && plan.run.headless)
    return refuse("--console and --headless contradict each other; give one.");
  if (plan.run.json && plan.run.headless)
    return refuse("--json and --headless contradict each other; give one.");
  if (plan.run.sandbox_text) {
    auto parsed = parse_sandbox_value(*plan.run.sandbox_text);
    if (!parsed)
      return refuse(parsed.sentence());
    plan.run.sandbox = std::move(parsed.value);
  }
  return result;
}

constexpr auto office_usage =
  "Usage: bureau office list, bureau office show PLATFORM ID, or bureau office "
  "claim RAWID PLATFORM, each with [--state-dir DIR] [--workspace DIR].";

/// Longest time that `shutdown --timeout` may give.
constexpr int64_t shutdown_seconds_max = 86'400;

/// `office show PLATFORM ID`.
cli_result parse_office_show(cli_result result, const arguments& words) {
  auto platform = parse_platform(words[1]);
  if (!platform)
    return refuse("Unknown platform '" + words[1]
                  + "'; use slack, discord, telegram, github or console.");
  result.plan.office.action = office_action::show;
  result.plan.office.platform = *platform;
  result.plan.office.raw_id = words[2];
  return result;
}

cli_result parse_office(const arguments& args) {
  cli_result result;
  auto& plan = result.plan;
  plan.what = command::office;
  parser cli;
  cli.value("--state-dir", plan.state_dir);
  cli.value("--workspace", plan.workspace);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(fault + ' ' + office_usage);
  if (words.size() == 1 && words[0] == "list")
    return result;
  if (words.size() == 3 && words[0] == "show" && !words[2].empty())
    return parse_office_show(std::move(result), words);
  if (words.size() != 3 || words[0] != "claim" || words[1].empty())
    return refuse(office_usage);
  plan.office.action = office_action::claim;
  plan.office.raw_id = words[1];
  auto platform = parse_platform(words[2]);
  if (!platform || *platform == platform_id::console)
    return refuse("Unknown platform '" + words[2]
                  + "'; use slack, discord, telegram or github.");
  plan.office.platform = *platform;
  return result;
}

cli_result parse_env(const arguments& args) {
  cli_result result;
  result.plan.what = command::env;
  parser cli;
  cli.value("--state-dir", result.plan.state_dir);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(std::move(fault));
  if (!words.empty())
    return refuse("`env` takes no argument '" + words.front() + "'."
                  + see_help());
  return result;
}

/// `status` and `config`.
cli_result parse_report(command what, std::string_view word,
                        const arguments& args) {
  cli_result result;
  result.plan.what = what;
  parser cli;
  cli.value("--state-dir", result.plan.state_dir);
  cli.flag("--json", result.plan.status.json);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(std::move(fault));
  if (!words.empty())
    return refuse('`' + std::string{word} + "` takes no argument '"
                  + words.front() + "'." + see_help());
  return result;
}

constexpr auto notify_usage =
  "Usage: bureau notify CONVERSATION TEXT [--verbatim] [--key KEY], or bureau "
  "notify --list; a CONVERSATION is PLATFORM:ID.";

cli_result parse_notify(const arguments& args) {
  cli_result result;
  auto& plan = result.plan;
  plan.what = command::notify;
  parser cli;
  cli.value("--state-dir", plan.state_dir);
  cli.value("--key", plan.notify.key);
  cli.flag("--verbatim", plan.notify.verbatim);
  cli.flag("--list", plan.notify.list);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(fault + ' ' + notify_usage);
  if (plan.notify.list && words.empty() && !plan.notify.verbatim
      && !plan.notify.key)
    return result;
  if (plan.notify.list || words.size() != 2 || words[0].empty()
      || words[1].empty())
    return refuse(notify_usage);
  plan.notify.conversation = words[0];
  plan.notify.text = words[1];
  return result;
}

cli_result parse_cancel(const arguments& args) {
  cli_result result;
  auto& plan = result.plan;
  plan.what = command::cancel;
  parser cli;
  cli.value("--state-dir", plan.state_dir);
  cli.flag("--all", plan.cancel.all);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(std::move(fault));
  if (words.size() != 1 || words[0].empty())
    return refuse("Usage: bureau cancel CONVERSATION [--all]; a CONVERSATION "
                  "is PLATFORM:ID.");
  plan.cancel.conversation = words[0];
  return result;
}

constexpr auto jobs_usage = "Usage: bureau jobs list [--state STATE], bureau "
                            "jobs show ID, or bureau jobs "
                            "cancel ID, each with [--json].";

cli_result parse_jobs(const arguments& args) {
  cli_result result;
  auto& plan = result.plan;
  plan.what = command::jobs;
  parser cli;
  cli.value("--state-dir", plan.state_dir);
  cli.value("--state", plan.jobs.state);
  cli.flag("--json", plan.jobs.json);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(fault + ' ' + jobs_usage);
  if (words.size() == 1 && words[0] == "list")
    return result;
  auto one = words.size() == 2 && !words[1].empty() && !plan.jobs.state;
  if (!one || (words[0] != "show" && words[0] != "cancel"))
    return refuse(jobs_usage);
  plan.jobs.action =
    words[0] == "show" ? jobs_action::show : jobs_action::cancel;
  plan.jobs.id = words[1];
  return result;
}

constexpr auto events_usage =
  "Usage: bureau events list, bureau events show NAME [--run ID] [--before "
  "CURSOR], each with [--json], or bureau events delete NAME.";

cli_result parse_events(const arguments& args) {
  cli_result result;
  auto& plan = result.plan;
  plan.what = command::events;
  parser cli;
  cli.value("--state-dir", plan.state_dir);
  cli.value("--run", plan.events.run);
  cli.value("--before", plan.events.before);
  cli.flag("--json", plan.events.json);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(fault + ' ' + events_usage);
  auto paged = plan.events.run || plan.events.before;
  if (words.size() == 1 && words[0] == "list" && !paged)
    return result;
  if (words.size() != 2 || words[1].empty())
    return refuse(events_usage);
  plan.events.name = words[1];
  if (words[0] == "show") {
    plan.events.action = events_action::show;
    return result;
  }
  if (words[0] != "delete" || paged || plan.events.json)
    return refuse(events_usage);
  plan.events.action = events_action::remove;
  return result;
}

cli_result parse_shutdown(const arguments& args) {
  cli_result result;
  result.plan.what = command::shutdown;
  std::optional<std::string> timeout;
  parser cli;
  cli.value("--state-dir", result.plan.state_dir);
  cli.value("--timeout", timeout);
  arguments words;
  if (auto fault = cli.parse(args, words); !fault.empty())
    return refuse(std::move(fault));
  if (!words.empty())
    return refuse("`shutdown` takes no argument '" + words.front() + "'."
                  + see_help());
  if (!timeout)
    return result;
  int64_t seconds = 0;
  auto end = timeout->data() + timeout->size();
  auto [stopped, fault] = std::from_chars(timeout->data(), end, seconds);
  if (fault != std::errc{} || stopped != end || seconds < 0
      || seconds > shutdown_seconds_max)
    return refuse("--timeout is a whole number of seconds from 0 to "
                  + std::to_string(shutdown_seconds_max) + ", not '" + *timeout
                  + "'.");
  result.plan.shutdown.timeout_s = seconds;
  return result;
}

cli_result parse_bare(command what, std::string_view word,
                      const arguments& args) {
  if (!args.empty())
    return refuse('`' + std::string{word} + "` takes no argument '"
                  + args.front() + "'." + see_help());
  cli_result result;
  result.plan.what = what;
  return result;
}

} // namespace

bool is_console_name(std::string_view name) {
  return !name.empty() && name.size() <= 32
         && std::all_of(name.begin(), name.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || c == '-';
            });
}

cli_result parse_command_line(const std::vector<std::string>& args) {
  if (args.empty())
    return parse_run(args);
  const auto& word = args.front();
  arguments rest{args.begin() + 1, args.end()};
  if (word == "run")
    return parse_run(rest);
  if (word == "office")
    return parse_office(rest);
  if (word == "env")
    return parse_env(rest);
  if (word == "config")
    return parse_report(command::config, word, rest);
  if (word == "status")
    return parse_report(command::status, word, rest);
  if (word == "notify")
    return parse_notify(rest);
  if (word == "cancel")
    return parse_cancel(rest);
  if (word == "jobs")
    return parse_jobs(rest);
  if (word == "events")
    return parse_events(rest);
  if (word == "shutdown")
    return parse_shutdown(rest);
  if (word == "frames")
    return parse_bare(command::frames, word, rest);
  if (word == "version")
    return parse_bare(command::version, word, rest);
  if (word == "help")
    return parse_bare(command::help, word, rest);
  if (std::find(later_words.begin(), later_words.end(), word)
      != later_words.end())
    return refuse(not_available(word));
  return parse_run(args);
}

std::string version_text() {
  return std::string{product::name} + ' ' + product::version + '\n';
}

std::string help_text() {
  return R"(bureau hosts an agent in your chats, one office for each conversation.

Usage:
  bureau [run] [FLAGS] [WORKSPACE]   start the node (the default command)
  bureau status [--json]             say how the running node is
  bureau shutdown [--timeout SECONDS]
                                     end it in order, and wait until it has
  bureau office list                 list enabled platforms, offices, migrations
  bureau office show PLATFORM ID     what the files of a conversation say
  bureau office claim RAWID PLATFORM assign an unowned conversation directory
  bureau notify CONVERSATION TEXT [--verbatim] [--key KEY]
                                     say something to a conversation
  bureau notify --list               where notifications can go
  bureau cancel CONVERSATION [--all]
                                     end its running turn, or all that wait too
  bureau jobs list [--state STATE]   background commands of all conversations
  bureau jobs show ID                one of them, with the end of its output
  bureau jobs cancel ID              end one
  bureau events list                 schedules of all conversations
  bureau events show NAME            runs of one of them
  bureau events delete NAME          remove one
  bureau config [--json]             every setting, its value and its source
  bureau env                         show which environment variables are set
  bureau frames                      what the output of run --json says, for
                                     people: frames in, text out
  bureau version                     print the version
  bureau help                        print this text

Flags of run:
  --state-dir DIR   settings, credentials and registry (default ~/.bureau)
  --sandbox VALUE   where commands run (default bwrap), see below
  --headless        no console, even on a terminal
  --console NAME    console with the conversation NAME ([a-z0-9-], up to 32)
  --json            console for programs: a line of input is a message, standard
                    output carries NDJSON frames
  --log FILE        append the log to FILE instead of standard error
  WORKSPACE         directory the agent sees (default <state-dir>/workspace)

All commands but `version` and `help` take --state-dir, `office` also
--workspace DIR. `shutdown --timeout` gives running turns so many seconds
instead of the configured ones, answers a few more; 0 aborts turns at once. A
CONVERSATION is PLATFORM:ID, as `notify --list` prints it. `notify` makes the text a message to
the agent there; --verbatim posts it as it stands, without the agent.
A flag may be written --flag value or --flag=value; the last one wins; a value
that begins with '-' needs the second form.

Sandbox values:
  bwrap[:default]               bubblewrap, one namespace sandbox per command
  host                          no boundary: commands run as this user
  container:<container-name>    (later version) one shared container
  image:<image-name>            (later version) a container per conversation
  gondolin:default              (later version) a micro VM per conversation
  firecracker:<vm-id>:<host-path>[:<ssh-user>[:<ssh-port>]]   (later version)
  cloudflare:<sandbox-id>       (later version)

Files in the state directory, all optional: settings.json, models.json,
auth.json. Without a model and a key the node answers offline.

Exit codes: 0 success, 1 failure or refused configuration, 2 wrong usage.
)";
}

} // namespace bureau::config
