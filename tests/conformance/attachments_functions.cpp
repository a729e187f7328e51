#include "actors/office/attachment_core.hpp"
#include "messages/codec/json_support.hpp"
#include "tests/conformance/functions.hpp"

namespace bureau::conformance {

namespace {

/// `saveIncomingAttachments(officeKey, items)`; an item `{name, timestampMs,
/// fails?, afterMs?}` says how its download ends. When it ends changes nothing.
outcome save_case(const bj::array& args) {
  std::vector<offices::attachment_source> sources;
  for (const auto& element : argument(args, 1).as_array()) {
    const auto& item = element.as_object();
    offices::attachment_source source;
    source.item.name = json::text_or_empty(item, "name");
    source.item.timestamp_ms = json::int_member(item, "timestampMs");
    auto error = json::string_member(item, "fails");
    source.download = [error](const offices::planned_attachment&) {
      return offices::download_result{!error, error.value_or("")};
    };
    sources.push_back(std::move(source));
  }
  auto report =
    offices::save_attachments(text_of(argument(args, 0)), sources, 0);
  bj::array saved;
  for (const auto& item : report.saved)
    saved.push_back(
      bj::object{{"original", item.original}, {"localPath", item.local_path}});
  bj::array failed;
  for (const auto& item : report.failed)
    failed.emplace_back(item.name); // the cases list the names alone
  return answer(
    bj::object{{"saved", std::move(saved)}, {"failed", std::move(failed)}});
}

const registration save{"saveIncomingAttachments", save_case};

} // namespace

} // namespace bureau::conformance
