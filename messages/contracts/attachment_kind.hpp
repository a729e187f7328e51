#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What an attachment is, by its media type.
namespace bureau::contracts {

enum class attachment_kind : uint8_t { image, document };

std::string to_string(attachment_kind kind);

attachment_kind attachment_kind_from_mime_type(std::string_view mime_type);

/// Content of a text file as UTF-8, ill-formed parts as U+FFFD and a byte order
/// mark kept; nothing for other types.
std::optional<std::string> decode_attachment_text(std::string_view mime_type,
                                                  std::string_view bytes);

/// Media types that are taken unless a setting says otherwise.
inline constexpr std::string_view default_attachment_mime_types[] = {
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "application/json",
  "application/zip",
  "application/msword",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.ms-excel",
  "text/plain",
  "text/markdown",
  "text/csv",
  "text/html",
  "audio/ogg",
  "audio/mpeg",
  "audio/mp4",
  "audio/aac",
  "audio/wav",
  "audio/webm",
  "audio/flac",
  "video/mp4",
  "video/mpeg",
  "video/quicktime",
  "video/webm",
};

/// Size up to which they are taken.
inline constexpr size_t default_attachment_max_bytes = 20u << 20;

} // namespace bureau::contracts
