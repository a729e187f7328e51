#include "messages/codec/conversation_names.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"

#include <algorithm>

namespace bureau {

namespace {

constexpr size_t console_name_cap = 32;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool are_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// GH_<owner>_<repo>_<number>; the owner has no underscore, the repo may.
bool is_github_id(std::string_view id) {
  if (!id.starts_with("GH_"))
    return false;
  id.remove_prefix(3);
  auto first = id.find('_');
  auto last = id.rfind('_');
  if (first == std::string_view::npos || first == 0 || last <= first + 1)
    return false;
  auto owner = id.substr(0, first);
  auto owner_fits = std::all_of(owner.begin(), owner.end(), [](char c) {
    return is_alpha(c) || is_digit(c) || c == '-';
  });
  return owner_fits && are_digits(id.substr(last + 1));
}

} // namespace

address_result make_address(std::string_view platform,
                            std::string_view conversation_id) {
  auto known = parse_platform(platform);
  if (!known)
    return {{}, address_fault::unsupported_platform};
  auto fault = check_conversation_id(conversation_id);
  if (fault != address_fault::none)
    return {{}, fault};
  return {{*known, std::string{conversation_id}}, address_fault::none};
}

address_result parse_address(const boost::json::value& value) {
  auto object = value.if_object();
  if (object == nullptr)
    return {{}, address_fault::not_an_object};
  auto platform = json::string_member(*object, "platform");
  if (!platform)
    return {{}, address_fault::platform_not_string};
  auto id = json::string_member(*object, "conversationId");
  if (!id)
    return {{}, address_fault::conversation_id_not_string};
  return make_address(*platform, *id);
}

std::string sentence_of(address_fault fault, std::string_view platform,
                        std::string_view conversation_id) {
  auto quoted = [](std::string_view text) {
    return json::print(boost::json::string{text::sanitize_utf8(text)});
  };
  switch (fault) {
  case address_fault::none:
    return "the address is valid";
  case address_fault::unsupported_platform:
    return "unsupported platform " + quoted(platform)
           + "; use slack, discord, telegram, github or console";
  case address_fault::not_an_object:
    return "an office address must be an object";
  case address_fault::platform_not_string:
    return "the platform of an office address must be a string";
  case address_fault::conversation_id_not_string:
    return "the conversation id of an office address must be a string";
  case address_fault::invalid_conversation_id:
    break;
  }
  return "invalid conversation id " + quoted(conversation_id)
         + "; it must be valid UTF-8, not empty, not \".\" or \"..\", and "
           "hold no path separator and no control character";
}

bool is_console_name(std::string_view name) {
  return !name.empty() && name.size() <= console_name_cap
         && std::all_of(name.begin(), name.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-';
            });
}

bool matches_id_format(platform_id platform, std::string_view raw_id) {
  switch (platform) {
  case platform_id::github:
    return is_github_id(raw_id);
  case platform_id::telegram:
    return are_digits(raw_id.starts_with('-') ? raw_id.substr(1) : raw_id);
  case platform_id::discord:
    return are_digits(raw_id);
  case platform_id::slack:
    return !raw_id.empty() && raw_id.front() >= 'A' && raw_id.front() <= 'Z'
           && std::all_of(raw_id.begin(), raw_id.end(), [](char c) {
                return (c >= 'A' && c <= 'Z') || is_digit(c);
              });
  case platform_id::console:
    break;
  }
  return false;
}

} // namespace bureau
