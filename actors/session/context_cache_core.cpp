#include "actors/session/context_cache_core.hpp"

#include "messages/codec/message_json.hpp"
#include "messages/limits.hpp"
#include "messages/text/time_text.hpp"

#include <utility>

namespace bureau::session {

namespace {

/// Messages that most turns stay below.
constexpr size_t turn_headroom = 64;

} // namespace

session_context context_cache::context(const session_tree& tree) {
  if (tree.disk_size() > context_cache_bytes) {
    clear();
    return tree.context();
  }
  if (!known_ || !extend(tree))
    known_ = tree.context();
  covered_ = tree.nodes().size();
  // Room for what the turn will add: growing would move all of it once more.
  session_context result;
  result.messages.reserve(known_->messages.size() + turn_headroom);
  result = *known_;
  return result;
}

void context_cache::clear() {
  known_.reset();
  covered_ = 0;
}

bool context_cache::extend(const session_tree& tree) {
  const auto& nodes = tree.nodes();
  auto leaf =
    known_->leaf.empty() ? session_tree::none : tree.find(known_->leaf);
  for (auto i = covered_; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (node.parent != leaf)
      return false;
    auto fits = node.type == record_type::custom
                || (node.type == record_type::message && add_message(node));
    if (!fits)
      return false;
    leaf = static_cast<uint32_t>(i);
  }
  known_->leaf =
    leaf == session_tree::none ? std::string_view{} : nodes[leaf].id;
  known_->handled_messages = tree.handled_messages(limits::handled_messages);
  return known_->leaf == tree.leaf();
}

bool context_cache::add_message(const session_node& node) {
  auto line = json::parse(node.line);
  auto entry = line ? line.value.if_object() : nullptr;
  auto stored = entry != nullptr ? json::member(*entry, "message") : nullptr;
  auto message = stored != nullptr ? parse_message(*stored) : std::nullopt;
  if (!message)
    return false;
  if (message->timestamp_ms == 0)
    message->timestamp_ms =
      text::parse_iso(json::text_or_empty(*entry, "timestamp")).value_or(0);
  // The last model that answered is the model of the session.
  auto named = !message->provider.empty() || !message->model.empty();
  if (node.role == entry_role::assistant && !node.from_history && named) {
    known_->provider = message->provider;
    known_->model = message->model;
  }
  known_->messages.push_back(std::move(*message));
  known_->entry_ids.emplace_back(node.id);
  return true;
}

} // namespace bureau::session
