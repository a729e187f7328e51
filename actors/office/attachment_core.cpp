#include "actors/office/attachment_core.hpp"

#include "messages/limits.hpp"
#include "messages/text/utf8.hpp"

#include <unordered_set>

namespace bureau::offices {

namespace {

bool is_kept(char32_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
         || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/// Cuts the stem and keeps the extension, unless that is most of the name.
std::string shortened(const std::string& name) {
  constexpr size_t cap = limits::attachment_name_bytes;
  if (name.size() <= cap)
    return name;
  auto dot = name.rfind('.');
  auto extension = dot == std::string::npos ? std::string{} : name.substr(dot);
  if (extension.size() > cap / 2)
    extension.clear();
  return name.substr(0, cap - extension.size()) + extension;
}

std::string numbered(const std::string& file, size_t number) {
  auto mark = "-" + std::to_string(number);
  auto dot = file.rfind('.');
  if (dot == std::string::npos)
    return file + mark;
  return file.substr(0, dot) + mark + file.substr(dot);
}

} // namespace

std::string sanitise_attachment_name(std::string_view name) {
  std::string result;
  for (size_t pos = 0; pos < name.size();) {
    auto next = text::decode_at(name, pos);
    if (is_kept(next.code_point))
      result += static_cast<char>(next.code_point);
    else
      result.append(next.code_point > 0xFFFF ? 2u : 1u, '_');
    pos += next.bytes;
  }
  return shortened(result);
}

std::vector<planned_attachment> plan_attachments(
  std::string_view office_key, const std::vector<incoming_attachment>& items,
  int64_t now_ms, const std::function<bool(const std::string&)>& exists) {
  std::vector<planned_attachment> result;
  std::unordered_set<std::string> taken;
  auto is_taken = [&](const std::string& file) {
    return taken.count(file) != 0 || (exists && exists(file));
  };
  for (const auto& item : items) {
    auto wanted = std::to_string(item.timestamp_ms.value_or(now_ms)) + "_"
                  + sanitise_attachment_name(item.name);
    auto file = wanted;
    for (size_t number = 2; is_taken(file); ++number)
      file = numbered(wanted, number);
    taken.insert(file);
    planned_attachment planned;
    planned.original = item.name;
    planned.local_path = std::string{office_key} + "/attachments/" + file;
    planned.staging = "." + file + ".part";
    planned.file = std::move(file);
    result.push_back(std::move(planned));
  }
  return result;
}

attachment_report
report_attachments(const std::vector<planned_attachment>& plan,
                   const std::vector<download_result>& outcomes) {
  attachment_report result;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (i < outcomes.size() && outcomes[i].ok)
      result.saved.push_back({plan[i].original, plan[i].local_path});
    else
      result.failed.push_back(
        {plan[i].original,
         i < outcomes.size() ? outcomes[i].error : "the download never ended"});
  }
  return result;
}

attachment_report save_attachments(
  std::string_view office_key, const std::vector<attachment_source>& sources,
  int64_t now_ms, const std::function<bool(const std::string&)>& exists) {
  std::vector<incoming_attachment> items;
  for (const auto& source : sources)
    items.push_back(source.item);
  auto plan = plan_attachments(office_key, items, now_ms, exists);
  std::vector<download_result> outcomes;
  for (size_t i = 0; i < plan.size(); ++i)
    outcomes.push_back(sources[i].download(plan[i]));
  return report_attachments(plan, outcomes);
}

} // namespace bureau::offices
