#include "config/auth_file.hpp"

#include "config/readers.hpp"
#include "messages/limits.hpp"

#include <optional>

namespace bureau::config {

namespace {

using json::bj::object;

std::string trimmed_member(const object& from, std::string_view name) {
  auto found = json::string_member(from, name);
  if (!found)
    return {};
  return normalize_optional(*found).value_or(std::string{});
}

bool is_one_line(const secret_text& secret) {
  return secret.reveal().find_first_of(std::string_view{"\r\n\0", 3})
         == std::string::npos;
}

/// Pointer below the entry and reason of the first problem.
struct auth_problem {
  std::string pointer;
  std::string reason;
};

std::optional<auth_problem> read_api_key(const object& from,
                                         stored_credential& into) {
  if (auto key = from.if_contains("key"); key != nullptr && !key->is_string())
    return auth_problem{"/key", "Expected string"};
  into.key = secret_text{trimmed_member(from, "key")};
  if (auto env = from.if_contains("env")) {
    auto map = env->if_object();
    if (map == nullptr)
      return auth_problem{"/env", "Expected object"};
    for (const auto& member : *map) {
      std::string name{member.key()};
      if (!member.value().is_string())
        return auth_problem{"/env" + pointer_token(name), "Expected string"};
      if (auto text =
            normalize_optional(std::string_view{member.value().get_string()}))
        into.env.emplace(std::move(name), secret_text{std::move(*text)});
    }
  }
  // It is sent as the value of a header.
  if (!is_one_line(into.key))
    return auth_problem{"/key", "Expected key without line breaks"};
  for (const auto& [name, value] : into.env)
    if (!is_one_line(value))
      return auth_problem{"/env" + pointer_token(name),
                          "Expected value without line breaks"};
  if (into.key.empty() && into.env.empty())
    return auth_problem{"", "Expected key or env"};
  into.kind = credential_kind::api_key;
  return std::nullopt;
}

std::optional<auth_problem> read_oauth(const object& from,
                                       stored_credential& into) {
  into.access = secret_text{trimmed_member(from, "access")};
  if (into.access.empty())
    return auth_problem{"/access", "Expected string"};
  if (!is_one_line(into.access))
    return auth_problem{"/access", "Expected token without line breaks"};
  auto expires = json::int_member(from, "expires");
  if (!expires)
    return auth_problem{"/expires", "Expected integer"};
  into.expires_ms = *expires;
  into.kind = credential_kind::oauth;
  return std::nullopt;
}

} // namespace

const stored_credential* auth_file::find(std::string_view provider) const {
  auto entry = entries.find(std::string{provider});
  return entry != entries.end() ? &entry->second : nullptr;
}

reading<auth_file> parse_auth(std::string_view text, std::string_view path) {
  reading<auth_file> result;
  auto parsed = json::parse(text);
  if (!parsed) {
    result.fault = syntax_fault(path, *parsed.fault, "credentials");
    return result;
  }
  auto root = parsed.value.if_object();
  if (root == nullptr) {
    result.fault = value_fault(path, text, {},
                               "Malformed credentials file: expected a JSON "
                               "object at the top level",
                               "Write {\"<provider>\": {\"type\": \"api_key\", "
                               "\"key\": \"…\"}}");
    return result;
  }
  auto warn = [&](const std::string& pointer, std::string what,
                  std::string_view to_do) {
    if (result.warnings.size() < limits::config_warnings)
      result.warnings.push_back(value_fault(path, text, pointer, what, to_do));
  };
  for (const auto& member : *root) {
    std::string provider{member.key()};
    auto pointer = pointer_token(provider);
    auto source = member.value().if_object();
    auto type =
      source != nullptr ? json::text_or_empty(*source, "type") : std::string{};
    if (type != "api_key" && type != "oauth") {
      warn(pointer,
           "the entry " + pointer
             + " is ignored: it has no type api_key or oauth",
           "Correct the entry or remove it");
      continue;
    }
    // A sign-in carries whatever its provider added.
    if (type == "api_key")
      for (const auto& field : *source)
        if (field.key() != "type" && field.key() != "key"
            && field.key() != "env") {
          auto at = pointer + pointer_token(field.key());
          warn(at, "the key " + at + " is unknown and has no effect",
               "Correct its spelling or remove it");
        }
    stored_credential entry;
    auto problem = type == "api_key" ? read_api_key(*source, entry)
                                     : read_oauth(*source, entry);
    if (problem) {
      auto at = pointer + problem->pointer;
      entry = {};
      entry.fault = at + ": " + problem->reason;
      warn(at, "the credential of " + provider + " is not used: " + entry.fault,
           "Correct the entry");
    }
    result.value.entries.insert_or_assign(provider, std::move(entry));
  }
  return result;
}

reading<auth_file> load_auth(file_system& fs, const std::string& path) {
  auto file = read_config_file(fs, path);
  if (!file.fault.empty())
    return {{}, {}, std::move(file.fault)};
  if (!file.present)
    return {};
  return parse_auth(file.text, path);
}

} // namespace bureau::config
