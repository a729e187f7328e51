#include "messages/codec/session_tree.hpp"

#include "messages/codec/json_line.hpp"
#include "messages/codec/session_loader.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace bureau {

namespace {

session_node::mark mark_of(const scanned_line& facts) {
  if (facts.type != record_type::custom)
    return session_node::mark::none;
  if (facts.custom_type == chat_sync_type)
    return session_node::mark::chat_sync;
  return facts.custom_type == run_cause_type ? session_node::mark::run_cause
                                             : session_node::mark::none;
}

std::string first_kept_of(const json_text& fields) {
  auto parsed = json::parse(fields.text);
  auto object = parsed ? parsed.value.if_object() : nullptr;
  return object != nullptr ? json::text_or_empty(*object, "firstKeptEntryId")
                           : std::string{};
}

} // namespace

std::string describe(const session_fault& fault, std::string_view path) {
  auto result = "Session file is corrupted (" + fault.what;
  if (fault.line != 0)
    result += ", line " + std::to_string(fault.line);
  result += "): ";
  result += path;
  result += ". Refusing to open for writing; repair the file, or start a new "
            "session with /new.";
  return result;
}

session_tree session_tree::create(session_header header) {
  session_tree result;
  header.version = session_version;
  result.header_line_ = print_session_header(header);
  result.header_ = std::move(header);
  return result;
}

session_tree::opened session_tree::open(std::string text,
                                        const session_origin& origin,
                                        mode how) {
  return loader{std::move(text), origin, how}.run();
}

// -- ids ----------------------------------------------------------------------

void session_tree::id_index::reserve(size_t count,
                                     const std::vector<session_node>& nodes) {
  constexpr size_t least = 16;
  auto size = std::bit_ceil(std::max(count * 2, least));
  if (size <= slots_.size())
    return;
  slots_.assign(size, none);
  for (uint32_t node = 0; node < nodes.size(); ++node)
    put(node, nodes);
}

uint32_t session_tree::id_index::find(
  std::string_view id, const std::vector<session_node>& nodes) const {
  return slots_.empty() ? none : slots_[place_of(id, nodes)];
}

void session_tree::id_index::add_last(const std::vector<session_node>& nodes) {
  if (nodes.size() * 2 > slots_.size())
    return reserve(nodes.size(), nodes);
  put(static_cast<uint32_t>(nodes.size() - 1), nodes);
}

void session_tree::id_index::put(uint32_t node,
                                 const std::vector<session_node>& nodes) {
  slots_[place_of(nodes[node].id, nodes)] = node;
}

/// Slot that holds the id, or the free one that it would go to.
size_t session_tree::id_index::place_of(
  std::string_view id, const std::vector<session_node>& nodes) const {
  auto mask = slots_.size() - 1;
  auto place = std::hash<std::string_view>{}(id)&mask;
  while (slots_[place] != none && nodes[slots_[place]].id != id)
    place = (place + 1) & mask;
  return place;
}

// -- facts --------------------------------------------------------------------

uint32_t session_tree::find(std::string_view id) const {
  return index_.find(id, nodes_);
}

std::string_view session_tree::leaf() const {
  return leaf_ != none ? nodes_[leaf_].id : std::string_view{};
}

bool session_tree::can_be_leaf(std::string_view id) const {
  auto node = find(id);
  return node != none && nodes_[node].type != record_type::leaf;
}

bool session_tree::select(std::string_view id) {
  if (!id.empty() && !can_be_leaf(id))
    return false;
  leaf_ = id.empty() ? none : find(id);
  return true;
}

std::string_view session_tree::own(std::string_view text,
                                   std::string_view line) {
  auto inside = std::less_equal<>{}(line.data(), text.data())
                && std::less_equal<>{}(text.data() + text.size(),
                                       line.data() + line.size());
  return inside || text.empty() ? text : added_.emplace_back(text);
}

uint32_t session_tree::add(std::string_view line, const scanned_line& facts) {
  session_node node;
  node.line = line;
  node.id = own(*facts.id, line);
  node.parent = none;
  node.type = facts.type;
  node.role =
    facts.type == record_type::message ? facts.role : entry_role::none;
  node.custom = mark_of(facts);
  node.from_history = facts.from_history;
  auto position = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(node);
  index_.add_last(nodes_);
  return position;
}

// -- writing ------------------------------------------------------------------

std::string session_tree::fresh_id(
  entropy& chance, const std::vector<std::string>& taken) const {
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto id = random_hex(chance, 8);
    if (find(id) == none
        && std::find(taken.begin(), taken.end(), id) == taken.end())
      return id;
  }
  return random_uuid(chance);
}

bool session_tree::is_ancestor(uint32_t ancestor, uint32_t node) const {
  while (node != none && node != ancestor)
    node = nodes_[node].parent;
  return node != none;
}

session_fault session_tree::check_entry(
  const session_entry& entry, const std::vector<std::string>& planned) const {
  auto refuse = [](std::string what) {
    return session_fault{errc::bad_request, std::move(what), 0};
  };
  if (!entry.fields.empty()) {
    auto parsed = json::parse(entry.fields.text);
    if (!parsed || !parsed.value.is_object())
      return refuse("the fields of a session entry are no JSON object");
  }
  if (entry.kind != entry_kind::compaction)
    return {};
  // A file with a compaction that keeps nothing known could not be opened
  // again, so it must not be written.
  auto kept = first_kept_of(entry.fields);
  if (std::find(planned.begin(), planned.end(), kept) != planned.end())
    return {};
  auto node = find(kept);
  if (node == none || nodes_[node].type == record_type::leaf
      || !is_ancestor(node, leaf_))
    return refuse("the first kept entry of a compaction is not in the branch");
  return {};
}

append_plan session_tree::plan_append(const std::vector<session_entry>& entries,
                                      int64_t now_ms, entropy& chance) const {
  append_plan plan;
  auto parent = std::string{leaf()};
  for (const auto& entry : entries) {
    plan.fault = check_entry(entry, plan.ids);
    if (plan.fault.code != errc::none)
      return plan;
    auto id = fresh_id(chance, plan.ids);
    plan.bytes += print_session_entry(entry, id, parent, now_ms);
    plan.bytes += '\n';
    parent = id;
    plan.ids.push_back(std::move(id));
  }
  return plan;
}

append_plan session_tree::plan_leaf(std::string_view target, int64_t now_ms,
                                    entropy& chance) const {
  append_plan plan;
  if (!target.empty() && !can_be_leaf(target)) {
    plan.fault = {errc::bad_request,
                  "the entry that should become the leaf does not exist", 0};
    return plan;
  }
  plan.ids.push_back(fresh_id(chance, {}));
  plan.bytes = print_leaf(target, plan.ids.front(), leaf(), now_ms) + '\n';
  return plan;
}

append_plan session_tree::plan_branch(std::string_view target,
                                      const json_text& summary, int64_t now_ms,
                                      entropy& chance) const {
  auto plan = plan_leaf(target, now_ms, chance);
  if (summary.empty() || plan.fault.code != errc::none)
    return plan;
  auto parsed = json::parse(summary.text);
  auto members = parsed ? parsed.value.if_object() : nullptr;
  if (members == nullptr) {
    plan.fault = {errc::bad_request,
                  "the summary of a branch is no JSON object", 0};
    return plan;
  }
  (*members)["fromId"] = target.empty() ? "root" : std::string{target};
  session_entry entry;
  entry.kind = entry_kind::branch_summary;
  entry.fields.text = json::print(parsed.value);
  auto id = fresh_id(chance, plan.ids);
  plan.bytes += print_session_entry(entry, id, target, now_ms) + '\n';
  plan.ids.push_back(std::move(id));
  return plan;
}

std::string session_tree::rewritten(const append_plan& plan) const {
  auto size = header_line_.size() + plan.bytes.size() + 1;
  for (const auto& node : nodes_)
    size += node.line.size() + 1;
  std::string result;
  result.reserve(size);
  result += header_line_;
  result += '\n';
  for (const auto& node : nodes_) {
    result += node.line;
    result += '\n';
  }
  result += plan.bytes;
  return result;
}

void session_tree::commit(const append_plan& plan) {
  disk_size_ += plan.bytes.size();
  take_lines(plan.bytes);
}

void session_tree::commit_rewritten(const append_plan& plan) {
  take_lines(plan.bytes);
  disk_size_ = header_line_.size() + 1;
  for (const auto& node : nodes_)
    disk_size_ += node.line.size() + 1;
  header_.version = session_version;
  on_disk_ = true;
  rewrite_ = false;
  torn_tail_.clear();
}

void session_tree::take_lines(const std::string& bytes) {
  if (bytes.empty())
    return;
  auto text = std::string_view{added_.emplace_back(bytes)};
  line_scanner scanner;
  while (!text.empty()) {
    auto end = text.find('\n');
    auto line = text.substr(0, end);
    text =
      end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const auto& facts = scanner.scan(line);
    if (!facts.id)
      continue;
    auto node = add(line, facts);
    if (facts.parent == scanned_line::link::text)
      nodes_[node].parent = find(facts.parent_id);
    if (facts.type != record_type::leaf)
      leaf_ = node;
    else
      leaf_ =
        facts.target == scanned_line::link::text ? find(facts.target_id) : none;
  }
}

// -- causes -------------------------------------------------------------------

std::vector<std::string> session_tree::handled_messages(size_t limit) const {
  std::vector<std::string> result;
  auto admitted = false;
  auto beside_cause = false;
  json::line_reader reader;
  for (auto i = nodes_.size(); i-- > 0;) {
    const auto& node = nodes_[i];
    if (node.custom == session_node::mark::run_cause) {
      // Causes directly behind each other share the prompt that follows.
      beside_cause = true;
      if (admitted)
        reader.read(node.line, [&](const json::bj::object& entry) {
          auto data = json::member(entry, "data");
          auto fields = data != nullptr ? data->if_object() : nullptr;
          if (fields != nullptr)
            result.push_back(json::text_or_empty(*fields, "messageId"));
        });
      if (limit != 0 && result.size() == limit)
        break;
      continue;
    }
    if (std::exchange(beside_cause, false))
      admitted = false;
    if (node.role == entry_role::user)
      admitted = true;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

cause_report session_tree::cause_of(std::string_view message_id) const {
  cause_report report;
  auto open = false;
  auto beside_cause = false;
  json::line_reader reader;
  for (const auto& node : nodes_) {
    if (node.custom == session_node::mark::run_cause) {
      auto mine = false;
      reader.read(node.line, [&](const json::bj::object& entry) {
        auto data = json::member(entry, "data");
        auto fields = data != nullptr ? data->if_object() : nullptr;
        mine = fields != nullptr
               && json::text_or_empty(*fields, "messageId") == message_id;
      });
      // A later prompt's cause closes the group, but not for what came after.
      open = mine || (open && beside_cause);
      report.recorded = report.recorded || mine;
      beside_cause = true;
      continue;
    }
    beside_cause = false;
    if (!report.recorded)
      continue;
    if (open && node.role == entry_role::user)
      report.admitted = true;
    if ((node.role == entry_role::assistant && !node.from_history)
        || node.role == entry_role::tool_result)
      report.worked = true;
  }
  return report;
}

} // namespace bureau
