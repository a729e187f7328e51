#include "tests/support/memory_store.hpp"

#include "actors/kit/generation_timer.hpp"
#include "actors/kit/promise_guard.hpp"
#include "actors/kit/spawn_stateful.hpp"
#include "messages/codec/json_support.hpp"
#include "messages/identity/session_key.hpp"

#include <algorithm>
#include <deque>

namespace bureau::test {

namespace {

constexpr const char* run_cause = "mikan.run_cause";

bool is_message(const session_entry& entry) {
  return entry.kind == entry_kind::message
         || entry.kind == entry_kind::custom_message;
}

constexpr std::string_view id_prefix = "entry-";

std::string id_of(size_t number) {
  return number == 0 ? std::string{}
                     : std::string{id_prefix} + std::to_string(number);
}

std::string cause_of(const session_entry& entry) {
  if (entry.kind != entry_kind::custom || entry.custom_type != run_cause)
    return {};
  auto parsed = json::parse(entry.fields.text);
  if (!parsed || !parsed.value.is_object())
    return {};
  return json::text_or_empty(parsed.value.get_object(), "messageId");
}

/// Handlers:
///   (open, session_open)     → session_context ⇒ open
///   (append, session_append) → ids             ⇒ append
///   (load)                   → session_context ⇒ context
///   (branch, session_branch) → session_context ⇒ branch
///   (exists)                 → bool
///   (ensure)                 → path            ⇒ ensure
///   (locate, id)             → cause_report    ⇒ memory_session::facts
///   (reset, session_open)    → session_context ⇒ reset
///   (close)                  → ok
struct memory_store_state {
  session_store_actor::stateful_pointer<memory_store_state> self;
  std::shared_ptr<memory_session> session;
  kit::promise_guard<std::vector<std::string>> appends;
  std::deque<std::pair<uint64_t, std::vector<std::string>>> due;
  kit::generation_timer timer;
  static inline const char* name = "memory_store";

  explicit memory_store_state(
    session_store_actor::stateful_pointer<memory_store_state> me)
    : self(me) {}

  void init(std::shared_ptr<memory_session> shared) {
    session = std::move(shared);
  }

  session_store_actor::behavior_type make_behavior() {
    return {
      [this](atom::open, const session_open& request) { return open(request); },
      [this](atom::append, const session_append& request) {
        return append(request);
      },
      [this](atom::load) { return load(); },
      [this](atom::locate, const std::string& id) {
        return session->facts(id);
      },
      [this](atom::branch, const session_branch& request) {
        return branch(request);
      },
      [this](atom::exists) {
        return session->is_there || !session->entries.empty()
               || !session->history.empty();
      },
      [this](atom::ensure) { return ensure(); },
      [this](atom::reset, const session_open&) { return reset(); },
      [this](atom::close) {
        session->is_open = false;
        return caf::ok_atom_v;
      },
    };
  }

  caf::result<session_context> open(const session_open& request) {
    session->opens.push_back(request.current_message_id);
    session->reach = request.history;
    if (session->open_failure)
      return make_failure(*session->open_failure, "the store refuses to open");
    if (session->open_mood == store_mood::works) {
      session->is_open = true;
      session->is_there = true;
      return context();
    }
    // A promise that is dropped is never answered: what a stuck store does.
    auto answer = self->make_response_promise<session_context>();
    if (session->open_mood == store_mood::dies)
      self->quit(caf::exit_reason::kill);
    return answer;
  }

  caf::result<std::vector<std::string>> append(const session_append& request) {
    auto number = session->asked++;
    if (auto mood = session->moods.find(number); mood != session->moods.end()) {
      auto answer = self->make_response_promise<std::vector<std::string>>();
      if (mood->second == store_mood::dies)
        self->quit(caf::exit_reason::kill);
      return answer;
    }
    if (!session->is_open)
      return make_failure(errc::not_ready, "the session file is not open");
    if (auto fault = session->failing.find(number);
        fault != session->failing.end())
      return make_failure(fault->second, "the disk is full");
    std::vector<std::string> ids;
    for (const auto& entry : request.entries)
      ids.push_back(put(entry));
    session->appends.push_back(request.entries.size());
    if (session->append_delay.count() == 0)
      return ids;
    auto answer = self->make_response_promise<std::vector<std::string>>();
    due.emplace_back(appends.keep(answer), std::move(ids));
    if (!timer.armed())
      timer.arm(self, session->append_delay, [this] { deliver_due(); });
    return answer;
  }

  std::string put(session_entry entry) {
    session->entries.push_back(std::move(entry));
    if (session->leaf)
      session->parents[session->entries.size()] = *session->leaf;
    session->leaf.reset();
    return id_of(session->entries.size());
  }

  caf::result<session_context> branch(const session_branch& request) {
    if (!session->is_open)
      return make_failure(errc::not_ready, "the session file is not open");
    if (session->branch_failure)
      return make_failure(*session->branch_failure, "the disk is full");
    size_t target = 0;
    while (id_of(target) != request.target)
      if (++target > session->entries.size())
        return make_failure(errc::not_found, "there is no such entry");
    json::bj::object members;
    if (!request.summary.empty()) {
      auto parsed = json::parse(request.summary.text);
      if (!parsed || !parsed.value.is_object())
        return make_failure(errc::bad_request, "the summary is no object");
      members = parsed.value.get_object();
    }
    session->leaf = target;
    if (!request.summary.empty()) {
      session_entry entry;
      entry.kind = entry_kind::branch_summary;
      entry.message.role = message_role::branch_summary;
      entry.message.summary = json::text_or_empty(members, "summary");
      entry.message.from_id = target == 0 ? "root" : request.target;
      members["fromId"] = *entry.message.from_id;
      entry.fields.text = json::print(members);
      put(std::move(entry));
    }
    return context();
  }

  std::string ensure() {
    if (!is_thread_key(session->session_key))
      return {};
    session->is_there = true;
    return path();
  }

  std::string path() const {
    return "/memory/" + session->session_id + ".jsonl";
  }

  void deliver_due() {
    if (due.empty())
      return;
    auto [id, ids] = std::move(due.front());
    due.pop_front();
    appends.deliver(id, std::move(ids));
    if (!due.empty())
      timer.arm(self, session->append_delay, [this] { deliver_due(); });
  }

  caf::result<session_context> load() {
    if (!session->is_open)
      return make_failure(errc::not_ready, "the session file is not open");
    return context();
  }

  session_context reset() {
    session->replaced.push_back(std::exchange(session->entries, {}));
    session->history.clear();
    session->parents.clear();
    session->leaf.reset();
    session->session_id += "-next";
    session->is_open = true;
    session->is_there = true;
    return context();
  }

  session_context context() const {
    session_context result;
    result.session_id = session->session_id;
    result.path = path();
    result.leaf = id_of(session->current_leaf());
    result.messages = session->messages();
    for (const auto& entry : session->entries) {
      auto id = cause_of(entry);
      if (!id.empty() && session->facts(id).admitted)
        result.handled_messages.push_back(id);
    }
    return result;
  }
};

} // namespace

size_t memory_session::current_leaf() const {
  return leaf.value_or(entries.size());
}

std::vector<size_t> memory_session::path() const {
  std::vector<size_t> result;
  for (auto at = current_leaf(); at != 0;) {
    result.push_back(at);
    auto parent = parents.find(at);
    at = parent != parents.end() ? parent->second : at - 1;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<transcript_message> memory_session::messages() const {
  auto numbers = path();
  auto whole = numbers.empty() ? !leaf : parents.count(numbers.front()) == 0;
  std::vector<transcript_message> result;
  if (whole)
    result = history;
  for (auto number : numbers) {
    const auto& entry = entries[number - 1];
    if (is_message(entry) || !entry.message.summary.empty())
      result.push_back(entry.message);
  }
  return result;
}

std::string memory_session::roles() const {
  std::string result;
  for (const auto& entry : entries) {
    if (!is_message(entry))
      continue;
    if (!result.empty())
      result += ' ';
    result += to_string(entry.message.role);
  }
  return result;
}

cause_report memory_session::facts(const std::string& message_id) const {
  cause_report result;
  for (const auto& entry : entries) {
    if (cause_of(entry) == message_id && !message_id.empty()) {
      result = {};
      result.recorded = true;
    } else if (result.recorded && is_message(entry)) {
      result.admitted =
        result.admitted || entry.message.role == message_role::user;
      result.worked = result.worked
                      || entry.message.role == message_role::assistant
                      || entry.message.role == message_role::tool_result;
    }
  }
  return result;
}

session_store_actor memory_store(caf::actor_system& system,
                                 std::shared_ptr<memory_session> session) {
  return kit::spawn_stateful<session_store_actor, memory_store_state>(
    system, std::move(session));
}

memory_stores::memory_stores() : sessions_(std::make_shared<table>()) {
}

std::shared_ptr<memory_session> memory_stores::session(
  const std::string& office_key, const std::string& session_key) const {
  auto& entry = (*sessions_)[office_key + "#" + session_key];
  if (!entry) {
    entry = std::make_shared<memory_session>();
    entry->session_key = session_key;
  }
  return entry;
}

session_store_factory memory_stores::factory() const {
  return
    [stores = *this](caf::actor_system& system, const office& place,
                     const std::string& session_key) -> session_store_actor {
      return memory_store(system, stores.session(place.key, session_key));
    };
}

} // namespace bureau::test
