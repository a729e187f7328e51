#include "actors/delivery/answer_split_core.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>
#include <optional>

namespace bureau::delivery {

namespace {

constexpr size_t npos = std::string_view::npos;

/// First guess of how much fits.
constexpr size_t first_reach = 256;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// A fenced block that is open.
struct open_fence {
  /// Its characters, for the closing line.
  std::string mark;
  /// The line that opened it, without its end.
  std::string line;
};

/// The line of a text that begins at `pos`, without its end.
std::string_view line_at(std::string_view text, size_t pos) {
  auto end = text.find('\n', pos);
  return text.substr(pos, end == npos ? npos : end - pos);
}

/// Characters that open or close a fenced block; empty for another line.
std::string_view fence_mark(std::string_view line) {
  constexpr size_t most_indent = 3;
  constexpr size_t least_mark = 3;
  auto begin = line.find_first_not_of(' ');
  if (begin == npos || begin > most_indent)
    return {};
  auto c = line[begin];
  if (c != '`' && c != '~')
    return {};
  auto end = line.find_first_not_of(c, begin);
  auto mark = line.substr(begin, end == npos ? npos : end - begin);
  if (mark.size() < least_mark)
    return {};
  // Back ticks further on make it code within a line.
  if (c == '`' && end != npos && line.find('`', end) != npos)
    return {};
  return mark;
}

/// Follows fenced blocks line by line.
class fence_reader {
public:
  explicit fence_reader(std::optional<open_fence> fence)
    : fence_(std::move(fence)) {}

  void read(std::string_view line) {
    auto mark = fence_mark(line);
    if (mark.empty())
      return;
    if (!fence_) {
      fence_ =
        open_fence{std::string{mark}, std::string{contracts::trim_end(line)}};
      return;
    }
    auto rest = line.substr(line.find(mark) + mark.size());
    if (mark[0] == fence_->mark[0] && mark.size() >= fence_->mark.size()
        && text::is_blank(rest))
      fence_.reset();
  }

  const std::optional<open_fence>& fence() const { return fence_; }

private:
  std::optional<open_fence> fence_;
};

/// A place where a source may be cut.
struct cut {
  /// Bytes before it.
  size_t at = 0;
  /// 0 character, 1 word, 2 line, 3 block.
  int rank = 0;
  /// Block that is open there.
  std::optional<open_fence> fence;
};

size_t on_character(std::string_view text, size_t pos) {
  return text::prefix_bytes(text, pos).size();
}

size_t after_first_character(std::string_view text) {
  return std::max<size_t>(1, text::decode_at(text, 0).bytes);
}

/// Cuts one piece after the other.
class markdown_cutter {
public:
  markdown_cutter(std::string_view source, const fits_function& fits)
    : rest_(source), fits_(fits) {}

  std::vector<std::string> run() {
    std::vector<std::string> result;
    while (!rest_.empty()) {
      auto place = next();
      auto piece = piece_to(place);
      if (!text::is_blank(piece))
        result.push_back(std::move(piece));
      go_to(place);
    }
    if (result.empty())
      result.emplace_back();
    return result;
  }

private:
  /// The piece that ends at a place.
  std::string piece_to(const cut& place) const {
    std::string result;
    if (fence_)
      result = fence_->line + "\n";
    result += contracts::trim_end(rest_.substr(0, place.at));
    if (place.fence)
      result += "\n" + place.fence->mark;
    return result;
  }

  /// The place at a number of bytes, whatever stands there.
  cut place_at(size_t at) const {
    fence_reader reader{fence_};
    for (size_t pos = 0; pos < at;) {
      auto line = line_at(rest_, pos);
      // A line that is cut opens nothing and closes nothing.
      if (pos + line.size() > at)
        break;
      reader.read(line);
      pos += line.size() + 1;
    }
    return {at, 0, reader.fence()};
  }

  bool fits_to(size_t at) const { return fits_(piece_to(place_at(at))); }

  /// The longest prefix that fits, at least one character; found by halving.
  size_t reach() const {
    auto good = after_first_character(rest_);
    auto bad = std::max(first_reach, good);
    for (; bad < rest_.size(); bad *= 2) {
      auto at = on_character(rest_, bad);
      if (!fits_to(at))
        break;
      good = std::max(good, at);
    }
    if (bad >= rest_.size()) {
      if (fits_to(rest_.size()))
        return rest_.size();
      bad = rest_.size();
    }
    while (good + 1 < bad) {
      auto middle = on_character(rest_, good + (bad - good) / 2);
      if (middle <= good)
        middle = good + text::decode_at(rest_, good).bytes;
      if (middle >= bad)
        break;
      (fits_to(middle) ? good : bad) = middle;
    }
    return good;
  }

  /// The best place within reach: of a rank as high as there is in its second
  /// half, as far as possible.
  cut next() const {
    auto far = reach();
    if (far == rest_.size())
      return {far, 3, std::nullopt};
    auto places = places_to(far);
    std::stable_sort(places.begin(), places.end(),
                     [](const cut& left, const cut& right) {
                       return left.rank != right.rank ? left.rank > right.rank
                                                      : left.at > right.at;
                     });
    auto alone = places.size() == 1;
    for (auto& place : places)
      if (alone || fits_(piece_to(place)))
        return std::move(place);
    return place_at(after_first_character(rest_));
  }

  /// The last place of each rank up to `far`, and `far` itself.
  std::vector<cut> places_to(size_t far) const {
    std::optional<cut> block;
    std::optional<cut> line_end;
    fence_reader reader{fence_};
    auto blank_before = false;
    auto only_opened = false;
    for (size_t pos = 0; pos <= far && pos < rest_.size();) {
      auto line = line_at(rest_, pos);
      auto opens = !reader.fence() && !fence_mark(line).empty();
      // What opens a block stays with it.
      if (pos > 0 && !reader.fence() && (blank_before || opens))
        block = cut{pos, 3, std::nullopt};
      else if (pos > 0 && !only_opened)
        line_end = cut{pos, 2, reader.fence()};
      auto was_open = reader.fence().has_value();
      reader.read(line);
      only_opened = !was_open && reader.fence().has_value();
      blank_before = text::is_blank(line);
      pos += line.size() + 1;
    }
    std::vector<cut> result;
    auto half = far / 2;
    if (block && block->at >= half)
      result.push_back(std::move(*block));
    if (line_end && line_end->at >= half)
      result.push_back(std::move(*line_end));
    if (auto word = word_before(far); word > 0 && word >= half) {
      auto place = place_at(word);
      place.rank = 1;
      result.push_back(std::move(place));
    }
    result.push_back(place_at(far));
    return result;
  }

  size_t word_before(size_t far) const {
    for (auto at = far; at > 0; --at)
      if (is_space(rest_[at - 1]))
        return at;
    return 0;
  }

  void go_to(const cut& place) {
    fence_ = place.fence;
    rest_.remove_prefix(place.at);
    if (fence_) {
      // Blanks at the beginning of a line of code are code.
      if (place.rank < 2 && !rest_.empty() && rest_[0] == '\n')
        rest_.remove_prefix(1);
      auto line = line_at(rest_, 0);
      fence_reader reader{fence_};
      reader.read(line);
      if (reader.fence())
        return;
      // It was closed already.
      fence_.reset();
      rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    }
    // The same holds for what an indentation means; empty lines mean nothing.
    size_t begin = 0;
    for (size_t pos = 0; pos < rest_.size() && is_space(rest_[pos]); ++pos)
      if (rest_[pos] == '\n')
        begin = pos + 1;
    rest_.remove_prefix(begin);
    if (text::is_blank(rest_))
      rest_ = {};
  }

  std::string_view rest_;
  const fits_function& fits_;
  std::optional<open_fence> fence_;
};

} // namespace

std::vector<std::string> split_markdown(std::string_view source,
                                        const fits_function& fits) {
  if (fits(source))
    return {std::string{source}};
  return markdown_cutter{source, fits}.run();
}

std::vector<std::string> split_for(std::string_view source,
                                   const transport_info& info) {
  if (info.max_length == 0)
    return {std::string{source}};
  auto length = text::length_function_of(info.length_unit);
  return split_markdown(source, [&](std::string_view piece) {
    return length(piece) <= info.max_length;
  });
}

std::string tail_preview(std::string_view text, size_t max,
                         std::string_view prefix,
                         text::length_function length) {
  if (length(text) <= max)
    return std::string{text};
  auto taken = length(prefix);
  auto room = max > taken ? max - taken : 0;
  auto begin = text.size();
  while (begin > 0) {
    auto at = begin - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u)
      --at;
    auto width = length(text.substr(at, begin - at));
    if (width > room && begin < text.size())
      break;
    room -= std::min(room, width);
    begin = at;
  }
  return std::string{prefix} + std::string{text.substr(begin)};
}

} // namespace bureau::delivery
