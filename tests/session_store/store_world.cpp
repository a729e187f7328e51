#include "tests/session_store/store_world.hpp"

#include "config/os/posix_file_system.hpp"
#include "messages/text/history_line.hpp"
#include "messages/text/time_text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace bureau::test {

namespace {

template <class T, class Handle, class... Args>
answer<T> ask_for(store_world& world, const Handle& receiver, Args... args) {
  answer<T> result;
  auto answered = false;
  world.ask(
    receiver,
    [&](const T& value) {
      answered = true;
      result.value = value;
    },
    [&](const caf::error& reason) {
      answered = true;
      result.code = code_of(reason);
      result.sentence = sentence_of(reason);
    },
    std::move(args)...);
  if (!answered)
    throw std::logic_error("the store did not answer");
  return result;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> result;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator{directory, ec})
    if (entry.is_regular_file())
      result.push_back(entry.path().filename());
  std::sort(result.begin(), result.end());
  return result;
}

} // namespace

store_world::store_world()
  : fs(std::make_shared<faulty_file_system>(
    std::make_shared<os::posix_file_system>())),
    jobs(std::make_shared<files_probe>()),
    journal(std::make_shared<journal_probe>()) {
  auto root = disk / "work";
  place = make_office(make_workspace(root, disk / "state"),
                      {platform_id::slack, "C123"});
  std::filesystem::create_directories(place.dir);
  std::filesystem::create_directories(disk / "state");
  services.files = spawn_inline_files(*system, fs, chance, jobs);
  services.journal =
    spawn_inline_journal(*system, fs, disk / "state", root, journal);
  services.wall = wall;
  services.chance = chance;
  services.cwd = [](const office& at) {
    return "/workspace/" + at.key;
  };
}

session_store_actor store_world::spawn(const std::string& key) {
  services.writers = session::spawn_session_writers(services.files);
  return spawn_beside(key);
}

session_store_actor store_world::spawn_in_memory(const std::string& key) {
  return session::spawn_memory_session_store(*system, services, place, key);
}

session_store_actor store_world::spawn_beside(const std::string& key) {
  return session::spawn_session_store(*system, services, place, key);
}

answer<session_context> store_world::open(const session_store_actor& store,
                                          const std::string& current,
                                          const history_window& reach) {
  return ask_for<session_context>(*this, store, atom::open_v,
                                  session_open{current, reach});
}

answer<session_context> store_world::load(const session_store_actor& store) {
  return ask_for<session_context>(*this, store, atom::load_v);
}

answer<session_context> store_world::branch(const session_store_actor& store,
                                            const std::string& target,
                                            const std::string& summary) {
  return ask_for<session_context>(*this, store, atom::branch_v,
                                  session_branch{target, json_text{summary}});
}

answer<bool> store_world::exists(const session_store_actor& store) {
  return ask_for<bool>(*this, store, atom::exists_v);
}

answer<std::string> store_world::ensure(const session_store_actor& store) {
  return ask_for<std::string>(*this, store, atom::ensure_v);
}

answer<session_context> store_world::reset(const session_store_actor& store,
                                           const std::string& current) {
  return ask_for<session_context>(*this, store, atom::reset_v,
                                  session_open{current, {}});
}

answer<std::vector<std::string>> store_world::append(
  const session_store_actor& store, const std::vector<session_entry>& entries) {
  return ask_for<std::vector<std::string>>(*this, store, atom::append_v,
                                           session_append{entries});
}

answer<std::vector<std::string>>
store_world::say(const session_store_actor& store, const std::string& text) {
  return append(store, {user_says(text)});
}

answer<cause_report> store_world::locate(const session_store_actor& store,
                                         const std::string& message_id) {
  return ask_for<cause_report>(*this, store, atom::locate_v, message_id);
}

errc store_world::close(const session_store_actor& store) {
  return ask_for<caf::ok_atom>(*this, store, atom::close_v).code;
}

void store_world::logged(const std::string& ts, const std::string& words,
                         const std::string& thread, int64_t age_ms) {
  log_record record;
  record.date = text::iso_utc(wall->now_ms() - age_ms);
  record.ts = ts;
  record.thread_ts = thread;
  record.user = "U1";
  record.user_name = "ana";
  record.text = words;
  std::ofstream out{place.log_path, std::ios::app};
  out << print_log_line(record);
}

void store_world::put_session(const std::string& name,
                              const std::string& text) {
  std::filesystem::create_directories(place.sessions_dir);
  put_file(path(name), text);
}

void store_world::put_main(const std::string& name, const std::string& text,
                           bool current) {
  put_session(name, text);
  if (current)
    put_file(path("current"), name);
}

std::string store_world::path(const std::string& name) const {
  return place.sessions_dir + "/" + name;
}

std::string store_world::text(const std::string& name) const {
  return name.empty() ? std::string{} : get_file(path(name));
}

std::vector<std::string> store_world::files() const {
  return names_in(place.sessions_dir);
}

std::vector<std::string> store_world::archived() const {
  return names_in(place.sessions_dir + "/archive");
}

std::vector<std::string> texts(const session_context& context) {
  std::vector<std::string> result;
  for (const auto& message : context.messages)
    result.emplace_back(text::strip_history_line(
      message.summary.empty() ? text_of(message) : *message.summary));
  return result;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> result;
  size_t begin = 0;
  while (begin < text.size()) {
    auto end = text.find('\n', begin);
    result.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return result;
}

session_entry user_says(const std::string& text) {
  session_entry result;
  result.message = user_message(text, 7);
  return result;
}

} // namespace bureau::test
