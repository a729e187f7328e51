#include "messages/codec/session_loader.hpp"

#include "messages/text/time_text.hpp"

#include <algorithm>
#include <cstring>

namespace bureau {

namespace {

std::string_view without_space(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\v\f";
  auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos)
    return {};
  auto end = text.find_last_not_of(space);
  return text.substr(begin, end - begin + 1);
}

} // namespace

session_tree::loader::loader(std::string text, const session_origin& origin,
                             mode how)
  : origin_(origin), how_(how) {
  tree_.base_ = std::make_unique<const std::string>(std::move(text));
  tree_.disk_size_ = tree_.base_->size();
}

session_tree::opened session_tree::loader::run() {
  auto text = std::string_view{*tree_.base_};
  auto content = without_space(text);
  if (!content.empty()) {
    auto lines =
      static_cast<size_t>(std::count(content.begin(), content.end(), '\n') + 1);
    tree_.nodes_.reserve(lines);
    tree_.index_.reserve(lines, tree_.nodes_);
    pending_.reserve(lines);
  }
  auto end_of_content =
    content.empty()
      ? size_t{0}
      : static_cast<size_t>(content.data() - text.data()) + content.size();
  size_t number = 0;
  size_t pos = 0;
  while (pos < end_of_content) {
    ++number;
    auto end = text.find('\n', pos);
    if (end == std::string_view::npos)
      end = text.size();
    auto line = without_space(text.substr(pos, end - pos));
    auto last = end >= end_of_content;
    pos = end + 1;
    if (line.empty())
      continue;
    auto done = have_header_ ? read_record(line, number, last)
                             : read_header(line, number);
    if (!done)
      return {std::nullopt, fault_};
  }
  if (!tie_parents() || !tie_targets() || !check_cycles() || !check_kept())
    return {std::nullopt, fault_};
  if (content.empty()) {
    session_header fresh;
    if (origin_.chance != nullptr)
      fresh.id = random_uuid(*origin_.chance);
    fresh.timestamp = text::iso_utc(origin_.now_ms);
    fresh.cwd = origin_.cwd;
    auto size = tree_.disk_size_;
    tree_ = session_tree::create(std::move(fresh));
    tree_.disk_size_ = size;
  } else {
    tree_.on_disk_ = true;
    tree_.rewrite_ = tree_.rewrite_ || torn_ || text.back() != '\n';
  }
  return {std::move(tree_), {}};
}

bool session_tree::loader::fail(std::string what, size_t line) {
  fault_ = {errc::corrupt, std::move(what), line};
  return false;
}

bool session_tree::loader::read_header(std::string_view line, size_t number) {
  const auto& facts = scanner_.scan(line);
  if (!facts.is_object || !facts.typed)
    return strict() ? fail("the first line is no session header", number)
                    : (++tree_.skipped_, true);
  if (facts.type != record_type::header || !facts.id || facts.id->empty()) {
    if (strict())
      return fail("the first line is no session header with an id", number);
    have_header_ = true;
    return take_record(line, facts, number);
  }
  if (facts.version && *facts.version < 1)
    return fail("the version of the session is no positive integer", number);
  if (facts.version.value_or(1) > session_version)
    return fail("unsupported session version " + std::to_string(*facts.version)
                  + ", this program reads " + std::to_string(session_version),
                number);
  auto header = parse_session_header(line);
  if (!header)
    return fail("the session header cannot be read", number);
  have_header_ = true;
  tree_.header_ = std::move(*header);
  tree_.header_line_ = line;
  if (tree_.header_.version < session_version) {
    // The rest of the header is kept as it is, foreign members included.
    auto parsed = json::parse(line);
    parsed.value.get_object()["version"] = session_version;
    tree_.header_line_ = json::print(parsed.value);
    tree_.rewrite_ = true;
    given_.emplace_back();
  }
  return true;
}

bool session_tree::loader::read_record(std::string_view line, size_t number,
                                       bool last) {
  const auto* facts = &scanner_.scan(line);
  if (!facts->is_object || !facts->typed) {
    if (!strict()) {
      ++tree_.skipped_;
      return true;
    }
    if (!last)
      return fail("the line is no JSON object with a type", number);
    torn_ = true;
    tree_.torn_tail_ = line;
    return true;
  }
  if (tree_.header_.version < session_version) {
    line = migrated(line, *facts);
    facts = &scanner_.scan(line);
  }
  return take_record(line, *facts, number);
}

bool session_tree::loader::take_record(std::string_view line,
                                       const scanned_line& facts,
                                       size_t number) {
  auto refuse = [&](const char* what) {
    if (strict())
      return fail(what, number);
    ++tree_.skipped_;
    return true;
  };
  if (facts.type == record_type::header)
    return refuse("a second session header");
  if (!facts.id || facts.id->empty())
    return refuse("the entry has no id");
  if (tree_.find(*facts.id) != none)
    return refuse("the id of the entry was given before");
  auto node = tree_.add(line, facts);
  pending_record record;
  record.parent = facts.parent;
  record.parent_id = tree_.own(facts.parent_id, line);
  record.line = static_cast<uint32_t>(number);
  pending_.push_back(record);
  if (facts.type == record_type::leaf)
    targets_.push_back({node, facts.target, tree_.own(facts.target_id, line)});
  if (facts.type == record_type::compaction) {
    pending_kept kept{node, std::nullopt};
    if (facts.first_kept)
      kept.id = tree_.own(*facts.first_kept, line);
    kept_.push_back(kept);
  }
  return true;
}

std::string_view session_tree::loader::migrated(std::string_view line,
                                                const scanned_line& facts) {
  // Version 1 has no ids. A record that has one is left alone: then it is the
  // header that lost its version, and ids are what ties the file together.
  auto nameless =
    tree_.header_.version < 2 && (!facts.id || facts.parent == link::absent);
  if (!nameless && facts.id)
    given_.emplace_back(*facts.id);
  if (!nameless && !facts.hook_message)
    return line;
  auto parsed = json::parse(line);
  auto& object = parsed.value.get_object();
  if (nameless) {
    auto id = origin_.chance != nullptr ? tree_.fresh_id(*origin_.chance, {})
                                        : "v1-" + std::to_string(given_.size());
    auto kept = json::int_member(object, "firstKeptEntryIndex");
    if (kept && given_.size() > 1) {
      auto number = *kept >= 1 && static_cast<size_t>(*kept) < given_.size()
                      ? static_cast<size_t>(*kept)
                      : size_t{1};
      object["firstKeptEntryId"] = given_[number];
    }
    object.erase("firstKeptEntryIndex");
    object["id"] = id;
    if (given_.size() > 1)
      object["parentId"] = given_.back();
    else
      object["parentId"] = nullptr;
    given_.push_back(std::move(id));
  }
  if (facts.hook_message) {
    auto message = object.if_contains("message");
    if (message != nullptr && message->is_object())
      message->get_object()["role"] = "custom";
  }
  return tree_.added_.emplace_back(json::print(parsed.value));
}

bool session_tree::loader::tie_parents() {
  auto& nodes = tree_.nodes_;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const auto& record = pending_[i];
    auto refuse = [&](const char* what) {
      return strict() ? fail(what, record.line) : true;
    };
    nodes[i].parent = none;
    if (record.parent == link::null)
      continue;
    if (record.parent != link::text) {
      if (!refuse("parentId is neither null nor a string"))
        return false;
      continue;
    }
    // Nearly every entry hangs under the line before it.
    auto parent = i > 0 && nodes[i - 1].id == record.parent_id
                    ? i - 1
                    : tree_.find(record.parent_id);
    if (parent == i) {
      if (!refuse("the entry names itself as its parent"))
        return false;
    } else if (parent == none || nodes[parent].type == record_type::leaf) {
      if (!refuse("the parent of the entry does not exist"))
        return false;
    } else {
      nodes[i].parent = parent;
    }
  }
  return true;
}

bool session_tree::loader::tie_targets() {
  // Replays the file: every entry becomes the leaf, a leaf record names it.
  auto& nodes = tree_.nodes_;
  size_t next = 0;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].type != record_type::leaf) {
      tree_.leaf_ = i;
      continue;
    }
    const auto& target = targets_[next++];
    auto node = target.kind == link::text ? tree_.find(target.id) : none;
    if (target.kind == link::null) {
      tree_.leaf_ = none;
    } else if (node != none && nodes[node].type != record_type::leaf) {
      tree_.leaf_ = node;
    } else if (strict()) {
      return fail("the target of the leaf record does not exist",
                  pending_[i].line);
    }
  }
  return true;
}

bool session_tree::loader::has_forward_links() const {
  for (uint32_t i = 0; i < tree_.nodes_.size(); ++i) {
    auto parent = tree_.nodes_[i].parent;
    if (parent != none && parent > i)
      return true;
  }
  return false;
}

void session_tree::loader::measure(uint32_t node, uint32_t parent) {
  if (parent == none) {
    depth_[node] = 0;
    jump_[node] = node;
    return;
  }
  depth_[node] = depth_[parent] + 1;
  // Skew-binary jumps: as long as two jumps above are equal, join them.
  auto far = jump_[parent];
  auto farther = jump_[far];
  jump_[node] = depth_[parent] - depth_[far] == depth_[far] - depth_[farther]
                  ? farther
                  : parent;
}

bool session_tree::loader::check_cycles() {
  auto forward = has_forward_links();
  if (!forward && kept_.empty())
    return true;
  auto& nodes = tree_.nodes_;
  depth_.assign(nodes.size(), 0);
  jump_.assign(nodes.size(), 0);
  enum class state : uint8_t { fresh, open, done };
  std::vector<state> states(nodes.size(), state::fresh);
  std::vector<uint32_t> way;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    auto at = i;
    while (at != none && states[at] == state::fresh) {
      states[at] = state::open;
      way.push_back(at);
      at = nodes[at].parent;
    }
    if (at != none && states[at] == state::open) {
      if (strict())
        return fail("the parents of the entry form a circle",
                    pending_[at].line);
      nodes[way.back()].parent = none;
    }
    while (!way.empty()) {
      auto node = way.back();
      way.pop_back();
      measure(node, nodes[node].parent);
      states[node] = state::done;
    }
  }
  return true;
}

bool session_tree::loader::strict_ancestor(uint32_t ancestor,
                                           uint32_t node) const {
  if (depth_[ancestor] >= depth_[node])
    return false;
  while (depth_[node] > depth_[ancestor])
    node = depth_[jump_[node]] >= depth_[ancestor] ? jump_[node]
                                                   : tree_.nodes_[node].parent;
  return node == ancestor;
}

bool session_tree::loader::check_kept() {
  if (!strict())
    return true;
  for (const auto& kept : kept_) {
    auto line = pending_[kept.node].line;
    auto node = kept.id ? tree_.find(*kept.id) : none;
    if (node == none || tree_.nodes_[node].type == record_type::leaf)
      return fail("the first kept entry of the compaction does not exist",
                  line);
    if (!strict_ancestor(node, kept.node))
      return fail("the first kept entry is no ancestor of the compaction",
                  line);
  }
  return true;
}

} // namespace bureau
