#include "actors/io/journal_codec.hpp"

#include "messages/limits.hpp"

#include <array>

namespace bureau::io {

namespace {

constexpr uint8_t seal_bit = 0x80;
constexpr size_t header_bytes = 8;
/// A frame carries what rode along, a batch with one record of the largest size
/// at its end, and all their paths.
constexpr size_t longest_records = 8 * limits::journal_frame_bytes;
/// Offsets that arithmetic on file sizes can bear.
constexpr uint64_t highest_offset = uint64_t{1} << 62;

using crc_tables = std::array<std::array<uint32_t, 256>, 8>;

/// Tables for eight bytes a step.
constexpr crc_tables make_crc_tables() {
  constexpr uint32_t polynomial = 0x82f6'3b78u;
  crc_tables result{};
  for (uint32_t i = 0; i < 256; ++i) {
    auto value = i;
    for (auto bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    result[0][i] = value;
  }
  for (size_t table = 1; table < 8; ++table)
    for (size_t i = 0; i < 256; ++i) {
      auto before = result[table - 1][i];
      result[table][i] = (before >> 8) ^ result[0][before & 0xff];
    }
  return result;
}

constexpr crc_tables tables = make_crc_tables();

template <class T>
void put(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>((value >> (8 * i)) & 0xff);
}

/// Reads from the front; `ok` turns false at the first missing byte.
class reader {
public:
  explicit reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T take() {
    auto bytes = take_bytes(sizeof(T));
    T result = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      result = static_cast<T>(
        result | (T{static_cast<unsigned char>(bytes[i])} << (8 * i)));
    return result;
  }

  std::string_view take_bytes(size_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      return {};
    }
    auto result = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return result;
  }

  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }

private:
  std::string_view rest_;
  bool ok_ = true;
};

/// The parts of a record where they lie.
struct record_view {
  journal_root root = journal_root::state;
  bool is_seal = false;
  std::string_view path;
  uint64_t offset = 0;
  std::string_view bytes;
};

/// @return whether the record is whole and makes sense
bool take_record(reader& in, record_view& record) {
  auto tag = in.take<uint8_t>();
  record.is_seal = (tag & seal_bit) != 0;
  auto root = static_cast<uint8_t>(tag & ~seal_bit);
  if (root > static_cast<uint8_t>(journal_root::workspace))
    return false;
  record.root = static_cast<journal_root>(root);
  record.path = in.take_bytes(in.take<uint16_t>());
  record.offset = in.take<uint64_t>();
  record.bytes = in.take_bytes(in.take<uint32_t>());
  return in.ok() && !record.path.empty() && record.offset <= highest_offset;
}

bool take_frame(std::string_view records, wal_segment& segment) {
  reader in{records};
  std::vector<record_view> taken;
  while (!in.empty())
    if (!take_record(in, taken.emplace_back()))
      return false;
  for (const auto& record : taken)
    segment.records.push_back({{record.root, std::string{record.path}},
                               record.offset,
                               std::string{record.bytes},
                               record.is_seal});
  return true;
}

/// The records of a frame at the front of `in` whose header makes sense; empty
/// when it does not. A length of 0 is what a file system leaves behind after a
/// crash.
std::string_view take_frame_records(reader& in, uint32_t& crc) {
  auto length = in.take<uint32_t>();
  crc = in.take<uint32_t>();
  if (!in.ok() || length > longest_records)
    return {};
  auto records = in.take_bytes(length);
  return in.ok() ? records : std::string_view{};
}

/// Whether a whole frame begins anywhere in there. Bytes that only look like
/// frames cannot make this long: when too many do, the answer is yes.
bool holds_frame(std::string_view bytes) {
  constexpr size_t most_summed = 64u << 20;
  size_t summed = 0;
  for (; bytes.size() > header_bytes; bytes.remove_prefix(1)) {
    reader in{bytes};
    uint32_t crc = 0;
    auto records = take_frame_records(in, crc);
    reader first{records};
    record_view record;
    if (records.empty() || !take_record(first, record))
      continue;
    summed += records.size();
    if (summed > most_summed || crc32c(records) == crc)
      return true;
  }
  return false;
}

} // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = 0xffff'ffffu;
  auto data = bytes.data();
  auto left = bytes.size();
  auto at = [&](size_t i) {
    return uint32_t{static_cast<unsigned char>(data[i])};
  };
  for (; left >= 8; left -= 8, data += 8) {
    auto low = crc ^ (at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24);
    crc = tables[7][low & 0xff] ^ tables[6][(low >> 8) & 0xff]
          ^ tables[5][(low >> 16) & 0xff] ^ tables[4][low >> 24]
          ^ tables[3][at(4)] ^ tables[2][at(5)] ^ tables[1][at(6)]
          ^ tables[0][at(7)];
  }
  for (; left > 0; --left, ++data)
    crc = (crc >> 8) ^ tables[0][(crc ^ at(0)) & 0xff];
  return ~crc;
}

void frame_builder::add(const journal_path& target, uint64_t offset,
                        std::string_view bytes) {
  put(records_, static_cast<uint8_t>(target.root));
  put(records_, static_cast<uint16_t>(target.path.size()));
  records_ += target.path;
  put(records_, offset);
  put(records_, static_cast<uint32_t>(bytes.size()));
  records_ += bytes;
}

void frame_builder::add_seal(const journal_path& target) {
  auto start = records_.size();
  add(target, 0, {});
  records_[start] =
    static_cast<char>(static_cast<uint8_t>(records_[start]) | seal_bit);
}

void frame_builder::add_all(const frame_builder& other) {
  records_ += other.records_;
}

std::string frame_builder::frame() const {
  std::string result;
  result.reserve(header_bytes + records_.size());
  put(result, static_cast<uint32_t>(records_.size()));
  put(result, crc32c(records_));
  result += records_;
  return result;
}

wal_segment decode_segment(std::string_view bytes) {
  wal_segment result;
  reader in{bytes};
  while (!in.empty()) {
    uint32_t crc = 0;
    auto records = take_frame_records(in, crc);
    if (records.empty() || crc32c(records) != crc
        || !take_frame(records, result))
      break;
    ++result.frames;
    result.whole_bytes = bytes.size() - in.left();
  }
  result.torn = result.whole_bytes < bytes.size();
  if (result.torn)
    result.damaged = holds_frame(bytes.substr(result.whole_bytes + 1));
  return result;
}

std::string segment_name(uint64_t number) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (auto shift = 60; shift >= 0; shift -= 4)
    result += digits[(number >> shift) & 0xf];
  return result + ".wal";
}

uint64_t segment_number(std::string_view name) {
  constexpr std::string_view ending = ".wal";
  if (name.size() != 16 + ending.size() || !name.ends_with(ending))
    return 0;
  uint64_t result = 0;
  for (auto c : name.substr(0, 16)) {
    auto is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f'))
      return 0;
    auto digit = is_digit ? c - '0' : c - 'a' + 10;
    result = result << 4 | static_cast<uint64_t>(digit);
  }
  return result;
}

uint64_t kept_segment_number(std::string_view name) {
  if (!name.ends_with(kept_ending))
    return 0;
  name.remove_suffix(kept_ending.size());
  return segment_number(name);
}

} // namespace bureau::io
