#include "messages/contracts/attachment_kind.hpp"

#include <doctest/doctest.h>

#include <iterator>

using namespace bureau::contracts;

TEST_CASE("kinds of attachments") {
  CHECK(attachment_kind_from_mime_type(" IMAGE/PNG") == attachment_kind::image);
  for (auto type : {"application/pdf", "x-image/png", "", "\u200Bimage/png"})
    CHECK(attachment_kind_from_mime_type(type) == attachment_kind::document);
}

TEST_CASE("text of attachments") {
  CHECK(decode_attachment_text("text/csv", "\xEF\xBB\xBF\x41") == "\uFEFFA");
  CHECK(decode_attachment_text(" Text/Plain", "\xff") == "\uFFFD");
  CHECK_FALSE(decode_attachment_text("application/json", "{}"));
  CHECK_FALSE(decode_attachment_text("text", "x"));
}

TEST_CASE("types that are taken by default") {
  CHECK(std::size(default_attachment_mime_types) == 26);
}
