#include "actors/jobs/job_output_core.hpp"

#include "messages/contracts/preview.hpp"
#include "messages/contracts/redact.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <iterator>

namespace bureau::jobs {

namespace {

using contracts::process_job_projection;
using contracts::process_job_state;

/// Output that a preview is made of; the rest is not looked at.
constexpr size_t preview_scan_bytes = 256u << 10;
constexpr size_t summary_chars = 120;
constexpr std::string_view cut_mark = "…\n";

/// The last bytes of a stream, from the beginning of a line where there is one.
std::string_view last_part(std::string_view bytes) {
  if (bytes.size() <= preview_scan_bytes)
    return bytes;
  bytes.remove_prefix(bytes.size() - preview_scan_bytes);
  auto line = bytes.find('\n');
  return line == std::string_view::npos ? bytes : bytes.substr(line + 1);
}

/// Longest suffix of at most `max_units` UTF-16 code units.
std::string_view last_units(std::string_view valid, size_t max_units) {
  auto units = text::utf16_length(valid);
  while (units > max_units) {
    auto head = text::prefix_utf16(valid, units - max_units);
    // One character may be longer than what is to go.
    if (head.empty())
      head = text::prefix_utf16(valid, 2);
    units -= text::utf16_length(head);
    valid.remove_prefix(head.size());
  }
  return valid;
}

std::string seconds_text(int64_t ms) {
  auto tenths = ms / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string state_words(const process_job_projection& job) {
  switch (job.state) {
  case process_job_state::queued:
    return "waits for a free place";
  case process_job_state::starting:
  case process_job_state::running:
    return "started";
  case process_job_state::succeeded:
    return "succeeded";
  case process_job_state::failed:
    return "failed";
  case process_job_state::timed_out:
    return "ran out of time and was ended";
  case process_job_state::cancelled:
    return "was cancelled";
  case process_job_state::spawn_failed:
    return "could not be started";
  case process_job_state::queue_expired:
    return "waited too long and was not started";
  case process_job_state::interrupted:
    return "was interrupted by a restart";
  }
  return "is unknown";
}

std::string details(const process_job_projection& job) {
  std::string result;
  auto add = [&result](const std::string& part) {
    result += (result.empty() ? "" : ", ") + part;
  };
  if (job.signal)
    add("ended by " + *job.signal);
  if (job.exit_code)
    add("exit code " + std::to_string(*job.exit_code));
  if (job.duration_ms)
    add(seconds_text(*job.duration_ms));
  return result.empty() ? result : " (" + result + ")";
}

/// Whether an error says what the state of the job does not.
bool says_more(contracts::process_job_error_code code) {
  using enum contracts::process_job_error_code;
  return code == process_job_cleanup_incomplete
         || code == process_job_store_error;
}

std::string quoted(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    auto end = text.find('\n');
    result += "> ";
    result += text.substr(0, end);
    result += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

} // namespace

void fit_output(job_end& end, const contracts::process_job_limits& limits) {
  end.preview = preview_of_output(end.out, end.err,
                                  static_cast<size_t>(limits.preview_chars));
  auto most = static_cast<size_t>(limits.max_output_bytes);
  auto half = most / 2;
  auto err = std::min(end.err.size(),
                      std::max(half, most - std::min(most, end.out.size())));
  auto out = std::min(end.out.size(), most - err);
  end.truncated = end.truncated || out < end.out.size() || err < end.err.size();
  end.out.resize(out);
  end.err.resize(err);
}

std::string preview_of_output(std::string_view out, std::string_view err,
                              size_t max_chars) {
  std::string text{last_part(out)};
  if (!text.empty() && !err.empty() && text.back() != '\n')
    text += '\n';
  text += last_part(err);
  // A cut secret is no secret to the eye of the redactor: cut last.
  text = contracts::redact(text::sanitize_utf8(text));
  std::string_view shown = text;
  while (!shown.empty() && shown.back() == '\n')
    shown.remove_suffix(1);
  if (text::utf16_length(shown) <= max_chars)
    return std::string{shown};
  auto mark = text::utf16_length(cut_mark);
  if (max_chars <= mark)
    return std::string{last_units(shown, max_chars)};
  return std::string{cut_mark}
         + std::string{last_units(shown, max_chars - mark)};
}

std::string signal_of(int64_t exit_code) {
  constexpr int64_t base = 128;
  constexpr const char* names[] = {
    "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",    "SIGTRAP", "SIGABRT",
    "SIGBUS",  "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",
    "SIGPIPE", "SIGALRM",   "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT",
    "SIGSTOP", "SIGTSTP",   "SIGTTIN", "SIGTTOU",   "SIGURG",  "SIGXCPU",
    "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH",  "SIGIO",   "SIGPWR",
    "SIGSYS"};
  auto number = exit_code - base;
  if (number < 1 || number > static_cast<int64_t>(std::size(names)))
    return {};
  return names[number - 1];
}

std::string summary_of(std::string_view command) {
  contracts::preview_style style;
  style.shell = true;
  style.max_chars = summary_chars;
  return contracts::preview_of(text::sanitize_utf8(command), style, {});
}

std::string update_text(const process_job_projection& job) {
  auto result = std::string{job_wake_head} + job.job_id + " " + state_words(job)
                + details(job);
  return job.summary.empty() ? result : result + ": " + job.summary;
}

std::string wake_text(const process_job_projection& job) {
  auto result = std::string{job_wake_head} + job.job_id + " " + state_words(job)
                + details(job) + ".\n";
  if (job.last_error && says_more(*job.last_error))
    result += std::string{contracts::public_message(*job.last_error)} + "\n";
  result += "Command: " + job.summary + "\n";
  if (job.output.preview.empty())
    return result + "It printed nothing.";
  result += job.output.truncated
              ? "Last part of its output that was seen (not all of it is "
                "kept):\n"
              : "Output:\n";
  result += quoted(job.output.preview);
  result.pop_back();
  return result;
}

} // namespace bureau::jobs
