#include "messages/codec/session_tree.hpp"

#include "messages/codec/json_line.hpp"
#include "messages/codec/message_json.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau {

namespace {

using json::bj::object;

int64_t entry_time(const object& entry) {
  return text::parse_iso(json::text_or_empty(entry, "timestamp")).value_or(0);
}

std::optional<transcript_message> stored_message(const object& entry) {
  auto stored = json::member(entry, "message");
  auto message = stored != nullptr ? parse_message(*stored) : std::nullopt;
  if (message && message->timestamp_ms == 0)
    message->timestamp_ms = entry_time(entry);
  return message;
}

transcript_message custom_message(const object& entry) {
  transcript_message result;
  result.role = message_role::custom;
  result.custom_type = json::text_or_empty(entry, "customType");
  result.content = parse_content(json::member(entry, "content"));
  result.display = json::bool_member(entry, "display").value_or(false);
  if (auto details = json::member(entry, "details"))
    result.details = json_text{json::print(*details)};
  result.timestamp_ms = entry_time(entry);
  return result;
}

transcript_message compaction_message(const object& entry) {
  transcript_message result;
  result.role = message_role::compaction_summary;
  result.summary = json::text_or_empty(entry, "summary");
  result.tokens_before = json::int_member(entry, "tokensBefore").value_or(0);
  result.timestamp_ms = entry_time(entry);
  return result;
}

std::optional<transcript_message> branch_message(const object& entry) {
  transcript_message result;
  result.role = message_role::branch_summary;
  result.summary = json::text_or_empty(entry, "summary");
  if (result.summary.empty())
    return std::nullopt;
  result.from_id = json::text_or_empty(entry, "fromId");
  result.timestamp_ms = entry_time(entry);
  return result;
}

bool may_speak(record_type type) {
  return type == record_type::message || type == record_type::custom_message
         || type == record_type::compaction
         || type == record_type::branch_summary;
}

std::optional<transcript_message> message_of(record_type type,
                                             const object& entry) {
  switch (type) {
  case record_type::message:
    return stored_message(entry);
  case record_type::custom_message:
    return custom_message(entry);
  case record_type::compaction:
    return compaction_message(entry);
  case record_type::branch_summary:
    return branch_message(entry);
  default:
    return std::nullopt;
  }
}

/// Model, thinking level and tools at the end of a path: each is found by
/// walking back, so that usually few lines are read.
class state_search {
public:
  explicit state_search(session_context& result) : result_(result) {}

  void visit(const session_node& node) {
    switch (node.type) {
    case record_type::model_change:
      if (!have_model_)
        read(node, [this](const object& entry) {
          take_model(json::text_or_empty(entry, "provider"),
                     json::text_or_empty(entry, "modelId"));
        });
      break;
    case record_type::message:
      if (!have_model_ && node.role == entry_role::assistant
          && !node.from_history)
        read(node, [this](const object& entry) {
          auto stored = json::member(entry, "message");
          auto fields = stored != nullptr ? stored->if_object() : nullptr;
          if (fields != nullptr)
            take_model(json::text_or_empty(*fields, "provider"),
                       json::text_or_empty(*fields, "model"));
        });
      break;
    case record_type::thinking_level_change:
      if (!have_level_)
        read(node, [this](const object& entry) {
          auto level = json::text_or_empty(entry, "thinkingLevel");
          have_level_ = !level.empty();
          if (have_level_)
            result_.thinking_level = std::move(level);
        });
      break;
    case record_type::active_tools_change:
      if (!have_tools_)
        read(node, [this](const object& entry) { take_tools(entry); });
      break;
    default:
      break;
    }
  }

private:
  template <class Visit>
  void read(const session_node& node, Visit visit) {
    reader_.read(node.line, visit);
  }

  void take_model(std::string provider, std::string model) {
    have_model_ = !provider.empty() || !model.empty();
    result_.provider = std::move(provider);
    result_.model = std::move(model);
  }

  void take_tools(const object& entry) {
    auto names = json::member(entry, "activeToolNames");
    if (names == nullptr || !names->is_array())
      return;
    have_tools_ = true;
    for (const auto& name : names->get_array())
      if (name.is_string())
        result_.active_tools.emplace_back(name.get_string());
  }

  session_context& result_;
  json::line_reader reader_;
  bool have_model_ = false;
  bool have_level_ = false;
  bool have_tools_ = false;
};

} // namespace

std::vector<uint32_t> session_tree::branch() const {
  return branch(leaf_);
}

std::vector<uint32_t> session_tree::branch(uint32_t from) const {
  std::vector<uint32_t> result;
  if (from == none || from >= nodes_.size()
      || nodes_[from].type == record_type::leaf)
    return result;
  for (auto node = from; node != none; node = nodes_[node].parent)
    result.push_back(node);
  std::reverse(result.begin(), result.end());
  return result;
}

session_context session_tree::context() const {
  session_context result;
  result.session_id = header_.id;
  result.leaf = leaf();
  auto path = branch();
  state_search state{result};
  for (auto i = path.size(); i-- > 0;)
    state.visit(nodes_[path[i]]);
  // The last compaction speaks first, then what it kept, then what followed.
  auto last = path.size();
  for (auto i = path.size(); i-- > 0 && last == path.size();)
    if (nodes_[path[i]].type == record_type::compaction)
      last = i;
  json::line_reader reader;
  auto emit = [&](const session_node& node) {
    if (!may_speak(node.type))
      return;
    reader.read(node.line, [&](const object& entry) {
      if (auto message = message_of(node.type, entry)) {
        result.messages.push_back(std::move(*message));
        result.entry_ids.emplace_back(node.id);
      }
    });
  };
  size_t begin = 0;
  if (last != path.size()) {
    const auto& compaction = nodes_[path[last]];
    std::string kept;
    reader.read(compaction.line, [&](const object& entry) {
      kept = json::text_or_empty(entry, "firstKeptEntryId");
    });
    emit(compaction);
    begin = last;
    for (size_t i = 0; i < last && begin == last; ++i)
      if (nodes_[path[i]].id == kept)
        begin = i;
  }
  // Messages are large values: growing step by step would copy them and leave
  // room for twice as many.
  auto count = result.messages.size();
  for (auto i = begin; i < path.size(); ++i)
    if (may_speak(nodes_[path[i]].type))
      ++count;
  result.messages.reserve(count);
  result.entry_ids.reserve(count);
  for (auto i = begin; i < path.size(); ++i)
    if (i != last)
      emit(nodes_[path[i]]);
  result.handled_messages = handled_messages(limits::handled_messages);
  return result;
}

std::string session_tree::name() const {
  json::line_reader reader;
  std::string result;
  for (auto i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].type != record_type::session_info)
      continue;
    reader.read(nodes_[i].line, [&](const object& entry) {
      result = text::trim(json::text_or_empty(entry, "name"));
    });
    break;
  }
  return result;
}

std::map<std::string, std::string> session_tree::labels() const {
  std::map<std::string, std::string> result;
  json::line_reader reader;
  for (const auto& node : nodes_) {
    if (node.type != record_type::label)
      continue;
    reader.read(node.line, [&](const object& entry) {
      auto target = json::text_or_empty(entry, "targetId");
      auto label = std::string{text::trim(json::text_or_empty(entry, "label"))};
      if (label.empty())
        result.erase(target);
      else
        result[target] = std::move(label);
    });
  }
  return result;
}

void session_tree::visit_custom(
  session_node::mark which,
  const std::function<void(uint32_t, const json::bj::object&)>& visit) const {
  json::line_reader reader;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].custom != which)
      continue;
    reader.read(nodes_[i].line, [&](const object& entry) {
      auto data = json::member(entry, "data");
      if (data != nullptr && data->is_object())
        visit(i, data->get_object());
    });
  }
}

void session_tree::visit_texts(
  const std::function<void(uint32_t, const std::string&)>& visit) const {
  json::line_reader reader;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    auto role = nodes_[i].role;
    if (role != entry_role::user && role != entry_role::assistant)
      continue;
    reader.read(nodes_[i].line, [&](const object& entry) {
      auto stored = json::member(entry, "message");
      auto message = stored != nullptr ? parse_message(*stored) : std::nullopt;
      if (message)
        visit(i, text_of(*message));
    });
  }
}

std::optional<int64_t> session_tree::time_of(uint32_t node) const {
  std::optional<int64_t> result;
  json::line_reader reader;
  reader.read(nodes_.at(node).line, [&](const object& entry) {
    result = text::parse_iso(json::text_or_empty(entry, "timestamp"));
  });
  return result;
}

} // namespace bureau
