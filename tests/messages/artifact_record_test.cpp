#include "messages/codec/artifact_record.hpp"

#include <doctest/doctest.h>

using namespace bureau;

namespace {

artifact_record sample() {
  artifact_record record;
  record.id = std::string(32, 'a');
  record.conversation_id = "telegram:-5:7";
  record.run = "r1";
  record.name = "report.pdf";
  record.media_type = "application/pdf";
  record.size_bytes = 4096;
  record.integrity_id = "sha256:" + std::string(64, '0');
  record.expires_ms = 1'767'830'400'000;
  return record;
}

std::string line_of(const artifact_record& record) {
  auto line = print_artifact_line(record);
  line.pop_back();
  return line;
}

} // namespace

TEST_CASE("a published file is one line of the index") {
  CHECK(print_artifact_line(sample())
        == R"({"v":1,"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",)"
           R"("conversationId":"telegram:-5:7","run":"r1",)"
           R"("name":"report.pdf","mediaType":"application/pdf",)"
           R"("sizeBytes":4096,"integrityId":"sha256:)"
             + std::string(64, '0')
             + R"(","expiresAt":"2026-01-08T00:00:00.000Z"})"
               "\n");
  CHECK(parse_artifact_line(line_of(sample())) == sample());
}

TEST_CASE("a line whose digest is none is not read: it would be a path") {
  auto bad = sample();
  bad.integrity_id = "sha256:../../../../etc/passwd";
  CHECK_FALSE(parse_artifact_line(line_of(bad)));
  bad = sample();
  bad.integrity_id.back() = 'F';
  CHECK_FALSE(parse_artifact_line(line_of(bad)));
  bad = sample();
  bad.id = "7";
  CHECK_FALSE(parse_artifact_line(line_of(bad)));
}

TEST_CASE("lines that cannot be read are kept apart") {
  auto text = line_of(sample()) + "\n{\"v\":2}\n\n{\"v\":1,\"id\":\"aa";
  auto contents = read_artifacts(text);
  CHECK(contents.records.size() == 1);
  CHECK(contents.unread
        == std::vector<std::string>{"{\"v\":2}", "{\"v\":1,\"id\":\"aa"});
}
