#include "messages/contracts/attachment_kind.hpp"

#include "messages/contracts/char_class.hpp"
#include "messages/text/utf8.hpp"

namespace bureau::contracts {

std::string to_string(attachment_kind kind) {
  return kind == attachment_kind::image ? "image" : "document";
}

attachment_kind attachment_kind_from_mime_type(std::string_view mime_type) {
  return begins_ignoring_case(text::trim(mime_type), "image/")
           ? attachment_kind::image
           : attachment_kind::document;
}

std::optional<std::string> decode_attachment_text(std::string_view mime_type,
                                                  std::string_view bytes) {
  if (!begins_ignoring_case(text::trim(mime_type), "text/"))
    return std::nullopt;
  return text::sanitize_utf8(bytes);
}

} // namespace bureau::contracts
