#include "actors/artifacts/artifact_index_core.hpp"

#include <doctest/doctest.h>

using namespace bureau;
using namespace bureau::artifacts;
using code = contracts::part_failure_code;

namespace {

constexpr int64_t hour = 3'600'000;

artifact_record record_of(char id, char digest, int64_t expires_ms = hour) {
  artifact_record record;
  record.id = std::string(32, id);
  record.conversation_id = "console:C1";
  record.name = "a.txt";
  record.media_type = "text/plain";
  record.integrity_id = "sha256:" + std::string(64, digest);
  record.expires_ms = expires_ms;
  return record;
}

contracts::artifact_open_request ask_for(char id, std::string conversation) {
  return {std::move(conversation), std::string(32, id), caf::none};
}

} // namespace

TEST_CASE("names are for display only") {
  struct row {
    const char* name;
    const char* shown;
  };
  for (auto [name, shown] :
       {row{"/etc/../home/report.pdf", "report.pdf"},
        row{"..\\evil.exe", "evil.exe"}, row{"..", "file"}, row{"", "file"},
        row{"a\nb", "a\uFFFDb"}, row{"rtl\u202Etxt.exe", "rtl\uFFFDtxt.exe"},
        row{"\u2067a\u061C", "\uFFFDa\uFFFD"},
        row{"  two words ", "two words"}}) {
    CAPTURE(name);
    CHECK(display_name(name) == shown);
  }
  CHECK(display_name(std::string(500, 'x')).size() == 180);
}

TEST_CASE("what is no media type is any bytes") {
  CHECK(media_type_of("image/png") == "image/png");
  CHECK(media_type_of("text/plain; charset=utf-8")
        == "text/plain; charset=utf-8");
  for (auto text : {"", "text", "/x", "x/", "a/b\nc", "a/\"b\""}) {
    CAPTURE(text);
    CHECK(media_type_of(text) == "application/octet-stream");
  }
}

TEST_CASE("a file is opened by its conversation alone") {
  artifact_index index;
  index.add(record_of('1', 'a'));
  CHECK_FALSE(index.refusal(ask_for('1', "console:C1"), 0));
  CHECK_FALSE(index.refusal(ask_for('1', "console:C1:7"), 0));
  CHECK(index.refusal(ask_for('1', "console:C2"), 0) == code::artifact_missing);
  CHECK(index.refusal(ask_for('1', "slack:C1"), 0) == code::artifact_missing);
  CHECK(index.refusal(ask_for('1', "C1"), 0) == code::artifact_missing);
  CHECK(index.refusal(ask_for('2', "console:C1"), 0) == code::artifact_missing);
  CHECK(index.refusal(ask_for('1', "console:C1"), hour)
        == code::artifact_expired);
  CHECK(index.refusal(ask_for('1', "console:C2"), hour)
        == code::artifact_missing);
  auto request = ask_for('1', "console:C1");
  request.expected_integrity_id = "sha256:" + std::string(64, 'b');
  CHECK(index.refusal(request, 0) == code::artifact_integrity_failed);
}

TEST_CASE("bytes go with the last file that needs them") {
  artifact_index index;
  index.add(record_of('1', 'a'));
  index.add(record_of('2', 'a', 2 * hour));
  index.add(record_of('3', 'b'));
  auto gone = index.expired(hour, {});
  CHECK(gone.ids.size() == 2);
  CHECK(gone.digests == std::vector<std::string>{std::string(64, 'b')});
  CHECK(index.expired(2 * hour, {}).digests.size() == 2);
  SUBCASE("and not while somebody reads or publishes them") {
    gone = index.expired(2 * hour, {std::string(64, 'a')});
    CHECK(gone.ids == std::vector<std::string>{std::string(32, '3')});
  }
}

TEST_CASE("the file is written anew when much of it is forgotten") {
  artifact_index index;
  std::string text;
  for (char id = 'a'; id <= 'f'; ++id)
    for (char second = '0'; second <= '9'; ++second)
      for (char third = '0'; third <= '1'; ++third) {
        auto record = record_of(id, id);
        record.id[0] = second;
        record.id[1] = third;
        text += print_artifact_line(record);
      }
  index.load(text + "not a line of ours\n");
  CHECK(index.size() == 120);
  CHECK(index.unread() == 1);
  CHECK_FALSE(index.should_rewrite());
  auto gone = index.expired(hour, {}).ids;
  for (size_t i = 0; i < 64; ++i)
    index.forget(gone[i]);
  CHECK_FALSE(index.should_rewrite());
  index.forget(gone[64]);
  CHECK(index.should_rewrite());
  CHECK(index.print().starts_with("not a line of ours\n"));
  CHECK(read_artifacts(index.print()).records.size() == 55);
}
