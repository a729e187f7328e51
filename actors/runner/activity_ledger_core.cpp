#include "actors/runner/activity_ledger_core.hpp"

#include "actors/delivery/stream_end_core.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/contracts/activity_line.hpp"
#include "messages/contracts/subagent_outcome.hpp"
#include "messages/contracts/tool_names.hpp"
#include "messages/contracts/wire_json.hpp"

#include <boost/json/object.hpp>

#include <utility>

namespace bureau::runner {

namespace bj = boost::json;

namespace {

constexpr std::string_view child_indent = "  ↳ ";

/// What the metadata of an event say about its origin.
struct origin_marks {
  /// Empty: the agent itself.
  std::string subagent;
  std::string subagent_name;
  /// The event is about the subagent, not about a tool of it.
  bool lifecycle = false;
  bool steering = false;
};

bool is_set(const bj::object& object, std::string_view name) {
  return json::bool_member(object, name).value_or(false);
}

origin_marks marks_of(const contracts::stream_event& event) {
  origin_marks result;
  auto parsed = json::parse(event.metadata.text);
  auto metadata = parsed ? parsed.value.if_object() : nullptr;
  if (metadata == nullptr)
    return result;
  result.steering =
    is_set(*metadata, "liveInput") && is_set(*metadata, "synthetic");
  result.lifecycle = is_set(*metadata, "subagentLifecycle");
  auto member = json::member(*metadata, "subagent");
  auto subagent = member != nullptr ? member->if_object() : nullptr;
  if (subagent == nullptr)
    return result;
  result.subagent = delivery::trimmed(json::text_or_empty(*subagent, "id"));
  result.subagent_name =
    delivery::trimmed(json::text_or_empty(*subagent, "name"));
  if (result.subagent_name.empty())
    result.subagent_name = "subagent";
  return result;
}

bool is_launch(const contracts::stream_event& event) {
  return event.name && contracts::is_subagent_launch_tool_name(*event.name);
}

std::string launched_name(const contracts::stream_event& event) {
  auto arguments = json::parse(event.arguments.text);
  auto object = arguments ? arguments.value.if_object() : nullptr;
  std::string name;
  if (object != nullptr)
    name = delivery::trimmed(json::text_or_empty(*object, "name"));
  return name.empty() ? "general-purpose" : name;
}

std::string line_of(const contracts::stream_event& event,
                    const contracts::path_roots& roots) {
  auto arguments = json::parse(event.arguments.text);
  return contracts::format_tool_activity_line(event.name.value_or(""),
                                              arguments.value, roots);
}

/// "999ms", "1.3s"; halves are rounded up.
std::string duration_text(int64_t us) {
  constexpr int64_t us_per_ms = 1000;
  constexpr int64_t us_per_tenth = 100'000;
  constexpr int64_t us_per_second = 1'000'000;
  if (us < 0)
    return "0s";
  if (us < us_per_second)
    return std::to_string((us + us_per_ms / 2) / us_per_ms) + "ms";
  auto tenths = us / us_per_tenth + (us % us_per_tenth >= us_per_tenth / 2);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
}

} // namespace

bool is_steering(const contracts::stream_event& event) {
  return event.kind == contracts::stream_event_kind::tool_call_started
         && marks_of(event).steering;
}

void activity_ledger::add_line(std::string text) {
  auto last = entries_.empty() ? nullptr : std::get_if<line>(&entries_.back());
  if (last != nullptr && last->text == text)
    ++last->count;
  else
    entries_.push_back(line{std::move(text)});
  bound();
}

bool activity_ledger::tool_started(const contracts::stream_event& event) {
  auto marks = marks_of(event);
  if (marks.steering) {
    add_line(event.name.value_or(""));
    return true;
  }
  if (marks.subagent.empty() && !is_launch(event)) {
    add_line(line_of(event, roots_));
    return true;
  }
  auto id = marks.subagent.empty() ? event.id : marks.subagent;
  if (settled_.contains(id))
    return false;
  auto& subject = ensure(id, marks.subagent.empty() ? launched_name(event)
                                                    : marks.subagent_name);
  if (!marks.subagent.empty() && !marks.lifecycle) {
    ++subject.calls;
    auto text = line_of(event, roots_);
    if (!subject.children.empty() && subject.children.back().text == text)
      ++subject.children.back().count;
    else
      subject.children.push_back({std::move(text)});
  }
  bound();
  return true;
}

bool activity_ledger::tool_completed(const contracts::stream_event& event) {
  auto marks = marks_of(event);
  std::string id;
  if (!marks.subagent.empty() && marks.lifecycle)
    id = marks.subagent;
  else if (marks.subagent.empty() && is_launch(event))
    id = event.id;
  else
    return false;
  remember_settled(id);
  if (auto subject = find(id)) {
    settle(*subject, event);
    bound();
  }
  return true;
}

void activity_ledger::settle(group& item,
                             const contracts::stream_event& event) {
  item.terminal = true;
  item.children.clear();
  if (event.is_error.value_or(false) && !item.is_error) {
    item.is_error = true;
    // What it came back with gives way to why it failed.
    item.detail.clear();
  }
  if (event.duration_us && !item.duration_us)
    item.duration_us = *event.duration_us;
  if (!item.detail.empty())
    return;
  auto content = json::parse(event.content.text);
  if (auto text = content ? content.value.if_string() : nullptr)
    item.detail = contracts::format_subagent_outcome_activity_line(
      *text, item.is_error, roots_);
}

activity_ledger::group* activity_ledger::find(const std::string& id) {
  for (auto& item : entries_)
    if (auto subject = std::get_if<group>(&item))
      if (subject->id == id)
        return subject;
  return nullptr;
}

activity_ledger::group& activity_ledger::ensure(const std::string& id,
                                                const std::string& name) {
  if (auto known = find(id))
    return *known;
  group fresh;
  fresh.id = id;
  fresh.header = contracts::format_tool_activity_line(
    "Agent", bj::object{{"name", name}}, roots_);
  fresh.name = contracts::preview_of(name, {}, roots_);
  return std::get<group>(entries_.emplace_back(std::move(fresh)));
}

void activity_ledger::remember_settled(const std::string& id) {
  if (!settled_.insert(id).second)
    return;
  settled_order_.push_back(id);
  if (settled_order_.size() <= ledger_settled)
    return;
  settled_.erase(settled_order_.front());
  settled_order_.pop_front();
}

// -- rendering ----------------------------------------------------------------

std::string activity_ledger::text_of(const line& item) {
  return item.count == 1 ? item.text
                         : item.text + " (×" + std::to_string(item.count) + ")";
}

std::string activity_ledger::header_of(const group& item) {
  if (!item.terminal)
    return item.header;
  std::string result = item.is_error ? "⚠️ Agent " : "🤖 Agent ";
  contracts::append_wire_text(result,
                              item.name.empty() ? "subagent" : item.name);
  if (item.is_error)
    result += " · failed";
  result += " · " + std::to_string(item.calls)
            + (item.calls == 1 ? " tool call" : " tool calls");
  if (item.duration_us)
    result += " · " + duration_text(*item.duration_us);
  return result;
}

std::string activity_ledger::text() const {
  std::string result;
  auto add = [&result](std::string_view indent, const std::string& text) {
    if (!result.empty())
      result += '\n';
    result += indent;
    result += text;
  };
  for (const auto& item : entries_) {
    if (auto plain = std::get_if<line>(&item)) {
      add("", text_of(*plain));
      continue;
    }
    const auto& subject = std::get<group>(item);
    add("", header_of(subject));
    for (const auto& child : subject.children)
      add(child_indent, text_of(child));
    if (!subject.detail.empty())
      add(child_indent, subject.detail);
  }
  return result;
}

// -- bound --------------------------------------------------------------------

size_t activity_ledger::rows_of(const entry& item) {
  auto subject = std::get_if<group>(&item);
  if (subject == nullptr)
    return 1;
  return 1 + subject->children.size() + (subject->detail.empty() ? 0 : 1);
}

void activity_ledger::bound() {
  size_t rows = 0;
  for (const auto& item : entries_)
    rows += rows_of(item);
  while (rows > ledger_lines) {
    auto oldest = std::get_if<group>(&entries_.front());
    if (oldest != nullptr && !oldest->children.empty()) {
      oldest->children.pop_front();
      --rows;
    } else {
      rows -= rows_of(entries_.front());
      entries_.pop_front();
    }
  }
}

} // namespace bureau::runner
