#pragma once

#include "actors/session/session_store.hpp"
#include "messages/codec/log_record.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/inline_files.hpp"
#include "tests/support/inline_journal.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/support/scratch_directory.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bureau::test {

/// An answer of the store: a value, or the error.
template <class T>
struct answer {
  T value{};
  errc code = errc::none;
  std::string sentence;
  explicit operator bool() const { return code == errc::none; }
};

/// One office on a real directory, with stores under virtual time.
class store_world : public node_fixture {
public:
  store_world();

  /// A fresh store of a key, as after a restart of the process.
  session_store_actor spawn(const std::string& key = "C123");
  /// A store beside the last one that was spawned, in the same process.
  session_store_actor spawn_beside(const std::string& key = "C123");
  session_store_actor spawn_in_memory(const std::string& key = "C123");

  answer<session_context> open(const session_store_actor& store,
                               const std::string& current = {},
                               const history_window& reach = {});
  answer<session_context> load(const session_store_actor& store);
  answer<session_context> branch(const session_store_actor& store,
                                 const std::string& target,
                                 const std::string& summary = {});
  answer<bool> exists(const session_store_actor& store);
  answer<std::string> ensure(const session_store_actor& store);
  answer<session_context> reset(const session_store_actor& store,
                                const std::string& current = {});
  answer<std::vector<std::string>> append(const session_store_actor& store,
                                          const std::vector<session_entry>&);
  answer<std::vector<std::string>> say(const session_store_actor& store,
                                       const std::string& text);
  answer<cause_report> locate(const session_store_actor& store,
                              const std::string& message_id);
  errc close(const session_store_actor& store);

  /// Appends to the chat log, as the office does.
  void logged(const std::string& ts, const std::string& text,
              const std::string& thread = {}, int64_t age_ms = 0);

  /// Writes a top-level file and, unless told not to, makes it current.
  void put_main(const std::string& name, const std::string& text,
                bool current = true);
  void put_session(const std::string& name, const std::string& text);

  std::string path(const std::string& name) const;
  std::string text(const std::string& name) const;
  std::string pointer() const { return text("current"); }
  std::string current_text() const { return text(pointer()); }
  std::vector<std::string> files() const;
  std::vector<std::string> archived() const;

  scratch_directory disk;
  std::shared_ptr<faulty_file_system> fs;
  std::shared_ptr<files_probe> jobs;
  std::shared_ptr<journal_probe> journal;
  office place;
  session::store_services services;
};

/// Texts of a context's messages.
std::vector<std::string> texts(const session_context& context);

/// Lines of a file.
std::vector<std::string> split_lines(const std::string& text);

session_entry user_says(const std::string& text);

} // namespace bureau::test
