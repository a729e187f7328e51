#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bureau::web {

/// Request line and headers together.
inline constexpr size_t longest_head = 16u << 10;

/// How far a request has come.
struct arrival {
  bool whole = false;
  /// 0, or the status with which it is refused.
  uint32_t refusal = 0;
  friend bool operator==(const arrival&, const arrival&) = default;
};

/// Looks at the bytes of one request as they come and says when it is whole, so
/// that no worker waits for the rest. It refuses what two readers could
/// understand differently: two Host headers, two lengths, a length beside
/// chunks, folded lines. What it lets pass still goes through the parser.
class request_gate {
public:
  /// @param max_body longer bodies are refused with 413
  explicit request_gate(uint64_t max_body) : max_body_(max_body) {}

  /// @param bytes all that has come so far: what was there in the last call and
  /// perhaps more. Do not ask again after a refusal.
  arrival judge(std::string_view bytes);

private:
  /// What is expected next.
  enum class part : uint8_t {
    request_line,
    field,
    body,
    chunk_size,
    chunk_end,
    trailer,
    nothing
  };

  /// These answer the refusal, 0 = none.
  uint32_t take_line(std::string_view line);
  uint32_t take_field(std::string_view line);
  uint32_t begin_body();
  uint32_t take_chunk_size(std::string_view line);
  uint32_t too_long(size_t size) const;

  uint64_t max_body_;
  part part_ = part::request_line;
  /// Where that begins, and how far no end of a line was found.
  size_t at_ = 0;
  size_t searched_ = 0;
  size_t head_end_ = 0;
  bool has_host_ = false;
  bool has_length_ = false;
  bool chunked_ = false;
  bool expects_ = false;
  /// All of the body that is known of, and how much of it comes now.
  uint64_t body_bytes_ = 0;
  uint64_t left_ = 0;
};

/// The complete response to a refused request; the connection closes after it.
std::string refusal_text(uint32_t status);

} // namespace bureau::web
