#include "actors/artifacts/artifact_index_core.hpp"

#include "messages/contracts/identity.hpp"
#include "messages/text/harmless.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau::artifacts {

namespace {

constexpr size_t name_bytes = 180;
constexpr size_t media_type_bytes = 120;
/// Lines of forgotten files that are left in the file.
constexpr size_t tolerated_lines = 64;

constexpr const char* any_media_type = "application/octet-stream";

bool is_type_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9')
         || std::string_view{"!#$&-^_.+/;= "}.find(c) != std::string_view::npos;
}

bool is_same_office(std::string_view one, std::string_view other) {
  auto left = contracts::parse_contract_id(one);
  auto right = contracts::parse_contract_id(other);
  return left && right && left->address == right->address;
}

} // namespace

namespace {

/// Whether a character makes text run the other way: `exe.txt` could look like
/// `txt.exe`.
bool turns_text(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F
         || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string without_turns(std::string_view valid) {
  std::string result;
  for (size_t at = 0; at < valid.size();) {
    auto next = text::decode_at(valid, at);
    if (turns_text(next.code_point))
      text::append_code_point(result, 0xFFFD);
    else
      result.append(valid, at, next.bytes);
    at += next.bytes;
  }
  return result;
}

} // namespace

std::string display_name(std::string_view name) {
  auto slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  auto safe = without_turns(text::harmless(name));
  std::replace(safe.begin(), safe.end(), '\t', ' ');
  std::string result{text::prefix_bytes(text::trim(safe), name_bytes)};
  return result.empty() || result == "." || result == ".." ? "file" : result;
}

std::string media_type_of(std::string_view text) {
  auto slash = text.find('/');
  auto fine = slash != std::string_view::npos && slash > 0
              && slash + 1 < text.size() && text.size() <= media_type_bytes
              && std::all_of(text.begin(), text.end(), is_type_character);
  return fine ? std::string{text} : any_media_type;
}

std::string directory_of(std::string_view digest) {
  return "sha256/" + std::string{digest.substr(0, 2)};
}

std::string path_of(std::string_view digest) {
  return directory_of(digest) + "/" + std::string{digest};
}

contracts::attachment_part part_of(const artifact_record& record) {
  contracts::attachment_part part;
  part.id = record.id;
  part.artifact_id = record.id;
  part.name = record.name;
  part.media_type = record.media_type;
  part.size_bytes = record.size_bytes;
  part.integrity_id = record.integrity_id;
  part.expires_at = text::iso_utc(record.expires_ms);
  return part;
}

void artifact_index::load(std::string_view text) {
  auto contents = read_artifacts(text);
  lines_ = contents.records.size() + contents.unread.size();
  for (auto& record : contents.records)
    add(std::move(record));
  unread_ = std::move(contents.unread);
}

void artifact_index::add(artifact_record record) {
  forget(record.id);
  ++digests_[std::string{digest_of(record.integrity_id)}];
  auto id = record.id;
  records_.emplace(std::move(id), std::move(record));
}

void artifact_index::forget(const std::string& id) {
  auto found = records_.find(id);
  if (found == records_.end())
    return;
  auto users = digests_.find(digest_of(found->second.integrity_id));
  if (--users->second == 0)
    digests_.erase(users);
  records_.erase(found);
}

const artifact_record* artifact_index::find(std::string_view id) const {
  auto found = records_.find(id);
  return found == records_.end() ? nullptr : &found->second;
}

std::optional<contracts::part_failure_code> artifact_index::refusal(
  const contracts::artifact_open_request& request, int64_t now_ms) const {
  using enum contracts::part_failure_code;
  auto record = find(request.artifact_id);
  // Nobody learns what another conversation has.
  if (record == nullptr
      || !is_same_office(record->conversation_id, request.conversation_id))
    return artifact_missing;
  if (record->expires_ms <= now_ms)
    return artifact_expired;
  if (request.expected_integrity_id
      && *request.expected_integrity_id != record->integrity_id)
    return artifact_integrity_failed;
  return std::nullopt;
}

bool artifact_index::needs(std::string_view digest) const {
  return digests_.contains(digest);
}

artifact_index::expiry artifact_index::expired(
  int64_t now_ms, const std::set<std::string>& in_use) const {
  expiry result;
  std::map<std::string, size_t, std::less<>> leaving;
  for (const auto& [id, record] : records_) {
    std::string digest{digest_of(record.integrity_id)};
    if (record.expires_ms > now_ms || in_use.contains(digest))
      continue;
    result.ids.push_back(id);
    ++leaving[digest];
  }
  for (const auto& [digest, count] : leaving)
    if (digests_.find(digest)->second == count)
      result.digests.push_back(digest);
  return result;
}

std::string
artifact_index::print(const std::vector<artifact_record>& more) const {
  std::string out;
  for (const auto& line : unread_)
    out += line + "\n";
  for (const auto& [id, record] : records_)
    out += print_artifact_line(record);
  for (const auto& record : more)
    out += print_artifact_line(record);
  return out;
}

bool artifact_index::should_rewrite() const {
  auto live = records_.size() + unread_.size();
  return lines_ > live + tolerated_lines || (live == 0 && lines_ > 0);
}

} // namespace bureau::artifacts
