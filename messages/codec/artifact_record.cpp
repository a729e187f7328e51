#include "messages/codec/artifact_record.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau {

namespace {

namespace bj = boost::json;

constexpr int artifact_version = 1;
constexpr std::string_view hash_prefix = "sha256:";
constexpr size_t digest_digits = 64;
constexpr size_t id_digits = 32;

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits
         && std::all_of(text.begin(), text.end(), [](char c) {
              return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
            });
}

bj::string clean(std::string_view text) {
  return bj::string(text::sanitize_utf8(text));
}

} // namespace

bool is_integrity_id(std::string_view text) {
  return text.starts_with(hash_prefix)
         && is_hex(text.substr(hash_prefix.size()), digest_digits);
}

std::string_view digest_of(std::string_view integrity_id) {
  return integrity_id.substr(hash_prefix.size());
}

std::string print_artifact_line(const artifact_record& record) {
  bj::object line;
  line.emplace("v", artifact_version);
  line.emplace("id", record.id);
  line.emplace("conversationId", clean(record.conversation_id));
  if (!record.run.empty())
    line.emplace("run", clean(record.run));
  line.emplace("name", clean(record.name));
  line.emplace("mediaType", clean(record.media_type));
  line.emplace("sizeBytes", record.size_bytes);
  line.emplace("integrityId", record.integrity_id);
  line.emplace("expiresAt", text::iso_utc(record.expires_ms));
  return json::print(line) + "\n";
}

std::optional<artifact_record> parse_artifact_line(std::string_view line) {
  auto parsed = json::parse(line);
  if (!parsed || !parsed.value.is_object())
    return std::nullopt;
  const auto& object = parsed.value.get_object();
  if (json::int_member(object, "v") != artifact_version)
    return std::nullopt;
  artifact_record record;
  record.id = json::text_or_empty(object, "id");
  record.conversation_id = json::text_or_empty(object, "conversationId");
  record.run = json::text_or_empty(object, "run");
  record.name = json::text_or_empty(object, "name");
  record.media_type = json::text_or_empty(object, "mediaType");
  record.size_bytes = json::int_member(object, "sizeBytes").value_or(-1);
  record.integrity_id = json::text_or_empty(object, "integrityId");
  auto expires = text::parse_iso(json::text_or_empty(object, "expiresAt"));
  // The digest becomes a path: nothing but a digest may stand there.
  if (!is_hex(record.id, id_digits) || record.conversation_id.empty()
      || record.size_bytes < 0 || !is_integrity_id(record.integrity_id)
      || !expires)
    return std::nullopt;
  record.expires_ms = *expires;
  return record;
}

artifact_contents read_artifacts(std::string_view text) {
  artifact_contents result;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty())
      continue;
    if (auto record = parse_artifact_line(line))
      result.records.push_back(std::move(*record));
    else
      result.unread.emplace_back(line);
  }
  return result;
}

} // namespace bureau
