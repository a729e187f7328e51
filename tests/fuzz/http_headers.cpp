#include "messages/contracts/bearer.hpp"

#include "messages/codec/json_support.hpp"
#include "messages/text/utf8.hpp"
#include "tests/fuzz/entry.hpp"

#include <algorithm>

using namespace bureau;
using namespace bureau::contracts;

void fuzz::try_input(std::string_view input) {
  reader in{input};
  auto left = in.text();
  auto right = in.text();
  require(bearer_tokens_equal(left, right) == (left == right),
          "tokens are compared as bytes");
  if (auto token = read_authorization_bearer(input)) {
    require(!token->empty() && text::trim(*token) == *token,
            "a token is trimmed");
    require(read_authorization_bearer("bearer " + *token) == token,
            "a token is read as it was");
  }
  auto value = json_of(in.rest());
  auto members = value.if_object();
  if (members == nullptr)
    return;
  auto kept = sanitize_inbound_http_headers(*members);
  for (const auto& member : kept) {
    require(!is_credential_header(member.key()), "no credential is handed on");
    auto before = members->if_contains(member.key());
    require(before != nullptr && *before == member.value(),
            "headers are handed on as they are");
  }
  auto dropped =
    std::count_if(members->begin(), members->end(), [](const auto& member) {
      return is_credential_header(member.key());
    });
  require(kept.size() + static_cast<size_t>(dropped) == members->size(),
          "nothing else is dropped");
}
