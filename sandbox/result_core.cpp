#include "sandbox/result_core.hpp"

#include "messages/text/utf8.hpp"

#include <charconv>

namespace bureau::sandbox {

namespace {

constexpr int32_t signal_base = 128;

command_end with_code(int32_t code, const proc_result& result) {
  command_end end;
  auto out = decode_capture(result.out, result.exit.out_dropped,
                            limits::exec_output_bytes);
  auto err = decode_capture(result.err, result.exit.err_dropped,
                            limits::exec_output_bytes);
  end.result.out = std::move(out.text);
  end.result.out_truncated = out.truncated;
  end.result.err = std::move(err.text);
  end.result.err_truncated = err.truncated;
  end.result.code = code;
  return end;
}

command_end killed_end(kill_cause cause, int64_t timeout_ms,
                       const proc_result& result) {
  command_end end = with_code(0, result);
  auto aborted = cause == kill_cause::aborted;
  end.fault = aborted ? errc::aborted : errc::timeout;
  auto last = aborted ? std::string{aborted_line} : timeout_line(timeout_ms);
  end.sentence = killed_text(end.result.out, end.result.err, last);
  end.result = {};
  return end;
}

command_end transport_end(std::string sentence) {
  command_end end;
  end.fault = errc::transport;
  end.sentence = std::move(sentence);
  return end;
}

} // namespace

captured_text decode_capture(std::string_view bytes, uint64_t dropped,
                             size_t cap) {
  text::utf8_stream stream;
  captured_text result;
  result.text = stream.feed(bytes);
  // A character cut by the capture is not the program's fault: leave it out.
  if (dropped == 0)
    result.text += stream.finish();
  result.truncated = dropped > 0 || result.text.size() > cap;
  result.text.resize(text::prefix_bytes(result.text, cap).size());
  return result;
}

std::string killed_text(std::string_view out, std::string_view err,
                        std::string_view last_line) {
  std::string joined;
  joined.reserve(out.size() + err.size() + last_line.size() + 2);
  joined += out;
  joined += '\n';
  joined += err;
  joined += '\n';
  joined += last_line;
  return std::string{text::trim(joined)};
}

std::string timeout_line(int64_t timeout_ms) {
  auto seconds = std::to_string(timeout_ms / 1000);
  auto rest = timeout_ms % 1000;
  if (rest != 0) {
    auto fraction = std::to_string(1000 + rest).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    seconds += '.' + fraction;
  }
  return "Command timed out after " + seconds + " seconds";
}

std::optional<int32_t> status_exit_code(std::string_view documents) {
  constexpr std::string_view label = "\"exit-code\":";
  auto pos = documents.rfind(label);
  if (pos == std::string_view::npos)
    return std::nullopt;
  auto number = documents.substr(pos + label.size());
  number.remove_prefix(std::min(number.find_first_not_of(' '), number.size()));
  int32_t code = 0;
  auto end =
    std::from_chars(number.data(), number.data() + number.size(), code);
  if (end.ec != std::errc{})
    return std::nullopt;
  return code;
}

exec_result kept_result(kill_cause cause, const proc_result& result) {
  auto kept = with_code(0, result).result;
  kept.ending = cause == kill_cause::aborted   ? exec_ending::aborted
                : cause == kill_cause::timeout ? exec_ending::timed_out
                                               : exec_ending::exited;
  return kept;
}

command_end end_of_plain(kill_cause cause, int64_t timeout_ms,
                         const proc_result& result) {
  if (cause != kill_cause::none)
    return killed_end(cause, timeout_ms, result);
  const auto& exit = result.exit;
  return with_code(exit.signal != 0 ? signal_base + exit.signal : exit.code,
                   result);
}

command_end end_of_sandboxed(kill_cause cause, int64_t timeout_ms,
                             std::string_view cwd, const proc_result& result) {
  if (cause != kill_cause::none)
    return killed_end(cause, timeout_ms, result);
  auto code =
    status_exit_code(result.extra.empty() ? std::string_view{}
                                          : std::string_view{result.extra[0]});
  if (code)
    return with_code(*code, result);
  auto cause_text = with_code(0, result).result.err;
  std::string detail{text::trim(cause_text)};
  if (detail.find("Can't chdir to") != std::string::npos) {
    auto end = transport_end("the directory " + std::string{cwd}
                             + " does not exist in the sandbox");
    end.fault = errc::not_found;
    return end;
  }
  if (detail.empty() && result.exit.signal != 0)
    detail = "it was killed by signal " + std::to_string(result.exit.signal)
             + "; the machine may be out of memory";
  if (detail.empty())
    detail = "it ended with code " + std::to_string(result.exit.code)
             + " and said nothing";
  return transport_end("the sandbox could not run the command: " + detail);
}

} // namespace bureau::sandbox
