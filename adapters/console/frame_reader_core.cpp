#include "adapters/console/frame_reader_core.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/contracts/reply_parts.hpp"
#include "messages/errc.hpp"
#include "messages/text/harmless.hpp"

#include <algorithm>
#include <utility>

namespace bureau::console {

namespace {

/// Message that a frame belongs to; empty: it says none.
std::string message_of(const contracts::stream_frame& frame) {
  auto metadata = json::parse(frame.metadata.text);
  auto record = metadata ? metadata.value.if_object() : nullptr;
  return record == nullptr ? std::string{}
                           : json::text_or_empty(*record, "messageId");
}

/// Text for a terminal, line by line.
std::string shown(std::string_view text) {
  std::string result;
  for (size_t at = 0; at <= text.size();) {
    auto end = std::min(text.find('\n', at), text.size());
    result += text::harmless(text.substr(at, end - at));
    result += '\n';
    at = end + 1;
  }
  return result;
}

} // namespace

std::string frame_reader::feed(std::string_view bytes) {
  std::string result;
  for (auto end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
    partial_ += bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    result += take(partial_);
    partial_.clear();
  }
  // What is too long is refused with its end; it need not be kept until then.
  if (partial_.size() <= contracts::frame_read_bytes)
    partial_ += bytes;
  return result;
}

std::string frame_reader::take(std::string_view line) {
  if (line.empty())
    return {};
  caf::expected<contracts::parsed_object> parsed =
    make_failure(errc::too_large, "invalid_frame: the line is too long");
  if (line.size() <= contracts::frame_read_bytes)
    parsed = contracts::parse_frame(line);
  if (!parsed) {
    failed_ = true;
    return shown(sentence_of(parsed.error()));
  }
  auto frame = contracts::read_frame(*parsed);
  auto id = message_of(frame);
  if (frame.kind == contracts::frame_kind::status) {
    open_[id];
    return "· " + shown(frame.text.value_or(std::string{}));
  }
  if (contracts::feed_frame(frame, open_[id]))
    return {};
  if (frame.kind != contracts::frame_kind::unknown)
    return end_of(id, frame);
  if (open_[id].text().empty())
    open_.erase(id);
  return {};
}

std::string frame_reader::end_of(const std::string& id,
                                 const contracts::stream_frame& frame) {
  auto text = frame.text ? *frame.text : open_[id].text();
  open_.erase(id);
  if (frame.kind == contracts::frame_kind::error) {
    failed_ = true;
    return shown("error: " + text);
  }
  auto whole = contracts::append_reply_part_fallback(text, frame.parts)
                 .value_or(std::string{});
  return whole.empty() ? std::string{} : shown(whole);
}

std::string frame_reader::finish() {
  std::string result;
  if (!partial_.empty())
    result += take(std::exchange(partial_, {}));
  for (const auto& [id, text] : std::exchange(open_, {})) {
    failed_ = true;
    if (!text.text().empty())
      result += shown(text.text());
    result += shown("error: the stream ended before the turn did"
                    + (id.empty() ? std::string{} : " (" + id + ')'));
  }
  return result;
}

} // namespace bureau::console
