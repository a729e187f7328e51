#include "actors/io/journal_core.hpp"
#include "messages/limits.hpp"
#include "tests/io/journal_world.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace bureau;
using namespace std::string_literals;
using io::journal_path;
using test::joined;
using test::scan_text;

namespace {

const journal_path ledger{journal_root::state, "conversations/a/ledger.jsonl"};
const journal_path chat_log{journal_root::workspace, "a/log.jsonl"};

/// Three frames with everything that may occur in one.
std::vector<std::string> sample_frames() {
  io::frame_builder first;
  first.add(ledger, 0, "{\"v\":1}\n");
  first.add(chat_log, 12, "\0\xff"s);
  io::frame_builder second;
  second.add_seal(ledger);
  io::frame_builder third;
  third.add(ledger, 8, "{\"v\":2}\n");
  return {joined(first), joined(second), joined(third)};
}

std::string all_of(const std::vector<std::string>& frames) {
  std::string result;
  for (const auto& frame : frames)
    result += frame;
  return result;
}

/// Whether the records are those of the first frames of a segment.
bool is_prefix(const test::read_segment& read,
               const test::read_segment& whole) {
  if (read.frames > whole.frames || read.records.size() > whole.records.size())
    return false;
  return std::equal(read.records.begin(), read.records.end(),
                    whole.records.begin());
}

} // namespace

TEST_CASE("the checksum is CRC-32C") {
  CHECK(io::crc32c("") == 0);
  CHECK(io::crc32c("123456789") == 0xe306'9283u);
  CHECK(io::crc32c(std::string(32, '\0')) == 0x8a91'36aau);
  CHECK(io::crc32c(std::string(32, '\xff')) == 0x62a8'ab43u);
  // Whatever the processor helps with: bit by bit, at every length.
  std::string text;
  for (auto length = 0; length < 70; ++length) {
    CAPTURE(length);
    uint32_t sum = 0xffff'ffffu;
    for (auto c : text) {
      sum ^= static_cast<unsigned char>(c);
      for (auto bit = 0; bit < 8; ++bit)
        sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82f6'3b78u : 0);
    }
    CHECK(io::crc32c(text) == ~sum);
    auto half = text.size() / 2;
    CHECK(io::crc32c(text.substr(half), io::crc32c(text.substr(0, half)))
          == ~sum);
    text += static_cast<char>(length * 37);
  }
}

TEST_CASE("a segment reads back as it was written") {
  auto segment = scan_text(all_of(sample_frames()));
  CHECK(segment.frames == 3);
  CHECK_FALSE(segment.torn);
  REQUIRE(segment.records.size() == 4);
  CHECK(segment.records[0]
        == test::read_record{ledger, 0, "{\"v\":1}\n", false});
  CHECK(segment.records[1]
        == test::read_record{chat_log, 12, "\0\xff"s, false});
  CHECK(segment.records[2] == test::read_record{ledger, 0, "", true});
  CHECK(segment.records[3]
        == test::read_record{ledger, 8, "{\"v\":2}\n", false});
}

TEST_CASE("the layout is fixed: other versions read these bytes") {
  io::frame_builder frame;
  frame.add({journal_root::workspace, "a"}, 0x0102, "xy");
  auto records = "\x01\x01\x00"
                 "a\x02\x01\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00xy"s;
  auto crc = io::crc32c(records);
  auto header = "\x12\x00\x00\x00"s;
  for (auto shift : {0, 8, 16, 24})
    header += static_cast<char>((crc >> shift) & 0xff);
  CHECK(joined(frame) == header + records);
}

TEST_CASE("many bytes are not copied into a frame, and look the same") {
  std::string large(300'000, 'l');
  io::frame_builder referring;
  io::frame_builder copying;
  for (auto round = 0; round < 2; ++round) {
    referring.add(ledger, 0, "small");
    copying.add(ledger, 0, "small");
    for (auto offset : {0u, 300'000u}) {
      referring.refer(chat_log, offset, large);
      copying.add(chat_log, offset, large);
    }
    CHECK(referring.size() == copying.size());
    referring.end_frame();
    copying.end_frame();
  }
  auto pieces = referring.pieces();
  CHECK(std::count_if(pieces.begin(), pieces.end(),
                      [&](auto piece) { return piece.data() == large.data(); })
        == 4);
  auto bytes = joined(referring);
  CHECK(bytes == joined(copying));
  auto segment = scan_text(bytes);
  CHECK(segment.frames == 2);
  REQUIRE(segment.records.size() == 6);
  CHECK(segment.records[5] == test::read_record{chat_log, 300'000, large});
  referring.clear();
  CHECK(referring.empty());
  CHECK(referring.pieces().empty());
}

TEST_CASE("a segment is read in parts, whatever its frames claim") {
  constexpr size_t most_read = 2 * limits::journal_frame_bytes;
  io::frame_builder large;
  large.add(chat_log, 0, std::string(5'000'000, 'l'));
  auto bytes = joined(large);
  auto segment = scan_text(bytes);
  CHECK(segment.frames == 1);
  CHECK(segment.most_read <= most_read);
  for (auto length :
       {"\x00\x00\x00\x01"s, "\xff\xff\xff\xff"s, "\x00\x00\x40\x08"s}) {
    auto claims = sample_frames().front() + length + "sum!"s + bytes;
    auto read = scan_text(claims);
    CHECK(read.frames == 1);
    CHECK(read.damaged);
    CHECK(read.most_read <= most_read);
    // Claims beyond the end of the file.
    read = scan_text(std::string_view{claims}.substr(0, 3000));
    CHECK(read.frames == 1);
    CHECK(read.torn);
    CHECK_FALSE(read.damaged);
  }
}

TEST_CASE("a segment that cannot be read to its end shows no half frame") {
  auto bytes = all_of(sample_frames());
  auto readable = bytes.size() - 1;
  io::segment_scan scan{[&](uint64_t offset, size_t count) {
                          auto from = std::min<size_t>(offset, readable);
                          return std::string_view{bytes}.substr(
                            from, std::min(count, readable - from));
                        },
                        bytes.size()};
  while (scan.next([](const io::wal_entry&) { return true; }))
    ;
  CHECK(scan.frames() == 2);
  CHECK_FALSE(scan.frame_follows());
}

TEST_CASE("a segment cut anywhere yields the whole frames before the cut") {
  auto frames = sample_frames();
  auto bytes = all_of(frames);
  auto whole = scan_text(bytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    auto read = scan_text(std::string_view{bytes}.substr(0, length));
    size_t expected = 0;
    size_t end = 0;
    for (const auto& frame : frames) {
      if (end + frame.size() > length)
        break;
      end += frame.size();
      ++expected;
    }
    CHECK(read.frames == expected);
    CHECK(read.whole_bytes == end);
    CHECK(read.torn == (end < length));
    CHECK(is_prefix(read, whole));
  }
}

TEST_CASE("a segment with any bit flipped never yields anything else") {
  auto bytes = all_of(sample_frames());
  auto whole = scan_text(bytes);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (auto bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      CAPTURE(at);
      CAPTURE(bit);
      auto read = scan_text(damaged);
      CHECK(read.frames < whole.frames);
      CHECK(is_prefix(read, whole));
    }
}

TEST_CASE("what a file system leaves after a crash is no frame") {
  auto frame = sample_frames().front();
  for (const auto& tail :
       {std::string(4096, '\0'), std::string(7, '\0'), std::string(64, '\xff'),
        "\xff\xff\xff\x7f\0\0\0\0rest"s}) {
    auto read = scan_text(frame + tail);
    CHECK(read.frames == 1);
    CHECK(read.torn);
    CHECK(read.whole_bytes == frame.size());
  }
}

TEST_CASE("damage before a whole frame is no torn end") {
  auto frames = sample_frames();
  auto bytes = all_of(frames);
  auto last = bytes.size() - frames.back().size();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (auto bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      CAPTURE(at);
      CAPTURE(bit);
      auto read = scan_text(damaged);
      CHECK(read.torn);
      CHECK(read.damaged == (at < last));
    }
  for (size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(scan_text(std::string_view{bytes}.substr(0, length)).damaged);
  // A lost sector, and one that was never written at the end.
  auto lost = frames[0] + std::string(frames[1].size(), '\0') + frames[2];
  CHECK(scan_text(lost).damaged);
  CHECK_FALSE(scan_text(bytes + std::string(4096, '\0')).damaged);
}

TEST_CASE("looking for frames behind the damage is bounded") {
  // Beginnings of frames of four megabytes, thousands of them.
  auto header = "\0\0\x40\0"s + "crc?";
  auto record = "\0\x01\0"s + "a" + std::string(8, '\0') + "\x01\0\0\0"s + "x";
  std::string bytes;
  while (bytes.size() < (16u << 20))
    bytes += header + record;
  auto read = scan_text(bytes);
  CHECK(read.frames == 0);
  CHECK(read.damaged);
}

TEST_CASE("records with a right checksum and no sense are refused") {
  auto framed = [](const std::string& records) {
    std::string result;
    for (auto value :
         {static_cast<uint32_t>(records.size()), io::crc32c(records)})
      for (auto shift : {0, 8, 16, 24})
        result += static_cast<char>((value >> shift) & 0xff);
    return result + records;
  };
  auto tail = "\0\0\0\0\0\0\0\0\x01\0\0\0x"s;
  CHECK(scan_text(framed("\x00\x01\x00"s + "a" + tail)).frames == 1);
  struct row {
    const char* name;
    std::string records;
  };
  const row rows[] = {
    {"unknown root", "\x02\x01\x00"s + "a" + tail},
    {"no path", "\x00\x00\x00"s + tail},
    {"path longer than the frame", "\x00\xff\xff"s + "a" + tail},
    {"bytes longer than the frame",
     "\x00\x01\x00"s + "a" + "\0\0\0\0\0\0\0\0\xff\0\0\0x"s},
    {"offset beyond any file",
     "\x00\x01\x00"s + "a" + "\0\0\0\0\0\0\0\xff\x01\0\0\0x"s},
    {"half a record", "\x00"s},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(scan_text(framed(row.records)).frames == 0);
  }
}

TEST_CASE("random bytes are read without harm") {
  std::mt19937 chance{7};
  for (auto round = 0; round < 2000; ++round) {
    std::string bytes(chance() % 200, '\0');
    for (auto& c : bytes)
      c = static_cast<char>(chance());
    // Plausible lengths get further.
    if (bytes.size() > 8)
      bytes[1] = bytes[2] = bytes[3] = '\0';
    CHECK(scan_text(bytes).frames == 0);
  }
}

TEST_CASE("segments are named by number") {
  CHECK(io::segment_name(1) == "0000000000000001.wal");
  CHECK(io::segment_name(0xfedc'ba98'7654'3210) == "fedcba9876543210.wal");
  CHECK(io::segment_number("fedcba9876543210.wal") == 0xfedc'ba98'7654'3210);
  for (auto name : {"1.wal", "000000000000000G.wal", "000000000000000A.wal",
                    "0000000000000001.tmp", "", "x0000000000000001.wal"})
    CHECK(io::segment_number(name) == 0);
  CHECK(io::kept_segment_number("00000000000000ff.wal.damaged") == 255);
  for (auto name : {"00000000000000ff.wal", "ff.wal.damaged", ".damaged", ""})
    CHECK(io::kept_segment_number(name) == 0);
}

TEST_CASE("only plain relative paths are journalled") {
  for (auto path : {"a", "a/b.jsonl", "a/..b", "a b/.c"})
    CHECK(io::is_journal_path(path));
  for (auto path : {""s, "/a"s, "a/"s, "a//b"s, "."s, "a/./b"s, "../a"s,
                    "a/.."s, "a\0b"s, std::string(4097, 'a')})
    CHECK_FALSE(io::is_journal_path(path));
  journal_record record{journal_root::state, "a", "x", durability::sync};
  CHECK(io::record_fault(record).empty());
  record.bytes.clear();
  CHECK(io::record_fault(record).find("no bytes") != std::string::npos);
  record.bytes.assign(limits::journal_record_bytes, 'x');
  CHECK(io::record_fault(record).empty());
  record.bytes += 'x';
  CHECK(io::record_fault(record).find("larger") != std::string::npos);
}

TEST_CASE("a replay drops what a later seal of the path made void") {
  io::wal_entry log{ledger, 0, false, 0, 3};
  io::wal_entry other{chat_log, 0, false, 0, 3};
  io::wal_entry seal{ledger, 0, true, 0, 0};
  struct row {
    const char* name;
    std::vector<io::wal_entry> entries;
    std::vector<bool> counts;
    std::vector<journal_path> paths;
  };
  const row rows[] = {
    {"nothing", {}, {}, {}},
    {"no seal", {log, other}, {true, true}, {ledger, chat_log}},
    {"before and after",
     {log, other, seal, log},
     {false, true, false, true},
     {ledger, chat_log}},
    {"at the end", {log, log, seal}, {false, false, false}, {ledger}},
    {"twice",
     {log, seal, log, seal, log},
     {false, false, false, false, true},
     {ledger}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    io::replay_plan plan;
    for (const auto& entry : row.entries)
      plan.note(entry);
    std::vector<bool> counts;
    for (const auto& entry : row.entries)
      counts.push_back(plan.counts(entry));
    CHECK(counts == row.counts);
    CHECK(plan.paths() == row.paths);
  }
}

TEST_CASE("only the missing end of a record is written") {
  io::wal_entry record{chat_log, 10, false, 0, 5};
  struct row {
    const char* name;
    uint64_t size;
    bool is_gap;
    int skip;
  };
  const row rows[] = {
    {"file ends before the record", 9, true, -1},
    {"file ends where the record begins", 10, false, 0},
    {"part is there", 12, false, 2},
    {"all but one byte is there", 14, false, 4},
    {"all is there", 15, false, -1},
    {"file has grown on", 100, false, -1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    bool is_gap = !row.is_gap;
    auto missing = io::missing_of(record, row.size, is_gap);
    CHECK(is_gap == row.is_gap);
    CHECK(missing.has_value() == (row.skip >= 0));
    if (missing) {
      CHECK(missing->offset == row.size);
      CHECK(static_cast<int>(missing->skip) == row.skip);
    }
  }
}
