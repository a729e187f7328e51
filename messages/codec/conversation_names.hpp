#pragma once

#include "messages/identity/office_address.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace bureau {

/// An address read from untrusted data, or why there is none.
struct address_result {
  office_address address;
  address_fault fault = address_fault::none;
  explicit operator bool() const { return fault == address_fault::none; }
};

/// Checks the two parts of an address.
address_result make_address(std::string_view platform,
                            std::string_view conversation_id);

/// Reads `{"platform", "conversationId"}`; other members are ignored.
address_result parse_address(const boost::json::value& value);

/// One sentence for the person who gave the address.
std::string sentence_of(address_fault fault, std::string_view platform,
                        std::string_view conversation_id);

/// Whether text may name a console conversation: 1 to 32 of [a-z0-9-]
/// (decision A10).
bool is_console_name(std::string_view name);

/// Whether the form of a raw id fits a platform; used only to claim directories
/// that are older than office keys. Nothing fits the console.
bool matches_id_format(platform_id platform, std::string_view raw_id);

} // namespace bureau
