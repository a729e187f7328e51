#include "actors/kit/log.hpp"

#include "actors/kit/log_file.hpp"
#include "messages/text/harmless.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>

namespace bureau::kit::log {

namespace {

constexpr const char* pattern = "[%H:%M:%S] %v";

spdlog::level::level_enum native(level severity) {
  switch (severity) {
  case level::debug:
    return spdlog::level::debug;
  case level::info:
    return spdlog::level::info;
  case level::warning:
    return spdlog::level::warn;
  case level::error:
    return spdlog::level::err;
  case level::off:
    return spdlog::level::off;
  }
  return spdlog::level::off;
}

level ours(spdlog::level::level_enum severity) {
  switch (severity) {
  case spdlog::level::warn:
    return level::warning;
  case spdlog::level::err:
  case spdlog::level::critical:
    return level::error;
  case spdlog::level::info:
    return level::info;
  default:
    return level::debug;
  }
}

/// Hands finished lines to a function.
class function_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit function_sink(line_sink function) : function_(std::move(function)) {}

private:
  void sink_it_(const spdlog::details::log_msg& msg) override {
    spdlog::memory_buf_t buffer;
    formatter_->format(msg, buffer);
    std::string_view line{buffer.data(), buffer.size()};
    while (!line.empty() && line.back() == '\n')
      line.remove_suffix(1);
    function_(ours(msg.level), line);
  }
  void flush_() override {}

  line_sink function_;
};

void install(spdlog::sink_ptr target) {
  auto before = spdlog::default_logger();
  auto threshold = before ? before->level() : spdlog::level::info;
  auto logger = std::make_shared<spdlog::logger>("bureau", std::move(target));
  logger->set_pattern(pattern);
  logger->set_level(threshold);
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

std::string_view word(level severity) {
  switch (severity) {
  case level::warning:
    return "warning ";
  case level::error:
    return "error ";
  default:
    return "";
  }
}

} // namespace

void set_level(level threshold) {
  spdlog::set_level(native(threshold));
}

void to_stderr() {
  install(std::make_shared<spdlog::sinks::stderr_sink_mt>());
}

bool to_file(const std::string& path) {
  try {
    install(std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
    return true;
  } catch (const spdlog::spdlog_ex&) {
    return false;
  }
}

line_sink file_sink(const std::string& path) {
  try {
    auto file = std::make_shared<spdlog::logger>(
      "file", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
    file->set_pattern("%v");
    file->flush_on(spdlog::level::trace);
    return [file](level severity, std::string_view line) {
      file->log(native(severity), line);
    };
  } catch (const spdlog::spdlog_ex&) {
    return {};
  }
}

void to_sink(line_sink function) {
  install(std::make_shared<function_sink>(std::move(function)));
}

void write(level severity, std::string_view label, std::string_view text) {
  // A share of it: another thread may put another logger in its place.
  auto logger = spdlog::default_logger();
  if (logger == nullptr || !logger->should_log(native(severity)))
    return;
  std::string line;
  line.reserve(label.size() + text.size() + 12);
  line += word(severity);
  line += label;
  line += ": ";
  for (auto c : text)
    line += c == '\n' || c == '\r' ? ' ' : c;
  // The words of others are in it, and a terminal may show them.
  logger->log(native(severity), text::harmless(line));
}

} // namespace bureau::kit::log
