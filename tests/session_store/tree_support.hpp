#pragma once

#include "messages/codec/json_support.hpp"
#include "messages/codec/session_tree.hpp"
#include "tests/support/test_ports.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

/// Session files of tests, written down line by line.
namespace bureau::test {

inline constexpr const char* header_line =
  R"({"type":"session","version":3,"id":"7b54cf90-1c2d-4e5f-8a9b-0c1d2e3f4a5b","timestamp":"2026-05-01T09:00:01.000Z","cwd":"/workspace/K"})";

inline std::string lines(std::initializer_list<std::string> all) {
  std::string result;
  for (const auto& line : all)
    result += line + "\n";
  return result;
}

inline std::string quoted_or_null(const char* parent) {
  return *parent != '\0' ? '"' + std::string{parent} + '"' : "null";
}

/// An entry with further members in front.
inline std::string entry(const char* type, const char* id, const char* parent,
                         const std::string& members = {}) {
  return std::string{R"({"type":")"} + type + R"(",)"
         + (members.empty() ? "" : members + ",") + R"("id":")" + id
         + R"(","parentId":)" + quoted_or_null(parent)
         + R"(,"timestamp":"2026-05-01T09:00:02.000Z"})";
}

inline std::string user_entry(const char* id, const char* parent,
                              const std::string& text) {
  return entry("message", id, parent,
               R"("message":{"role":"user","content":[{"type":"text","text":")"
                 + text + R"("}],"timestamp":5})");
}

inline std::string assistant_entry(const char* id, const char* parent,
                                   const std::string& text,
                                   const char* provider = "openai",
                                   const char* model = "g1") {
  return entry(
    "message", id, parent,
    R"("message":{"role":"assistant","content":[{"type":"text","text":")" + text
      + R"("}],"provider":")" + provider + R"(","model":")" + model
      + R"(","stopReason":"stop","timestamp":6})");
}

inline std::string compaction_entry(const char* id, const char* parent,
                                    const char* summary, const char* kept) {
  return entry("compaction", id, parent,
               std::string{R"("summary":")"} + summary
                 + R"(","tokensBefore":9,"firstKeptEntryId":")" + kept + '"');
}

inline std::string cause_line(const char* id, const char* parent,
                              const char* message) {
  return entry("custom", id, parent,
               std::string{R"("customType":"mikan.run_cause",)"}
                 + R"("data":{"messageId":")" + message + R"("})");
}

inline session_tree::opened open_tree(
  std::string text, session_tree::mode how = session_tree::mode::strict) {
  seeded_entropy chance;
  return session_tree::open(std::move(text), {&chance, start_ms, "/cwd"}, how);
}

inline session_tree good_tree(std::string text) {
  auto opened = open_tree(std::move(text));
  REQUIRE_MESSAGE(bool{opened}, opened.fault.what);
  return std::move(*opened.tree);
}

/// Texts of a context: role initial, colon, text or summary.
inline std::vector<std::string> said(const session_context& context) {
  std::vector<std::string> result;
  for (const auto& message : context.messages) {
    auto text = message.summary.empty() ? text_of(message) : *message.summary;
    result.push_back(to_string(message.role) + ":" + text);
  }
  return result;
}

inline session_entry said_by_user(std::string text) {
  session_entry result;
  result.message = user_message(std::move(text), 7);
  return result;
}

inline std::vector<std::string> split(const std::string& file) {
  std::vector<std::string> result;
  size_t begin = 0;
  while (begin < file.size()) {
    auto end = file.find('\n', begin);
    result.push_back(file.substr(begin, end - begin));
    begin = end == std::string::npos ? file.size() : end + 1;
  }
  return result;
}

inline json::bj::object parsed(const std::string& line) {
  auto result = json::parse(line);
  REQUIRE(result);
  return result.value.get_object();
}

/// Appends as a store does when the disk works.
inline std::vector<std::string>
append_to(session_tree& tree, const std::vector<session_entry>& entries,
          std::string& file, entropy& chance) {
  auto plan = tree.plan_append(entries, start_ms, chance);
  REQUIRE(plan.fault.code == errc::none);
  if (tree.needs_rewrite()) {
    file = tree.rewritten(plan);
    tree.commit_rewritten(plan);
  } else {
    file += plan.bytes;
    tree.commit(plan);
  }
  REQUIRE(tree.disk_size() == file.size());
  return plan.ids;
}

} // namespace bureau::test
