#include "adapters/console/save_core.hpp"
#include "messages/limits.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::console;

namespace {

contracts::attachment_part file_named(std::string name) {
  contracts::attachment_part result;
  result.name = std::move(name);
  result.media_type = "text/plain";
  result.size_bytes = 12;
  return result;
}

} // namespace

TEST_CASE("files of answers are known by their numbers, the last ones") {
  offered_files files;
  CHECK(files.find(1) == nullptr);
  CHECK(files.add("console:local", file_named("a.txt")) == 1);
  CHECK(files.add("console:other", file_named("b.txt")) == 2);
  REQUIRE(files.find(2) != nullptr);
  CHECK(files.find(2)->conversation_id == "console:other");
  CHECK(file_line(*files.find(1))
        == "File 1: a.txt (12 bytes, text/plain). /save 1 keeps it.");
  for (size_t i = 0; i < limits::console_visible_messages; ++i)
    files.add("console:local", file_named("c"));
  CHECK(files.find(2) == nullptr);
  CHECK(files.find(limits::console_visible_messages + 2) != nullptr);
}

TEST_CASE("where a file goes") {
  struct row {
    const char* typed;
    const char* name;
    const char* want;
  };
  for (const auto& [typed, name, want] :
       {row{"", "a.txt", "/here/a.txt"}, row{"/tmp/x", "a.txt", "/tmp/x"},
        row{"/tmp/", "a.txt", "/tmp/a.txt"},
        row{"", "../../etc/passwd", "/here/.._.._etc_passwd"},
        row{"", "..", "/here/file"}, row{"/tmp/", "", "/tmp/file"}}) {
    CAPTURE(typed);
    CHECK(target_of(typed, name, "/here") == want);
  }
  CHECK(target_of("", "a.txt", "").empty());
}

TEST_CASE("a file that cannot be had is explained in a sentence") {
  using code = contracts::part_failure_code;
  CHECK(sentence_of_fault(code::artifact_expired).find("week")
        != std::string::npos);
  CHECK(sentence_of_fault(code::artifact_integrity_failed).find("not saved")
        != std::string::npos);
  CHECK_FALSE(sentence_of_fault(code::artifact_missing).empty());
}
