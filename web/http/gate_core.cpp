#include "web/http/gate_core.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace bureau::web {

namespace {

constexpr uint32_t bad_request = 400;
constexpr uint32_t body_too_long = 413;
constexpr uint32_t expectation_failed = 417;
constexpr uint32_t head_too_long = 431;
/// Empty lines that may come before a request.
constexpr size_t longest_prelude = 64;
/// What the framing of chunks may add to a body of its own length.
constexpr size_t chunk_allowance = 1024;

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    auto letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9')
           || marks.find(c) != std::string_view::npos;
  });
}

bool is_request_line(std::string_view line) {
  auto method = line.substr(0, line.find(' '));
  auto version = line.substr(line.rfind(' ') + 1);
  return is_token(method) && method.size() + version.size() + 2 < line.size()
         && version.starts_with("HTTP/1.");
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr auto blanks = " \t";
  auto first = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::optional<uint64_t> number(std::string_view digits, int base) {
  uint64_t value = 0;
  auto end = digits.data() + digits.size();
  auto [rest, fault] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || fault != std::errc{} || rest != end)
    return std::nullopt;
  return value;
}

std::string_view phrase_of(uint32_t status) {
  switch (status) {
  case body_too_long:
    return "Content Too Large";
  case expectation_failed:
    return "Expectation Failed";
  case head_too_long:
    return "Request Header Fields Too Large";
  default:
    return "Bad Request";
  }
}

} // namespace

arrival request_gate::judge(std::string_view bytes) {
  while (part_ != part::nothing) {
    if (part_ == part::body) {
      if (bytes.size() - at_ < left_)
        return {};
      at_ += left_;
      part_ = chunked_ ? part::chunk_end : part::nothing;
      continue;
    }
    auto end = bytes.find('\n', std::max(at_, searched_));
    if (end == std::string_view::npos) {
      searched_ = bytes.size();
      return {false, too_long(bytes.size())};
    }
    auto line = bytes.substr(at_, end - at_);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    at_ = end + 1;
    auto refusal = too_long(at_);
    if (refusal == 0)
      refusal = take_line(line);
    if (refusal != 0)
      return {false, refusal};
  }
  return {true, 0};
}

uint32_t request_gate::too_long(size_t size) const {
  if (part_ == part::request_line || part_ == part::field)
    return size > longest_head ? head_too_long : 0;
  auto most = head_end_ + 2 * max_body_ + chunk_allowance;
  return size > most ? body_too_long : 0;
}

uint32_t request_gate::take_line(std::string_view line) {
  switch (part_) {
  case part::request_line:
    if (line.empty())
      return at_ > longest_prelude ? bad_request : 0;
    part_ = part::field;
    return is_request_line(line) ? 0 : bad_request;
  case part::field:
    return line.empty() ? begin_body() : take_field(line);
  case part::chunk_size:
    return take_chunk_size(line);
  case part::chunk_end:
    part_ = part::chunk_size;
    return line.empty() ? 0 : bad_request;
  case part::trailer:
    if (line.empty())
      part_ = part::nothing;
    return 0;
  case part::body:
  case part::nothing:
    break;
  }
  return 0;
}

uint32_t request_gate::take_field(std::string_view line) {
  auto colon = std::min(line.find(':'), line.size());
  auto value = trimmed(line.substr(std::min(colon + 1, line.size())));
  // A folded line begins with a blank, which no name does.
  if (colon == line.size() || !is_token(line.substr(0, colon))
      || value.find_first_of(std::string_view{"\0\r", 2})
           != std::string_view::npos)
    return bad_request;
  auto name = lower(line.substr(0, colon));
  if (name == "host")
    return std::exchange(has_host_, true) ? bad_request : 0;
  if (name == "expect")
    expects_ = true;
  if (name == "content-length") {
    auto length = number(value, 10);
    if (std::exchange(has_length_, true) || !length)
      return bad_request;
    body_bytes_ = *length;
  }
  if (name == "transfer-encoding"
      && (std::exchange(chunked_, true) || lower(value) != "chunked"))
    return bad_request;
  return 0;
}

uint32_t request_gate::begin_body() {
  head_end_ = at_;
  if (has_length_ && chunked_)
    return bad_request;
  if (body_bytes_ > max_body_)
    return body_too_long;
  // The body would wait for an answer that comes after it.
  if (expects_)
    return expectation_failed;
  left_ = body_bytes_;
  part_ = chunked_ ? part::chunk_size : part::body;
  return 0;
}

uint32_t request_gate::take_chunk_size(std::string_view line) {
  auto size = number(trimmed(line.substr(0, line.find(';'))), 16);
  if (!size)
    return bad_request;
  if (*size > max_body_ - body_bytes_)
    return body_too_long;
  body_bytes_ += *size;
  left_ = *size;
  part_ = *size == 0 ? part::trailer : part::body;
  return 0;
}

std::string refusal_text(uint32_t status) {
  std::string result = "HTTP/1.1 " + std::to_string(status) + " ";
  result += phrase_of(status);
  result += "\r\nConnection: close\r\nContent-Length: 0\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Referrer-Policy: no-referrer\r\n\r\n";
  return result;
}

} // namespace bureau::web
