/// Opens a generated session file and builds its context: what a first turn in
/// a long conversation waits for. The file has 100 000 entries and 50 MB.
///
///   bench_session_open [ENTRIES [BYTES_PER_ENTRY]]
///
/// Times are milliseconds of the best of five runs; memory is the growth of the
/// resident set, in multiples of the file's size, measured in fresh processes:
/// of the open tree, and of the tree with the context it made. Opening and
/// context together should take 0.5 s for the 50 MB at most, and memory three
/// times the file. The yardstick of the same run is one pass over the bytes of
/// the file that checks UTF-8 and finds the lines, which nobody can leave out.

#include "messages/codec/session_tree.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace bureau;

/// 0.5 s for the 50 MB of the usual file, in proportion for others.
constexpr double target_ms_per_mb = 10;
/// Of the file's size, tree and context together.
constexpr double target_memory = 3;

/// Reproducible bits; quality does not matter here.
class counter_entropy final : public entropy {
public:
  uint64_t next() override {
    state_ += 0x9E3779B97F4A7C15u;
    auto mixed = (state_ ^ (state_ >> 30)) * 0xBF58476D1CE4E5B9u;
    return mixed ^ (mixed >> 27);
  }

private:
  uint64_t state_ = 1;
};

transcript_message message_at(size_t number, size_t bytes) {
  std::string text;
  while (text.size() < bytes)
    text += "word" + std::to_string(number + text.size()) + " ";
  text.resize(bytes);
  if (number % 2 == 0)
    return user_message(std::move(text), 1'767'225'600'000);
  transcript_message result;
  result.role = message_role::assistant;
  result.content.push_back(text_block(std::move(text)));
  result.api = "openai-completions";
  result.provider = "bench";
  result.model = "bench";
  result.spent.input = 100;
  result.spent.output = 20;
  result.timestamp_ms = 1'767'225'600'000;
  return result;
}

/// Eight hexadecimal digits, as a store gives them; each once.
std::string entry_id(size_t number) {
  char text[9];
  // An odd factor reaches every 32-bit number once.
  std::snprintf(text, sizeof text, "%08x",
                static_cast<uint32_t>(number) * 2'654'435'761u);
  return text;
}

/// @param compacted a compaction near the end keeps the last 1000 entries
std::string generate(size_t entries, size_t bytes, bool compacted) {
  counter_entropy chance;
  session_header header;
  header.id = random_uuid(chance);
  header.timestamp = text::iso_utc(1'767'225'600'000);
  header.cwd = "/workspace/v1-console-local-aeb48c12d1f82266";
  auto tree = session_tree::create(header);
  auto file = tree.rewritten();
  std::string parent;
  std::vector<std::string> ids;
  // An entry's own members take about half of a small line.
  auto text_bytes = bytes > 300 ? bytes - 300 : bytes / 2;
  for (size_t i = 0; i < entries; ++i) {
    session_entry entry;
    if (compacted && i + 100 == entries) {
      entry.kind = entry_kind::compaction;
      entry.fields.text = R"({"summary":"so far","tokensBefore":1,)"
                          R"("firstKeptEntryId":")"
                          + ids[i > 900 ? i - 900 : 0] + "\"}";
    } else {
      entry.message = message_at(i, text_bytes);
    }
    auto id = entry_id(i);
    file += print_session_entry(entry, id, parent, 1'767'225'600'000);
    file += '\n';
    parent = id;
    ids.push_back(std::move(id));
  }
  return file;
}

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(
           std::chrono::steady_clock::now() - begin)
    .count();
}

/// A figure of /proc/self/status in KiB. The peak that getrusage tells would
/// include what ran in this process before it was replaced.
long status_kib(std::string_view name) {
  long result = 0;
  char line[256];
  if (auto file = std::fopen("/proc/self/status", "r")) {
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::string_view{line}.substr(0, name.size()) == name)
        result = std::strtol(line + name.size(), nullptr, 10);
    std::fclose(file);
  }
  return result;
}

session_tree open_or_die(std::string text) {
  counter_entropy chance;
  session_origin origin{&chance, 0, {}};
  auto opened = session_tree::open(std::move(text), origin);
  if (!opened) {
    std::fprintf(stderr, "%s\n", describe(opened.fault, "bench").c_str());
    std::exit(1);
  }
  return std::move(*opened.tree);
}

void write_whole(const char* path, const std::string& text) {
  auto file = std::fopen(path, "w");
  if (file == nullptr
      || std::fwrite(text.data(), 1, text.size(), file) != text.size())
    std::exit(1);
  std::fclose(file);
}

std::string read_whole(const char* path) {
  std::string text;
  if (auto file = std::fopen(path, "r")) {
    std::fseek(file, 0, SEEK_END);
    text.resize(static_cast<size_t>(std::ftell(file)));
    std::rewind(file);
    if (std::fread(text.data(), 1, text.size(), file) != text.size())
      text.clear();
    std::fclose(file);
  }
  return text;
}

/// Does the work once in this process and prints the peak growth of the
/// resident set in thousandths of the file's size.
int report_peak(const char* path, bool with_context) {
  auto before = status_kib("VmRSS:");
  auto text = read_whole(path);
  auto size = text.size();
  auto tree = open_or_die(std::move(text));
  auto context = with_context ? tree.context() : session_context{};
  auto grown = static_cast<double>(status_kib("VmHWM:") - before) * 1024;
  std::printf("%d\n",
              static_cast<int>(grown * 1000 / static_cast<double>(size)));
  return 0;
}

/// The same in a process of its own, which has freed nothing before.
double peak_ratio(const std::string& path, const char* what) {
  auto command =
    "exec /proc/" + std::to_string(getpid()) + "/exe " + what + " " + path;
  int thousandths = 0;
  if (auto pipe = popen(command.c_str(), "r")) {
    if (std::fscanf(pipe, "%d", &thousandths) != 1)
      thousandths = 0;
    pclose(pipe);
  }
  return thousandths / 1000.0;
}

/// What nobody can leave out: the bytes are text, and lines.
double bare_pass_ms(const std::string& text) {
  auto begin = std::chrono::steady_clock::now();
  auto lines = std::count(text.begin(), text.end(), '\n');
  if (!text::is_valid_utf8(text) || lines == 0)
    std::exit(1);
  return ms_since(begin);
}

const char* verdict(double figure, double target) {
  return figure <= target ? "met" : "MISSED";
}

void measure(const char* label, const std::string& path, size_t entries,
             size_t bytes, bool compacted) {
  {
    auto text = generate(entries, bytes, compacted);
    write_whole(path.c_str(), text);
  }
  auto size = read_whole(path.c_str()).size();
  auto store = peak_ratio(path, "--peak-of-tree");
  auto both = peak_ratio(path, "--peak-of-context");
  double bare = 1e9;
  double load = 1e9;
  double context = 1e9;
  size_t messages = 0;
  for (int round = 0; round < 5; ++round) {
    auto text = read_whole(path.c_str());
    bare = std::min(bare, bare_pass_ms(text));
    auto begin = std::chrono::steady_clock::now();
    auto tree = open_or_die(std::move(text));
    load = std::min(load, ms_since(begin));
    begin = std::chrono::steady_clock::now();
    auto built = tree.context();
    context = std::min(context, ms_since(begin));
    messages = built.messages.size();
  }
  auto megabytes = static_cast<double>(size) / 1e6;
  auto time = load + context;
  auto target = target_ms_per_mb * megabytes;
  std::printf("%-16s %8zu %6.1f %8zu | %8.1f %8.1f %8.1f | %6.1f %6.1fx "
              "%7.0f %-6s | %6.1fx %6.1fx %6.1fx %s\n",
              label, entries, megabytes, messages, load, context, time, bare,
              time / bare, target, verdict(time, target), store, both,
              target_memory, verdict(both, target_memory));
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view{argv[1]} == "--peak-of-tree")
    return report_peak(argv[2], false);
  if (argc == 3 && std::string_view{argv[1]} == "--peak-of-context")
    return report_peak(argv[2], true);
  auto entries = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000ul;
  auto bytes = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 500ul;
  if (entries < 1000 || bytes < 10) {
    std::fprintf(stderr, "usage: bench_session_open [ENTRIES>=1000 "
                         "[BYTES_PER_ENTRY>=10]]\n");
    return 2;
  }
  char path[] = "/tmp/bench_session_open.XXXXXX";
  auto fd = mkstemp(path);
  if (fd < 0)
    return 1;
  close(fd);
  std::printf("%-16s %8s %6s %8s | %8s %8s %8s | %6s %7s %14s | %7s %7s %7s\n",
              "session", "entries", "MB", "messages", "load ms", "ctx ms",
              "both ms", "bare", "ratio", "target ms", "tree", "+ ctx",
              "target");
  measure("compacted", path, entries, bytes, true);
  measure("never compacted", path, entries, bytes, false);
  unlink(path);
  return 0;
}
