#include "actors/harness/tools/truncate_core.hpp"

#include "messages/text/utf8.hpp"

#include <algorithm>
#include <cstdio>

namespace bureau::harness {

namespace {

size_t count_lines(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

truncation whole(std::string_view text, size_t lines, size_t bytes) {
  truncation result;
  result.content = std::string{text};
  result.total_lines = lines;
  result.total_bytes = bytes;
  result.output_lines = lines;
  result.output_bytes = text.size();
  return result;
}

} // namespace

std::string to_string(cut_by reason) {
  switch (reason) {
  case cut_by::nothing:
    return "nothing";
  case cut_by::lines:
    return "lines";
  case cut_by::bytes:
    return "bytes";
  }
  return "unknown";
}

truncation truncate_head(std::string_view text, const cut_limits& bounds) {
  auto lines = count_lines(text);
  auto result = whole(text, lines, text.size());
  if (lines <= bounds.lines && text.size() <= bounds.bytes)
    return result;
  size_t kept = 0;
  size_t end = 0;
  result.truncated_by = cut_by::lines;
  for (size_t begin = 0; kept < bounds.lines;) {
    auto newline = std::min(text.find('\n', begin), text.size());
    if (newline > bounds.bytes) {
      result.truncated_by = cut_by::bytes;
      break;
    }
    end = newline;
    ++kept;
    begin = newline + 1;
  }
  result.first_line_exceeds_limit = kept == 0;
  result.content.resize(end);
  result.output_lines = kept;
  result.output_bytes = end;
  return result;
}

truncation truncate_tail(std::string_view text, const cut_limits& bounds) {
  auto total_bytes = text.size();
  auto trailing = !text.empty() && text.back() == '\n';
  auto body = trailing ? text.substr(0, text.size() - 1) : text;
  auto lines = count_lines(body);
  if (lines <= bounds.lines && body.size() <= bounds.bytes) {
    auto fits = total_bytes <= bounds.bytes;
    return whole(fits ? text : body, lines, total_bytes);
  }
  auto result = whole({}, lines, total_bytes);
  result.truncated_by = cut_by::lines;
  size_t kept = 0;
  auto begin = body.size();
  for (auto end = body.size(); kept < bounds.lines;) {
    auto newline =
      end == 0 ? std::string_view::npos : body.rfind('\n', end - 1);
    auto start = newline == std::string_view::npos ? 0 : newline + 1;
    if (body.size() - start > bounds.bytes) {
      result.truncated_by = cut_by::bytes;
      if (kept == 0) {
        auto tail = text::suffix_bytes(body.substr(start), bounds.bytes);
        begin = body.size() - tail.size();
        kept = 1;
        result.last_line_partial = true;
        result.last_line_bytes = body.size() - start;
      }
      break;
    }
    begin = start;
    ++kept;
    if (start == 0)
      break;
    end = start - 1;
  }
  result.content = std::string{body.substr(begin)};
  result.output_lines = kept;
  result.output_bytes = result.content.size();
  return result;
}

boost::json::object to_json(const truncation& record) {
  boost::json::object result;
  result["truncated"] = record.truncated();
  if (record.truncated())
    result["truncatedBy"] = to_string(record.truncated_by);
  else
    result["truncatedBy"] = nullptr;
  result["totalLines"] = record.total_lines;
  result["totalBytes"] = record.total_bytes;
  result["outputLines"] = record.output_lines;
  result["outputBytes"] = record.output_bytes;
  result["lastLinePartial"] = record.last_line_partial;
  result["firstLineExceedsLimit"] = record.first_line_exceeds_limit;
  return result;
}

std::string size_text(size_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + "B";
  auto megabytes = bytes >= (1u << 20);
  auto unit = megabytes ? size_t{1} << 20 : size_t{1} << 10;
  // One decimal, rounded half up, in integers.
  auto tenths = (bytes * 10 + unit / 2) / unit;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10)
         + (megabytes ? "MB" : "KB");
}

} // namespace bureau::harness
