#include "actors/harness/tools/read_core.hpp"

#include "actors/harness/tools/outcome_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/text/base64.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bureau::harness {

namespace {

/// A few bytes more than shown, to find the end of the last character.
constexpr size_t character_slack = 4;

size_t at_least(int64_t value, int64_t floor) {
  return static_cast<size_t>(std::max(value, floor));
}

/// Cuts to at most `max` bytes without cutting a character; invalid bytes
/// never make the cut stand still.
std::string_view cut_at_character(std::string_view bytes, size_t max) {
  if (bytes.size() <= max)
    return bytes;
  auto end = max;
  for (auto back = 0; back < 3 && end > 1; ++back) {
    if ((static_cast<unsigned char>(bytes[end]) & 0xC0u) != 0x80u)
      return bytes.substr(0, end);
    --end;
  }
  if ((static_cast<unsigned char>(bytes[end]) & 0xC0u) != 0x80u)
    return bytes.substr(0, end);
  return bytes.substr(0, max);
}

std::string lines_text(size_t count) {
  return std::to_string(count) + (count == 1 ? " line" : " lines");
}

} // namespace

std::string image_mime_type(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5>
    types = {{{"jpg", "image/jpeg"},
              {"jpeg", "image/jpeg"},
              {"png", "image/png"},
              {"gif", "image/gif"},
              {"webp", "image/webp"}}};
  auto name = path.substr(path.rfind('/') + 1);
  auto dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return {};
  std::string extension;
  for (auto c : name.substr(dot + 1))
    extension += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [known, type] : types)
    if (extension == known)
      return std::string{type};
  return {};
}

tool_outcome image_outcome(std::string_view path, const std::string& mime_type,
                           std::string_view bytes) {
  if (bytes.empty())
    return failed_outcome(std::string{path}
                          + " is empty, so there is no image to show.");
  auto result = text_outcome("Image " + std::string{path} + " (" + mime_type
                             + ", " + size_text(bytes.size()) + ")");
  content_block image;
  image.kind = block_kind::image;
  image.mime_type = mime_type;
  image.data = text::base64(bytes);
  result.content.push_back(std::move(image));
  return result;
}

text_scan::text_scan(const read_window& window, const cut_limits& bounds)
  : bounds_(bounds), start_(at_least(window.offset, 1)),
    wanted_(at_least(window.limit, 0)),
    byte_offset_(at_least(window.byte_offset, 0)) {
}

bool text_scan::selected() const {
  return line_ >= start_ && (wanted_ == 0 || line_ - start_ < wanted_);
}

void text_scan::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    auto newline = bytes.find('\n');
    piece_of_line(bytes.substr(0, newline));
    if (newline == std::string_view::npos)
      return;
    end_line();
    ++line_;
    line_bytes_ = 0;
    bytes.remove_prefix(newline + 1);
  }
}

void text_scan::piece_of_line(std::string_view bytes) {
  auto begin = line_bytes_;
  line_bytes_ += bytes.size();
  if (!selected())
    return;
  selected_bytes_ += bytes.size();
  if (is_first()) {
    first_line_bytes_ = line_bytes_;
    auto slice_max = bounds_.bytes + character_slack;
    auto from = byte_offset_ > begin ? byte_offset_ - begin : 0;
    if (from < bytes.size() && slice_.size() < slice_max) {
      auto part = bytes.substr(from, slice_max - slice_.size());
      has_nul_ = has_nul_ || part.find('\0') != std::string_view::npos;
      slice_ += part;
    }
  }
  if (closed_ != cut_by::nothing)
    return;
  if (kept_lines_ == bounds_.lines) {
    closed_ = cut_by::lines;
    return;
  }
  auto separator = kept_lines_ == 0 ? size_t{0} : size_t{1};
  if (kept_.size() + separator + line_bytes_ > bounds_.bytes) {
    closed_ = cut_by::bytes;
    current_.clear();
    return;
  }
  has_nul_ = has_nul_ || bytes.find('\0') != std::string_view::npos;
  current_ += bytes;
}

void text_scan::end_line() {
  if (!selected())
    return;
  if (selected_lines_ > 0)
    ++selected_bytes_;
  ++selected_lines_;
  if (closed_ != cut_by::nothing)
    return;
  auto separator = kept_lines_ == 0 ? size_t{0} : size_t{1};
  if (kept_lines_ == bounds_.lines)
    closed_ = cut_by::lines;
  else if (kept_.size() + separator + current_.size() > bounds_.bytes)
    closed_ = cut_by::bytes;
  if (closed_ != cut_by::nothing)
    return;
  if (separator == 1)
    kept_ += '\n';
  kept_ += current_;
  ++kept_lines_;
  current_.clear();
}

tool_outcome text_scan::finish() {
  end_line();
  auto total = line_;
  if (start_ > total)
    return failed_outcome("Offset " + std::to_string(start_)
                          + " is beyond the end of the file, which has "
                          + lines_text(total) + ".");
  if (has_nul_)
    return failed_outcome(
      "The file is not text (it contains NUL bytes). Look at it with bash, for "
      "example with file, od or a converter.");
  truncation record;
  record.truncated_by = closed_;
  record.total_lines = selected_lines_;
  record.total_bytes = selected_bytes_;
  record.output_lines = kept_lines_;
  record.output_bytes = kept_.size();
  record.first_line_exceeds_limit =
    closed_ != cut_by::nothing && kept_lines_ == 0;
  if (record.first_line_exceeds_limit) {
    auto result = slice_outcome();
    boost::json::object details;
    details["truncation"] = to_json(record);
    result.details = json_text{json::print(details)};
    return result;
  }
  auto text = text::sanitize_utf8(kept_);
  auto last = start_ + kept_lines_ - 1;
  auto next = std::to_string(last + 1);
  if (record.truncated()) {
    text += "\n\n[Showing lines " + std::to_string(start_) + "-"
            + std::to_string(last) + " of " + std::to_string(total);
    if (record.truncated_by == cut_by::bytes)
      text += " (" + size_text(bounds_.bytes) + " limit)";
    text += ". Use offset=" + next + " to continue.]";
  } else if (last < total) {
    text += "\n\n[" + std::to_string(total - last)
            + (total - last == 1 ? " more line" : " more lines")
            + " in the file. Use offset=" + next + " to continue.]";
  } else if (kept_.empty()) {
    text = total == 1 ? "(empty file)" : "(empty line)";
  }
  auto result = text_outcome(std::move(text));
  if (record.truncated()) {
    boost::json::object details;
    details["truncation"] = to_json(record);
    result.details = json_text{json::print(details)};
  }
  return result;
}

tool_outcome text_scan::slice_outcome() const {
  auto begin = std::min(byte_offset_, first_line_bytes_);
  auto shown = cut_at_character(slice_, bounds_.bytes);
  auto end = begin + shown.size();
  auto text = text::sanitize_utf8(shown);
  text += "\n\n[Line " + std::to_string(start_) + " is "
          + size_text(first_line_bytes_) + ", above the "
          + size_text(bounds_.bytes) + " limit. Showing its bytes "
          + std::to_string(begin) + "-" + std::to_string(end) + " of "
          + std::to_string(first_line_bytes_) + ". ";
  if (end < first_line_bytes_)
    text += "Use offset=" + std::to_string(start_)
            + " and byteOffset=" + std::to_string(end) + " to continue.]";
  else
    text += "The end of the line is reached.]";
  return text_outcome(std::move(text));
}

} // namespace bureau::harness
