#include "actors/io/journal_codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace bureau::io {

namespace {

constexpr uint8_t seal_bit = 0x80;
constexpr size_t header_bytes = 8;
/// Of a record without its path and bytes.
constexpr size_t head_bytes = 15;
constexpr size_t longest_head = head_bytes + 0xffff;
/// What is read of a segment at a time: a frame of many records.
constexpr size_t window_bytes = limits::journal_frame_bytes + longest_head;
/// Fewer bytes than this are copied into a frame rather than written alone.
constexpr size_t referred_bytes = 64u << 10;
/// A buffer up to this size is kept for the next frame.
constexpr size_t kept_bytes = 256u << 10;
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

/// Eight bytes a step by means of tables.
uint32_t sum_by_tables(uint32_t crc, const char* data, size_t left) {
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
  return crc;
}

#ifdef __x86_64__
/// The processor knows this sum.
__attribute__((target("sse4.2"))) uint32_t sum_by_instruction(uint32_t crc,
                                                              const char* data,
                                                              size_t left) {
  uint64_t sum = crc;
  for (; left >= 8; left -= 8, data += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, sizeof(word));
    sum = __builtin_ia32_crc32di(sum, word);
  }
  crc = static_cast<uint32_t>(sum);
  for (; left > 0; --left, ++data)
    crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(*data));
  return crc;
}
#endif

template <class T>
void store(char* out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    out[i] = static_cast<char>((value >> (8 * i)) & 0xff);
}

template <class T>
T load(const char* in) {
  T result = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    result = static_cast<T>(
      result | (T{static_cast<unsigned char>(in[i])} << (8 * i)));
  return result;
}

/// A length of 0 is what a file system leaves behind after a crash.
bool is_frame_length(uint64_t length, uint64_t left) {
  return length != 0 && length <= longest_frame && length <= left;
}

} // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
#ifdef __x86_64__
  static const bool known = __builtin_cpu_supports("sse4.2") != 0;
  if (known)
    return ~sum_by_instruction(~before, bytes.data(), bytes.size());
#endif
  return ~sum_by_tables(~before, bytes.data(), bytes.size());
}

size_t encoded_size(journal_path_view target, std::string_view bytes) {
  return head_bytes + target.path.size() + bytes.size();
}

// -- writing ------------------------------------------------------------------

void frame_builder::open_frame() {
  if (open_)
    return;
  open_ = true;
  frame_at_ = buffer_.size();
  frame_reference_ = references_.size();
  buffer_.append(header_bytes, '\0');
}

void frame_builder::put_head(journal_path_view target, uint64_t offset,
                             size_t length) {
  open_frame();
  char head[head_bytes];
  head[0] = static_cast<char>(target.root);
  store(head + 1, static_cast<uint16_t>(target.path.size()));
  store(head + 3, offset);
  store(head + 11, static_cast<uint32_t>(length));
  buffer_.append(head, 3);
  buffer_ += target.path;
  buffer_.append(head + 3, head_bytes - 3);
  size_ += head_bytes + target.path.size() + length;
}

void frame_builder::add(journal_path_view target, uint64_t offset,
                        std::string_view bytes) {
  put_head(target, offset, bytes.size());
  buffer_ += bytes;
}

void frame_builder::refer(journal_path_view target, uint64_t offset,
                          std::string_view bytes) {
  if (bytes.size() < referred_bytes)
    return add(target, offset, bytes);
  put_head(target, offset, bytes.size());
  references_.push_back({buffer_.size(), bytes});
}

void frame_builder::add_seal(journal_path_view target) {
  open_frame();
  auto at = buffer_.size();
  add(target, 0, {});
  buffer_[at] = static_cast<char>(static_cast<uint8_t>(buffer_[at]) | seal_bit);
}

void frame_builder::add_all(const frame_builder& other) {
  if (other.empty())
    return;
  open_frame();
  buffer_ += std::string_view{other.buffer_}.substr(header_bytes);
  size_ += other.size_;
}

void frame_builder::end_frame() {
  if (!std::exchange(open_, false))
    return;
  uint32_t sum = 0;
  uint64_t length = 0;
  auto take = [&](std::string_view bytes) {
    sum = crc32c(bytes, sum);
    length += bytes.size();
  };
  auto from = frame_at_ + header_bytes;
  for (auto i = frame_reference_; i < references_.size(); ++i) {
    const auto& next = references_[i];
    take(std::string_view{buffer_}.substr(from, next.at - from));
    take(next.bytes);
    from = next.at;
  }
  take(std::string_view{buffer_}.substr(from));
  store(buffer_.data() + frame_at_, static_cast<uint32_t>(length));
  store(buffer_.data() + frame_at_ + 4, sum);
}

std::vector<std::string_view> frame_builder::pieces() {
  end_frame();
  std::vector<std::string_view> result;
  size_t from = 0;
  for (const auto& next : references_) {
    result.push_back(std::string_view{buffer_}.substr(from, next.at - from));
    result.push_back(next.bytes);
    from = next.at;
  }
  if (from < buffer_.size())
    result.push_back(std::string_view{buffer_}.substr(from));
  return result;
}

void frame_builder::clear() {
  if (buffer_.capacity() > kept_bytes)
    buffer_ = {};
  buffer_.clear();
  references_.clear();
  open_ = false;
  size_ = 0;
}

// -- reading ------------------------------------------------------------------

/// Some bytes of the segment, fewer at its end.
std::string_view segment_scan::look(uint64_t offset, size_t count) {
  count = static_cast<size_t>(
    std::min<uint64_t>(count, size_ - std::min(size_, offset)));
  if (count == 0)
    return {};
  if (offset < window_at_ || offset + count > window_at_ + window_.size()) {
    auto most = std::min<uint64_t>(window_bytes, size_ - offset);
    window_ = source_(offset, static_cast<size_t>(most));
    window_at_ = offset;
  }
  return window_.substr(static_cast<size_t>(offset - window_at_), count);
}

bool segment_scan::has_sum(uint64_t at, uint64_t end, uint32_t sum) {
  uint32_t found = 0;
  while (at < end) {
    auto most = std::min<uint64_t>(end - at, limits::journal_frame_bytes);
    auto bytes = look(at, static_cast<size_t>(most));
    if (bytes.empty())
      return false;
    found = crc32c(bytes, found);
    at += bytes.size();
  }
  return found == sum;
}

/// The record at a place, if it is whole and makes sense.
bool segment_scan::take(uint64_t& at, uint64_t end, wal_entry& entry) {
  auto head =
    look(at, static_cast<size_t>(std::min<uint64_t>(end - at, longest_head)));
  if (head.size() < head_bytes)
    return false;
  auto tag = static_cast<uint8_t>(head[0]);
  auto root = static_cast<uint8_t>(tag & ~seal_bit);
  size_t path = load<uint16_t>(head.data() + 1);
  if (root > static_cast<uint8_t>(journal_root::workspace) || path == 0
      || head_bytes + path > head.size())
    return false;
  entry.target.root = static_cast<journal_root>(root);
  entry.target.path = head.substr(3, path);
  entry.is_seal = (tag & seal_bit) != 0;
  entry.offset = load<uint64_t>(head.data() + 3 + path);
  entry.length = load<uint32_t>(head.data() + 11 + path);
  entry.at = at + head_bytes + path;
  if (entry.offset > highest_offset || entry.length > end - entry.at)
    return false;
  at = entry.at + entry.length;
  return true;
}

/// Shows the records of a frame until one makes no sense or is not wanted.
bool segment_scan::walk(uint64_t at, uint64_t end, const visitor& visit) {
  wal_entry entry;
  while (at < end)
    if (!take(at, end, entry) || !visit(entry))
      return false;
  return true;
}

/// Whether the frame at a place is whole; where it ends.
bool segment_scan::is_whole(uint64_t at, uint64_t& end) {
  auto header = look(at, header_bytes);
  if (header.size() < header_bytes)
    return false;
  auto length = load<uint32_t>(header.data());
  auto sum = load<uint32_t>(header.data() + 4);
  auto begin = at + header_bytes;
  if (!is_frame_length(length, size_ - begin))
    return false;
  end = begin + length;
  // A frame of many records is read once.
  if (end - at <= window_bytes)
    look(at, static_cast<size_t>(end - at));
  return has_sum(begin, end, sum)
         && walk(begin, end, [](const wal_entry&) { return true; });
}

bool segment_scan::next(const visitor& visit) {
  uint64_t end = 0;
  if (!is_whole(whole_bytes_, end))
    return false;
  auto begin = whole_bytes_ + header_bytes;
  whole_bytes_ = end;
  ++frames_;
  return walk(begin, end, visit);
}

bool segment_scan::frame_follows() {
  constexpr uint64_t most_summed = 64u << 20;
  uint64_t summed = 0;
  for (auto at = whole_bytes_ + 1; at + header_bytes < size_;) {
    // With the first record, so that nothing is read twice for it.
    auto bytes = look(at, header_bytes + longest_head);
    if (bytes.size() <= header_bytes)
      return false;
    // Most places cannot even be the length of a frame.
    size_t skip = 0;
    while (skip < bytes.size() - header_bytes
           && !is_frame_length(load<uint32_t>(bytes.data() + skip),
                               size_ - at - skip - header_bytes))
      ++skip;
    if (skip > 0) {
      at += skip;
      continue;
    }
    auto length = load<uint32_t>(bytes.data());
    auto sum = load<uint32_t>(bytes.data() + 4);
    auto begin = at + header_bytes;
    auto record = begin;
    wal_entry first;
    if (take(record, begin + length, first)) {
      summed += length;
      if (summed > most_summed || has_sum(begin, begin + length, sum))
        return true;
    }
    ++at;
  }
  return false;
}

// -- names --------------------------------------------------------------------

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
